"""What the tables leave open: rights, dues, breaks, counts, phases, recounts, and what hands are asked for."""

from typing import Any

import pytest

from appliance import rules
from tests.support.rules import begin, play, refused, ruled, sides, stroke

HIT = {"type": "stroke", "pocketed": ["white"]}
MISS = {"type": "stroke", "pocketed": []}
QUEEN = {"type": "stroke", "pocketed": ["queen"]}
BOTH = ["club_carrom", "new_carrom"]


def turn(state: rules.GameState) -> Any:
    return rules.document(state)["turn"]


def names(ruling: rules.Ruling) -> list[str]:
    return [event.name for event in ruling.events]


def asked(ruling: rules.Ruling) -> list[dict[str, object]]:
    return [instruction.document() for instruction in ruling.instructions]


# The queen right


@pytest.mark.parametrize("game", BOTH)
def test_the_right_outlives_the_piece_that_earned_it(game: str) -> None:
    state = play(sides(game, {"due": 1}, {}), HIT)
    document: Any = rules.document(state)
    assert document["sides"]["A"] == {"colour": "white", "pocketed": 0, "due": 0, "score": 0}
    assert turn(play(state, QUEEN))["must_cover"]


def test_an_opponent_gives_the_right_only_where_the_piece_stays_down() -> None:
    given = {"type": "stroke", "pocketed": ["black", "striker"]}
    assert turn(play(begin("new_carrom"), given, QUEEN))["must_cover"]
    assert turn(play(begin("club_carrom"), given, QUEEN))["player"] == 1  # B had no right: the turn is lost


def test_a_striker_with_own_pieces_earns_the_right_only_in_club() -> None:
    both = {"type": "stroke", "pocketed": ["white", "white", "striker"]}
    new = play(begin("new_carrom"), both, {"type": "recount", "sides": {"A": {"due": 0}}}, QUEEN)
    assert turn(new)["player"] == 2
    club = play(begin("club_carrom"), both, MISS, QUEEN)
    assert turn(club) == {"player": 1, "side": "A", "must_cover": True}


def test_nine_first_pieces_with_a_due_open_are_not_all_nine_down() -> None:
    new = stroke(sides("new_carrom", {"due": 2}, {}, ("covered", "A")), *["white"] * 9)
    assert (new["sides"]["A"]["pocketed"], new["turn"]["player"]) == (7, 1)
    club = stroke(sides("club_carrom", {"due": 1}, {}, ("covered", "B")), *["white"] * 9)
    assert (club["sides"]["A"]["pocketed"], club["phase"]) == (8, "playing")


def test_club_last_piece_before_the_queen_in_a_foul_stroke() -> None:
    board = sides("club_carrom", {"pocketed": 8}, {"pocketed": 4}, ("uncovered", "A"))
    state = stroke(board, "white", "striker")
    assert (state["sides"]["A"]["pocketed"], state["queen"]["status"]) == (7, "on_board")


def test_the_queen_stays_covered_by_the_loser() -> None:
    state = stroke(sides("new_carrom", {"pocketed": 8}, {"pocketed": 8}, ("covered", "B")), "black")
    assert (state["board_result"]["winner"], state["queen"]) == ("B", {"status": "covered", "side": "B"})


# Dues


@pytest.mark.parametrize("game", BOTH)
def test_both_sides_pay_what_they_can_and_the_rest_is_written_off(game: str) -> None:
    board = sides(game, {"pocketed": 8}, {"due": 2}, ("covered", "A"))
    state = stroke(board, "white")
    assert [state["sides"][side]["due"] for side in "AB"] == [0, 0]


def test_a_piece_that_the_opponent_pockets_pays_a_due() -> None:
    state = stroke(sides("new_carrom", {"pocketed": 2}, {"due": 3}), "black", "black")
    assert state["sides"]["B"] == {"colour": "black", "pocketed": 0, "due": 1, "score": 0}


