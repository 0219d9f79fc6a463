"""Each option does what it says, and a name or value that is none gets a sentence."""

from typing import Any

import pytest

from appliance import rules
from tests.support.rules import begin, play, ruled, sides, stroke

RIGHT = {"pocketed": 3}
NONE_YET: dict[str, Any] = {"pocketed": 0, "queen_right": False}
ON = ("on_board", None)
OPEN = ("uncovered", "A")
MINE = ("covered", "A")
CLUB, NEW = "club_carrom", "new_carrom"


def after(state: dict[str, Any]) -> tuple[int, int, str, int | None]:
    """A's pieces down and due, the queen, and who is on turn."""
    turn = state["turn"] and state["turn"]["player"]
    return state["sides"]["A"]["pocketed"], state["sides"]["A"]["due"], state["queen"]["status"], turn


# option, value, A before, queen before, pocketed, jumped, then: A's pieces, A's due, queen, player on turn
SIDES_CASES: list[tuple[str, str, Any, Any, tuple[str, str | None], list[str], list[str], Any]] = [
    (CLUB, "x.early_queen", "lose_turn", NONE_YET, ON, ["queen"], [], (0, 0, "on_board", 2)),
    (CLUB, "x.early_queen", "continue", NONE_YET, ON, ["queen"], [], (0, 0, "on_board", 1)),
    (CLUB, "x.early_queen", "due", NONE_YET, ON, ["queen"], [], (0, 1, "on_board", 2)),
    (CLUB, "x.early_queen", "continue", NONE_YET, ON, ["queen", "black"], [], (0, 1, "on_board", 2)),
    (CLUB, "x.early_queen", "due", NONE_YET, ON, ["queen", "black"], [], (0, 1, "on_board", 2)),
    (CLUB, "x.early_queen", "due", {"due": 1}, ON, ["queen"], [], (0, 1, "on_board", 2)),
    (NEW, "x.early_queen", "continue", NONE_YET, ON, ["queen"], [], (0, 0, "on_board", 1)),
    (NEW, "x.early_queen", "continue", NONE_YET, ON, ["queen", "black"], [], (0, 0, "on_board", 2)),
    (NEW, "x.early_queen", "due", NONE_YET, ON, ["queen", "black"], [], (0, 1, "on_board", 2)),
    (NEW, "x.early_queen", "due", NONE_YET, ON, ["queen", "striker"], [], (0, 1, "on_board", 2)),
    (NEW, "x.jump", "foul", RIGHT, OPEN, ["white"], ["black", "white"], (3, 0, "covered", 2)),
    (NEW, "x.jump", "foul", RIGHT, ON, ["queen"], ["black"], (2, 0, "on_board", 2)),
    (NEW, "x.jump", "foul", {"pocketed": 8}, ON, ["white"], ["black"], (8, 0, "on_board", 2)),
    (NEW, "x.jump", "foul", RIGHT, ON, ["striker"], ["black"], (1, 0, "on_board", 2)),
    (NEW, "x.jump", "none", RIGHT, ON, ["white"], ["black"], (4, 0, "on_board", 1)),
    (NEW, "x.striker_jump", "foul", RIGHT, ON, ["white"], ["striker"], (3, 0, "on_board", 2)),
    (CLUB, "x.jump", "none", RIGHT, ON, ["white"], ["black"], (4, 0, "on_board", 1)),
    (CLUB, "x.jump", "none", RIGHT, ON, ["white"], ["striker"], (3, 0, "on_board", 2)),
    (CLUB, "x.jump", "foul", RIGHT, ON, ["queen", "white"], ["black"], (3, 0, "on_board", 2)),
    (CLUB, "x.striker_jump", "none", RIGHT, ON, ["white"], ["striker"], (4, 0, "on_board", 1)),
    (NEW, "nc.own_plus_opp", "continue", RIGHT, ON, ["white", "black"], [], (4, 0, "on_board", 1)),
    (NEW, "nc.own_plus_opp", "continue", RIGHT, ON, ["black"], [], (3, 0, "on_board", 2)),
    (
        NEW, "nc.own_plus_opp", "continue", NONE_YET, ON, ["white", "black", "queen"], [],
        (1, 0, "uncovered", 1),
    ),
    (
        NEW, "nc.own_plus_opp", "continue", RIGHT, OPEN, ["white", "black", "striker"], [],
        (2, 0, "uncovered", 1),
    ),
    (NEW, "nc.queen_with_first", "return", NONE_YET, ON, ["white", "queen"], [], (1, 0, "on_board", 1)),
    (NEW, "nc.queen_with_first", "covered", NONE_YET, ON, ["white", "queen"], [], (1, 0, "covered", 1)),
    (NEW, "nc.queen_with_first", "covered", {"due": 1}, ON, ["white", "queen"], [], (0, 0, "on_board", 2)),
    (NEW, "nc.striker_with_own", "two", RIGHT, ON, ["white"] * 3 + ["striker"], [], (4, 0, "on_board", 1)),
    (NEW, "nc.striker_with_own", "two", NONE_YET, ON, ["white", "striker"], [], (0, 1, "on_board", 1)),
    (NEW, "nc.striker_with_own", "two", RIGHT, OPEN, ["white", "striker"], [], (2, 0, "uncovered", 1)),
    (NEW, "nc.striker_with_own", "two", {"due": 1}, ON, ["white", "striker"], [], (0, 2, "on_board", 1)),
    (NEW, "nc.last_before_queen", "last_plus_two", {"pocketed": 8}, ON, ["white"], [], (6, 0, "on_board", 1)),
    (NEW, "nc.last_before_queen", "lose_board", {"pocketed": 8}, ON, ["white"], [], (9, 0, "on_board", None)),
    (CLUB, "cc.continue_on_own", "no", RIGHT, ON, ["white"], [], (4, 0, "on_board", 2)),
    (CLUB, "cc.continue_on_own", "no", RIGHT, ON, ["white", "queen"], [], (4, 0, "covered", 2)),
    (CLUB, "cc.continue_on_own", "no", RIGHT, ON, ["queen"], [], (3, 0, "uncovered", 1)),
    (CLUB, "cc.continue_on_own", "no", RIGHT, OPEN, ["white"], [], (4, 0, "covered", 2)),
    (CLUB, "cc.own_with_foul", "returns", RIGHT, ON, ["white", "striker"], [], (2, 0, "on_board", 2)),
    (CLUB, "cc.own_with_foul", "returns", RIGHT, ON, ["white"], ["black"], (2, 0, "on_board", 2)),
    (CLUB, "cc.own_with_foul", "returns", {"pocketed": 8}, ON, ["white", "striker"], [], (7, 0, "on_board", 2)),
    (CLUB, "cc.own_with_foul", "returns", {"pocketed": 8}, ON, ["white"], [], (7, 0, "on_board", 2)),
    (CLUB, "cc.penalty_count", "per_kind", RIGHT, ON, ["black", "black", "striker"], [], (1, 0, "on_board", 2)),
    (
        CLUB, "cc.penalty_count", "per_kind", {"pocketed": 8}, ON, ["white"], ["black", "striker"],
        (6, 0, "on_board", 2),
    ),
    (CLUB, "cc.penalty_count", "per_object", RIGHT, ON, ["black", "black", "striker"], [], (0, 0, "on_board", 2)),
    (CLUB, "cc.penalty_count", "per_object", RIGHT, ON, [], ["black", "white", "striker"], (0, 0, "on_board", 2)),
    (CLUB, "cc.queen_with_first", "needs_cover", NONE_YET, ON, ["white", "queen"], [], (1, 0, "uncovered", 1)),
    (CLUB, "cc.queen_with_first", "covered", NONE_YET, ON, ["white", "queen"], [], (1, 0, "covered", 1)),
    (CLUB, "cc.queen_with_first", "covered", NONE_YET, ON, ["white", "queen", "black"], [], (0, 0, "on_board", 2)),
]  # fmt: skip


