# The everyday commands. Every target does its own set-up.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALL := $(BIN)/python -m pip install --quiet --quiet --disable-pip-version-check --editable
OR_SAY := || { echo "Not all of it could be installed into $(VENV), why stands above: is there a network?" >&2; exit 1; }

.PHONY: demo test check format clean

# Moved or copied with its clone, or without its Python: everything in it is made anew.
ifeq ($(shell tools/virtual-environment --is-useless $(VENV)),yes)
.PHONY: $(addprefix $(VENV)/,bin/python .demo .dev .pins)
endif

# A simulated table that scores itself, on a page in the browser. Options: make demo ARGS="--game carpetball"
demo: $(VENV)/.demo
	@exec $(BIN)/pocketbeam demo $(ARGS)

# Every test, with brokers, processes and a browser.
test: $(VENV)/.dev
	@tools/debian-packages
	@$(MAKE) --no-print-directory $(VENV)/.pins
	@$(BIN)/python tools/check.py

# The quick ones only: no brokers, processes and browsers.
check: $(VENV)/.dev
	@$(BIN)/python tools/check.py --quick

format: $(VENV)/.dev
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

clean:
	rm -rf $(VENV)

$(VENV)/bin/python:
	@tools/virtual-environment $(PYTHON) $(VENV)

$(VENV)/.demo: pyproject.toml | $(VENV)/bin/python
	@echo "Installing what the demo needs into $(VENV) …"
	@$(INSTALL) '.[demo]' $(OR_SAY)
	@touch $@

$(VENV)/.dev: pyproject.toml | $(VENV)/bin/python
	@echo "Installing what the tests need into $(VENV) …"
	@$(INSTALL) '.[demo,dev]' $(OR_SAY)
	@touch $@ $(VENV)/.demo

# Where lgpio has no wheel for this Python it is compiled; PYPI=1 lets it bring along its own library, as its wheels do.
$(VENV)/.pins: pyproject.toml | $(VENV)/bin/python
	@PYPI=1 $(INSTALL) '.[gpio]' $(OR_SAY)
	@touch $@
