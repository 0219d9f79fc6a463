"""Simulated matches: repeatable, possible under the rules, plausible, with one meaning for each action.

The truth is checked by folding it anew; the timing from the script alone.
"""

import json
from collections import Counter
from itertools import combinations, pairwise
from statistics import mean

import pytest

from appliance import rules
from sim.actions import Call, Fall, Over, Strike
from sim.players import simulate, truth_lines

MS = 1_000
S = 1_000_000

GAMES = ("money_carrom", "club_carrom", "new_carrom", "carpetball")
QUIET = {"money_carrom": 6 * S, "club_carrom": 6 * S, "new_carrom": 6 * S, "carpetball": 5 * S}
CROWD = {"money_carrom": 3, "club_carrom": 3, "new_carrom": 3, "carpetball": 6}
SEEDS = range(200)
NAMES = ("Asha", "Ben", "Chidi", "Dana")

OPTIONS = {
    "money_carrom": ({}, {"mc.values": [0, 0, 0]}, {"mc.end": "first_to_17", "mc.striker": "end_go"}),
    "club_carrom": (
        {},
        {"cc.target": 15, "cc.continue_on_own": "no"},
        {"cc.max_boards": 2},
    ),
    "new_carrom": ({}, {"nc.match": "best_of_3"}, {"nc.last_before_queen": "lose_board", "x.break_tries": 1}),
    "carpetball": ({}, {"cb.max_balls": 7, "cb.standoff_balls": 1}, {"cb.self_cleared": "lose"}),
}
OVER = {
    "money_carrom": "match_over",
    "club_carrom": "match_over",
    "new_carrom": "match_over",
    "carpetball": "round_over",
}


def players_of(game, seed):
    """Two to four players; Club and New seat two or four."""
    counts = (2, 3, 4) if game in ("money_carrom", "carpetball") else (2, 4)
    return NAMES[: counts[seed % len(counts)]]