@pytest.mark.parametrize("case", SIDES_CASES, ids=lambda case: f"{case[1]}={case[2]}:{'+'.join(case[5])}")
def test_options_of_the_two_sides(case: Any) -> None:
    game, option, value, before, queen, pocketed, jumped, expected = case
    board = sides(game, before, {"pocketed": 4}, queen, options={option: value})
    assert after(stroke(board, *pocketed, jumped=tuple(jumped))) == expected


def test_own_pieces_that_return_with_a_foul_earn_no_queen_right() -> None:
    board = sides("club_carrom", NONE_YET, {}, options={"cc.own_with_foul": "returns"})
    state = play(
        board,
        {"type": "stroke", "pocketed": ["white", "white", "striker"]},
        {"type": "stroke", "pocketed": []},
        {"type": "recount", "sides": {"A": {"due": 0}}},
        {"type": "stroke", "pocketed": ["queen"]},
    )
    assert rules.document(state)["turn"]["player"] == 2  # type: ignore[index]
    default = play(
        sides("club_carrom", NONE_YET, {}),
        {"type": "stroke", "pocketed": ["white", "white", "striker"]},
        {"type": "stroke", "pocketed": []},
        {"type": "stroke", "pocketed": ["queen"]},
    )
    assert rules.document(default)["turn"] == {"player": 1, "side": "A", "must_cover": True}


