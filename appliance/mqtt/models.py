"""The documents that go over the broker, as models: the one place that says what each of them holds.

Messages are made as plain dictionaries, where the facts are, and written out without passing through
these models: a scoreboard must not wait for a validation. The models print the JSON Schemas, and every
message that the tests see is validated against them, strictly and with nothing undeclared. Consumers must
ignore keys they do not know: within one schema number keys are added, never removed or changed.

Each model is built on its first use only (`defer_build`), so that importing this module costs little.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, StringConstraints, model_validator

from appliance.mqtt.topics import (
    BEAM_SCHEMA,
    EVENT_SCHEMA,
    HEALTH_SCHEMA,
    INFO_SCHEMA,
    RESPONSE_SCHEMA,
    STATE_SCHEMA,
)

Game = Literal["money_carrom", "club_carrom", "new_carrom", "carpetball"]
Level = Annotated[str, StringConstraints(pattern=r"^[a-z0-9-]+$")]
PlayerNumber = Annotated[int, Field(ge=1)]
Count = Annotated[int, Field(ge=0)]
Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Instant = Annotated[str, StringConstraints(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z$")]
"""Wall time, always UTC."""
How = Literal["beam", "colour", "told", "assumed", "unknown"]
"""How an object came to be known."""
QuestionKind = Literal["what_fell", "how_many", "who_shot", "did_it_fall", "cue"]
Doubt = Literal["possibly_two", "unclear"]
PieceObject = Literal["white", "black", "queen", "striker", "ball", "cue"]


class Published(BaseModel):
    """What all published documents share: nothing undeclared, no silent conversion."""

    model_config = ConfigDict(extra="forbid", strict=True, defer_build=True)


# --- the rules' part of `state`, one model a game ---------------------------------------------------------


class SidesTurn(Published):
    """Who shoots in Club and New Carrom; `must_cover`: an uncovered queen waits for this stroke."""

    player: PlayerNumber
    side: Literal["A", "B"]
    must_cover: bool


class CarromSide(Published):
    """One side of a carrom board; `due` counts penalty pieces still owed."""

    colour: Literal["white", "black"]
    pocketed: Annotated[int, Field(ge=0, le=9)]
    due: Count
    score: Count


class CarromSides(Published):
    """Both sides: odd players are A, even ones B."""

    A: CarromSide
    B: CarromSide


class Queen(Published):
    """Where the queen is; `side` is null while it lies on the board."""

    status: Literal["on_board", "uncovered", "covered"]
    side: Literal["A", "B"] | None

    @model_validator(mode="after")
    def _somebody_has_it_or_the_board(self) -> "Queen":
        if (self.status == "on_board") != (self.side is None):
            raise ValueError("a queen on the board belongs to no side, a pocketed one to somebody")
        return self


class BoardResult(Published):
    """How the last board ended."""

    winner: Literal["A", "B"]
    points: Count


class SidesRules(Published):
    """What Club and New Carrom have in common."""

    phase: Literal["playing", "board_over", "match_over"]
    board: Annotated[int, Field(ge=1)]
    turn: SidesTurn | None
    sides: CarromSides
    queen: Queen
    board_result: BoardResult | None


class ClubCarromRules(SidesRules):
    """Club Carrom."""

    game: Literal["club_carrom"]
    match_winner: Literal["A", "B", "draw"] | None


class NewCarromRules(SidesRules):
    """New Carrom; `score` counts boards won."""

    game: Literal["new_carrom"]
    match_winner: Literal["A", "B"] | None


class MoneyTurn(Published):
    """Who shoots in Money Carrom."""

    player: PlayerNumber


class MoneyPlayer(Published):
    """One player's tally; `missed_turns` counts turns still to be missed."""

    player: PlayerNumber
    score: Count
    missed_turns: Annotated[int, Field(ge=0, le=1)]


class OnBoard(Published):
    """Pieces not pocketed yet."""

    white: Annotated[int, Field(ge=0, le=9)]
    black: Annotated[int, Field(ge=0, le=9)]
    queen: Annotated[int, Field(ge=0, le=1)]


