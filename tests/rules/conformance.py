"""Random games of every kind, with the laws that hold whatever is played.

`python tests/rules/conformance.py --games 10000` plays that many games a game; `--seed` says where the seeds
begin. The same game and seed always give the same set-up and observations.
"""

import argparse
import random
import sys
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from appliance import rules
from appliance.rules.carpetball import CarpetballState
from appliance.rules.money import MoneyState
from appliance.rules.sides import SidesState

LENGTH = 40
VALUES: dict[str, list[Any]] = {
    "x.break_tries": [1, 2, 3],
    "cc.target": [5, 15, 29],
    "cc.max_boards": ["none", 1, 2],
    "cc.queen_limit": ["none", 1, 10],
    "nc.match": ["one_board", "best_of_3"],
    "mc.values": [[1, 2, 5], [0, 0, 0], [3, 1, 20]],
    "mc.end": ["all_pieces", "first_to_3", "first_to_17"],
    "cb.max_balls": [3, 5, 7],
    "cb.standoff_balls": [1, 2, 5],
}


class Broken(AssertionError):
    """A law that did not hold, with the game that shows it."""


def random_setup(game: str, dice: random.Random) -> rules.Setup:
    """A set-up with random options, mid-board in half of the games."""
    options = {}
    for name, kind in rules.option_kinds(game).items():
        if dice.random() < 0.3:
            options[name] = dice.choice(VALUES[name] if name in VALUES else list(kind.words))
    players = dice.choice(rules.PLAYERS[game][:3])
    document: dict[str, Any] = {"type": "setup", "players": players, "options": options}
    if dice.random() < 0.5:
        document["position"] = random_position(game, players, dice)
    return rules.parse_setup(game, document)


def random_position(game: str, players: int, dice: random.Random) -> dict[str, Any]:
    """A position that can be."""
    if game == "carpetball":
        ends = {"north": {"in_play": dice.randint(1, 3)}, "south": {"in_play": dice.randint(1, 3)}}
        end = dice.choice(["north", "south"])
        final = dice.random() < 0.2
        if final:
            ends[end]["in_play"] = 0
        return {"ends": ends, "turn": {"end": end, "final_throw": final}, "phase": dice.choice(["round", "standoff"])}
    turn = {"player": dice.randint(1, players)}
    if game == "money_carrom":
        on_board = {"white": dice.randint(0, 9), "black": dice.randint(1, 9), "queen": dice.randint(0, 1)}
        return {"on_board": on_board, "turn": turn}
    sides: dict[str, Any] = {}
    for side in "AB":
        down = dice.choice([0, 3, 7, 8])
        sides[side] = {"pocketed": down, "due": 0 if down else dice.choice([0, 0, 1, 2])}
    status = dice.choice(["on_board", "uncovered", "covered"])
    holder = {"on_board": None, "uncovered": "A" if turn["player"] % 2 else "B", "covered": dice.choice("AB")}
    return {"sides": sides, "queen": {"status": status, "side": holder[status]}, "turn": turn}


def random_observation(state: rules.GameState, dice: random.Random) -> rules.Observation:
    """Mostly what fits the moment and the table, sometimes what cannot be."""
    table = rules.on_table(state)
    roll = dice.random()
    if isinstance(state, CarpetballState):
        if roll < 0.05:
            return dice.choice([rules.NextRound(), rules.LineUp(1, 9), rules.Throw(0, 9), rules.Withdraw("south", 9)])
        if state.phase == "line_up":
            return rules.LineUp(dice.randint(1, 3), dice.randint(1, 3))
        if state.phase == "round_over":
            return rules.NextRound()
        if roll < 0.12:
            return rules.Withdraw(dice.choice(["north", "south"]), dice.randint(0, 2))
        if roll < 0.16:
            count = dice.randint(0, 3)
            return rules.parse_observation(state.game, {"type": "recount", "ends": {"north": {"in_play": count}}})
        out = [dice.randint(0, table[end]) if dice.random() < 0.5 else 0 for end in ("north", "south")]
        return rules.Throw(out[0], out[1], dice.choice([0, 0, 0, 1, 2]), dice.random() < 0.1)
    if state.phase == "board_over" and roll < 0.9:
        return rules.NextBoard()
    if roll < 0.1:
        return dice.choice([rules.BreakNotMade(), rules.NoStroke(), rules.NextBoard(), rules.BreakNotMade()])
    if roll < 0.14:
        recount: dict[str, Any] = {"type": "recount", "turn": {"player": dice.randint(1, 3)}}
        if isinstance(state, MoneyState):
            recount["on_board"] = {"white": dice.randint(0, 10)}
        else:
            recount["sides"] = {"A": {"pocketed": dice.randint(0, 9)}}
        return rules.parse_observation(state.game, recount)
    fell: list[str] = []
    flew: list[str] = []
    for thing, count in table.items():
        if count and dice.random() < (0.2 if thing == "striker" else 0.4):
            (fell if dice.random() < 0.9 else flew).extend([thing] * dice.choice([1, 1, 1, min(2, count), count]))
    if roll > 0.98:
        fell += ["queen", "queen"]
    return rules.Stroke(tuple(fell), tuple(flew))