# The break


@pytest.mark.parametrize("game", ["money_carrom", *BOTH])
def test_break_tries(game: str) -> None:
    missed = {"type": "break_not_made"}
    state = play(begin(game), missed, {"type": "no_stroke"}, missed, missed)
    assert turn(state)["player"] == 2
    state = play(state, missed, missed)
    assert turn(state)["player"] == 2
    assert refused(play(state, MISS), missed) == "wrong_phase"
    assert refused(begin(game, turn={"player": 1}), missed) == "wrong_phase"
    assert refused(play(begin(game), missed, {"type": "recount"}), missed) == "wrong_phase"


@pytest.mark.parametrize("game", BOTH)
def test_a_failed_break_leaves_colours_and_the_rotation(game: str) -> None:
    options = {"nc.match": "best_of_3"} if game == "new_carrom" else {}
    state = play(begin(game, options), *[{"type": "break_not_made"}] * 3)
    document: Any = rules.document(state)
    assert (document["turn"]["player"], document["sides"]["A"]["colour"]) == (2, "white")
    last = {"type": "recount", "sides": {"A": {"pocketed": 8}}, "queen": {"status": "covered", "side": "A"}}
    state = play(state, MISS, last, HIT, {"type": "next_board"})
    assert turn(state)["player"] == 2


# Counts and phases


@pytest.mark.parametrize("game", ["money_carrom", *BOTH])
@pytest.mark.parametrize(
    ("pocketed", "jumped"),
    [
        (["white"] * 10, []), (["white"] * 9, ["white"]), (["queen", "queen"], []), (["queen"], ["queen"]),
        (["striker"], ["striker"]), (["striker", "striker"], []),
    ],
)  # fmt: skip
def test_more_than_there_is(game: str, pocketed: list[str], jumped: list[str]) -> None:
    assert refused(begin(game), {"type": "stroke", "pocketed": pocketed, "jumped": jumped}) == "impossible_count"


@pytest.mark.parametrize("status", ["uncovered", "covered"])
def test_a_queen_that_is_not_on_the_board_cannot_fall_or_jump(status: str) -> None:
    board = sides("club_carrom", {"pocketed": 1}, {}, (status, "A"))
    assert refused(board, QUEEN) == "impossible_count"
    assert refused(board, {**MISS, "jumped": ["queen"]}) == "impossible_count"


def test_phases_come_before_counts() -> None:
    over = play(sides("club_carrom", {"pocketed": 8}, {}, ("covered", "A")), HIT)
    assert refused(over, {"type": "stroke", "pocketed": ["white"] * 10}) == "wrong_phase"
    assert refused(over, {"type": "recount", "sides": {"A": {"pocketed": 12}}}) == "wrong_phase"
    assert refused(over, {"type": "no_stroke"}) == "wrong_phase"
    assert refused(begin("club_carrom"), {"type": "next_board"}) == "wrong_phase"
    assert refused(begin("money_carrom"), {"type": "next_board"}) == "wrong_phase"


# Money


def test_money_flags() -> None:
    owing = begin("money_carrom", players=2, **{"turn": {"player": 1}})
    owing = play(owing, {"type": "recount", "players": [{"missed_turns": 1}]})
    state: Any = stroke(owing, "striker")
    assert [player["missed_turns"] for player in state["players"]] == [1, 0]
    ending = begin("money_carrom", players=2, on_board={"white": 1, "black": 0, "queen": 0})
    state = rules.document(play(ending, {"type": "recount", "players": [{"missed_turns": 1}]}, HIT))
    assert [player["missed_turns"] for player in state["players"]] == [0, 0]


def test_money_game_ends_with_a_stroke_of_whoever_has_enough() -> None:
    board = begin("money_carrom", {"mc.end": "first_to_9"}, 2, **{"turn": {"player": 2}})
    board = play(board, {"type": "recount", "players": [{"score": 20}, {"score": 9}]})
    assert turn(board) == {"player": 2}
    document: Any = rules.document(play(board, MISS))
    assert (document["phase"], document["match_winners"]) == ("match_over", [1])


