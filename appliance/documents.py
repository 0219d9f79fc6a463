"""The documents that a table publishes, whole: the envelope around what the engine and the parts say."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from appliance import __version__
from appliance.config import Settings
from appliance.grammar import how_many
from appliance.journal import JournalHealth, Stamp
from appliance.mqtt.topics import (
    BEAM_SCHEMA,
    EVENT_SCHEMA,
    HEALTH_SCHEMA,
    INFO_SCHEMA,
    RESPONSE_SCHEMA,
    SCHEMAS,
    STATE_SCHEMA,
)
from appliance.sensing.bank import Button, Line, SensorBank
from appliance.sensing.health import health_of
from appliance.table.matches import options_in_force
from appliance.table.model import Json, Policy, TableState

NS_PER_S = 1_000_000_000
HEALTH_EVERY_S = 5.0
HEALTH_VALID_S = 15.0
CLOCK_WAS_SET_NS = 2 * NS_PER_S
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def instant(wall_ns: int) -> str:
    """Wall time as text, UTC, to the millisecond."""
    moment = _EPOCH + timedelta(milliseconds=wall_ns // 1_000_000)
    return f"{moment.isoformat(timespec='milliseconds').removesuffix('+00:00')}Z"


def start_by(stamp: Stamp, begun_ns: int, before_ns: int | None) -> int:
    """When something began, by the wall clock of now; `before_ns` is what it was taken for so far.

    That holds until the clock has been set: a time that moved a little with each look would be news each time.
    """
    begun_at_ns = stamp.wall_ns - (stamp.monotonic_ns - begun_ns)
    if before_ns is not None and abs(begun_at_ns - before_ns) < CLOCK_WAS_SET_NS:
        return before_ns
    return begun_at_ns


def _envelope(schema: str, table: str, state: TableState, stamp: Stamp) -> dict[str, Any]:
    return {
        "schema": schema,
        "table": table,
        "match_id": state.match.id,
        "seq": state.seq,
        "at": instant(stamp.wall_ns),
        "clock_synchronised": stamp.clock_synchronised,
    }


def state_document(table: str, state: TableState, body: Json, stamp: Stamp) -> dict[str, Any]:
    """The `state` document."""
    return {**_envelope(STATE_SCHEMA, table, state, stamp), **body}


def event_document(table: str, state: TableState, news: Json, stamp: Stamp) -> dict[str, Any]:
    """One `event` document."""
    return {**_envelope(EVENT_SCHEMA, table, state, stamp), **news}


def response_document(table: str, state: TableState, response: Json, stamp: Stamp) -> dict[str, Any]:
    """One `response` document."""
    return {**_envelope(RESPONSE_SCHEMA, table, state, stamp), **response}


def beam_document(table: str, state: TableState, body: Json, stamp: Stamp) -> dict[str, Any]:
    """One line of diagnostics."""
    return {**_envelope(BEAM_SCHEMA, table, state, stamp), **body}


def info_document(settings: Settings, policy: Policy, state: TableState, stamp: Stamp) -> dict[str, Any]:
    """The `info` document: what the table is, and what of a changed file still waits."""
    table = settings.table
    started = state.match.started
    return {
        **_envelope(INFO_SCHEMA, table.id, state, stamp),
        "version": __version__,
        "schemas": list(SCHEMAS),
        "game": started.setup["game"],
        "options": options_in_force(state),
        "players": [
            {"player": number, "name": seat.name, "id": seat.id} for number, seat in enumerate(state.match.seats, 1)
        ],
        "unknown_object": started.unknown_object,
        "quiet_time_s": float(table.quiet_time_s),
        "sources": [{"id": source.id, "kind": source.kind} for source in settings.sources],
        "beams": [
            {"id": beam.id, "source": beam.source, "place": beam.place, "passes": list(beam.passes)}
            for beam in settings.beams
        ],
        "pending_configuration": waiting_changes(policy, state),
    }


def waiting_changes(policy: Policy, state: TableState) -> list[str]:
    """What the configuration says and the running match does not follow yet, in sentences."""
    started = state.match.started
    found: list[str] = []
    if policy.game != started.setup["game"]:
        found.append(f"The file's game is {policy.game}; a new match with that game applies it.")
    if policy.rules != started.file_rules:
        found.append("The file's rules have changed; the next match plays by them.")
    if policy.unknown_object != started.unknown_object:
        found.append(f"unknown_object is {policy.unknown_object} in the file; the next match follows it.")
    return found


def health_document(
    table: str,
    state: TableState,
    stamp: Stamp,
    *,
    started_at_ns: int,
    bank: SensorBank,
    sources: Mapping[str, Json],
    outages: Mapping[str, Mapping[int, str]],
    journal: JournalHealth,
    broker: Json,
) -> dict[str, Any]:
    """The `health` document: how every part is, and for how long that word holds.

    `outages` says, by source and channel, which wires cannot be used and why. A button is among the beams as long
    as something is wrong with it.
    """
    return {
        **_envelope(HEALTH_SCHEMA, table, state, stamp),
        "valid_for_s": HEALTH_VALID_S,
        "started_at": instant(started_at_ns),
        "beams": {
            name: health
            for name, line in bank.lines.items()
            if (health := _input_health(line, outages, stamp.monotonic_ns)) is not None
        },
        "strays": _strays(bank),
        "sources": dict(sources),
        "journal": {
            "safe": journal.safe,
            "reason": journal.reason,
            "queue": journal.waiting,
            "counters": {
                "high_water": journal.high_water,
                "commits": journal.commits,
                "failures": journal.failures,
                "last_commit_us": journal.last_commit_ns // 1_000,
                "backups": journal.backups,
                "backup_failures": journal.backup_failures,
            },
        },
        "broker": dict(broker),
        "clock": {"synchronised": stamp.clock_synchronised},
    }


def _input_health(line: Line, outages: Mapping[str, Mapping[int, str]], now_ns: int) -> dict[str, Any] | None:
    health, counters = health_of(line, now_ns), line.debouncer.counters
    state, since_ns, reason = health.state, health.since_ns, health.reason
    outage = outages.get(line.input.source, {}).get(line.input.channel)
    if outage is not None:
        state, since_ns, reason = "unknown", None, outage
    elif isinstance(line.input, Button) and state == "ok":
        return None
    return {
        "state": state,
        "since_s": None if since_ns is None else max(0.0, round((now_ns - since_ns) / NS_PER_S, 1)),
        "passages": counters.passages,
        "glitches": counters.glitches,
        "near_misses": counters.near_misses,
        "uncounted": counters.uncounted,
        "summed": counters.summed,
        "reason": reason,
    }


def _strays(bank: SensorBank) -> dict[str, Any]:
    """What came in and belongs to nothing that the configuration knows."""
    reasons: list[str] = []
    if bank.unknown_channels:
        reasons.append(
            how_many(bank.unknown_channels, "change came from a wire", "changes came from wires")
            + " that the configuration does not know: something is connected to the wrong input, or is missing in the"
            " file."
        )
    if bank.unplaced_colours:
        reasons.append(
            how_many(bank.unplaced_colours, "colour was told", "colours were told")
            + " with no passage in the second before: the beam beside that colour sensor misses objects, or the sensor"
            " sees something else."
        )
    return {
        "unknown_channels": bank.unknown_channels,
        "unplaced_colours": bank.unplaced_colours,
        "reason": " ".join(reasons) or None,
    }