def law(holds: bool, what: str) -> None:
    """Raise where a law does not hold."""
    if not holds:
        raise Broken(what)


def check_state(state: rules.GameState) -> None:
    """What holds in every state."""
    law(rules.from_text(rules.to_text(state)) == state, "text gives the same state back")
    document: Any = rules.document(state)
    law((document["turn"] is None) == (rules.player_on_turn(state) is None), "somebody is on turn, or nobody")
    if isinstance(state, CarpetballState):
        law(min(state.north, state.south) >= 0, "no end has less than nothing")
        known = (state.north_player, state.south_player, *state.queue)
        law(sorted(known) == list(range(1, state.players + 1)), "everybody stands at an end or in the queue")
        if state.phase in ("round", "standoff"):
            end = state.end or ""
            cleared = [name for name in ("north", "south") if getattr(state, name) == 0]
            law(cleared == ([end] if state.final_throw else []), "who is cleared has the final throw")
        return
    table = rules.on_table(state)
    law(all(0 <= table[colour] <= 9 for colour in ("white", "black")), "a colour has nine pieces")
    if isinstance(state, MoneyState):
        law(set(state.missed) <= {0, 1}, "a turn to miss is one")
        law((state.phase == "match_over") == bool(state.winners), "a game that is over has winners")
        return
    for side, mine in (("A", state.a), ("B", state.b)):
        colour = rules.own_colour(state, 1 if side == "A" else 2)
        law(mine.pocketed + table[str(colour)] == 9, "pieces are down or on the board")
        law(mine.due == 0 or mine.pocketed == 0, "dues are paid when they can be")
        law(mine.pocketed < 9 or state.phase != "playing", "nobody has cleared in play")
    law((state.queen == "on_board") == (state.queen_side is None), "the queen is somewhere")
    if state.queen == "uncovered":
        law(document["turn"]["side"] == state.queen_side, "an uncovered queen is the shooter's")
    law((state.phase == "match_over") == (state.winner is not None), "a match that is over has a result")


