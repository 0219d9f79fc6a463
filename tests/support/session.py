"""A session at the table without sensors, clock or disk, in the words that people use at a table.

Every test that plays here watches the same promises wherever something is accepted: `seq` grows by one, the
`state` document and every event are what the models say, a refusal changes nothing, and the journalled
records fold to the very same state.
"""

from dataclasses import replace
from typing import Any

from appliance.mqtt.models import State, document_model
from appliance.mqtt.topics import EVENT_SCHEMA, STATE_SCHEMA
from appliance.records import read_event, write_event
from appliance.table.decide import begin, decide
from appliance.table.evolve import evolve
from appliance.table.inputs import ClockPassed, Coloured, Passed, Rebooted, Refused, Request, Strike, TableInput
from appliance.table.matches import first_match
from appliance.table.model import Policy, Seat, TableState
from appliance.table.view import happenings, observation_lines, state_body

SECOND = 1_000_000_000
CARROM = ("white", "black", "queen", "striker")
CARPETBALL = ("ball", "cue")
ENVELOPE: dict[str, Any] = {"table": "t1", "at": "2024-01-01T00:00:00.000Z", "clock_synchronised": True}


def ns(seconds: float) -> int:
    return round(seconds * SECOND)


class Session:
    """One table; times are seconds."""

    def __init__(
        self,
        game: str = "club_carrom",
        players: tuple[str, ...] = ("Asha", "Ben"),
        *,
        unknown: str = "ask_then_assume",
        quiet_s: float = 6,
        strike: bool = False,
        rules: dict[str, Any] | None = None,
        position: dict[str, Any] | None = None,
        check: bool = True,
    ) -> None:
        seats = tuple(Seat(name, name) for name in players)
        self.policy = Policy(game, seats, rules or {}, unknown, ns(quiet_s), strike)  # type: ignore[arg-type]
        self.check = check
        self.records: list[tuple[int, int, str]] = []
        self.events: list[dict[str, Any]] = []
        self.news: list[dict[str, Any]] = []
        decision = begin(first_match(self.policy, position))
        self.state: TableState = decision.state
        self._keep(decision)

    # -- what comes in

    def take(self, given: TableInput) -> Refused | None:
        """Take an input; the refusal, if it was one. `news` are the events that it brought."""
        before, self.news = self.state, []
        decided = decide(before, given, self.policy)
        if isinstance(decided, Refused):
            return decided
        self.state = decided.state
        assert self.state.seq == before.seq + bool(decided.events)
        self._keep(decided)
        return None

    def passes(
        self,
        *candidates: str,
        at: float,
        place: str = "ne",
        ms: float = 30,
        beam: str | None = None,
        doubt: str | None = None,
    ) -> str | None:
        """Something that is one of `candidates` (all of the game's, where none is named) passes, or is seen again."""
        every = CARPETBALL if self.state.match.started.setup["game"] == "carpetball" else CARROM
        started, number = ns(at), self.state.match.next_passage
        ended = started + ns(ms / 1000)
        self.take(Passed(beam or place, place, candidates or every, started, ended, doubt))  # type: ignore[arg-type]
        return f"p{number}" if self.state.match.next_passage > number else None

    def withdraws(self, *, at: float, known: float, place: str = "ne", ms: float = 30, reason: str = "a hand") -> None:
        """What passed at `at` turns out, at `known`, to be nothing; also where it had not been shown."""
        every = CARPETBALL if self.state.match.started.setup["game"] == "carpetball" else CARROM
        started = ns(at)
        self.take(Passed(place, place, every, started, started + ns(ms / 1000), None, reason, ns(known)))

    def colour(self, name: str, *, at: float, place: str = "ne", twice: bool = False) -> None:
        self.take(Coloured(place, ns(at), name, twice))

    def strike(self, at: float, end: str | None = None, *, across: bool = False) -> None:
        self.take(Strike(end, ns(at), across))

    def clock(self, at: float) -> None:
        self.take(ClockPassed(ns(at)))

    def reboot(self, at: float) -> None:
        self.take(Rebooted(ns(at)))

    def press(self, player: int, at: float, button: str | None = None) -> Refused | None:
        """The player's `done` button."""
        name = button or f"done-{player}"
        return self.take(Request("done", ns(at), {"player": player}, button=name))

    def ask(self, command: str, *, at: float = 0, expected_seq: int | None = None, **fields: Any) -> str | None:
        """A request; the code of its refusal, or None where it was done. The refusal itself is `refused`."""
        self.refused = self.take(Request(command, ns(at), fields, expected_seq))
        return self.refused.code if self.refused else None

    def do(self, command: str, *, at: float = 0, **fields: Any) -> None:
        """A request that must be done."""
        assert self.ask(command, at=at, **fields) is None, self.refused

    def played(self, *pocketed: str, jumped: tuple[str, ...] = ()) -> None:
        """A whole stroke by hand."""
        self.do("stroke", pocketed=list(pocketed), jumped=list(jumped))

    # -- what is seen

    @property
    def document(self) -> dict[str, Any]:
        return {"schema": STATE_SCHEMA, **ENVELOPE, **state_body(self.state)}

    @property
    def rules(self) -> dict[str, Any]:
        found: dict[str, Any] = self.document["rules"]
        return found

    @property
    def turn(self) -> Any:
        """The player on turn (carpetball: the end)."""
        turn = self.rules["turn"]
        return turn and turn.get("player", turn.get("end"))

    def side(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = self.rules["sides"][name]
        return found

    @property
    def lines(self) -> list[dict[str, Any]]:
        """The effective history, without the set-up line."""
        return [dict(line) for line in observation_lines(self.state.match)[1:]]

    @property
    def strokes(self) -> list[Any]:
        """What every stroke line of the history pocketed."""
        return [line["pocketed"] for line in self.lines if line["type"] == "stroke"]

    @property
    def questions(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.document["questions"]
        return found

    @property
    def pending(self) -> list[int]:
        return [stroke["number"] for stroke in self.document["pending"]]

    @property
    def open_stroke(self) -> dict[str, Any] | None:
        found: dict[str, Any] | None = self.document["stroke"]
        return found

    @property
    def names(self) -> list[str]:
        """The names of the events that the last input brought."""
        return [news["event"] for news in self.news]

    def unscored(self) -> set[str]:
        return {unscored.fallen.passage_id for unscored in self.state.unscored}

    # -- the promises

    def refolded(self) -> TableState:
        """The state as a restart folds it."""
        state: TableState | None = None
        for seq, depth, text in self.records:
            state = replace(evolve(state, read_event(text), seq), depth=depth)
        assert state is not None
        return state

    def _keep(self, decision: Any) -> None:
        for event, was, now in zip(decision.events, decision.states, decision.states[1:], strict=False):
            self.records.append((now.seq, now.depth, write_event(event)))
            self.news += [dict(each) for each in happenings(event, was, now)]
        self.events += self.news
        if self.check:
            assert self.refolded() == self.state
        validate_state(self.document)
        for number, news in enumerate(self.news, 1):
            head = {"event_id": f"{self.state.seq}.{number}", "seq": self.state.seq, "match_id": self.state.match.id}
            document = {"schema": EVENT_SCHEMA, **ENVELOPE, **head, **news}
            document_model(EVENT_SCHEMA, document).model_validate(document)


def validate_state(document: dict[str, Any]) -> None:
    """The document is what the model says, with every key there."""
    State.model_validate(document)
    assert set(document) == {field.alias or name for name, field in State.model_fields.items()}
