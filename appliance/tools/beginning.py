"""Where a recording can begin, so that what follows comes out the same when it is played again.

The beginning of a match always will do: its set-up says everything. In the middle of one, everything that is
still open must be settled, nothing may happen for a moment (what comes shortly after a close refers to it), and
the standing must be one that a `position` can say in full. What goes back behind the beginning, such as an undo,
or names something by its number needs the beginning of the match.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from appliance import rules
from appliance.journal import Record
from appliance.records import read_record
from appliance.table.evolve import evolve
from appliance.table.model import MatchStarted, Requested, Stepped, StrokeClosed, TableState

CALM_NS = 3_000_000_000
"""For so long after a close a late passage, a confirming press or a colour can still refer to it."""
_LOOKS_BACK = frozenset({"undo", "redo", "correct"})
_NUMBERED = frozenset({"question", "passage_id", "claim"})

Placed = tuple[int, Record]
"""A record, and the number of the newest row before its batch."""


@dataclass(frozen=True, slots=True)
class Beginning:
    """After this everything is recorded: `row` and `seq` are the last that came before, `at_ns` is when.

    `started` is the match that is played; `position` is its standing, None at its own beginning.
    """

    row: int
    seq: int
    at_ns: int
    started: MatchStarted
    position: Mapping[str, Any] | None
    of_match: bool
    """Whether this is the very beginning of the match."""
    boot_id: str


def beginnings(records: Sequence[Placed], boot_id: str | None = None) -> list[Beginning]:
    """Every place where a recording could begin, oldest first; of that boot of the host alone, where one is named."""
    found: list[Beginning] = []
    state: TableState | None = None
    for index, (row, record) in enumerate(records):
        event = read_record(record)
        state = evolve(state, event, record.seq)
        last_of_input = index + 1 == len(records) or records[index + 1][1].seq != record.seq
        here = record.stamp.boot_id
        if boot_id not in (None, here):
            continue
        if isinstance(event, MatchStarted):
            at_ns = record.stamp.monotonic_ns
            found.append(Beginning(row, record.seq, at_ns, event, _given_position(event), True, here))
        elif last_of_input and isinstance(event, Stepped) and isinstance(event.step.action, StrokeClosed):
            closed = event.step.action
            # A stroke that time closed did so when it was over, and the edge that told so belongs to what comes.
            at_ns = closed.at_ns if closed.by == "quiet" else record.stamp.monotonic_ns
            position = _position(state)
            if position is not None:
                found.append(Beginning(row, record.seq, at_ns, state.match.started, position, False, here))
    return found


def choose(
    found: Sequence[Beginning], records: Sequence[Placed], moved_ns: Sequence[int], since_ns: int
) -> Beginning | None:
    """The newest beginning at `since_ns` or before that will do, or the oldest; None where none will.

    `moved_ns` is when something happened.
    """
    needs_match = [record.seq for _, record in records if _needs_the_match(record)]

    def will_do(each: Beginning) -> bool:
        if each.of_match:
            return True
        calm = not any(each.at_ns < at_ns <= each.at_ns + CALM_NS for at_ns in moved_ns)
        return calm and not any(seq > each.seq for seq in needs_match)

    usable = [each for each in found if will_do(each)]
    before = [each for each in usable if each.at_ns <= since_ns]
    return before[-1] if before else next(iter(usable), None)


def _needs_the_match(record: Record) -> bool:
    if record.kind != "requested":
        return False
    asked = read_record(record)
    assert isinstance(asked, Requested)
    return asked.command in _LOOKS_BACK or not _NUMBERED.isdisjoint(asked.fields)


def _given_position(started: MatchStarted) -> Mapping[str, Any] | None:
    position: Mapping[str, Any] | None = started.setup["line"].get("position")
    return position


def _position(state: TableState) -> dict[str, Any] | None:
    """The standing as a position, where that says all of it and nothing else is open."""
    fold = state.fold
    if state.stroke or state.paused_ns is not None or fold.queue or fold.questions or not fold.in_play:
        return None
    document: dict[str, Any] = rules.document(fold.rules)
    known = ("sides", "queen", "players", "on_board", "phase", "ends")
    position = {name: document[name] for name in known if name in document}
    turn = document["turn"]
    position["turn"] = {name: turn[name] for name in ("player", "end", "final_throw") if name in turn}
    if fold.rules.game != "carpetball":
        position.pop("phase")
    setup = {**state.match.started.setup["line"], "position": position}
    try:
        begun = rules.start(rules.parse_setup(fold.rules.game, setup))
    except rules.BadInput:
        return None
    return position if rules.to_text(begun) == rules.to_text(fold.rules) else None
