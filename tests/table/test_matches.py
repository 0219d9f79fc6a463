"""Matches: how they begin and end, what the next one takes over, names and seats, match point."""

from dataclasses import replace

import pytest

from tests.support.session import Session
from tests.table.test_closing import NEARLY_WON


def names(table):
    return [player["name"] for player in table.document["players"]]


def ids(table):
    return [player["id"] for player in table.document["players"]]


def option(table, name):
    return table.state.match.started.setup["line"]["options"][name]


def test_a_new_match_is_as_before_where_the_request_says_nothing():
    table = Session("club_carrom", ("Asha", "Ben"), rules={"cc.target": 20})
    table.do("new_match")
    assert table.document["match_id"] == "m2"
    assert table.rules["game"] == "club_carrom"
    assert names(table) == ["Asha", "Ben"]
    assert option(table, "cc.target") == 20
    assert table.names == ["match_started"]


def test_the_request_goes_first_then_a_changed_file_then_the_match_before():
    table = Session(rules={"cc.target": 20, "cc.queen_limit": 15})
    table.do("new_match", options={"cc.target": 25, "cc.max_boards": 4})
    assert (option(table, "cc.target"), option(table, "cc.max_boards"), option(table, "cc.queen_limit")) == (25, 4, 15)
    table.do("new_match")
    assert option(table, "cc.target") == 25, "the file has not changed: what was asked for goes on"
    table.policy = changed_rules(table, {"cc.target": 21, "cc.queen_limit": 12})
    table.do("new_match", options={"cc.queen_limit": 10})
    assert (option(table, "cc.target"), option(table, "cc.max_boards"), option(table, "cc.queen_limit")) == (21, 4, 10)


def changed_rules(table, rules):
    return replace(table.policy, rules=rules)


def test_a_changed_file_changes_nothing_in_a_running_match():
    table = Session(rules={"cc.target": 20})
    table.played("white")
    table.policy = changed_rules(table, {"cc.target": 21})
    table.played()
    table.do("undo")
    assert option(table, "cc.target") == 20


def test_options_of_another_game_are_dropped():
    table = Session("club_carrom", rules={"cc.target": 20, "x.break_tries": 5})
    table.do("new_match", game="new_carrom")
    assert table.rules["game"] == "new_carrom"
    assert option(table, "x.break_tries") == 5, "an option that both games have stays"
    assert "cc.target" not in table.state.match.started.setup["line"]["options"]


def test_back_in_the_files_game_the_files_options_hold_again():
    table = Session("club_carrom", rules={"cc.target": 20, "x.break_tries": 5})
    table.do("new_match", options={"x.break_tries": 1, "cc.max_boards": 4})
    table.do("new_match", game="new_carrom")
    table.do("new_match", game="club_carrom")
    options = [option(table, name) for name in ("cc.target", "cc.max_boards", "x.break_tries")]
    assert options == [20, "none", 1], "what was asked for goes with its match, and before the file where it is left"


def test_an_option_that_the_other_game_does_not_have_is_dropped_though_it_is_of_several():
    table = Session("club_carrom", rules={"x.jump": "none"})
    table.do("new_match", game="carpetball")
    assert table.rules["phase"] == "line_up"


def test_a_position_sets_a_score_by_hand_for_that_match_alone():
    table = Session()
    table.do("new_match", position=NEARLY_WON)
    assert table.side("A")["pocketed"] == 8
    table.do("new_match")
    assert table.side("A")["pocketed"] == 0