# Recount


@pytest.mark.parametrize(
    "part",
    [
        {"sides": {"A": {"pocketed": 9}}},
        {"sides": {"A": {"pocketed": 1, "due": 1}}},
        {"sides": {"B": {"due": 1}}},
        {"turn": {"player": 3}},
        {"turn": {"player": 0}},
        {"turn": {"player": 2}},
        {"queen": {"status": "uncovered", "side": "B"}},
        {"queen": {"side": "B"}},
        {"sides": {"A": {"colour": "black"}}},
        {"phase": "board_over"},
        {"board": 2},
    ],
)
def test_impossible_recounts(part: dict[str, Any]) -> None:
    board = sides("club_carrom", {"pocketed": 2}, {"pocketed": 3}, ("uncovered", "A"))
    assert refused(board, {"type": "recount", **part}) == "impossible_count"


@pytest.mark.parametrize(
    "part",
    [
        {"on_board": {"white": 10}},
        {"on_board": {"queen": 2}},
        {"on_board": {"white": 0, "black": 0, "queen": 0}},
        {"players": [{}] * 3},
        {"turn": {"player": 3}},
    ],
)
def test_impossible_recounts_in_money(part: dict[str, Any]) -> None:
    assert refused(begin("money_carrom"), {"type": "recount", **part}) == "impossible_count"


def test_recount_sets_parts_and_gives_rights() -> None:
    board = sides("club_carrom", {"score": 3, "queen_right": False}, {"due": 2})
    state = play(
        board,
        {"type": "recount", "sides": {"A": {"pocketed": 8}, "B": {"score": 7}}, "turn": {"player": 1}},
    )
    document: Any = rules.document(state)
    assert document["sides"]["A"] == {"colour": "white", "pocketed": 8, "due": 0, "score": 3}
    assert document["sides"]["B"] == {"colour": "black", "pocketed": 0, "due": 2, "score": 7}
    assert turn(play(state, QUEEN))["must_cover"]


def test_a_whole_state_is_a_recount_that_changes_nothing() -> None:
    for game in rules.GAMES:
        state = play(begin(game), {"type": "line_up", "north": 5, "south": 4} if game == "carpetball" else HIT)
        told = rules.document(state)
        again = play(state, {"type": "recount", **told})
        assert rules.document(again) == told


# Carpetball


def lined_up(north: int = 3, south: int = 3, **position: Any) -> rules.GameState:
    ends = {"north": {"in_play": north}, "south": {"in_play": south}}
    return begin("carpetball", players=3, ends=ends, **position)


def test_carpetball_phases_and_counts() -> None:
    fresh = begin("carpetball", players=3)
    throw = {"type": "throw", "out": {"south": 9}}
    assert refused(fresh, throw) == "wrong_phase"
    assert refused(fresh, {"type": "withdraw", "end": "north", "balls": 1}) == "wrong_phase"
    assert refused(fresh, {"type": "recount"}) == "wrong_phase"
    assert refused(fresh, {"type": "next_round"}) == "wrong_phase"
    assert refused(fresh, {"type": "line_up", "north": 0, "south": 5}) == "impossible_count"
    assert refused(fresh, {"type": "line_up", "north": 5, "south": 6}) == "impossible_count"
    state = lined_up()
    assert refused(state, throw) == "impossible_count"
    assert refused(state, {"type": "throw", "off_table": 8}) == "impossible_count"
    ruled(state, {"type": "throw", "off_table": 7})
    assert refused(state, {"type": "line_up", "north": 5, "south": 5}) == "wrong_phase"
    assert refused(state, {"type": "withdraw", "end": "north", "balls": 0}) == "impossible_count"
    assert refused(state, {"type": "withdraw", "end": "north", "balls": 4}) == "impossible_count"


