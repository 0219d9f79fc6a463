# The everyday commands. Every target does its own set-up.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test check format clean

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
	@$(BIN)/python -m pip install --quiet --quiet --disable-pip-version-check --editable '.[demo]'
	@touch $@

$(VENV)/.dev: pyproject.toml | $(VENV)/bin/python
	@echo "Installing what the tests need into $(VENV) …"
	@$(BIN)/python -m pip install --quiet --quiet --disable-pip-version-check --editable '.[demo,dev]'
	@touch $@ $(VENV)/.demo

# Where lgpio has no wheel for this Python it is compiled; PYPI=1 lets it bring along its own library, as its wheels do.
$(VENV)/.pins: pyproject.toml | $(VENV)/bin/python
	@PYPI=1 $(BIN)/python -m pip install --quiet --quiet --disable-pip-version-check --editable '.[gpio]'
	@touch $@
