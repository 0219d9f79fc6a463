"""What is logged, and how often."""

import logging
from collections.abc import Iterator

import pytest

from appliance.cli.log import set_up_logging


@pytest.fixture(autouse=True)
def _log_as_before() -> Iterator[None]:
    root = logging.getLogger()
    level, handlers = root.level, list(root.handlers)
    yield
    root.setLevel(level)
    root.handlers[:] = handlers


def test_a_log_line_is_its_level_and_its_words_and_is_said_once(capsys: pytest.CaptureFixture[str]) -> None:
    set_up_logging("info")
    ours = logging.getLogger("appliance.anything")
    ours.debug("too quiet")
    ours.info("the table is open")
    for _ in range(1000):
        ours.warning("the broker at %s does not answer", "127.0.0.1")
    ours.info("the broker is back")
    logging.getLogger("library").info("chatter")
    assert capsys.readouterr().err.splitlines() == [
        "info: the table is open",
        "warning: the broker at 127.0.0.1 does not answer",
        "info: the broker is back (the line before came 999 times more)",
    ]


def test_the_level_decides_what_is_logged(capsys: pytest.CaptureFixture[str]) -> None:
    set_up_logging("error")
    logging.getLogger("appliance.anything").warning("not this")
    logging.getLogger("library").warning("nor this")
    logging.getLogger("appliance.anything").error("this")
    assert capsys.readouterr().err == "error: this\n"
    set_up_logging("debug")
    logging.getLogger("library").debug("and all of this")
    assert "debug: and all of this" in capsys.readouterr().err
