"""The house rules: every option, the values it takes (the default first), and which games have it.

The tables below are the whole truth about option names; a game's options are one frozen value, kept with the
match for as long as it lasts. A value is stored as JSON writes it, so that `"none"` and `22` stay what they are.
Names that are decided but not built are known too, so that asking for one is answered honestly.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from appliance.rules.parsing import MOST, BadInput, nearest, show, unknown

GAMES = ("money_carrom", "club_carrom", "new_carrom", "carpetball")

Value = str | int | tuple[int, ...]


@dataclass(frozen=True, slots=True)
class OneOf:
    """An option that takes one of a few words; the first is the default."""

    words: tuple[str, ...]

    def read(self, value: object, name: str) -> Value:
        """Return the word, or say which is the nearest."""
        if isinstance(value, str) and value in self.words:
            return value
        listed = ", ".join(self.words)
        if isinstance(value, str):
            raise unknown(name, value, self.words, f"one of {listed}")
        raise BadInput(name, f"one of {listed} is needed here, not {show(value)}")

    @property
    def default(self) -> Value:
        """The value that holds when nobody says otherwise."""
        return self.words[0]


@dataclass(frozen=True, slots=True)
class Whole:
    """An option that takes a whole number from `least` to `most`, or the word `or_word`."""

    default: Value
    least: int = 1
    most: int = MOST
    or_word: str | None = None

    def read(self, value: object, name: str) -> Value:
        """Return the number or the word."""
        if self.or_word is not None and value == self.or_word and isinstance(value, str):
            return value
        if isinstance(value, int) and not isinstance(value, bool) and self.least <= value <= self.most:
            return value
        either = f'"{self.or_word}" or ' if self.or_word else ""
        raise BadInput(
            name, f"{either}a whole number from {self.least} to {self.most} is needed here, not {show(value)}"
        )


@dataclass(frozen=True, slots=True)
class Numbered:
    """An option that takes a plain word, or `prefix` followed by a whole number (odd where it must be)."""

    default: Value
    prefix: str
    least: int
    odd: bool = False

    def read(self, value: object, name: str) -> Value:
        """Return the word as given."""
        if isinstance(value, str) and (value == self.default or self._fits(value)):
            return value
        kind = "an odd number" if self.odd else "a whole number"
        raise BadInput(
            name,
            f'"{self.default}" or "{self.prefix}N" with {kind} N of {self.least} or more is needed here, '
            f"not {show(value)}",
        )

    def _fits(self, value: str) -> bool:
        digits = value.removeprefix(self.prefix)
        if digits == value or not (digits.isascii() and digits.isdecimal()) or digits.startswith("0"):
            return False
        if len(digits) > len(str(MOST)) or not self.least <= int(digits) <= MOST:
            return False
        return int(digits) % 2 == 1 or not self.odd


@dataclass(frozen=True, slots=True)
class ThreeNumbers:
    """An option that takes a list of three whole numbers of 0 or more."""

    default: Value

    def read(self, value: object, name: str) -> Value:
        """Return the three numbers as a tuple."""
        if isinstance(value, list | tuple) and len(value) == 3:
            numbers = tuple(
                item for item in value if isinstance(item, int) and not isinstance(item, bool) and 0 <= item <= MOST
            )
            if len(numbers) == 3:
                return numbers
        raise BadInput(name, f"a list of three whole numbers from 0 to {MOST} is needed here, not {show(value)}")


Kind = OneOf | Whole | Numbered | ThreeNumbers

_DIRECTION = OneOf(("clockwise", "anticlockwise"))
_BREAK_ORDER = OneOf(("rotate", "winner", "loser"))
_BREAK_TRIES = Whole(3)
_EARLY_QUEEN = OneOf(("lose_turn", "continue", "due"))
_FOUL_OR_NONE = OneOf(("foul", "none"))
_NONE_OR_FOUL = OneOf(("none", "foul"))


@dataclass(frozen=True, slots=True)
class MoneyOptions:
    """The house rules of Money Carrom."""

    kinds: ClassVar[dict[str, tuple[str, Kind]]] = {
        "direction": ("x.direction", _DIRECTION),
        "break_tries": ("x.break_tries", _BREAK_TRIES),
        "values": ("mc.values", ThreeNumbers((1, 2, 5))),
        "striker": ("mc.striker", OneOf(("skip_next", "end_go"))),
        "striker_with_piece": ("mc.striker_with_piece", OneOf(("keep", "return"))),
        "end": ("mc.end", Numbered("all_pieces", "first_to_", 1)),
        "tie": ("mc.tie", OneOf(("shared", "queen_holder"))),
    }
    direction: Literal["clockwise", "anticlockwise"] = "clockwise"
    break_tries: int = 3
    values: tuple[int, int, int] = (1, 2, 5)
    striker: Literal["skip_next", "end_go"] = "skip_next"
    striker_with_piece: Literal["keep", "return"] = "keep"
    end: str = "all_pieces"
    tie: Literal["shared", "queen_holder"] = "shared"


@dataclass(frozen=True, slots=True)
class ClubOptions:
    """The house rules of Club Carrom."""

    kinds: ClassVar[dict[str, tuple[str, Kind]]] = {
        "direction": ("x.direction", _DIRECTION),
        "break_order": ("x.break_order", _BREAK_ORDER),
        "break_tries": ("x.break_tries", _BREAK_TRIES),
        "early_queen": ("x.early_queen", _EARLY_QUEEN),
        "jump": ("x.jump", _FOUL_OR_NONE),
        "striker_jump": ("x.striker_jump", _FOUL_OR_NONE),
        "target": ("cc.target", Whole(29)),
        "max_boards": ("cc.max_boards", Whole("none", or_word="none")),
        "queen_limit": ("cc.queen_limit", Whole("none", or_word="none")),
        "continue_on_own": ("cc.continue_on_own", OneOf(("yes", "no"))),
        "own_with_foul": ("cc.own_with_foul", OneOf(("stays", "returns"))),
        "penalty_count": ("cc.penalty_count", OneOf(("per_stroke", "per_kind", "per_object"))),
        "queen_with_first": ("cc.queen_with_first", OneOf(("return", "needs_cover", "covered"))),
    }
    direction: Literal["clockwise", "anticlockwise"] = "clockwise"
    break_order: Literal["rotate", "winner", "loser"] = "rotate"
    break_tries: int = 3
    early_queen: Literal["lose_turn", "continue", "due"] = "lose_turn"
    jump: Literal["foul", "none"] = "foul"
    striker_jump: Literal["foul", "none"] = "foul"
    target: int = 29
    max_boards: int | Literal["none"] = "none"
    queen_limit: int | Literal["none"] = "none"
    continue_on_own: Literal["yes", "no"] = "yes"
    own_with_foul: Literal["stays", "returns"] = "stays"
    penalty_count: Literal["per_stroke", "per_kind", "per_object"] = "per_stroke"
    queen_with_first: Literal["return", "needs_cover", "covered"] = "return"


@dataclass(frozen=True, slots=True)
class NewOptions:
    """The house rules of New Carrom."""

    kinds: ClassVar[dict[str, tuple[str, Kind]]] = {
        "direction": ("x.direction", OneOf(("anticlockwise", "clockwise"))),
        "break_order": ("x.break_order", _BREAK_ORDER),
        "break_tries": ("x.break_tries", _BREAK_TRIES),
        "early_queen": ("x.early_queen", _EARLY_QUEEN),
        "jump": ("x.jump", _NONE_OR_FOUL),
        "striker_jump": ("x.striker_jump", _NONE_OR_FOUL),
        "own_plus_opp": ("nc.own_plus_opp", OneOf(("lose_turn", "continue"))),
        "queen_with_first": ("nc.queen_with_first", OneOf(("icf", "return", "covered"))),
        "striker_with_own": ("nc.striker_with_own", OneOf(("k_plus_one", "two"))),
        "last_before_queen": ("nc.last_before_queen", OneOf(("two", "last_plus_two", "lose_board"))),
        "match": ("nc.match", Numbered("one_board", "best_of_", 3, odd=True)),
    }
    direction: Literal["anticlockwise", "clockwise"] = "anticlockwise"
    break_order: Literal["rotate", "winner", "loser"] = "rotate"
    break_tries: int = 3
    early_queen: Literal["lose_turn", "continue", "due"] = "lose_turn"
    jump: Literal["none", "foul"] = "none"
    striker_jump: Literal["none", "foul"] = "none"
    own_plus_opp: Literal["lose_turn", "continue"] = "lose_turn"
    queen_with_first: Literal["icf", "return", "covered"] = "icf"
    striker_with_own: Literal["k_plus_one", "two"] = "k_plus_one"
    last_before_queen: Literal["two", "last_plus_two", "lose_board"] = "two"
    match: str = "one_board"


@dataclass(frozen=True, slots=True)
class CarpetballOptions:
    """The house rules of Carpetball."""

    kinds: ClassVar[dict[str, tuple[str, Kind]]] = {
        "max_balls": ("cb.max_balls", Whole(5, 3, 7)),
        "first_throw": ("cb.first_throw", OneOf(("north", "south"))),
        "mercy": ("cb.mercy", OneOf(("both", "challenger_only", "none"))),
        "fly_penalty": ("cb.fly_penalty", OneOf(("per_throw", "per_ball", "lose_round"))),
        "self_cleared": ("cb.self_cleared", OneOf(("final_throw", "lose"))),
        "standoff_balls": ("cb.standoff_balls", Whole(2, 1, 5)),
        "tie_path": ("cb.tie_path", OneOf(("restart", "one_then_restart"))),
        "rematch_first": ("cb.rematch_first", OneOf(("loser", "winner", "alternate"))),
    }
    max_balls: int = 5
    first_throw: Literal["north", "south"] = "north"
    mercy: Literal["both", "challenger_only", "none"] = "both"
    fly_penalty: Literal["per_throw", "per_ball", "lose_round"] = "per_throw"
    self_cleared: Literal["final_throw", "lose"] = "final_throw"
    standoff_balls: int = 2
    tie_path: Literal["restart", "one_then_restart"] = "restart"
    rematch_first: Literal["loser", "winner", "alternate"] = "loser"


Options = MoneyOptions | ClubOptions | NewOptions | CarpetballOptions

_OF_GAME: dict[str, type[Options]] = {
    "money_carrom": MoneyOptions,
    "club_carrom": ClubOptions,
    "new_carrom": NewOptions,
    "carpetball": CarpetballOptions,
}

# Decided, with only the default built.
NOT_AVAILABLE = frozenset(
    """
    x.cover_same_pocket x.dues_at_end x.dues_max x.failed_break_colour x.first_piece_by x.illegal x.out_of_turn
    x.queen_pays x.queen_right x.queen_while_due x.waive
    nc.both_last nc.cover_with_striker nc.format nc.n13_turn nc.opp_last nc.queen_plus_opp nc.queen_with_striker
    nc.short_stroke nc.striker_choice nc.teams_per_house
    cc.back_shots cc.cover_on_foul cc.foul_ends_turn cc.illegal cc.last_before_queen cc.opp_last_after
    cc.opp_last_before cc.opp_piece cc.overshoot cc.same_stroke_cover cc.win_on_foul
    mc.break_keeps_turn mc.fouls mc.jump mc.penalty_piece mc.queen_cover mc.skip_carry mc.teams
    cb.both_zero cb.bump cb.confirm_rules cb.equal_lineup cb.flown_object cb.fly_return cb.line_rule
    cb.lineup_confirm cb.match cb.max_restarts cb.on_line cb.penalty_no_balls cb.pit_bounce_out cb.queue
    cb.restart_first cb.short_line cb.standoff_first cb.teams cb.throw_clock cb.withdraw
    """.split()  # noqa: SIM905
)


def check_game(game: object) -> str:
    """Return the name of a game that there is."""
    if isinstance(game, str) and game in GAMES:
        return game
    if isinstance(game, str):
        raise unknown("game", game, GAMES, "a game")
    raise BadInput("game", f"one of {', '.join(GAMES)} is needed here, not {show(game)}")


def option_kinds(game: str) -> dict[str, Kind]:
    """Return the options of a game: what values each name takes."""
    return dict(_OF_GAME[check_game(game)].kinds.values())


def parse_options(game: str, value: object) -> Options:
    """Read a mapping of option names to values; what is left out has its default."""
    of_game = _OF_GAME[check_game(game)]
    given = read_options(value)
    names = {name: (field, kind) for field, (name, kind) in of_game.kinds.items()}
    chosen: dict[str, Any] = {}
    for name, setting in given.items():
        if name in NOT_AVAILABLE:
            raise BadInput(name, "this option is not available yet; only its default is built")
        if name not in names:
            raise BadInput(name, f"{game} has no such option; the nearest is {show(nearest(str(name), names))}")
        field, kind = names[name]
        chosen[field] = kind.read(setting, name)
    return of_game(**chosen)


def read_options(value: object) -> Mapping[str, object]:
    """Return the mapping that options are given in."""
    if not isinstance(value, Mapping):
        raise BadInput("options", f"an object is needed here, not {show(value)}")
    return value


def options_document(options: Options) -> dict[str, object]:
    """Return every option in force, by name, as JSON writes it."""
    document: dict[str, object] = {}
    for field, (name, _) in options.kinds.items():
        value = getattr(options, field)
        document[name] = list(value) if isinstance(value, tuple) else value
    return document
