"""What holds for every test.

A script that starts the tests in the background lets them inherit that Ctrl-C is ignored, and they would hand that
on to every program whose end by Ctrl-C they look at.

A law holds however busy the machine is that looks for a counter-example. Where CI is set, Hypothesis sees to that by
itself, and looks at the same examples each time.

A command that a test runs in its own process says where its log goes; the next test must not inherit that.
"""

import logging
import os
import signal
from collections.abc import Iterator

import pytest
from hypothesis import settings

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

if "CI" not in os.environ:
    settings.register_profile("at any speed", deadline=None)
    settings.load_profile("at any speed")


@pytest.fixture(autouse=True)
def _log_goes_where_it_went() -> Iterator[None]:
    root = logging.getLogger()
    before, level = root.handlers[:], root.level
    yield
    root.setLevel(level)
    for handler in root.handlers[:]:
        if handler not in before and type(handler).__module__ != "_pytest.logging":
            root.removeHandler(handler)
