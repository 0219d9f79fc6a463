"""Club and New Carrom: two sides with a colour each, a queen to cover, and dues.

`p` pieces of a side's colour are down, `d` pieces are owed; after every settlement `d > 0` means `p == 0`. The
*queen right* is earned for the rest of a board and never lost; a side is *entitled* when it has the right and
owes nothing. An *uncovered* queen lasts only while the same player shoots on.

A sheet judges a stroke first (`Verdict`: queen, fouls, what comes back, whether the player goes on) and this
module settles it in the one order that both sheets share: contents, queen, immediate loss of the board, pieces
that come back, dues (both sides pay what they can), win, turn. So a piece that has to come back never wins.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from appliance.rules.carrom import (
    SET,
    Tally,
    break_not_made,
    fold_break_missed,
    jumped,
    more_than_there_are,
    next_player,
    no_stroke,
    not_playing,
    tally,
)
from appliance.rules.copying import changed
from appliance.rules.events import (
    BoardStarted,
    BoardWon,
    BreakMissed,
    DueOwed,
    DuePaid,
    Event,
    Foul,
    MatchEnded,
    NoStrokeMade,
    PieceJumped,
    PieceReturned,
    QueenCovered,
    QueenPocketed,
    QueenReturned,
    QueenRightEarned,
    Recounted,
    StrokeMissed,
    StrokeScored,
    TurnPassed,
)
from appliance.rules.observations import BreakNotMade, NextBoard, NoStroke, Observation, Recount, Stroke
from appliance.rules.options import ClubOptions, NewOptions
from appliance.rules.parsing import amount
from appliance.rules.positions import SidePart, SidesPosition, contradiction
from appliance.rules.values import Instruction, Refusal, Ruling, impossible_count, wrong_phase


@dataclass(frozen=True, slots=True)
class Side:
    """One side's account: pieces down, pieces owed, points (New Carrom: boards), and the queen right."""

    pocketed: int = 0
    due: int = 0
    score: int = 0
    queen_right: bool = False


@dataclass(frozen=True, slots=True)
class SidesState:
    """A match of Club or New Carrom between two strokes.

    `breaker` is the player whose break the board is by rotation: that side is white. `queen` is `on_board`,
    `uncovered` or `covered`, the latter two by `queen_side`. `result` and `winner` stand once there are any.
    """

    game: str
    players: int
    options: ClubOptions | NewOptions
    phase: str = "playing"
    board: int = 1
    breaker: int = 1
    break_made: bool = False
    tries: int = 0
    player: int | None = 1
    a: Side = Side()
    b: Side = Side()
    queen: str = "on_board"
    queen_side: str | None = None
    result_side: str | None = None
    result_points: int | None = None
    winner: str | None = None