def check_step(
    before: rules.GameState, observation: rules.Observation, after: rules.GameState, ruling: rules.Ruling
) -> None:
    """What holds from one state to the next."""
    names = [event.name for event in ruling.events]
    law(all(instruction.count > 0 for instruction in ruling.instructions), "hands are asked for something")
    law(all(event.document()["event"] == event.name for event in ruling.events), "events tell their names")
    if isinstance(observation, rules.NoStroke):
        law(before == after, "no stroke changes nothing")
    if isinstance(before, MoneyState) and isinstance(after, MoneyState) and isinstance(observation, rules.Stroke):
        white, black, queen = before.options.values

        def worth(state: MoneyState) -> int:
            left = state.white * white + state.black * black + state.queen * queen
            return sum(state.scores) + left

        law(worth(before) == worth(after), "points only move from the board to the players")
    if isinstance(before, SidesState) and isinstance(after, SidesState) and isinstance(observation, rules.Stroke):
        if before.queen == "covered":
            law((after.queen, after.queen_side) == ("covered", before.queen_side), "covered stays covered")
        rose = [after.a.score > before.a.score, after.b.score > before.b.score]
        law(sum(rose) == ("board_won" in names), "one side's score rises, with a board won")
        if "board_won" in names and before.game == "club_carrom":
            law(1 <= (after.result_points or 0) <= 14, "a board of Club counts 1 to 14")
        if "board_won" in names:
            law(any(thing in ("white", "black") for thing in observation.pocketed), "a board ends with a piece")
        if before.game == "new_carrom" and after.phase == "playing":
            law(min(rules.on_table(after)[colour] for colour in ("white", "black")) > 0, "N12 ends the board")
        pocketed = observation.pocketed.count("white") + observation.pocketed.count("black")
        left_before = before.a.pocketed + before.b.pocketed + pocketed
        back = sum(event.document()["count"] for event in ruling.events if event.name in ("piece_returned", "due_paid"))  # type: ignore[misc]
        law(after.a.pocketed + after.b.pocketed == left_before - back, "what fell is down or came back")
    if isinstance(before, CarpetballState) and isinstance(after, CarpetballState):
        fresh = {"standoff", "round_restarted", "round_started", "lined_up", "recounted"}
        if not fresh & set(names):
            law(after.north <= before.north and after.south <= before.south, "balls do not come back")
        if isinstance(observation, rules.Throw) and not fresh & set(names) and after.end == before.end:
            law(after.final_throw, "the same end throws again only for its final throw")


def ended(state: rules.GameState) -> bool:
    """Whether only undo is left."""
    return state.phase == "match_over"


def check_end(state: rules.GameState) -> None:
    """Nothing scores after the end."""
    attempts: list[rules.Observation] = [
        rules.Stroke(("white",)),
        rules.Stroke(()),
        rules.NoStroke(),
        rules.BreakNotMade(),
        rules.NextBoard(),
        rules.parse_observation(state.game, {"type": "recount"}),
    ]
    for attempt in attempts:
        refusal = rules.decide(state, attempt)
        law(isinstance(refusal, rules.Refusal) and refusal.code == "wrong_phase", "a match that is over is over")


def play_game(game: str, seed: int, length: int = LENGTH, refold: bool = False) -> int:
    """Play one random game and check every law; return how many observations were accepted."""
    dice = random.Random(f"{game} {seed}")
    setup = random_setup(game, dice)
    law(rules.parse_setup(game, rules.setup_document(setup)) == setup, "a set-up stays itself as JSON")
    state = rules.start(setup)
    states, accepted = [state], []
    observation: rules.Observation | None = None
    try:
        check_state(state)
        for _ in range(length):
            if ended(state):
                check_end(state)
                break
            observation = random_observation(state, dice)
            again = rules.parse_observation(game, rules.observation_document(observation))
            law(again == observation, "an observation stays itself as JSON")
            ruling = rules.decide(state, observation)
            if isinstance(ruling, rules.Refusal):
                continue
            after = state
            for event in ruling.events:
                after = rules.evolve(after, event)
            law(rules.apply(state, observation) == (after, ruling), "apply is decide and evolve")
            check_state(after)
            check_step(state, observation, after, ruling)
            state = after
            states.append(state)
            accepted.append(observation)
        if refold:
            for depth in range(len(accepted) + 1):
                folded = rules.start(setup)
                for one in accepted[: len(accepted) - depth]:
                    outcome = rules.apply(folded, one)
                    assert not isinstance(outcome, rules.Refusal)
                    folded = outcome[0]
                law(folded == states[len(accepted) - depth], f"undo {depth} deep gives an equal state")
    except Exception as error:
        raise Broken(f"{error!r}: {game}, seed {seed}, {rules.to_text(state)}, {observation}") from error
    return len(accepted)


def main() -> None:
    """Play the games that the command line asks for."""
    parser = argparse.ArgumentParser(description="Random games of every kind, with the laws that always hold.")
    parser.add_argument("--games", type=int, default=10_000, help="games of each kind")
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    asked = parser.parse_args()
    for game in rules.GAMES:
        strokes = sum(
            play_game(game, seed, refold=seed - asked.seed < 100)
            for seed in range(asked.seed, asked.seed + asked.games)
        )
        print(f"{game}: {asked.games} games, {strokes} accepted observations, every law held")


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
    except Broken as broken:
        sys.exit(str(broken))