@pytest.mark.parametrize(
    ("throw", "said"),
    [
        ({"out": {"north": 1}}, "1 ball of the north end cannot be out: it has only 0 in play"),
        ({"out": {"south": 2}}, "2 balls of the south end cannot be out: it has only 1 in play"),
        ({"off_table": 10**9}, "1000000000 balls cannot have left the table: it had only 2 on it"),
    ],
)
def test_carpetball_says_what_there_cannot_be(throw: dict[str, Any], said: str) -> None:
    state = lined_up(0, 1, turn={"end": "north", "final_throw": True})
    ruling = rules.decide(state, rules.parse_observation("carpetball", {"type": "throw", **throw}))
    assert isinstance(ruling, rules.Refusal)
    assert ruling.message == said


def test_carpetball_recount() -> None:
    state = play(lined_up(), {"type": "recount", "ends": {"north": {"in_play": 5}}, "turn": {"end": "south"}})
    assert turn(state) == {"end": "south", "final_throw": False}
    for count in (0, 6):
        assert refused(state, {"type": "recount", "ends": {"north": {"in_play": count}}}) == "impossible_count"
    pending = lined_up(0, 2, turn={"end": "north", "final_throw": True})
    assert refused(pending, {"type": "recount", "turn": {"end": "south"}}) == "wrong_phase"
    assert refused(pending, {"type": "recount", "ends": {"north": {"in_play": 1}}}) == "impossible_count"
    ruled(pending, {"type": "recount", "ends": {"south": {"in_play": 1}}})


def test_the_cue_ball_decides_who_begins_a_standoff() -> None:
    # North clears south, and withdraws everything while south's final throw is pending: the cue lies at south.
    state = play(lined_up(2, 1), {"type": "throw", "out": {"south": 1}})
    state = play(state, {"type": "withdraw", "end": "north", "balls": 2})
    assert turn(state) == {"end": "south", "final_throw": False}
    assert state.phase == "standoff"
    # A recount of the turn takes the cue ball along.
    state = play(lined_up(1, 1), {"type": "recount", "turn": {"end": "south"}})
    state = play(state, {"type": "throw", "out": {"north": 1, "south": 1}})
    assert turn(state) == {"end": "north", "final_throw": False}


def test_carpetball_queue() -> None:
    lost = {"type": "throw", "out": {"south": 2}}
    state = play(lined_up(2, 2), lost, {"type": "throw"}, {"type": "next_round"})
    document: Any = rules.document(state)
    assert document["round"] == 2
    assert document["ends"]["south"] == {"player": 3, "in_play": None}
    assert (document["queue"], document["turn"]["end"]) == ([2], "south")


# Questions about a state


def test_questions() -> None:
    club = sides("club_carrom", {"pocketed": 2}, {"pocketed": 3}, ("covered", "A"), player=2)
    assert rules.player_on_turn(club) == 2
    assert rules.on_table(club) == {"white": 7, "black": 6, "queen": 0, "striker": 1}
    assert [rules.own_colour(club, player) for player in (1, 2, 3, 4)] == ["white", "black", "white", "black"]
    assert rules.miss(club) == rules.Stroke(())
    money = begin("money_carrom", players=3)
    assert rules.own_colour(money, 1) is None
    ball = begin("carpetball", {"cb.first_throw": "south"})
    assert (rules.player_on_turn(ball), rules.on_table(ball)) == (2, {"north": 0, "south": 0})
    assert rules.miss(ball) == rules.Throw(0, 0)
    assert rules.player_on_turn(play(lined_up(), {"type": "throw"})) == 2
    assert (club.game, club.phase, club.players) == ("club_carrom", "playing", 2)