QueenCall = Literal["stays", "uncovered", "covered", "returned"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a sheet makes of a stroke.

    `queen`: what step 2 makes of her (`stays`: as she was). `own_back`, `other_back`: pieces of this stroke that
    come back. `dues`: new ones, each with its reason. `again`: the player shoots on. `earns`, `other_earns`:
    who has the queen right from now on. `loses_board`: the stroke ends the board for the other side. `if_last`:
    how many pieces come back should all nine own ones be down after the dues and the queen not covered; None: the
    board is lost then.
    """

    queen: QueenCall
    again: bool
    queen_reason: str = ""
    own_back: int = 0
    other_back: int = 0
    back_reason: str = ""
    fouls: tuple[str, ...] = ()
    dues: tuple[tuple[str, int], ...] = ()
    earns: bool = False
    other_earns: bool = False
    loses_board: bool = False
    if_last: int | None = None


@dataclass(frozen=True, slots=True)
class View:
    """A stroke seen from the shooter: own and other pieces that fell or jumped, and both accounts before it."""

    own: Side
    other: Side
    pending: bool  # the shooter's queen waits for its cover
    covered: bool  # the queen is covered, by anybody
    fell: int
    other_fell: int
    queen: bool
    striker: bool
    jumped: int  # pieces of both colours and the queen
    striker_jumped: bool

    @property
    def owed(self) -> bool:
        """Whether the shooter's side owed something when the stroke began."""
        return self.own.due > 0

    @property
    def entitled(self) -> bool:
        """Whether the shooter's side may take the queen."""
        return self.own.queen_right and self.own.due == 0


@dataclass(frozen=True, slots=True)
class Sheet:
    """The differences between the sheets: how a stroke is judged, what a board is worth, when a match ends.

    `jump_to`: where jumped pieces are put.
    """

    judge: Callable[[Any, View], Verdict]
    points: Callable[[Any, Side, Side, bool], int]
    match_winner: Callable[[Any, int, Mapping[str, int], str], str | None]
    jump_to: str


def side_of(player: int) -> str:
    """Return the side of a player: odd numbers are A, even ones B (K2)."""
    return "A" if player % 2 else "B"


def other_side(side: str) -> str:
    """Return the opposing side."""
    return "B" if side == "A" else "A"


def colour_of(state: SidesState, side: str) -> str:
    """Return a side's colour on this board: the breaker is white (N3, K3)."""
    return "white" if side_of(state.breaker) == side else "black"


def first_at(scores: Mapping[str, int], target: int, board_winner: str) -> str | None:
    """Return who has the target at the end of a board: its winner, or a side that had it by hand before."""
    for side in (board_winner, *scores):
        if scores[side] >= target:
            return side
    return None


def account(state: SidesState, side: str) -> Side:
    """Return a side's account."""
    return state.a if side == "A" else state.b


def on_table(state: SidesState) -> dict[str, int]:
    """Return how many of each object are on the board."""
    down = {colour_of(state, "A"): state.a.pocketed, colour_of(state, "B"): state.b.pocketed}
    return {
        "white": SET - down["white"],
        "black": SET - down["black"],
        "queen": int(state.queen == "on_board"),
        "striker": 1,
    }


def document(state: SidesState) -> dict[str, object]:
    """Return the state as JSON."""
    turn = None
    if state.player is not None:
        turn = {
            "player": state.player,
            "side": side_of(state.player),
            "must_cover": state.queen == "uncovered",
        }
    result = None
    if state.result_side is not None:
        result = {"winner": state.result_side, "points": state.result_points}
    return {
        "game": state.game,
        "phase": state.phase,
        "board": state.board,
        "turn": turn,
        "sides": {
            side: {
                "colour": colour_of(state, side),
                "pocketed": mine.pocketed,
                "due": mine.due,
                "score": mine.score,
            }
            for side, mine in (("A", state.a), ("B", state.b))
        },
        "queen": {"status": state.queen, "side": state.queen_side},
        "board_result": result,
        "match_winner": state.winner,
    }


# Deciding


def decide(state: SidesState, observation: Observation, sheet: Sheet) -> Ruling | Refusal:
    """Say what an observation means now, or why it cannot be; the phase is checked before the counts."""
    if isinstance(observation, Stroke):
        return _stroke(state, observation, sheet)
    if isinstance(observation, NextBoard):
        return _next_board(state)
    if isinstance(observation, NoStroke):
        return no_stroke(state)
    if isinstance(observation, BreakNotMade):
        passing = () if state.player is None else (_pass(state, state.player),)
        return break_not_made(state, state.options.break_tries, passing)
    if isinstance(observation, Recount):
        return _recount(state, observation)
    return wrong_phase(f"there is no such observation in {state.game}")


def _pass(state: SidesState, player: int) -> TurnPassed:
    return TurnPassed(next_player(player, state.players), player)


def _view(state: SidesState, side: str, white: bool, counts: Tally) -> View:
    own, other = (state.a, state.b) if side == "A" else (state.b, state.a)
    return View(
        own,
        other,
        state.queen == "uncovered",
        state.queen == "covered",
        counts.white if white else counts.black,
        counts.black if white else counts.white,
        counts.queen > 0,
        counts.striker > 0,
        counts.white_off + counts.black_off + counts.queen_off,
        counts.striker_off > 0,
    )


def _stroke(state: SidesState, stroke: Stroke, sheet: Sheet) -> Ruling | Refusal:
    """Settle one whole stroke of the player on turn."""
    player = state.player
    if player is None:
        return not_playing(state)
    side = side_of(player)
    white = side_of(state.breaker) == side
    counts = tally(stroke)
    table = on_table(state)
    refusal = more_than_there_are(counts, table["white"], table["black"], table["queen"])
    if refusal is not None:
        return refusal
    view = _view(state, side, white, counts)
    verdict = sheet.judge(state.options, view)
    return _Settlement(state, sheet, player, side, view, verdict, counts).ruling()


class _Settlement:
    """One stroke being settled, step by step; it only collects events and instructions."""

    def __init__(
        self,
        state: SidesState,
        sheet: Sheet,
        player: int,
        side: str,
        view: View,
        verdict: Verdict,
        counts: Tally,
    ) -> None:
        self.state, self.sheet, self.player, self.side = state, sheet, player, side
        self.view, self.verdict, self.counts = view, verdict, counts
        self.placer = next_player(player, state.players)
        own = colour_of(state, side)
        self.colours = (own, "black" if own == "white" else "white")
        self.events: list[Event] = []
        self.instructions: list[Instruction] = []

    def ruling(self) -> Ruling:
        """Go through the steps of the settlement."""
        view, verdict, events = self.view, self.verdict, self.events
        self._contents()
        covered = self._queen()
        own, other = view.own.pocketed + view.fell, view.other.pocketed + view.other_fell
        if verdict.loses_board:
            return self._end_board(other_side(self.side), "opponents_last_piece", own, other, covered)
        own_colour, other_colour = self.colours
        if verdict.own_back:
            self._back(own_colour, verdict.own_back, verdict.back_reason)
            own -= verdict.own_back
        if verdict.other_back:
            self._back(other_colour, verdict.other_back, "foul")
            other -= verdict.other_back
        owed = view.own.due
        for reason, count in verdict.dues:
            events.append(DueOwed(self.side, count, reason))
            owed += count
        if owed:
            own -= self._pay(self.side, own_colour, owed, own, self.placer)
        if view.other.due:
            other -= self._pay(other_side(self.side), other_colour, view.other.due, other, self.player)
        if own == SET:
            if covered:
                return self._end_board(self.side, "cleared", own, other, covered)
            if verdict.if_last is None:
                return self._end_board(other_side(self.side), "last_before_queen", own, other, covered)
            self._back(own_colour, verdict.if_last, "last_before_queen")
        if not verdict.again:
            events.append(TurnPassed(self.placer, self.player))
        return Ruling(tuple(events), tuple(self.instructions))

    def _contents(self) -> None:
        """Step 1: what fell, what flew, what foul it was, and the queen rights that follow."""
        counts, verdict, view, events = self.counts, self.verdict, self.view, self.events
        if counts.white or counts.black or counts.queen:
            events.append(StrokeScored(self.player, counts.white, counts.black, counts.queen))
        else:
            events.append(StrokeMissed(self.player))
        if view.jumped or view.striker_jumped:
            more, asked = jumped(counts, self.player, self.placer, self.sheet.jump_to)
            events += more
            self.instructions += asked
        if verdict.fouls:
            penalty = sum(count for reason, count in verdict.dues if reason != "early_queen")
            events.append(Foul(self.player, verdict.fouls, penalty))
        if verdict.earns and not view.own.queen_right:
            events.append(QueenRightEarned(self.side))
        if verdict.other_earns and not view.other.queen_right:
            events.append(QueenRightEarned(other_side(self.side)))

    def _queen(self) -> bool:
        """Step 2: settle the queen; she stays uncovered only for a player who shoots on. True: she is covered."""
        verdict, view = self.verdict, self.view
        if view.queen:
            self.events.append(QueenPocketed(self.side, self.player))
        if verdict.queen == "covered":
            self.events.append(QueenCovered(self.side, self.player))
            return True
        if verdict.queen == "returned":
            self._queen_back(verdict.queen_reason)
        return view.covered

    def _queen_back(self, reason: str) -> None:
        self.events.append(QueenReturned(self.side, reason))
        self.instructions.append(Instruction("return", "queen", 1, "centre_spot", self.placer))

    def _back(self, colour: str, count: int, reason: str) -> None:
        self.events.append(PieceReturned(colour, count, reason))
        self._ask(colour, count, self.placer)

    def _pay(self, side: str, colour: str, owed: int, available: int, placer: int) -> int:
        """Step 5: pay what can be paid, and return how many pieces that took; the opponent places them."""
        paid = min(owed, available)
        if paid:
            self.events.append(DuePaid(side, colour, paid))
            self._ask(colour, paid, placer)
        return paid

    def _ask(self, colour: str, count: int, placer: int) -> None:
        """Ask for pieces back; what one player has to place of one colour is one instruction."""
        for index, asked in enumerate(self.instructions):
            if (asked.object, asked.to, asked.by_player) == (colour, "centre_circle", placer):
                self.instructions[index] = changed(asked, count=asked.count + count)
                return
        self.instructions.append(Instruction("return", colour, count, "centre_circle", placer))

    def _end_board(self, winner: str, reason: str, own: int, other: int, covered: bool) -> Ruling:
        """The board is over: count it, and perhaps the match. Hands have nothing to put back onto this board."""
        view, verdict, options = self.view, self.verdict, self.state.options
        if verdict.queen == "uncovered" or (view.pending and verdict.queen == "stays"):
            self.events.append(QueenReturned(self.side, "board_over"))
        accounts = {
            self.side: changed(view.own, pocketed=own),
            other_side(self.side): changed(view.other, pocketed=other),
        }
        holder = self.side if verdict.queen == "covered" else self.state.queen_side
        points = self.sheet.points(
            options, accounts[winner], accounts[other_side(winner)], covered and holder == winner
        )
        self.events.append(BoardWon(winner, points, reason))
        scores = {side: mine.score for side, mine in accounts.items()}
        scores[winner] += points
        match_winner = self.sheet.match_winner(options, self.state.board, scores, winner)
        if match_winner is not None:
            self.events.append(MatchEnded(match_winner))
        return Ruling(tuple(self.events))


def _next_board(state: SidesState) -> Ruling | Refusal:
    """Set the board up again; the breaker follows the breaker of the last board (`x.break_order`)."""
    if state.phase == "match_over":
        return not_playing(state)
    if state.phase != "board_over" or state.result_side is None:
        return wrong_phase("the next board can be set up only when this one is over")
    breaker = next_player(state.breaker, state.players)
    order = state.options.break_order
    if order != "rotate":
        side = state.result_side if order == "winner" else other_side(state.result_side)
        while side_of(breaker) != side:
            breaker = next_player(breaker, state.players)
    return Ruling((BoardStarted(state.board + 1, breaker),), (Instruction("set_up", "board", 1, "centre", breaker),))


# Positions and recounts


def _part(mine: Side, part: SidePart, holds: bool, keep_right: bool) -> Side:
    pocketed = mine.pocketed if part.pocketed is None else part.pocketed
    due = mine.due if part.due is None else part.due
    score = mine.score if part.score is None else part.score
    right = mine.queen_right if part.queen_right is None else part.queen_right
    if part.queen_right is None or not keep_right:
        right = right or pocketed > 0 or holds
    return Side(pocketed, due, score, right)


def placed(state: SidesState, position: SidesPosition, at_start: bool = False) -> SidesState:
    """Return the state with a position put in; the break counts as made.

    Whoever then has pieces down or holds the queen has the queen right; only a set-up (`at_start`) can deny it.
    """
    player = state.player if position.player is None else position.player
    queen = state.queen if position.queen_status is None else position.queen_status
    holder = state.queen_side if position.queen_side is None else position.queen_side
    if position.queen_status == "on_board":
        holder = None
    elif queen == "uncovered" and holder is None and player is not None:
        holder = side_of(player)
    return changed(
        state,
        player=player,
        a=_part(state.a, position.a, holder == "A", at_start),
        b=_part(state.b, position.b, holder == "B", at_start),
        queen=queen,
        queen_side=holder,
        break_made=True,
        tries=0,
    )


def flaw(state: SidesState) -> tuple[str, str] | None:
    """Return the field and the sentence about what cannot be in a state that was set by hand."""
    assert state.player is not None
    if not 1 <= state.player <= state.players:
        return "turn.player", f"there is no player {amount(state.player)}; players are 1 to {state.players}"
    for side, mine in (("A", state.a), ("B", state.b)):
        if mine.pocketed >= SET:
            return (
                f"sides.{side}.pocketed",
                f"from 0 to {SET - 1} pieces can be down in play, not {amount(mine.pocketed)}",
            )
        if mine.due and mine.pocketed:
            return f"sides.{side}.due", "a side with pieces down would have paid its dues"
    if (state.queen == "on_board") != (state.queen_side is None):
        return "queen.side", "a queen is either on the board or belongs to a side"
    if state.queen == "uncovered" and state.queen_side != side_of(state.player):
        return "queen.side", "an uncovered queen can only belong to the side on turn"
    return None


def _recount(state: SidesState, recount: Recount) -> Ruling | Refusal:
    """Put the present board right by hand; nothing is won, paid or passed by it."""
    if state.player is None:
        return not_playing(state)
    assert isinstance(recount.position, SidesPosition)
    after = placed(state, recount.position)
    wrong = flaw(after)
    if wrong is not None:
        return impossible_count(f"{wrong[0]}: {wrong[1]}")
    differs = contradiction(recount.position, document(after))
    if differs is not None:
        return impossible_count(f"{differs[0]}: a recount cannot make this {differs[1]}")
    return Ruling((Recounted(recount.position),))


# Evolving


def _with_side(state: SidesState, side: str, mine: Side) -> SidesState:
    return changed(state, a=mine) if side == "A" else changed(state, b=mine)


def _fold_scored(state: SidesState, event: StrokeScored) -> SidesState:
    a, b = (event.white, event.black) if state.breaker % 2 else (event.black, event.white)
    return changed(
        state,
        a=changed(state.a, pocketed=state.a.pocketed + a) if a else state.a,
        b=changed(state.b, pocketed=state.b.pocketed + b) if b else state.b,
        break_made=True,
        tries=0,
    )


def _fold_missed(state: SidesState, event: StrokeMissed) -> SidesState:
    return state if state.break_made else changed(state, break_made=True, tries=0)


def _fold_returned(state: SidesState, event: PieceReturned) -> SidesState:
    side = "A" if colour_of(state, "A") == event.object else "B"
    mine = account(state, side)
    return _with_side(state, side, changed(mine, pocketed=mine.pocketed - event.count))


def _fold_right(state: SidesState, event: QueenRightEarned) -> SidesState:
    return _with_side(state, event.side, changed(account(state, event.side), queen_right=True))


def _fold_owed(state: SidesState, event: DueOwed) -> SidesState:
    mine = account(state, event.side)
    return _with_side(state, event.side, changed(mine, due=mine.due + event.count))


def _fold_paid(state: SidesState, event: DuePaid) -> SidesState:
    mine = account(state, event.side)
    return _with_side(
        state,
        event.side,
        changed(mine, due=mine.due - event.count, pocketed=mine.pocketed - event.count),
    )


def _fold_won(state: SidesState, event: BoardWon) -> SidesState:
    gain = {event.side: event.points}
    return changed(
        state,
        phase="board_over",
        player=None,
        a=changed(state.a, due=0, score=state.a.score + gain.get("A", 0)),
        b=changed(state.b, due=0, score=state.b.score + gain.get("B", 0)),
        result_side=event.side,
        result_points=event.points,
    )


def _fold_started(state: SidesState, event: BoardStarted) -> SidesState:
    return SidesState(
        state.game,
        state.players,
        state.options,
        board=event.board,
        breaker=event.player,
        player=event.player,
        a=Side(score=state.a.score),
        b=Side(score=state.b.score),
    )


def _fold_recounted(state: SidesState, event: Recounted) -> SidesState:
    assert isinstance(event.position, SidesPosition)
    return placed(state, event.position)


_FOLD: dict[type[Event], Callable[[SidesState, Any], SidesState]] = {
    StrokeScored: _fold_scored,
    StrokeMissed: _fold_missed,
    PieceJumped: lambda state, _: state,
    Foul: lambda state, _: state,
    NoStrokeMade: lambda state, _: state,
    QueenRightEarned: _fold_right,
    QueenPocketed: lambda state, event: changed(state, queen="uncovered", queen_side=event.side),
    QueenCovered: lambda state, event: changed(state, queen="covered", queen_side=event.side),
    QueenReturned: lambda state, _: changed(state, queen="on_board", queen_side=None),
    PieceReturned: _fold_returned,
    DueOwed: _fold_owed,
    DuePaid: _fold_paid,
    TurnPassed: lambda state, event: changed(state, player=event.player),
    BreakMissed: fold_break_missed,
    BoardWon: _fold_won,
    MatchEnded: lambda state, event: changed(state, phase="match_over", winner=event.winner),
    BoardStarted: _fold_started,
    Recounted: _fold_recounted,
}


def evolve(state: SidesState, event: Event) -> SidesState:
    """Fold one event into the state."""
    return _FOLD[type(event)](state, event)
