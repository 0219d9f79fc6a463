"""Each broker is started once for all the files here; a case has a table's name of its own on it."""

import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.brokers.cases import case_of
from tests.support.broker_kinds import KINDS, Broker, running

HERE = Path(__file__).parent


@pytest.fixture(scope="session", params=list(KINDS))
def kind(request: pytest.FixtureRequest) -> str:
    """The broker's name; the tests of one come together."""
    name: str = request.param
    return name


@pytest.fixture(scope="session")
def server(kind: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """The broker, which all cases share."""
    with running(kind, tmp_path_factory.mktemp(kind)) as one:
        yield one


@pytest.fixture(scope="module")
def broker(kind: str, server: Broker) -> Broker:
    """The same; the embedded one begins anew with each file.

    It presses what others retained on each newcomer, and chokes on it when there is much of that.
    """
    if kind == "embedded":
        server.stop()
        server.start()
    return server


@pytest.fixture
def table() -> str:
    """The name of a table that nobody has used."""
    return f"t-{secrets.token_hex(6)}"


@pytest.fixture
def patience_s(request: pytest.FixtureRequest, kind: str) -> float:
    """How long what a broker owes is waited for: not long where it is known never to come."""
    case = case_of(request.function)
    return 2.0 if case and kind in case.defects else 20.0


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.parent != HERE:
            continue
        case = case_of(getattr(item, "function", None))
        callspec = getattr(item, "callspec", None)
        if callspec and "kind" in callspec.params:
            # A broker's start counts for the first one that needs it, and a busy machine takes its time over RabbitMQ.
            item.add_marker(pytest.mark.timeout(400))
        if case and callspec and (consequence := case.defects.get(callspec.params.get("kind"))):
            item.add_marker(pytest.mark.xfail(reason=consequence, raises=AssertionError, strict=True))