@pytest.mark.parametrize(
    ("order", "players", "winner", "breaker"),
    [
        ("rotate", 2, "A", 2), ("rotate", 4, "B", 2), ("winner", 2, "A", 1), ("winner", 4, "A", 3),
        ("winner", 4, "B", 2), ("loser", 2, "A", 2), ("loser", 4, "B", 3), ("loser", 2, "B", 1),
    ],
)  # fmt: skip
def test_break_order(order: str, players: int, winner: str, breaker: int) -> None:
    last = {"pocketed": 8}
    board = sides(
        "club_carrom", last, last, ("covered", winner), player=1 if winner == "A" else 2,
        options={"x.break_order": order}, players=players,
    )  # fmt: skip
    state = play(board, {"type": "stroke", "pocketed": ["white" if winner == "A" else "black"]}, {"type": "next_board"})
    document: Any = rules.document(state)
    assert document["board"] == 2
    assert document["turn"]["player"] == breaker
    assert document["sides"]["A" if breaker % 2 else "B"]["colour"] == "white"


@pytest.mark.parametrize("game", ["money_carrom", "club_carrom", "new_carrom"])
@pytest.mark.parametrize("tries", [1, 2, 3, 5])
def test_break_tries(game: str, tries: int) -> None:
    state = begin(game, {"x.break_tries": tries})
    turns = []
    for _ in range(2 * tries):
        state = play(state, {"type": "break_not_made"})
        turns.append(rules.player_on_turn(state))
    assert turns == [1] * (tries - 1) + [2] * tries + [1]


@pytest.mark.parametrize("game", ["money_carrom", "club_carrom", "new_carrom"])
def test_direction_changes_nothing(game: str) -> None:
    ends = []
    for direction in ("clockwise", "anticlockwise"):
        state = play(begin(game, {"x.direction": direction}, 4), {"type": "stroke", "pocketed": []})
        ends.append(rules.document(state))
        assert rules.options_document(state.options)["x.direction"] == direction
    assert ends[0] == ends[1]


def won(game: str, options: Any, a: Any, b: Any, queen: Any = MINE, extra: tuple[str, ...] = ()) -> Any:
    state = stroke(sides(game, {"pocketed": 8, **a}, b, queen, options=options), "white", *extra)
    return state["phase"], state["board_result"]["points"], state["match_winner"]


def test_points_and_target() -> None:
    assert won("club_carrom", {}, {"score": 18}, {"pocketed": 3}) == ("match_over", 11, "A")
    assert won("club_carrom", {}, {"score": 17}, {"pocketed": 3}) == ("board_over", 11, None)
    assert won("club_carrom", {"cc.target": 11}, {}, {"pocketed": 3}) == ("match_over", 11, "A")
    assert won("club_carrom", {}, {}, {"pocketed": 3}, ("covered", "B")) == ("board_over", 6, None)
    # A score that was put right by hand counts at the end of the board too.
    assert won("club_carrom", {}, {}, {"pocketed": 8, "score": 30}) == ("match_over", 6, "B")


def test_queen_limit() -> None:
    limit = {"cc.queen_limit": 22}
    assert won("club_carrom", limit, {"score": 21}, {"pocketed": 8})[1] == 6
    assert won("club_carrom", limit, {"score": 22}, {"pocketed": 8})[1] == 1


def test_max_boards() -> None:
    one = {"cc.max_boards": 1}
    assert won("club_carrom", one, {}, {"pocketed": 8}) == ("match_over", 6, "A")
    assert won("club_carrom", one, {}, {"pocketed": 8, "score": 9}) == ("match_over", 6, "B")
    assert won("club_carrom", one, {}, {"pocketed": 8, "score": 6}) == ("match_over", 6, "draw")
    assert won("club_carrom", {"cc.max_boards": 2}, {}, {"pocketed": 8})[0] == "board_over"


def test_best_of() -> None:
    assert won("new_carrom", {}, {}, {}) == ("match_over", 1, "A")
    assert won("new_carrom", {"nc.match": "best_of_3"}, {}, {}) == ("board_over", 1, None)
    assert won("new_carrom", {"nc.match": "best_of_3"}, {"score": 1}, {"score": 1}) == ("match_over", 1, "A")
    assert won("new_carrom", {"nc.match": "best_of_5"}, {"score": 1}, {"score": 2}) == ("board_over", 1, None)