@pytest.mark.parametrize(
    "fields",
    [
        {"game": "chess"},
        {"game": None},
        {"game": ["club_carrom"]},
        {"players": ["Asha"]},
        {"players": "Asha"},
        {"players": 2},
        {"players": ["Asha", "Asha"]},
        {"players": ["Asha", ""]},
        {"players": ["Asha", " "]},
        {"players": ["Asha", "x" * 41]},
        {"players": ["Asha", "B\x07"]},
        {"players": ["Asha", 5]},
        {"players": ["Asha", {"id": "b"}]},
        {"players": ["Asha", {"id": 5, "name": "Ben"}]},
        {"players": [{"id": "a", "name": "Asha"}, {"id": "a", "name": "Ben"}]},
        {"players": ["Asha", "Ben", "Chidi"]},
        {"options": 5},
        {"options": ["cc.target"]},
        {"options": {"cc.target": "many"}},
        {"options": {"mc.values": [1, 2, 3]}},
        {"position": {"sides": {"A": {"pocketed": 10}}}},
        {"position": 5},
    ],
)
def test_what_is_no_match_is_malformed(fields):
    table = Session()
    before = table.state
    assert table.ask("new_match", **fields) == "malformed"
    assert table.state == before


def test_a_match_runs_from_its_first_observation_to_its_end():
    table = Session("new_carrom", position=NEARLY_WON)
    table.do("new_match")
    table.do("new_match", position=NEARLY_WON)
    table.played()
    before = table.state
    assert table.ask("new_match") == "match_running"
    assert table.ask("new_match", abandon=False) == "match_running"
    assert table.state == before
    table.played()
    table.played("white")
    assert table.rules["phase"] == "match_over"
    table.do("new_match")


def test_between_boards_the_match_still_runs():
    table = Session(position=NEARLY_WON)
    table.played("white")
    assert table.rules["phase"] == "board_over"
    assert table.ask("new_match") == "match_running"


def test_after_a_round_of_carpetball_none_runs():
    table = Session("carpetball")
    table.do("line_up", north=1, south=1)
    assert table.ask("new_match") == "match_running"
    table.do("throw", out={"south": 1})
    table.do("throw", out={})
    table.do("new_match")
    assert table.rules["round"] == 1


def test_abandon_true_gives_the_running_match_up():
    table = Session(unknown="ask")
    table.passes(at=1)
    table.press(1, at=2)
    table.passes("white", at=11)
    table.do("new_match", abandon=True)
    assert table.document["match_id"] == "m2"
    assert table.pending == []
    assert table.questions == []
    assert table.open_stroke is None
    assert table.document["last_result"] == {"match_id": "m1", "abandoned": True, "certain": True}
    assert table.names[-2:] == ["match_abandoned", "match_started"]


def test_a_new_match_ends_the_pause_and_says_so():
    table = Session()
    table.played("white")
    table.do("pause")
    table.do("new_match", abandon=True)
    assert table.names == ["match_abandoned", "resumed", "match_started"]
    assert table.document["paused"] is False


def test_a_refused_new_match_gives_nothing_up():
    table = Session()
    table.played("white")
    before = table.state
    assert table.ask("new_match", abandon=True, players=["Asha"]) == "malformed"
    assert table.state == before


def test_abandoned_it_is_over_with_no_winner():
    table = Session(unknown="ask")
    table.passes(at=1)
    table.press(1, at=2)
    table.do("abandon")
    assert table.pending == []
    assert table.questions == []
    assert table.rules["match_winner"] is None
    passage = table.passes("white", at=20)
    assert table.open_stroke is None
    assert passage in table.unscored()
    assert table.ask("stroke", pocketed=[]) == "wrong_phase"
    assert table.ask("no_stroke") == "wrong_phase"
    assert table.ask("recount", turn={"player": 1}) == "wrong_phase"
    assert table.ask("abandon") == "wrong_phase"
    table.do("new_match")


# -- people


def test_names_are_renamed_and_ids_stay():
    table = Session()
    table.do("players", names=["Chidi", "Dana"])
    assert names(table) == ["Chidi", "Dana"]
    assert ids(table) == ["Asha", "Ben"]
    assert table.names == ["players_changed"]
    table.do("new_match")
    assert names(table) == ["Chidi", "Dana"]


