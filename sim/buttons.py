"""People at the table: they press what the tier asks of them, answer what it asks, and look at the score.

They know what really fell and see what the pages show. Every press takes a human's time; a press may be forgotten or
doubled where that fault is switched on. What they do to put a score right is counted apart from what play asks of
them (`taps`, by stroke).
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from appliance import rules
from sim.parameters import Parameters
from sim.physics import US_PER_MS, US_PER_S
from sim.rig import NS_PER_US, Rig
from sim.tiers import Tier
from sim.truth import Drop, TrueStroke

MOST_ANSWERS = 16
MOST_TOLD_AGAIN = 3
CARPETBALL = "carpetball"
LONGEST_NS = 2_000_000_000
"""Nobody takes what falls later than this for a part of the same passage."""


@dataclass(slots=True)
class People:
    """The players of one table. `taps` counts presses and answers by the start of the stroke that they belong to, and
    `done` those of them that only said that a stroke was over; `answered` holds the strokes in which they told the
    table something about what fell.
    """

    rig: Rig
    tier: Tier
    numbers: Parameters
    rng: Random
    faults: Sequence[str]
    taps: Counter[int] = field(default_factory=Counter)
    done: Counter[int] = field(default_factory=Counter)
    answered: set[int] = field(default_factory=set)
    strokes: list[TrueStroke] = field(default_factory=list)
    repairs: int = 0
    refused: int = 0
    given_up: int = 0

    # -- a stroke ------------------------------------------------------------------------------------------

    def after(self, stroke: TrueStroke) -> None:
        """What people do once everything rests: name what fell, or say that it was a miss."""
        self.strokes.append(stroke)
        self.wait("people.react_s")
        fallen = any(drop.at_us < self.rig.now_us for drop in stroke.drops)
        if self.tier.names_objects and fallen:
            self._name_objects(stroke)
        if self.tier.has_done and not fallen:
            self._done(stroke)
        elif self.tier.names_objects and self._only_others(stroke):
            # Without this the table would ask whose stroke it was.
            self._done(stroke)
        self._wait_and_answer(stroke)

    def after_late(self, stroke: TrueStroke) -> None:
        """A disc has dropped when everybody thought that the stroke was over."""
        self.wait("people.react_s")
        if self.tier.names_objects:
            self._name_objects(stroke)
        self._wait_and_answer(stroke)

    def _wait_and_answer(self, stroke: TrueStroke) -> None:
        if not self.tier.has_strikes:
            self._until_closed()
        self._answer_questions(stroke)

    def _only_others(self, stroke: TrueStroke) -> bool:
        own = rules.own_colour(self.rig.state.fold.rules, stroke.player)
        other = {"white": "black", "black": "white"}.get(own or "")
        return other is not None and all(drop.object == other for drop in stroke.drops)

    def _done(self, stroke: TrueStroke) -> None:
        if not self._forgets():
            self.done[stroke.start_us] += 1
            self._press(f"done-{stroke.player}", stroke)

    def _name_objects(self, stroke: TrueStroke) -> None:
        """Press a key for each object that the table shows as unknown, the newest first, as keys name them.

        Where the page shows one that may be two, and it was two, they wait to be asked.
        """
        for _ in range(MOST_ANSWERS):
            unknown = self._unknown(stroke)
            key = self._key_for(unknown)
            if key is None or self._forgets():
                return
            before = len(unknown)
            self.answered.add(stroke.start_us)
            self._press(key, stroke)
            if len(self._unknown(stroke)) == before:
                return
            self.wait("people.next_key_s")

    def _key_for(self, unknown: list[tuple[str, list[Drop]]]) -> str | None:
        """The key that names the newest unknown object; None where there is none, or no single one."""
        if not unknown or len(unknown[-1][1]) != 1:
            return None
        name = unknown[-1][1][0].object
        # Carpetball has a key for the cue ball alone; once that is known, the others are known to be none.
        return name if name in {button.id for button in self.rig.settings.buttons} else None

    def _unknown(self, stroke: TrueStroke) -> list[tuple[str, list[Drop]]]:
        """The objects of the open stroke that the page shows without a name, with what they really were."""
        shown = self.rig.shown["stroke"]
        if shown is None:
            return []
        return [
            (each["passage_id"], self._behind(each["passage_id"]))
            for each in shown["fallen"]
            if each["object"] is None and each["how"] == "unknown" and each["candidates"]
        ]

    def _behind(self, passage_id: str) -> list[Drop]:
        """What really fell where the table shows this passage."""
        fallen = {each.passage_id: each for each in self._fallen()}
        meant = fallen.get(passage_id)
        if meant is None:
            return []
        starts = sorted({f.started_ns for f in fallen.values() if f.place == meant.place})
        until = min([*(start for start in starts if start > meant.started_ns), meant.started_ns + LONGEST_NS])
        found = [
            drop
            for drop in self._dropped()
            if drop.place == meant.place and drop.pulses and meant.started_ns <= drop.first_us * NS_PER_US < until
        ]
        return sorted(found, key=lambda drop: drop.first_us)

    def _dropped(self) -> list[Drop]:
        """What fell lately, in this stroke or in one that still waits."""
        return [drop for stroke in self.strokes[-12:] for drop in stroke.drops]

    def _fallen(self) -> list[Any]:
        state = self.rig.state
        found = list(state.stroke.fallen) if state.stroke else []
        for waiting in state.fold.waiting:
            found += waiting.fallen
        return found

    # -- questions -----------------------------------------------------------------------------------------

    def _answer_questions(self, stroke: TrueStroke) -> None:
        """Answer what the table asks, where it is a tier whose players do."""
        if not (self.tier.names_objects or self.tier.has_strikes):
            return
        for _ in range(MOST_ANSWERS):
            asked = self.rig.shown["questions"]
            if not asked:
                return
            self.wait("people.react_s")
            asked = self.rig.shown["questions"]
            if asked:
                about = self._true_stroke(asked[0]["stroke"], stroke).start_us
                self.taps[about] += 1
                self.answered.add(about)
                if not self._answer(asked[0], stroke):
                    return

    def _answer(self, question: dict[str, Any], stroke: TrueStroke) -> bool:
        behind = [] if question["passage_id"] is None else self._behind(question["passage_id"])
        match question["kind"]:
            case "who_shot":
                shooter = self._true_stroke(question["stroke"], stroke).player
                return self.rig.request("answer", question=question["id"], value=shooter)
            case "did_it_fall":
                return self.rig.request("answer", question=question["id"], value=bool(behind))
            case "how_many":
                return self.rig.request("answer", question=question["id"], value=min(len(behind), 2))
            case _:
                # The second object of a passage that was two has an id that ends in a b.
                for drop in behind[1:] if question["passage_id"].endswith("b") else behind:
                    if drop.object in question["candidates"]:
                        return self.rig.request("answer", question=question["id"], value=drop.object)
                return self._correct(question["stroke"], self._true_stroke(question["stroke"], stroke))

    def _true_stroke(self, number: int, newest: TrueStroke) -> TrueStroke:
        """What was really played in the table's stroke of that number."""
        closed = self.rig.state.fold.closed_stroke(number)
        meant = None if closed is None else _meant(closed.at_ns // NS_PER_US, self.strokes)
        return newest if meant is None else meant

    def _correct(self, number: int, stroke: TrueStroke) -> bool:
        """Say what a stroke really was."""
        waits = self.rig.settings.table.unknown_object == "ask"
        if waits and any(waiting.number == number for waiting in self.rig.state.fold.waiting):
            self.answered.add(stroke.start_us)
        return self.rig.request("correct", stroke=number, **self._facts(stroke))

    def _facts(self, stroke: TrueStroke) -> dict[str, Any]:
        if self.rig.settings.table.game == CARPETBALL:
            return {"out": {e: _count(stroke, e) for e in ("north", "south")}}
        return {"pocketed": [drop.object for drop in stroke.drops]}

    # -- between boards --------------------------------------------------------------------------------------

    def set_up(self) -> None:
        """A new board or round is set up, and `done` says so."""
        self.wait("people.set_up_s")
        self._tap("done-1")

    # -- the score -------------------------------------------------------------------------------------------

    def agrees(self, truth: rules.GameState) -> bool:
        """Whether the table shows what is really there."""
        shown, really = rules.document(self.rig.projected().rules), rules.document(truth)
        # A match that was begun again counts its rounds anew.
        return {**shown, "round": None} == {**really, "round": None}

    def notices(self) -> bool:
        """Whether anybody looks at what is left."""
        return self.numbers.happens("people.notices", self.rng)

    def put_right(self, truth: rules.GameState, strokes: Sequence[TrueStroke]) -> bool:
        """Put the score right with as few requests as it takes; False where nobody finds a way.

        Whoever looks at the page sees what it asks before anything else.
        """
        self.wait("people.react_s")
        self._answer_questions(self.strokes[-1])
        if self.agrees(truth):
            return True
        self.rig.seal()
        ways: list[Callable[[], bool]] = [
            lambda: self._recount(truth),
            lambda: self._tell_unseen(strokes),
            lambda: self._correct_board(truth, strokes),
            lambda: self._tell_again(strokes),
            lambda: self._begin_again(truth),
        ]
        for way in ways:
            self.repairs += 1
            way()
            if self.agrees(truth):
                return True
        return False

    def _recount(self, truth: rules.GameState) -> bool:
        document = rules.document(truth)
        names = {
            CARPETBALL: ("ends", "turn"),
            "money_carrom": ("players", "on_board", "turn"),
        }.get(self.rig.settings.table.game, ("sides", "queen", "turn"))
        if any(document.get(name) is None for name in names):
            return False
        position = {name: _settable(document[name]) for name in names}
        return self.rig.request("recount", **position)

    def _correct_board(self, truth: rules.GameState, strokes: Sequence[TrueStroke]) -> bool:
        """Say of this board's strokes, the newest first, what they really were, until the score is right."""
        fold = self.rig.state.fold
        judged = {entry.stroke.number: entry.observation for entry in fold.strokes}
        numbers = [*judged, *(entry.number for entry in fold.waiting)]
        for number in reversed(numbers[-60:]):
            closed = fold.closed_stroke(number)
            meant = None if closed is None else _meant(closed.at_ns // NS_PER_US, strokes)
            if meant is None or _same(judged.get(number), meant):
                continue
            if self._correct(number, meant) and self.agrees(truth):
                return True
        return False

    def _tell_unseen(self, strokes: Sequence[TrueStroke]) -> bool:
        """Score by hand the last stroke, of which the table saw nothing at all."""
        fold = self.rig.state.fold
        closed = [*(entry.stroke for entry in fold.strokes[-1:]), *fold.waiting]
        if not strokes or any(each.at_ns // NS_PER_US > strokes[-1].start_us for each in closed):
            return False
        return self._tell(strokes[-1])

    def _tell_again(self, strokes: Sequence[TrueStroke]) -> bool:
        """Take the last stroke back (and first what was tried since), and score it by hand on what was before it.

        Where that cannot be set, because a last throw is due then, those before it are scored by hand as well.
        """
        for _ in range(MOST_ANSWERS):
            if not strokes or not self.rig.request("undo") or self.rig.projected().in_play:
                break
        for count in range(1, min(MOST_TOLD_AGAIN, len(strokes)) + 1):
            before = strokes[-count].before
            if before is not None and (self.agrees(before) or self._recount(before)):
                return all(self._tell(stroke) for stroke in strokes[-count:])
        return False

    def _tell(self, stroke: TrueStroke) -> bool:
        command = "throw" if self.rig.settings.table.game == CARPETBALL else "stroke"
        return self.rig.request(command, **self._facts(stroke))

    def _begin_again(self, truth: rules.GameState) -> bool:
        follows = ("round", "queue", "round_winner", "game", "board", "board_result")
        document = {k: v for k, v in rules.document(truth).items() if v is not None and k not in follows}
        return self.rig.request("new_match", abandon=True, position=document)

    # -- fingers -----------------------------------------------------------------------------------------------

    def wait(self, name: str) -> None:
        """Let a human's time pass."""
        self.rig.advance(self.rig.now_us + round(self.numbers.draw(name, self.rng) * US_PER_S))

    def _forgets(self) -> bool:
        return "forgotten" in self.faults and self.numbers.happens("people.forgotten", self.rng)

    def _press(self, button: str, stroke: TrueStroke) -> None:
        self.taps[stroke.start_us] += 1
        self._tap(button)

    def _tap(self, button: str) -> None:
        """One press, now; perhaps another one right after it."""
        remarks = self.rig.remarks
        presses = [self.rig.now_us]
        if "doubled" in self.faults and self.numbers.happens("people.doubled", self.rng):
            presses.append(self.rig.now_us + round(self.numbers.draw("people.doubled_after_s", self.rng) * US_PER_S))
        for at_us in presses:
            end_us = at_us + round(self.numbers.draw("people.press_ms", self.rng) * US_PER_MS)
            self.rig.pulse(button, at_us + 1, end_us)
            self.rig.advance(end_us + 10_000)
        self.refused += self.rig.remarks - remarks

    def _until_closed(self) -> None:
        """Wait for the table to close the stroke, as the page asks."""
        for _ in range(80):
            if self.rig.state.stroke is None:
                return
            self.rig.advance(self.rig.now_us + 250_000)


def _count(stroke: TrueStroke, end: str) -> int:
    return sum(drop.object == "ball" and drop.place == end for drop in stroke.drops)


def _meant(closed_us: int, strokes: Sequence[TrueStroke]) -> TrueStroke | None:
    """The stroke that was played when one closed at that time."""
    return next((stroke for stroke in reversed(strokes) if stroke.start_us < closed_us), None)


def _same(judged: Any, stroke: TrueStroke) -> bool:
    """Whether a stroke counted as what it was."""
    if judged is None or stroke.observation is None:
        return False
    meant = rules.observation_document(stroke.observation)
    return sorted(judged.get("pocketed", ())) == sorted(map(str, _list(meant.get("pocketed")))) and judged.get(
        "out"
    ) == meant.get("out")


def _list(value: object) -> list[object]:
    return list(value) if isinstance(value, list | tuple) else []


def _settable(part: Any) -> Any:
    """A part of the state without what follows from the rest."""
    if isinstance(part, dict):
        follows = {"colour", "must_cover"} | ({"side"} if "player" in part or part.get("side") is None else set())
        return {key: _settable(value) for key, value in part.items() if key not in follows}
    if isinstance(part, list):
        return [_settable(each) for each in part]
    return part