def test_an_observation_of_another_game_and_undo_are_refused() -> None:
    for state, observation in ((begin("club_carrom"), rules.Throw(0, 0)), (lined_up(), rules.Stroke(()))):
        refusal = rules.decide(state, observation)
        assert isinstance(refusal, rules.Refusal)
        assert refusal.code == "wrong_phase"
        undo = rules.decide(state, rules.Undo())
        assert isinstance(undo, rules.Refusal)
        assert undo.code == "nothing_to_undo"


# Events and instructions


def test_what_a_club_foul_tells_and_asks() -> None:
    board = sides("club_carrom", {"pocketed": 2}, {"pocketed": 1}, player=1, players=4)
    ruling = ruled(board, {"type": "stroke", "pocketed": ["black", "queen"], "jumped": ["white"]})
    assert names(ruling) == [
        "stroke_scored", "piece_jumped", "foul", "queen_pocketed", "queen_returned", "piece_returned", "due_owed",
        "due_paid", "turn_passed",
    ]  # fmt: skip
    foul = next(event.document() for event in ruling.events if event.name == "foul")
    assert foul == {"event": "foul", "player": 1, "kinds": ["opponents_piece", "jumped"], "penalty": 1}
    place = {"do": "return", "count": 1, "by_player": 2}
    assert asked(ruling) == [
        {**place, "object": "white", "to": "centre_circle", "count": 2},
        {**place, "object": "queen", "to": "centre_spot"},
        {**place, "object": "black", "to": "centre_circle"},
    ]


def test_what_new_carrom_asks() -> None:
    board = sides("new_carrom", {"pocketed": 2}, {"due": 1})
    ruling = ruled(board, {"type": "stroke", "pocketed": ["white", "striker"], "jumped": ["black", "queen"]})
    assert asked(ruling) == [
        {"do": "return", "object": "queen", "count": 1, "to": "centre_spot", "by_player": 2},
        {"do": "return", "object": "black", "count": 1, "to": "centre", "by_player": 2},
        {"do": "return", "object": "white", "count": 2, "to": "centre_circle", "by_player": 2},
    ]
    paid = ruled(board, {"type": "stroke", "pocketed": ["black"]})
    assert asked(paid) == [{"do": "return", "object": "black", "count": 1, "to": "centre_circle", "by_player": 1}]


def test_what_a_board_and_a_match_tell() -> None:
    ruling = ruled(sides("club_carrom", {"pocketed": 8, "score": 20}, {}, ("covered", "A")), HIT)
    assert [event.document() for event in ruling.events[-2:]] == [
        {"event": "board_won", "side": "A", "points": 14, "reason": "cleared"},
        {"event": "match_ended", "winner": "A"},
    ]
    assert asked(ruling) == []


def test_what_carpetball_tells() -> None:
    penalty = ruled(lined_up(3, 1), {"type": "throw", "out": {"south": 1}, "off_table": 1})
    assert names(penalty) == ["stroke_scored", "foul", "penalty_paid", "final_throw"]
    assert asked(penalty) == [{"do": "remove", "object": "ball", "count": 1, "to": "north_pit", "by_player": 1}]
    tie = ruled(lined_up(1, 1), {"type": "throw", "out": {"north": 1, "south": 1}})
    assert names(tie) == ["stroke_scored", "standoff"]
    assert asked(tie) == [
        {"do": "line_up", "object": "ball", "count": 2, "to": "north", "by_player": 1},
        {"do": "line_up", "object": "ball", "count": 2, "to": "south", "by_player": 2},
    ]
    assert names(ruled(lined_up(), {"type": "throw"})) == ["stroke_missed", "turn_passed"]


def test_a_recount_tells_what_was_set() -> None:
    part = {"sides": {"A": {"pocketed": 5, "due": 0}}, "queen": {"status": "covered", "side": "A"}}
    ruling = ruled(begin("club_carrom"), {"type": "recount", **part})
    assert [event.document() for event in ruling.events] == [{"event": "recounted", "position": part}]
