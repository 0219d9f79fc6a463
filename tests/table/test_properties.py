"""Laws of the session, tried with random scripts of everything that can come in, nonsense included.

Never an exception; the journalled records fold to the very same state; undo to the beginning and redo to the
end comes back to the same; the exported lines, put to the rules alone, give the score that is shown; pieces are
conserved. That `seq` grows by one and that every document validates is watched by the session itself.
"""

from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from appliance import rules
from appliance.table.inputs import Refused, Request
from appliance.table.model import UNSCORED_KEPT
from tests.support.session import CARPETBALL, CARROM, Session, ns

GAMES = ("club_carrom", "new_carrom", "money_carrom", "carpetball")
COMMANDS = (
    "done",
    "end_stroke",
    "stroke",
    "throw",
    "jumped",
    "break_not_made",
    "no_stroke",
    "line_up",
    "withdraw",
    "next_board",
    "next_round",
    "object",
    "answer",
    "recount",
    "undo",
    "redo",
    "correct",
    "new_match",
    "pause",
    "resume",
    "abandon",
    "players",
    "dance",
)

objects = st.sampled_from((*CARROM, *CARPETBALL, "own", "other", "purple"))
object_lists = st.lists(st.sampled_from(CARROM), max_size=3)
small = st.integers(-1, 6)
ends = st.sampled_from(("north", "south", "east"))
junk = st.one_of(
    st.none(),
    st.booleans(),
    small,
    st.text(max_size=3),
    st.lists(st.one_of(small, objects), max_size=2),
    st.dictionaries(st.sampled_from(("north", "A", "player")), small, max_size=2),
)
places = st.sampled_from(("ne", "nw"))
outs = st.fixed_dictionaries({}, optional={"north": st.integers(0, 3), "south": st.integers(0, 3)})
positions = st.one_of(
    st.fixed_dictionaries(
        {},
        optional={
            "sides": st.dictionaries(
                st.sampled_from(("A", "B")),
                st.fixed_dictionaries({}, optional={"pocketed": st.integers(0, 9), "due": st.integers(0, 1)}),
            ),
            "queen": st.sampled_from(
                ({"status": "on_board", "side": None}, {"status": "covered", "side": "A"}, {"status": "uncovered"})
            ),
            "turn": st.fixed_dictionaries({"player": st.integers(1, 4)}),
        },
    ),
    st.fixed_dictionaries(
        {},
        optional={
            "on_board": st.dictionaries(st.sampled_from(("white", "black", "queen")), st.integers(0, 9)),
            "players": st.lists(
                st.fixed_dictionaries({"player": st.integers(1, 4)}, optional={"score": st.integers(0, 20)}), max_size=2
            ),
        },
    ),
    st.fixed_dictionaries(
        {}, optional={"ends": st.dictionaries(ends, st.fixed_dictionaries({"in_play": st.integers(0, 6)}))}
    ),
)
SENSIBLE: dict[str, st.SearchStrategy[dict[str, Any]]] = {
    "done": st.fixed_dictionaries({}, optional={"player": st.integers(1, 4)}),
    "end_stroke": st.fixed_dictionaries({}, optional={"player": st.integers(1, 4)}),
    "stroke": st.fixed_dictionaries({"pocketed": object_lists}, optional={"jumped": object_lists}),
    "throw": st.fixed_dictionaries({}, optional={"out": outs, "off_table": st.integers(0, 2), "short": st.booleans()}),
    "jumped": st.fixed_dictionaries({"objects": object_lists}),
    "line_up": st.fixed_dictionaries({"north": st.integers(1, 5), "south": st.integers(1, 5)}),
    "withdraw": st.fixed_dictionaries({"end": ends, "balls": st.integers(1, 3)}),
    "object": st.fixed_dictionaries(
        {"object": objects}, optional={"passage_id": st.sampled_from(("p1", "p2", "p3", "p9")), "place": places}
    ),
    "answer": st.fixed_dictionaries(
        {"value": st.one_of(objects, st.integers(0, 4), st.booleans())},
        optional={"question": st.sampled_from(("q1", "q2", "q3"))},
    ),
    "recount": positions,
    "correct": st.fixed_dictionaries(
        {"stroke": st.integers(1, 5)},
        optional={
            "pocketed": object_lists,
            "jumped": object_lists,
            "out": outs,
            "off_table": st.integers(0, 1),
            "player": st.integers(1, 4),
            "void": st.booleans(),
        },
    )
    | st.fixed_dictionaries(
        {"stroke": st.integers(1, 5), "claim": st.sampled_from(("p1", "p2", "p3", "p4", "p5")), "object": objects}
    ),
    "new_match": st.fixed_dictionaries(
        {},
        optional={
            "game": st.sampled_from(GAMES),
            "abandon": st.booleans(),
            "players": st.sampled_from((["Asha", "Ben"], ["Ben", "Chidi", "Dana", "Asha"], ["Asha", "Asha"])),
            "position": positions,
        },
    ),
    "players": st.fixed_dictionaries({"swap": st.lists(st.integers(1, 4), min_size=2, max_size=2)})
    | st.fixed_dictionaries({"names": st.sampled_from((["Zoe", "Asha"], ["Asha", "Ben"]))}),
}
# What a table hears most often comes most often.
common = st.sampled_from(("done", "done", "done", "stroke", "throw", "line_up", "next_board", "next_round", "undo"))


