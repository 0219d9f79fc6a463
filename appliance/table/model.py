"""The values of the session at the table: what is kept for ever, what is seen in passing, and what follows.

*Facts* are what a match is folded from: set-ups and steps. A step is one thing that people can take back as a
whole: a closed stroke, a call, an answer, a correction. With each step goes what was *judged* because of it,
so that an assumption taken once never flips when the past is folded again. *Evidence* (passages, strikes, what
was told about an open stroke) only matters until the stroke closes.

Everything is frozen. `TableState` is the tip; `Fold` is the part of it that is derived from the steps alone.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from appliance.rules import GameState
from appliance.sensing.doubt import Doubt

PLAY_PHASES = frozenset({"playing", "round", "standoff"})

Json = Mapping[str, Any]
UnknownObject = Literal["ask", "ask_then_assume", "assume"]

NOTHING = "nothing"
"""Told of a passage: no object fell."""


@dataclass(frozen=True, slots=True)
class Seat:
    """A person; `id` stays when the name changes. Players are numbered by their place in the tuple, from 1."""

    id: str
    name: str


@dataclass(frozen=True, slots=True)
class Fallen:
    """One object that a beam saw. `candidates` is what beam and colour sensor leave; `told` is what a person
    said (an object, or `own` or `other`, meant from the stroke's player when it is judged, or `nothing`).
    `by_key`: a key said it, which points at no passage, so that the table chose which one was meant.

    `doubt` is what the beam left open about how many it was; a person's word or a colour settles it. Where it was
    two, the second is an object of its own whose id ends in a b. `withdrawn` is why it is none after all.
    """

    passage_id: str
    beam: str
    place: str
    started_ns: int
    candidates: tuple[str, ...]
    by_colour: bool = False
    told: str | None = None
    by_key: bool = False
    doubt: Doubt | None = None
    withdrawn: str | None = None


@dataclass(frozen=True, slots=True)
class Unscored:
    """A passage that did not count, and why. It can be claimed by a correction."""

    fallen: Fallen
    reason: str


@dataclass(frozen=True, slots=True)
class OpenStroke:
    """The stroke that is going on. `active_ns` is when something last happened in it."""

    number: int
    active_ns: int
    struck_ns: int | None = None
    fallen: tuple[Fallen, ...] = ()
    jumped: tuple[str, ...] = ()


ClosedBy = Literal["done", "quiet", "strike", "call", "request"]


@dataclass(frozen=True, slots=True)
class Told:
    """What a person said a stroke really was; None where the beams' account stands.

    `pocketed` is for carrom; `out` (balls of north, of south), `off_table` and `short` are for carpetball.
    """

    pocketed: tuple[str, ...] | None = None
    out: tuple[int, int] | None = None
    off_table: int = 0
    short: bool = False


@dataclass(frozen=True, slots=True)
class StrokeClosed:
    """A closed stroke: what fell, and the player that it names (None: whoever is on turn when it is judged).

    `struck`: a strike sensor felt it, so that it was made even where nothing fell.
    """

    number: int
    by: ClosedBy
    player: int | None
    at_ns: int
    strike_sensor: bool
    fallen: tuple[Fallen, ...] = ()
    jumped: tuple[str, ...] = ()
    told: Told = Told()
    superseded: tuple[Fallen, ...] = ()
    struck: bool = True
    kind: Literal["stroke_closed"] = "stroke_closed"


@dataclass(frozen=True, slots=True)
class Called:
    """An umpire's call, as an observation of the rules. `superseded` is what the beams saw instead of it."""

    observation: Json
    superseded: tuple[Fallen, ...] = ()
    kind: Literal["called"] = "called"


@dataclass(frozen=True, slots=True)
class Answered:
    """Somebody settled a question: an object, a number of objects, a player, or whether something fell."""

    question: str
    value: str | bool | int
    kind: Literal["answered"] = "answered"


@dataclass(frozen=True, slots=True)
class Corrected:
    """A stroke's facts rewritten; what is None stays. `claim` adds a passage that had not counted."""

    stroke: int
    pocketed: tuple[str, ...] | None = None
    jumped: tuple[str, ...] | None = None
    out: tuple[int, int] | None = None
    off_table: int | None = None
    short: bool | None = None
    void: bool | None = None
    player: int | None = None
    claim: Fallen | None = None
    objects: tuple[tuple[str, str], ...] = ()
    kind: Literal["corrected"] = "corrected"


@dataclass(frozen=True, slots=True)
class Swapped:
    """Two players changed seats."""

    first: int
    second: int
    kind: Literal["swapped"] = "swapped"


@dataclass(frozen=True, slots=True)
class Abandoned:
    """The match is over with no winner."""

    kind: Literal["abandoned"] = "abandoned"


@dataclass(frozen=True, slots=True)
class Assumed:
    """Whatever waited took its assumption, because people went on."""

    kind: Literal["assumed"] = "assumed"


Action = StrokeClosed | Called | Answered | Corrected | Swapped | Abandoned | Assumed

How = Literal["beam", "colour", "told", "assumed", "unknown"]


@dataclass(frozen=True, slots=True)
class Judgement:
    """What one passage of a judged stroke counted as; `object` is None where nothing like it was left."""

    passage_id: str
    object: str | None
    how: How


@dataclass(frozen=True, slots=True)
class Judged:
    """What a waiting stroke was judged to have been.

    `player` is who shot where a question or an assumption settled that; `player_assumed` marks the latter.
    """

    stroke: int
    objects: tuple[Judgement, ...] = ()
    player: int | None = None
    player_assumed: bool = False


QuestionKind = Literal["what_fell", "how_many", "who_shot", "did_it_fall", "cue"]


@dataclass(frozen=True, slots=True)
class Question:
    """Something only people know. `passage_id` is None for questions about the stroke as a whole."""

    id: str
    stroke: int
    kind: QuestionKind
    passage_id: str | None = None
    place: str | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """An action with what was judged and asked because of it."""

    action: Action
    judged: tuple[Judged, ...] = ()
    questions: tuple[Question, ...] = ()


@dataclass(frozen=True, slots=True)
class JudgedStroke:
    """A stroke as it counted, corrections applied. `misses` is how many turns before it were assumed missed;
    `observation` is None where it did not count, and `reason` says why.
    """

    stroke: StrokeClosed
    judged: Judged
    player: int | None
    misses: int
    observation: Json | None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Impossible:
    """What the rules refused: a stroke, or (`stroke` None) a call; `judged` strokes came before it."""

    stroke: int | None
    judged: int
    code: str


@dataclass(frozen=True, slots=True)
class Fold:
    """Everything that follows from a match's steps.

    `queue` holds what waits for an answer and what waits behind it; `known` what strokes were judged to have
    been that wait behind another one; `shooters` who shot, by stroke, as people said; `assumptions` the
    strokes of this board that rest on one; `impossible` what the rules refused, which only a changed past can
    bring about; `corrections` those of the whole match as it is now, by stroke, oldest first; `news` what the
    newest step brought, as event documents.
    """

    match_id: str
    rules: GameState
    players: tuple[Seat, ...]
    queue: tuple[StrokeClosed | Called, ...] = ()
    known: tuple[Judged, ...] = ()
    questions: tuple[Question, ...] = ()
    shooters: tuple[tuple[int, int], ...] = ()
    strokes: tuple[JudgedStroke, ...] = ()
    lines: tuple[Json, ...] = ()
    instructions: tuple[Json, ...] = ()
    last_result: Json | None = None
    assumptions: frozenset[int] = frozenset()
    impossible: tuple[Impossible, ...] = ()
    abandoned: bool = False
    corrections: Mapping[int, tuple[Corrected, ...]] = field(default_factory=dict)
    news: tuple[Json, ...] = ()

    @property
    def in_play(self) -> bool:
        """Whether a stroke could count now."""
        return self.rules.phase in PLAY_PHASES and not self.abandoned

    @property
    def waiting(self) -> tuple[StrokeClosed, ...]:
        """The closed strokes that are not judged yet, oldest first."""
        return tuple(item for item in self.queue if isinstance(item, StrokeClosed))

    def judged_stroke(self, number: int) -> JudgedStroke | None:
        """The judged stroke of that number."""
        return next((found for found in reversed(self.strokes) if found.stroke.number == number), None)

    def closed_stroke(self, number: int) -> StrokeClosed | None:
        """The closed stroke of that number, judged or waiting."""
        found = next((stroke for stroke in self.waiting if stroke.number == number), None)
        judged = self.judged_stroke(number)
        return found or (judged.stroke if judged else None)


@dataclass(frozen=True, slots=True)
class MatchStarted:
    """A match begins. `setup` holds the game and the rules' set-up line with every option in force, to its end;
    `chosen` are those that somebody chose, which the next match inherits.
    """

    match: int
    setup: Json
    chosen: Json
    players: tuple[Seat, ...]
    unknown_object: UnknownObject
    strike_sensor: bool
    file_rules: Json
    asked: bool
    last_result: Json | None = None
    kind: Literal["match_started"] = "match_started"


@dataclass(frozen=True, slots=True)
class Match:
    """A match and everything that can still be taken back in it."""

    started: MatchStarted
    fold: Fold
    steps: tuple[Step, ...] = ()
    undone: tuple[Step, ...] = ()
    next_passage: int = 1
    next_question: int = 1
    names: Mapping[str, str] = field(default_factory=dict)
    unscored: tuple[Unscored, ...] = ()

    @property
    def seats(self) -> tuple[Seat, ...]:
        """Who sits where now, by the names that they have now."""
        return tuple(replace(seat, name=self.names.get(seat.id, seat.name)) for seat in self.fold.players)

    @property
    def id(self) -> str:
        """The name of the match on the outside."""
        return self.fold.match_id


@dataclass(frozen=True, slots=True)
class Stepped:
    """A step was taken. It ends an open stroke where its action says so."""

    step: Step
    next_passage: int
    next_question: int
    kind: Literal["stepped"] = "stepped"


@dataclass(frozen=True, slots=True)
class Amended:
    """A late passage, or a late colour, made part of a stroke that had closed."""

    stroke: int
    fallen: Fallen
    judged: tuple[Judged, ...]
    questions: tuple[Question, ...]
    next_passage: int
    next_question: int
    kind: Literal["amended"] = "amended"


@dataclass(frozen=True, slots=True)
class Undone:
    """The last step was taken back, or the match's beginning where it had no step."""

    kind: Literal["undone"] = "undone"


@dataclass(frozen=True, slots=True)
class Redone:
    """The step that was undone last was taken again."""

    kind: Literal["redone"] = "redone"


@dataclass(frozen=True, slots=True)
class Paused:
    """Nothing scores from now on, and quiet time stands still."""

    at_ns: int
    kind: Literal["paused"] = "paused"


@dataclass(frozen=True, slots=True)
class Resumed:
    """Play goes on."""

    at_ns: int
    kind: Literal["resumed"] = "resumed"


@dataclass(frozen=True, slots=True)
class Renamed:
    """People are called otherwise: pairs of a person's id and the new name."""

    names: tuple[tuple[str, str], ...]
    kind: Literal["renamed"] = "renamed"


@dataclass(frozen=True, slots=True)
class StrokeOpened:
    """A stroke began, by a strike, a passage or a call."""

    number: int
    at_ns: int
    kind: Literal["stroke_opened"] = "stroke_opened"


@dataclass(frozen=True, slots=True)
class Struck:
    """The strike sensor felt a strike: the open stroke's, or, with none open, one outside play.

    `end` is the thrower's (carpetball). `arrival`: it was the ball, which arrived at the end that it was thrown to.
    """

    at_ns: int
    end: str | None = None
    arrival: bool = False
    kind: Literal["struck"] = "struck"


@dataclass(frozen=True, slots=True)
class PassageAdded:
    """Something fell in the open stroke."""

    fallen: Fallen
    active_ns: int
    kind: Literal["passage_added"] = "passage_added"


@dataclass(frozen=True, slots=True)
class PassageProlonged:
    """The newest passage of the open stroke went on, to `active_ns`: what was two pulses was one object."""

    active_ns: int
    kind: Literal["passage_prolonged"] = "passage_prolonged"


@dataclass(frozen=True, slots=True)
class FallenRevised:
    """More is known of an object of the open stroke: from the beam, by its colour, or because somebody named it."""

    fallen: Fallen
    kind: Literal["fallen_revised"] = "fallen_revised"


@dataclass(frozen=True, slots=True)
class JumpedAdded:
    """Objects left the table in the open stroke."""

    objects: tuple[str, ...]
    kind: Literal["jumped_added"] = "jumped_added"


@dataclass(frozen=True, slots=True)
class PassageWithdrawn:
    """What had been shown in the open stroke is none after all."""

    passage_id: str
    reason: str
    kind: Literal["passage_withdrawn"] = "passage_withdrawn"


@dataclass(frozen=True, slots=True)
class PassageDoubted:
    """What counted in a stroke that closed a while ago was perhaps none; the score stays, people are told."""

    stroke: int
    fallen: Fallen
    reason: str
    kind: Literal["passage_doubted"] = "passage_doubted"


UNDONE = "the stroke was undone"
SUPERSEDED = "told otherwise by hand"


@dataclass(frozen=True, slots=True)
class StrokeDropped:
    """The open stroke never was; its passages did not count."""

    reason: str
    kind: Literal["stroke_dropped"] = "stroke_dropped"


@dataclass(frozen=True, slots=True)
class NotScored:
    """A passage that does not count. `disturbs`: something fell, if outside play, or nothing did (a hand)."""

    fallen: Fallen
    reason: str
    disturbs: bool = True
    kind: Literal["not_scored"] = "not_scored"


@dataclass(frozen=True, slots=True)
class ButtonPressed:
    """A `done` button was pressed; a second press within a second is the same press."""

    button: str
    at_ns: int
    kind: Literal["button_pressed"] = "button_pressed"


@dataclass(frozen=True, slots=True)
class QuietRestarted:
    """The quiet time of the open stroke starts anew (after a reboot the old times mean nothing)."""

    at_ns: int
    kind: Literal["quiet_restarted"] = "quiet_restarted"


@dataclass(frozen=True, slots=True)
class Requested:
    """What somebody asked for by page or message, and got: kept beside what followed, so that it can be played again.

    It changes nothing by itself.
    """

    command: str
    fields: Json
    kind: Literal["requested"] = "requested"


Fact = MatchStarted | Stepped | Amended | Undone | Redone | Paused | Resumed | Renamed
Evidence = (
    StrokeOpened
    | Struck
    | PassageAdded
    | PassageProlonged
    | FallenRevised
    | PassageWithdrawn
    | PassageDoubted
    | JumpedAdded
    | StrokeDropped
    | NotScored
    | ButtonPressed
    | QuietRestarted
    | Requested
)
TableEvent = Fact | Evidence

UNSCORED_KEPT = 64


@dataclass(frozen=True, slots=True)
class LastClose:
    """How the newest stroke closed: what a late passage or a confirming press refers to.

    `disturbed`: there was a passage or a strike since; `struck`: a strike.
    """

    stroke: int
    by: ClosedBy
    at_ns: int
    disturbed: bool = False
    struck: bool = False


@dataclass(frozen=True, slots=True)
class TableState:
    """The tip. `seq` counts accepted inputs; `step_seq` is that of the newest step or amendment.

    `depth` counts the matches that led here: a match that was undone and the one begun in its stead have the
    same. `last_match` is the newest match's number, which is never used twice.
    """

    match: Match
    seq: int = 0
    step_seq: int = 0
    last_match: int = 1
    depth: int = 1
    previous: Match | None = None
    undone_match: Match | None = None
    stroke: OpenStroke | None = None
    last_close: LastClose | None = None
    last_strike_ns: int | None = None
    last_strike_end: str | None = None
    arrived_ns: int | None = None
    paused_ns: int | None = None
    pressed: Mapping[str, int] = field(default_factory=dict)

    @property
    def fold(self) -> Fold:
        """What follows from the current match's steps."""
        return self.match.fold

    @property
    def unscored(self) -> tuple[Unscored, ...]:
        """The current match's passages that count for nothing and can be claimed."""
        return self.match.unscored

    @property
    def scoring(self) -> bool:
        """Whether a passage counts now."""
        return self.fold.in_play and self.paused_ns is None


@dataclass(frozen=True, slots=True)
class Policy:
    """What the configuration says about the table; the options of the rules are in the match's set-up."""

    game: str
    players: tuple[Seat, ...]
    rules: Json
    unknown_object: UnknownObject
    quiet_time_ns: int
    strike_sensor: bool