class MoneyCarromRules(Published):
    """Money Carrom; one game is a match, so `board` stays 1."""

    game: Literal["money_carrom"]
    phase: Literal["playing", "match_over"]
    board: Annotated[int, Field(ge=1)]
    turn: MoneyTurn | None
    players: Annotated[list[MoneyPlayer], Field(min_length=2, max_length=4)]
    on_board: OnBoard
    match_winners: list[PlayerNumber]


class CarpetballTurn(Published):
    """Which end throws."""

    end: Literal["north", "south"]
    final_throw: bool


class CarpetballEnd(Published):
    """One end of the table; `in_play` is null until the balls are lined up."""

    player: PlayerNumber
    in_play: Annotated[int, Field(ge=0, le=7)] | None


class CarpetballEnds(Published):
    """Both ends."""

    north: CarpetballEnd
    south: CarpetballEnd


class CarpetballRules(Published):
    """Carpetball; `queue` holds the waiting players in order."""

    game: Literal["carpetball"]
    phase: Literal["line_up", "round", "standoff", "round_over"]
    round: Annotated[int, Field(ge=1)]
    turn: CarpetballTurn | None
    ends: CarpetballEnds
    queue: list[PlayerNumber]
    round_winner: PlayerNumber | None


Rules = Annotated[ClubCarromRules | NewCarromRules | MoneyCarromRules | CarpetballRules, Field(discriminator="game")]


# --- the envelope and the documents ------------------------------------------------------------------------


class Envelope(Published):
    """What every JSON payload carries.

    `seq` grows with each accepted input of the table and never goes back: order is by `seq`, never by `at`,
    because the clock of a small computer may be wrong; `clock_synchronised` says whether it was set.
    """

    table: Level
    match_id: str
    seq: Count
    at: Instant
    clock_synchronised: bool


class Player(Published):
    """A seat and who sits there; `id` is the club's own word for the person, where it gave one."""

    player: PlayerNumber
    name: Annotated[str, StringConstraints(min_length=1, max_length=40)]
    id: str | None = None


class FallenObject(Published):
    """One passage of a stroke, or one object that a person told us about.

    `object` is null until it is known; `provisional` says that it may still change before the stroke closes;
    `doubt` that the sensors cannot say how many objects it was, or whether any.
    """

    passage_id: str | None
    place: str | None
    object: PieceObject | None
    candidates: list[PieceObject]
    how: How
    provisional: bool
    doubt: Doubt | None = None


class Stroke(Published):
    """A stroke (carpetball: a throw) that has not been judged; `player` is null while it names nobody."""

    number: Annotated[int, Field(ge=1)]
    player: PlayerNumber | None
    fallen: list[FallenObject]
    jumped: list[PieceObject]


class Question(Published):
    """Something the beams could not tell; `assumed` is what will be taken, or was, when nobody answers."""

    id: str
    stroke: int
    kind: QuestionKind
    place: str | None
    candidates: list[str | int | bool]
    assumed: str | int | bool | None
    passage_id: str | None = None


class Instruction(Published):
    """What hands must now do at the table; the `board` is an object too: it is set up as a whole."""

    do: str
    object: PieceObject | Literal["board"]
    count: Annotated[int, Field(ge=1)]
    to: str
    by_player: PlayerNumber | None


class Result(Published):
    """How the last board, round or match ended; not `certain` where it rests on an unconfirmed assumption.

    Which keys it has depends on the game: those of the game's `rules`.
    """

    match_id: str
    certain: bool
    abandoned: bool = False
    board: int | None = None
    board_result: BoardResult | None = None
    match_winner: Literal["A", "B", "draw"] | None = None
    match_winners: list[PlayerNumber] | None = None
    round: int | None = None
    round_winner: PlayerNumber | None = None


class State(Envelope):
    """The whole scoreboard: enough to draw it from this one message. Topic `state`, retained."""

    schema_: Literal["pocketbeam.state/1"] = Field(alias="schema")
    paused: bool
    rules: Rules
    stroke: Stroke | None
    pending: list[Stroke]
    questions: list[Question]
    instructions: list[Instruction]
    players: list[Player]
    last_result: Result | None


class SourceInfo(Published):
    """A source of edges as configured."""

    id: str
    kind: Literal["serial", "gpio", "none", "recording"]