def test_a_swap_changes_the_seats():
    table = Session(players=("Asha", "Ben", "Chidi", "Dana"))
    table.played()
    table.do("players", swap=[2, 4])
    assert names(table) == ["Asha", "Dana", "Chidi", "Ben"]
    assert table.turn == 2
    table.do("new_match", abandon=True)
    assert names(table) == ["Asha", "Dana", "Chidi", "Ben"], "it is remembered"


def test_a_renamed_person_who_plays_again_is_the_same_person():
    table = Session()
    table.do("players", names=["Zoe", "Ben"])
    table.do("new_match", players=["Ben", "Zoe"])
    assert ids(table) == ["Ben", "Asha"]


def test_a_newcomer_with_the_old_name_of_somebody_is_somebody_else():
    table = Session()
    table.do("players", names=["Zoe", "Ben"])
    table.do("new_match", players=["Zoe", "Asha"])
    assert names(table) == ["Zoe", "Asha"]
    assert ids(table)[0] == "Asha"
    assert len(set(ids(table))) == 2


@pytest.mark.parametrize("name", ["Σoφía", "മലയാള‍ം", "می‌خواهم", "👩‍👩‍👧", "Anna Lena", "x" * 40, "<b>"])
def test_any_name_without_control_characters_will_do(name):
    table = Session()
    table.do("players", names=[name, "Ben"])
    table.do("new_match", players=["Ben", name])
    assert names(table) == ["Ben", name]


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"names": ["Chidi", "Dana"], "swap": [1, 2]},
        {"names": ["Chidi"]},
        {"names": ["Chidi", "Dana", "Eve"]},
        {"names": "Ch"},
        {"names": ["Chidi", "Chidi"]},
        {"names": ["Chidi", "B\n"]},
        {"names": ["Chidi", None]},
        {"names": None},
        {"swap": [1, 1]},
        {"swap": [1, 3]},
        {"swap": [1]},
        {"swap": [True, 2]},
        {"swap": "12"},
        {"swap": None},
    ],
)
def test_what_is_no_change_of_players_is_malformed(fields):
    table = Session()
    before = table.state
    assert table.ask("players", **fields) == "malformed"
    assert table.state == before


# -- match point


def club_at(a, b, **more):
    position = {
        "sides": {"A": {"pocketed": 8, "score": a}, "B": {"pocketed": 8, "score": b}},
        "queen": {"status": "covered", "side": "A"},
        "turn": {"player": 1},
    }
    return Session(position=position, **more)


def told(table):
    return [(news["side"], news["board"]) for news in table.news if news["event"] == "match_point"]


@pytest.mark.parametrize(
    ("a", "b", "at_match_point"),
    [
        (21, 0, []),  # 21 + 1 + 5 = 27
        (22, 0, [("A", 2)]),  # 28: any board makes it 29
        (22, 28, [("A", 2), ("B", 2)]),
    ],
)
def test_club_match_point_is_one_short_of_the_target_when_a_board_is_set_up(a, b, at_match_point):
    table = club_at(a, b)
    table.played("white")
    assert told(table) == []
    table.do("next_board")
    assert told(table) == at_match_point


def test_clubs_last_board_of_a_limit_is_match_point_for_whoever_leads():
    table = club_at(0, 5, rules={"cc.max_boards": 2})
    table.played("white")
    table.do("next_board")
    assert told(table) == [("A", 2)], "6 to 5: any board won by A decides it, one of a point won by B does not"


def test_new_carrom_match_point_is_one_board_short():
    table = Session("new_carrom", rules={"nc.match": "best_of_5"}, position=NEARLY_WON)
    table.played("white")
    table.do("next_board")
    assert told(table) == [], "1 of 3"
    table.do("recount", **NEARLY_WON)
    # On board 2 black breaks first, so side B is white; A still needs its own last piece.
    table.played("black")
    table.do("next_board")
    assert table.side("A")["score"] == 2
    assert told(table) == [("A", 3)]


def test_a_match_of_one_board_and_the_first_board_have_no_match_point():
    assert told(Session("new_carrom")) == []
    assert told(club_at(28, 0)) == []
