"""The figures of the soak stand at the end of the run, wherever its tests ran."""

import pytest

FIGURES = "figures of the soak"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what the tests have noted."""
    for report in terminalreporter.getreports("passed"):
        for name, text in report.user_properties:
            if name == FIGURES:
                terminalreporter.section(report.nodeid.rpartition("::")[2])
                terminalreporter.write_line(str(text))