def test_money_options() -> None:
    def state(options: Any, *pocketed: str, **position: Any) -> Any:
        return stroke(begin("money_carrom", options, **position), *pocketed)

    values = state({"mc.values": [10, 0, 7]}, "white", "white", "black", "queen")
    assert values["players"][0]["score"] == 27
    ended = state({"mc.striker": "end_go"}, "striker")
    assert (ended["turn"], ended["players"][0]["missed_turns"]) == ({"player": 2}, 0)
    returned = state({"mc.striker_with_piece": "return"}, "striker", "white", "queen")
    assert returned["on_board"] == {"white": 9, "black": 9, "queen": 1}
    assert (returned["players"][0]["score"], returned["turn"]) == (0, {"player": 2})
    first_to = {"mc.end": "first_to_7"}
    assert state(first_to, "queen")["phase"] == "playing"
    assert state(first_to, "queen", "black")["match_winners"] == [1]
    leader = state(first_to, "queen", "black", players=2, **{"turn": {"player": 1}})
    assert leader["match_winners"] == [1]


@pytest.mark.parametrize(("tie", "winners"), [("shared", [1, 2]), ("queen_holder", [2])])
def test_money_tie(tie: str, winners: list[int]) -> None:
    options = {"mc.tie": tie, "mc.values": [1, 1, 1]}
    position = {"on_board": {"white": 2, "black": 1, "queen": 1}}
    board = begin("money_carrom", options, **position)
    state = play(
        board,
        {"type": "stroke", "pocketed": ["white", "white"]},
        {"type": "stroke", "pocketed": []},
        {"type": "stroke", "pocketed": ["queen"]},
        {"type": "stroke", "pocketed": ["black"]},
    )
    assert rules.document(state)["match_winners"] == winners
    by_hand = begin("money_carrom", options, players=2, on_board={"white": 0, "black": 1, "queen": 0})
    state = play(by_hand, {"type": "recount", "players": [{"score": 0}, {"score": 1}]})
    assert rules.document(play(state, {"type": "stroke", "pocketed": ["black"]}))["match_winners"] == [1, 2]


def ball_game(options: Any, north: int, south: int, players: int = 2, **position: Any) -> rules.GameState:
    return begin(
        "carpetball", options, players,
        **{"phase": "round", "ends": {"north": {"in_play": north}, "south": {"in_play": south}},
           "turn": {"end": "north"}, "first_thrower": "north", **position},
    )  # fmt: skip


def thrown(state: rules.GameState, north: int = 0, south: int = 0, off_table: int = 0) -> Any:
    throw = {"type": "throw", "out": {"north": north, "south": south}, "off_table": off_table}
    return rules.document(play(state, throw))


def test_mercy() -> None:
    cleared = {"end": "south", "final_throw": True}
    assert thrown(ball_game({}, 3, 1), south=1)["turn"] == cleared
    assert thrown(ball_game({"cb.mercy": "none"}, 3, 1), south=1)["round_winner"] == 1
    challenger = {"cb.mercy": "challenger_only"}
    assert thrown(ball_game(challenger, 3, 1), south=1)["round_winner"] == 1
    assert thrown(ball_game(challenger, 3, 1, first_thrower="south"), south=1)["turn"] == cleared
    for mercy in ("both", "challenger_only", "none"):
        assert thrown(ball_game({"cb.mercy": mercy}, 1, 1), 1, 1)["phase"] == "standoff"


def test_fly_penalty() -> None:
    per_ball = {"cb.fly_penalty": "per_ball"}
    assert thrown(ball_game({}, 3, 3), off_table=3)["ends"]["north"]["in_play"] == 2
    assert thrown(ball_game(per_ball, 3, 3), off_table=2)["ends"]["north"]["in_play"] == 1
    assert thrown(ball_game(per_ball, 2, 3), off_table=3)["turn"] == {"end": "north", "final_throw": True}
    lost = thrown(ball_game({"cb.fly_penalty": "lose_round"}, 1, 1), 1, 1, off_table=1)
    assert (lost["round_winner"], lost["ends"]["north"]["in_play"]) == (2, 0)


def test_self_cleared() -> None:
    lose = {"cb.self_cleared": "lose"}
    assert thrown(ball_game({}, 1, 3), north=1)["turn"] == {"end": "north", "final_throw": True}
    assert thrown(ball_game(lose, 1, 3), north=1)["round_winner"] == 2
    assert thrown(ball_game(lose, 1, 3), off_table=1)["round_winner"] == 2
    assert thrown(ball_game(lose, 1, 1), 1, 1)["phase"] == "standoff"
    pending = {"turn": {"end": "north", "final_throw": True}}
    withdraw = {"type": "withdraw", "end": "south", "balls": 2}
    assert rules.document(play(ball_game({}, 0, 2, **pending), withdraw))["phase"] == "standoff"
    assert rules.document(play(ball_game(lose, 0, 2, **pending), withdraw))["round_winner"] == 1