class BeamInfo(Published):
    """A beam as configured: where it stands and what can pass it."""

    id: Level
    source: str
    place: str
    passes: list[PieceObject]


class Info(Envelope):
    """What this table is and how it is set up. Topic `info`, retained.

    `pending_configuration` says in sentences what a changed file will change with the next match or start.
    """

    schema_: Literal["pocketbeam.info/1"] = Field(alias="schema")
    version: str
    schemas: list[str]
    game: Game
    options: dict[str, str | int | list[int]]
    players: list[Player]
    unknown_object: Literal["ask", "ask_then_assume", "assume"]
    quiet_time_s: Seconds
    sources: list[SourceInfo]
    beams: list[BeamInfo]
    pending_configuration: list[str]


class BeamHealth(Published):
    """One beam; `since_s` is how long it has been in this `state`, null where that is not known.

    `near_misses` are the glitches that were almost passages, `uncounted` the pulses that were none although long
    enough: a hand's, noise, a dip of the supply, whatever came while the beam was out. `summed` are the changes while
    it was noisy, which the journal keeps as a sum.
    """

    state: Literal["ok", "blocked", "noisy", "dark", "polarity_suspect", "unknown"]
    since_s: Seconds | None
    passages: Count
    glitches: Count
    near_misses: Count
    uncounted: Count
    summed: Count
    reason: str | None


class StraysHealth(Published):
    """What came in and could not be placed: changes of unknown channels, colours without a passage."""

    unknown_channels: Count
    unplaced_colours: Count
    reason: str | None


class SourceHealth(Published):
    """One source of edges; `board` is what a serial one said about itself, null before it did."""

    state: Literal["starting", "ok", "lost"]
    board: str | None
    reason: str | None
    counters: dict[str, int]


class JournalHealth(Published):
    """The journal; not `safe` means that a power cut now would lose what is played now."""

    safe: bool
    reason: str | None
    queue: Count
    counters: dict[str, int]


class BrokerHealth(Published):
    """The connection to the broker; its counters say what was dropped while it was away."""

    connected: bool
    reason: str | None
    counters: dict[str, int]


class ClockHealth(Published):
    """The wall clock; order never depends on it."""

    synchronised: bool


class Health(Envelope):
    """How the parts are. Topic `health`, retained: worth nothing `valid_for_s` seconds after `at`.

    `started_at` is when the appliance started, by the clock as it goes now.
    """

    schema_: Literal["pocketbeam.health/1"] = Field(alias="schema")
    valid_for_s: Annotated[float, Field(gt=0, allow_inf_nan=False)]
    started_at: Instant
    beams: dict[Level, BeamHealth]
    strays: StraysHealth
    sources: dict[str, SourceHealth]
    journal: JournalHealth
    broker: BrokerHealth
    clock: ClockHealth


EventName = Literal[
    "match_started",
    "match_point",
    "match_ended",
    "match_abandoned",
    "board_started",
    "board_won",
    "round_started",
    "round_won",
    "standoff",
    "final_throw",
    "stroke_closed",
    "stroke_scored",
    "stroke_missed",
    "turn_passed",
    "turn_missed",
    "turn_forfeited",
    "points_scored",
    "break_missed",
    "no_stroke",
    "lined_up",
    "penalty_paid",
    "withdrawn",
    "round_restarted",
    "queen_right_earned",
    "piece_jumped",
    "queen_pocketed",
    "queen_covered",
    "queen_returned",
    "foul",
    "due_owed",
    "due_paid",
    "piece_returned",
    "passage",
    "passage_not_scored",
    "passage_doubted",
    "question_opened",
    "question_answered",
    "corrected",
    "recounted",
    "undone",
    "redone",
    "paused",
    "resumed",
    "players_changed",
    "beam_fault",
    "beam_well",
    "source_lost",
    "source_back",
    "journal_unsafe",
    "journal_safe",
    "configuration_changed",
]


