"""The health document of an engine without a daemon: what its sensing says, and nothing wrong around it."""

from typing import Any

from appliance.documents import health_document
from appliance.engine import Engine
from appliance.journal import JournalHealth, Stamp
from tests.support.session import ns


def health(engine: Engine, at: float) -> dict[str, Any]:
    """The document at so many seconds."""
    return health_document(
        "t1",
        engine.state,
        Stamp("host-1", ns(at), ns(at), True),
        started_at_ns=0,
        bank=engine.bank,
        sources={},
        outages={},
        journal=JournalHealth(0, 0, 0, 0, 0, True, None),
        broker={"connected": True, "reason": None, "counters": {}},
    )


def beams(engine: Engine, at: float) -> dict[str, Any]:
    """Its beams alone."""
    found: dict[str, Any] = health(engine, at)["beams"]
    return found
