"""Each broker is started once for its file, `test_<broker>.py`; a case has a table's name of its own on it."""

import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.brokers.cases import case_of
from tests.support.broker_kinds import Broker, running, version_of

HERE = Path(__file__).parent
# Imported by the files of the brokers, and not collected: pytest is to take their assertions apart all the same.
pytest.register_assert_rewrite(*(f"tests.brokers.contract.{path.stem}" for path in (HERE / "contract").glob("*.py")))


@pytest.fixture(scope="module")
def kind(request: pytest.FixtureRequest) -> str:
    """The broker's name."""
    name: str = request.module.KIND
    return name


@pytest.fixture(scope="module")
def server(kind: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """The broker, which all cases share."""
    with running(kind, tmp_path_factory.mktemp(kind)) as one:
        yield one


@pytest.fixture(scope="module")
def concerns() -> list[str]:
    """The concerns that have been tried, the present one last."""
    return []


@pytest.fixture
def broker(kind: str, server: Broker, concerns: list[str], request: pytest.FixtureRequest) -> Broker:
    """The broker; the embedded one begins anew with each concern.

    It presses what others retained on each newcomer, and chokes on it when there is much of that.
    """
    concern = request.function.__module__
    if kind == "embedded" and concern not in concerns:
        server.stop()
        server.start()
    concerns.append(concern)
    return server


@pytest.fixture
def table() -> str:
    """The name of a table that nobody has used."""
    return f"t-{secrets.token_hex(6)}"


@pytest.fixture
def patience_s(request: pytest.FixtureRequest, kind: str) -> float:
    """How long what a broker owes is waited for: not long where it is known never to come."""
    case = case_of(request.function)
    return 2.0 if case and case.consequence(kind, version_of(kind)) else 20.0


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        kind = getattr(getattr(item, "module", None), "KIND", None)
        if item.path.parent != HERE or kind is None:
            continue
        # A broker's start counts for the first one that needs it, and a busy machine takes its time over RabbitMQ.
        item.add_marker(pytest.mark.timeout(400))
        case = case_of(getattr(item, "function", None))
        if case and (consequence := case.consequence(kind, version_of(kind))):
            item.add_marker(pytest.mark.xfail(reason=consequence, raises=AssertionError, strict=True))