class Event(Envelope):
    """Something that just happened. Topic `event`, not retained; the same `event_id` may arrive twice.

    Which of the keys from `player` on an event carries depends on its name; one key means the same in all
    of them. Consumers ignore names and keys they do not know.
    """

    schema_: Literal["pocketbeam.event/1"] = Field(alias="schema")
    event: EventName
    event_id: str

    # whom and what it concerns
    player: PlayerNumber | None = None
    previous: PlayerNumber | None = None
    side: Literal["A", "B"] | None = None
    end: Literal["north", "south"] | None = None
    stroke: int | None = None
    board: int | None = None
    round: int | None = None
    reason: str | None = None
    assumed: bool | None = None

    # what fell, came back or is owed
    object: PieceObject | None = None
    count: Count | None = None
    white: Count | None = None
    black: Count | None = None
    queen: Count | None = None
    north: Count | None = None
    south: Count | None = None
    balls: Count | None = None
    short: bool | None = None
    penalty: Count | None = None
    kinds: list[str] | None = None
    points: Count | None = None
    tries: Count | None = None
    allowed: Count | None = None

    # the course of a match
    winner: Literal["A", "B", "draw"] | None = None
    winners: list[PlayerNumber] | None = None
    certain: bool | None = None
    number: int | None = None
    waived: bool | None = None
    queue: list[PlayerNumber] | None = None
    game: Game | None = None
    players: list[Player] | None = None
    options: dict[str, JsonValue] | None = None
    position: dict[str, JsonValue] | None = None

    # what the beams saw and what people said
    by: str | None = None
    passage_id: str | None = None
    beam: Level | None = None
    place: str | None = None
    candidates: list[str | int | bool] | None = None
    doubt: Doubt | None = None
    question: str | None = None
    kind: QuestionKind | None = None
    value: str | int | bool | None = None

    # the parts
    source: str | None = None
    changes: list[str] | None = None


class Corrected(Event):
    """The past was put right: the whole standing before and after, and no other event goes with it."""

    event: Literal["corrected"]
    before: Rules
    after: Rules


ErrorCode = Literal[
    "malformed",
    "unknown_command",
    "wrong_phase",
    "impossible_count",
    "outdated",
    "nothing_to_undo",
    "nothing_to_redo",
    "match_running",
    "no_such_question",
    "no_such_stroke",
    "later_stroke_impossible",
    "too_large",
    "not_allowed",
]


class ResponseError(Published):
    """Why a request was refused, as a code for programs and a sentence for people.

    `stroke` is the number of the stroke that became impossible (`later_stroke_impossible`).
    """

    code: ErrorCode
    message: str
    stroke: int | None = None


class Response(Envelope):
    """The answer to one request. Topic `response`, not retained; `transaction` is the request's own, or null.

    `seq` is the table's number after a request that was done, so that whoever asked can wait for that state.
    """

    schema_: Literal["pocketbeam.response/1"] = Field(alias="schema")
    transaction: str | None
    ok: bool
    error: ResponseError | None = None

    @model_validator(mode="after")
    def _an_error_exactly_when_not_ok(self) -> "Response":
        if self.ok != (self.error is None):
            raise ValueError("a response carries an error exactly when it is not ok")
        return self


class Beam(Envelope):
    """One line of diagnostics. Topic `beam/<id>`, QoS 0, only while diagnostics are on.

    `active` means broken. `dwell_us` is how long the beam was broken, `gap_us` how long it was clear before.
    """

    schema_: Literal["pocketbeam.beam/1"] = Field(alias="schema")
    beam: Level
    what: Literal["level", "passage", "glitch"]
    active: bool
    passage_id: str | None
    dwell_us: Count | None
    gap_us: Count | None


Availability = Literal["online", "offline"]
"""Topic `availability`, retained plain text: birth, farewell and will."""


def document_model(schema: str, document: dict[str, Any]) -> type[BaseModel]:
    """The model of a received document by the `schema` it names; KeyError for one that is not ours."""
    if schema == EVENT_SCHEMA and document.get("event") == "corrected":
        return Corrected
    models: dict[str, type[BaseModel]] = {
        STATE_SCHEMA: State,
        INFO_SCHEMA: Info,
        HEALTH_SCHEMA: Health,
        EVENT_SCHEMA: Event,
        RESPONSE_SCHEMA: Response,
        BEAM_SCHEMA: Beam,
    }
    return models[schema]