@st.composite
def requests(draw: st.DrawFn) -> tuple[str, dict[str, Any], str | None]:
    command = draw(common | st.sampled_from(COMMANDS))
    sensible = draw(SENSIBLE.get(command, st.just({})))
    if draw(st.integers(0, 9)) == 0:
        names = sorted({*sensible, "player", "stroke", "value", "players", "options", "swap", "claim", "passage_id"})
        sensible = {**sensible, draw(st.sampled_from(names)): draw(junk)}
    button = draw(st.sampled_from((None, None, "b1", "b2"))) if command == "done" else None
    return command, sensible, button


candidate_sets = st.sampled_from(
    ((), (), ("white",), ("black",), ("striker",), ("white", "black"), ("queen", "striker"), ("white", "queen"))
)
doubts = st.sampled_from((None, None, "possibly_two", "unclear"))
steps = st.one_of(
    st.tuples(st.just("passes"), places, candidate_sets, st.sampled_from((0.0, 0.03, 0.5)), doubts),
    st.tuples(st.just("passes"), places, candidate_sets, st.sampled_from((0.0, 0.03, 0.5)), doubts),
    st.tuples(st.just("again"), places, st.sampled_from((0.1, 1.0)), doubts),
    st.tuples(st.just("withdraws"), places),
    st.tuples(st.just("colour"), places, st.sampled_from((*CARROM, *CARPETBALL))),
    st.tuples(st.just("strike")),
    st.tuples(st.just("clock")),
    st.tuples(st.just("reboot")),
    st.tuples(st.just("ask"), requests()),
    st.tuples(st.just("ask"), requests()),
    st.tuples(st.just("ask"), requests()),
)
scripts = st.lists(st.tuples(st.sampled_from((0.05, 0.4, 1.5, 2.5, 7.0)), steps), min_size=5, max_size=40)
tables = st.fixed_dictionaries(
    {
        "game": st.sampled_from(GAMES),
        "players": st.sampled_from((("Asha", "Ben"), ("Asha", "Ben", "Chidi", "Dana"))),
        "unknown": st.sampled_from(("ask", "ask_then_assume", "assume")),
        "strike": st.booleans(),
        "quiet_s": st.sampled_from((0, 6)),
    }
)