def test_standoff_and_tie_path() -> None:
    three = thrown(ball_game({"cb.standoff_balls": 3}, 1, 1), 1, 1)
    assert [three["ends"][end]["in_play"] for end in ("north", "south")] == [3, 3]
    state = ball_game({"cb.tie_path": "one_then_restart"}, 1, 1, phase="standoff", first_thrower="south")
    both = {"type": "throw", "out": {"north": 1, "south": 1}}
    state = play(state, both)
    document: Any = rules.document(state)
    assert (document["phase"], document["ends"]["north"]["in_play"]) == ("standoff", 1)
    assert document["turn"]["end"] == "south"
    document = rules.document(play(state, both))
    assert (document["phase"], document["turn"]["end"]) == ("line_up", "south")


@pytest.mark.parametrize(("value", "end"), [("loser", "south"), ("winner", "north"), ("alternate", "south")])
def test_rematch_first(value: str, end: str) -> None:
    state = play(
        ball_game({"cb.rematch_first": value, "cb.mercy": "none"}, 3, 1),
        {"type": "throw", "out": {"south": 1}},
        {"type": "next_round"},
    )
    document: Any = rules.document(state)
    assert document["turn"] == {"end": end, "final_throw": False}
    with_queue = play(
        ball_game({"cb.rematch_first": value, "cb.mercy": "none"}, 3, 1, players=3),
        {"type": "throw", "out": {"south": 1}},
        {"type": "next_round"},
    )
    document = rules.document(with_queue)
    assert document["turn"]["end"] == "south"
    assert (document["ends"]["south"]["player"], document["queue"]) == (3, [2])


def test_first_throw_and_max_balls() -> None:
    state = begin("carpetball", {"cb.first_throw": "south", "cb.max_balls": 7})
    assert rules.document(state)["turn"] == {"end": "south", "final_throw": False}
    ruled(state, {"type": "line_up", "north": 7, "south": 1})


def test_defaults_are_the_first_values() -> None:
    for game in rules.GAMES:
        told = rules.options_document(rules.parse_options(game, {}))
        kinds = rules.option_kinds(game)
        assert set(told) == set(kinds)
        for name, kind in kinds.items():
            default = list(kind.default) if isinstance(kind.default, tuple) else kind.default
            assert told[name] == default
            again = rules.options_document(rules.parse_options(game, {name: default}))
            assert again == told


@pytest.mark.parametrize(
    ("game", "name", "value", "told"),
    [
        ("club_carrom", "cc.traget", 25, "cc.target"),
        ("new_carrom", "cc.target", 25, "no such option"),
        ("club_carrom", "cc.overshoot", "keep", "not available yet"),
        ("money_carrom", "nc.format", "singles", "not available yet"),
        ("club_carrom", "cc.target", 0, "from 1"),
        ("club_carrom", "cc.target", True, "whole number"),
        ("club_carrom", "cc.target", 25.0, "whole number"),
        ("club_carrom", "cc.target", "25", "whole number"),
        ("club_carrom", "cc.max_boards", "non", "none"),
        ("club_carrom", "x.jump", "fuol", '"foul"'),
        ("club_carrom", "x.jump", ["foul"], "foul, none"),
        ("new_carrom", "nc.match", "best_of_1", "3"),
        ("new_carrom", "nc.match", "best_of_4", "odd"),
        ("new_carrom", "nc.match", "best_of_٣", "odd"),
        ("new_carrom", "nc.match", "best_of_03", "odd"),
        ("new_carrom", "nc.match", "best_of_" + "3" * 5000, "odd"),
        ("money_carrom", "mc.end", "first_to_0", "first_to_N"),
        ("money_carrom", "mc.end", 17, "first_to_N"),
        ("money_carrom", "mc.values", [1, 2], "three"),
        ("money_carrom", "mc.values", [1, 2, -5], "three"),
        ("money_carrom", "mc.values", [1, 2, True], "three"),
        ("money_carrom", "mc.values", 8, "three"),
        ("carpetball", "cb.max_balls", 8, "from 3 to 7"),
        ("carpetball", "cb.standoff_balls", 6, "from 1 to 5"),
        ("carpetball", "x.break_tries", 3, "no such option"),
    ],
)
def test_bad_options(game: str, name: str, value: object, told: str) -> None:
    with pytest.raises(rules.BadInput) as caught:
        rules.parse_options(game, {name: value})
    assert caught.value.field == name
    assert told in caught.value.message
    assert "\n" not in str(caught.value)