def play(game, seed):
    options = OPTIONS[game][(seed // 3) % len(OPTIONS[game])]
    rounds = 1 + seed % 2 if game == "carpetball" else 1
    return simulate(game, players_of(game, seed), seed, options, skill=(seed % 11) / 10, rounds=rounds)


@pytest.fixture(scope="module", params=GAMES)
def matches(request):
    """200 matches of a game: all skills, numbers of players and several house rules."""
    return request.param, [play(request.param, seed) for seed in SEEDS]


def test_the_truth_folds_without_refusal_to_the_end_that_the_players_saw(matches):
    game, played = matches
    for match in played:
        lines = [json.loads(line) for line in truth_lines(match)]
        state = rules.start(rules.parse_setup(game, lines[0]))
        for line in lines[1:]:
            assert state.phase != "match_over"
            outcome = rules.apply(state, rules.parse_observation(game, line))
            assert not isinstance(outcome, rules.Refusal), outcome
            state = outcome[0]
        assert rules.document(state) == rules.document(match.final)
        assert state.phase == OVER[game]


def test_the_same_seed_plays_the_same_match_and_another_seed_another(matches):
    game, played = matches
    for seed in (0, 7, 42):
        assert play(game, seed) == played[seed]
    others = [simulate(game, NAMES[:2], seed).actions for seed in range(10)]
    assert all(one != other for one, other in combinations(others, 2))


def test_actions_are_in_order_of_time_and_end_once(matches):
    _, played = matches
    for match in played:
        times = [action.at_us for action in match.actions]
        assert times == sorted(times)
        assert [isinstance(action, Over) for action in match.actions].count(True) == 1
        assert isinstance(match.actions[-1], Over)


def test_pulses_are_those_of_single_discs(matches):
    _, played = matches
    for match in played:
        for action in match.actions:
            if isinstance(action, Fall):
                assert 10 * MS <= action.dwell_us <= 80 * MS
            elif isinstance(action, Strike):
                assert 5 * MS <= action.dwell_us <= 20 * MS


def test_falls_at_one_place_are_far_enough_apart_to_be_two_and_never_crowd(matches):
    game, played = matches
    for match in played:
        falls = [action for action in match.actions if isinstance(action, Fall)]
        for place in {fall.place for fall in falls}:
            here = [fall for fall in falls if fall.place == place]
            for before, after in pairwise(here):
                assert after.at_us - before.end_us >= 150 * MS
            for first, one_too_many in zip(here, here[CROWD[game] :], strict=False):
                assert one_too_many.at_us - first.at_us > 2 * S


def test_every_fall_follows_its_strike_and_all_rests_before_the_next(matches):
    _, played = matches
    for match in played:
        strike_us, busy_until_us = None, 0
        for action in match.actions:
            if isinstance(action, Strike):
                assert strike_us is None or action.at_us - strike_us >= 1 * S
                assert strike_us is None or action.at_us - busy_until_us >= 2 * S
                strike_us = busy_until_us = action.at_us
            elif isinstance(action, Fall):
                assert 300 * MS <= action.at_us - strike_us <= 3 * S
                busy_until_us = max(busy_until_us, action.end_us)


def test_calls_come_well_inside_or_well_after_the_quiet_time_as_they_are_meant(matches):
    game, played = matches
    upon_open = {"jumped", "break_not_made", "no_stroke", "throw"}
    for match in played:
        seen_us, is_open = -QUIET[game], False
        for action in match.actions:
            if isinstance(action, Strike):
                seen_us, is_open = action.at_us, True
            elif isinstance(action, Fall):
                seen_us = action.end_us
            elif isinstance(action, Over):
                assert action.at_us - seen_us >= QUIET[game] + 1 * S
            elif action.request["command"] in upon_open:
                assert is_open
                assert action.at_us - seen_us <= QUIET[game] - 1 * S
                is_open = action.request["command"] == "jumped"
            elif action.request["command"] == "withdraw":
                assert not is_open
            else:
                assert action.at_us - seen_us >= QUIET[game] + 1 * S
                is_open = False


def test_what_beams_and_umpire_say_is_what_was_done(matches):
    """Strokes rebuilt from the script alone: falls between strikes, with the umpire's word in their place."""
    game, played = matches
    for match in played:
        told = []
        for action in match.actions:
            if isinstance(action, Strike):
                told.append({"pocketed": Counter(), "jumped": [], "out": Counter(), "cues": 0})
            elif isinstance(action, Fall):
                told[-1]["pocketed"][action.object] += 1
                told[-1]["out"][action.place] += action.object == "ball"
                told[-1]["cues"] += action.object == "cue"
            elif isinstance(action, Call) and action.request["command"] == "jumped":
                told[-1]["jumped"] += action.request["objects"]
            elif isinstance(action, Call):
                call = dict(action.request)
                if call["command"] in ("break_not_made", "no_stroke", "throw"):
                    told.pop()
                told.append(call)
        done = [rules.observation_document(observation) for observation in match.truth]
        assert len(told) == len(done)
        for seen, document in zip(told, done, strict=True):
            if "command" in seen:
                assert seen.pop("command") == document.pop("type")
                assert seen == document
            elif game == "carpetball":
                assert seen["out"] == Counter(document["out"])
                assert seen["cues"] <= 1
                assert not document.get("off_table")
                assert not document.get("short")
            else:
                assert seen["pocketed"] == Counter(document["pocketed"])
                assert seen["jumped"] == document.get("jumped", [])


def test_every_call_that_the_game_knows_is_made_somewhere(matches):
    game, played = matches
    calls = {
        "money_carrom": {"jumped", "break_not_made", "no_stroke"},
        "club_carrom": {"jumped", "break_not_made", "no_stroke", "next_board"},
        "new_carrom": {"jumped", "break_not_made", "no_stroke", "next_board"},
        "carpetball": {"line_up", "throw", "withdraw", "next_round"},
    }
    made = {action.request["command"] for match in played for action in match.actions if isinstance(action, Call)}
    assert made == calls[game]


def test_every_object_falls_somewhere_and_at_every_place(matches):
    game, played = matches
    falls = {(action.place, action.object) for match in played for action in match.actions if isinstance(action, Fall)}
    places = ("north", "south") if game == "carpetball" else ("ne", "nw", "se", "sw")
    objects = ("ball", "cue") if game == "carpetball" else ("white", "black", "queen", "striker")
    assert falls == {(place, name) for place in places for name in objects}


def test_matches_have_a_plausible_length():
    def strokes(game, seeds=range(20)):
        played = [simulate(game, NAMES[:2], seed) for seed in seeds]
        return [sum(isinstance(action, Strike) for action in match.actions) for match in played], played

    counts, played = strokes("club_carrom")
    boards = [1 + sum(isinstance(line, rules.NextBoard) for line in match.truth) for match in played]
    assert 4 <= mean(boards) <= 11
    assert max(counts) < 1_000
    counts, _ = strokes("money_carrom")
    assert 15 <= mean(counts) <= 80
    counts, _ = strokes("new_carrom")
    assert 15 <= mean(counts) <= 100
    counts, _ = strokes("carpetball")
    assert 4 <= mean(counts) <= 60


def test_skilled_players_need_fewer_strokes():
    def strokes(skill):
        matches = [simulate("money_carrom", NAMES[:2], seed, skill=skill) for seed in range(20)]
        return mean(sum(isinstance(action, Strike) for action in match.actions) for match in matches)

    assert strokes(1.0) < strokes(0.5) < strokes(0.0)


def test_what_the_game_does_not_know_is_bad_input():
    with pytest.raises(rules.BadInput):
        simulate("club_carrom", NAMES[:2], 1, {"cc.targett": 25})