class Play:
    """Runs a script on a table."""

    def __init__(self, table: Session) -> None:
        self.table = table
        self.now = 100.0
        self.newest = {"ne": 0.0, "nw": 0.0, "north": 0.0, "south": 0.0}

    def place(self, name: str) -> str:
        if self.table.state.match.started.setup["game"] != "carpetball":
            return name
        return {"ne": "north", "nw": "south"}[name]

    def run(self, script: list[Any]) -> None:
        for wait_s, (kind, *what) in script:
            self.now += wait_s
            getattr(self, kind)(*what)

    def passes(self, place: str, candidates: tuple[str, ...], dwell_s: float, doubt: str | None) -> None:
        place = self.place(place)
        known = CARPETBALL if place in ("north", "south") else CARROM
        self.newest[place] = self.now
        fits = (c for c in candidates if c in known)
        self.table.passes(*fits, at=self.now, place=place, ms=dwell_s * 1000, doubt=doubt)

    def again(self, place: str, dwell_s: float, doubt: str | None) -> None:
        place = self.place(place)
        self.table.passes(at=self.newest[place], place=place, ms=dwell_s * 1000, doubt=doubt)

    def withdraws(self, place: str) -> None:
        place = self.place(place)
        self.table.withdraws(at=self.newest[place], known=self.now, place=place)

    def colour(self, place: str, name: str) -> None:
        place = self.place(place)
        self.table.colour(name, at=self.newest[place], place=place)

    def strike(self) -> None:
        self.table.strike(self.now)

    def clock(self) -> None:
        self.table.clock(self.now)

    def reboot(self) -> None:
        self.table.reboot(self.now)

    def ask(self, request: tuple[str, dict[str, Any], str | None]) -> None:
        command, fields, button = request
        before = self.table.state
        refused = self.table.take(Request(command, ns(self.now), fields, button=button))
        if isinstance(refused, Refused):
            assert self.table.state is before
            assert refused.message


def conserved(table: Session) -> None:
    """Carrom: nine and nine pieces and a queen; carpetball: never more than were lined up."""
    shown = table.rules
    if "sides" in shown:
        for side in shown["sides"].values():
            assert 0 <= side["pocketed"] <= 9
            assert side["due"] == 0 or side["pocketed"] == 0
    elif "on_board" in shown:
        assert all(0 <= count <= 9 for count in shown["on_board"].values())
    else:
        assert all(end["in_play"] is None or 0 <= end["in_play"] <= 7 for end in shown["ends"].values())
    assert len(table.state.unscored) <= UNSCORED_KEPT
    ids = [unscored.fallen.passage_id for unscored in table.state.unscored]
    assert len(set(ids)) == len(ids), "a passage is kept once"
    waiting = [fallen.passage_id for stroke in table.state.fold.waiting for fallen in stroke.fallen]
    opened = [fallen.passage_id for fallen in table.state.stroke.fallen] if table.state.stroke else []
    assert not {*waiting, *opened} & set(ids), "what still counts is not unscored"


def alone(table: Session) -> dict[str, Any]:
    """The score that the rules alone come to with the exported lines."""
    setup = table.state.match.started.setup
    state = rules.start(rules.parse_setup(setup["game"], setup["line"]))
    for line in table.lines:
        applied = rules.apply(state, rules.parse_observation(setup["game"], line))
        assert not isinstance(applied, rules.Refusal), (line, applied)
        state = applied[0]
    return dict(rules.document(state))


def one_fold_per_stroke(table: Session) -> None:
    numbers = [entry.stroke.number for entry in table.state.fold.strokes]
    waiting = [stroke.number for stroke in table.state.fold.waiting]
    assert sorted({*numbers, *waiting}) == sorted([*numbers, *waiting]), "no number is there twice"


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(tables, scripts)
def test_whatever_comes_in(table: dict[str, Any], script: list[Any]) -> None:
    session = Session(check=False, **table)
    play = Play(session)
    for entry in script:
        play.run([entry])
        conserved(session)
        one_fold_per_stroke(session)
    assert session.refolded() == session.state
    assert alone(session) == session.rules
    back_and_forth(session)


def back_and_forth(session: Session) -> None:
    if session.state.stroke is not None:
        assert session.ask("undo") is None
    while session.ask("redo") is None:
        pass
    end = session.state
    seen = [(end.match.id, end.match.steps, end.fold)]
    while session.ask("undo") is None:
        seen.append((session.state.match.id, session.state.match.steps, session.state.fold))
    assert session.refused is not None
    assert session.refused.code == "nothing_to_undo"
    for match_id, taken, fold in reversed(seen[:-1]):
        assert session.ask("redo") is None
        assert session.state.match.id == match_id
        assert session.state.match.steps == taken
        assert without_news(session.state.fold) == without_news(fold)
    assert session.ask("redo") == "nothing_to_redo"
    assert session.rules == dict(rules.document(end.fold.rules))
    assert session.refolded() == session.state


def without_news(fold: Any) -> tuple[Any, ...]:
    """Everything of a fold but what the newest step brought, which an undo does not bring again."""
    return tuple(getattr(fold, name) for name in fold.__slots__ if name != "news")
