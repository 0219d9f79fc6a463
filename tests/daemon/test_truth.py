"""The daemon's score is what the players did: whole matches in virtual time, over good wires and bad ones."""

import json
from dataclasses import asdict

import pytest

from appliance import rules
from sim.layout import SOURCE
from sim.players import SimulatedMatch, simulate, truth_lines
from sim.wire import CLEAN, Faults
from tests.support.ring1 import Table, in_no_order, play

NAMES = ("Asha", "Ben", "Chidi", "Dana")
SEATS = {"money_carrom": (2, 3, 4), "carpetball": (2, 3, 4), "club_carrom": (2, 4), "new_carrom": (2, 4)}
OPTIONS: dict[str, tuple[dict[str, object], ...]] = {
    "money_carrom": ({}, {"mc.end": "first_to_17", "mc.striker": "end_go"}, {"mc.values": [1, 1, 3]}),
    "club_carrom": ({"cc.target": 9}, {"cc.target": 12, "cc.own_with_foul": "returns"}, {}),
    "new_carrom": ({}, {"nc.match": "best_of_3"}, {"nc.own_plus_opp": "continue"}),
    "carpetball": ({}, {"cb.standoff_balls": 1, "cb.mercy": "none"}, {"cb.max_balls": 7}),
}
SEEDS = 25


def match_of(game: str, seed: int) -> tuple[SimulatedMatch, dict[str, object]]:
    """The seed's match: seats, options and skill go round, so that each combination comes up."""
    seats = SEATS[game][seed % len(SEATS[game])]
    # The longest matches are played by the best players, and seldom.
    options = OPTIONS[game][2 if seed % 8 == 7 else seed % 2]
    skill = 0.9 if not options and game == "club_carrom" else 0.3 + seed % 4 * 0.2
    return simulate(game, NAMES[:seats], seed, options, skill), options


def score_of(match: SimulatedMatch, options: dict[str, object], faults: Faults, sync_s: float) -> Table:
    """The table after the match, which has come to what the players did."""

    async def main() -> Table:
        async with Table(
            match.game, match.players, options=options, faults=faults, seed=len(match.actions), sync_s=sync_s
        ) as table:
            await table.play(match)
            assert table.state["rules"] == rules.document(match.final)
            assert table.state["stroke"] is None
            assert table.state["pending"] == table.state["questions"] == []
            truth = [json.loads(line) for line in truth_lines(match)]
            assert [in_no_order(line) for line in table.lines[1:]] == [in_no_order(line) for line in truth[1:]]
            assert table.unforeseen() == []
            return table

    table: Table = play(main())
    return table


@pytest.mark.parametrize("seed", range(SEEDS))
@pytest.mark.parametrize("game", rules.GAMES)
def test_the_score_is_what_the_players_did(game: str, seed: int) -> None:
    match, options = match_of(game, seed)
    score_of(match, options, CLEAN, sync_s=0.004 if seed % 2 else 0.0)


WIRES = {
    "bytewise": Faults(bytewise=True),
    "lossy": Faults(lose_frames=0.2),
    "hurt": Faults(hurt_frames=0.15),
    "flipped": Faults(flip_bits=0.004),
    "late": Faults(delay_us=120_000),
    "all at once": Faults(bytewise=True, lose_frames=0.05, hurt_frames=0.05, delay_us=20_000, junk=40),
}


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("game", rules.GAMES)
def test_a_bad_wire_changes_nothing_but_counters(game: str, wire: str) -> None:
    match, options = match_of(game, 0)
    bad = score_of(match, options, WIRES[wire], sync_s=0.004)
    counted = asdict(bad.daemon._sources[SOURCE].counters)
    if wire not in ("bytewise", "late"):
        assert counted["bad_frames"] + counted["gaps"] > 0
        assert counted["board_resent"] > 0
    assert counted["board_lost"] == 0
