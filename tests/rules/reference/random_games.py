"""Random games that go where the rules are thin: last pieces, early queens, covers, ties, impossible counts.

The maker plays the reference along while it makes observations, so that it knows what is left on the
table; the same game, seed and length always give the same set-up and observations.
"""

import random
from typing import Any

from tests.rules import reference

Document = dict[str, Any]

OPTIONS: dict[str, dict[str, list[Any]]] = {
    "money_carrom": {
        "x.direction": ["clockwise", "anticlockwise"],
        "x.break_tries": [3, 1, 2, 4],
        "mc.values": [[1, 2, 5], [2, 1, 5], [0, 0, 0], [1, 1, 1], [5, 10, 25], [0, 3, 7]],
        "mc.striker": ["skip_next", "end_go"],
        "mc.striker_with_piece": ["keep", "return"],
        "mc.end": ["all_pieces", "first_to_17", "first_to_1", "first_to_5", "first_to_9", "first_to_30"],
        "mc.tie": ["shared", "queen_holder"],
    },
    "club_carrom": {
        "x.direction": ["clockwise", "anticlockwise"],
        "x.break_order": ["rotate", "winner", "loser"],
        "x.break_tries": [3, 1, 2, 4],
        "x.early_queen": ["lose_turn", "continue", "due"],
        "x.jump": ["foul", "none"],
        "x.striker_jump": ["foul", "none"],
        "cc.target": [29, 1, 15, 25, 40],
        "cc.max_boards": ["none", 1, 2, 3],
        "cc.queen_limit": ["none", 1, 5, 12, 21],
        "cc.continue_on_own": ["yes", "no"],
        "cc.own_with_foul": ["stays", "returns"],
        "cc.penalty_count": ["per_stroke", "per_kind", "per_object"],
        "cc.queen_with_first": ["return", "needs_cover", "covered"],
    },
    "new_carrom": {
        "x.direction": ["anticlockwise", "clockwise"],
        "x.break_order": ["rotate", "winner", "loser"],
        "x.break_tries": [3, 1, 2, 4],
        "x.early_queen": ["lose_turn", "continue", "due"],
        "x.jump": ["none", "foul"],
        "x.striker_jump": ["none", "foul"],
        "nc.own_plus_opp": ["lose_turn", "continue"],
        "nc.queen_with_first": ["icf", "return", "covered"],
        "nc.striker_with_own": ["k_plus_one", "two"],
        "nc.last_before_queen": ["two", "last_plus_two", "lose_board"],
        "nc.match": ["one_board", "best_of_3", "best_of_5", "best_of_7"],
    },
    "carpetball": {
        "cb.max_balls": [5, 3, 4, 6, 7],
        "cb.first_throw": ["north", "south"],
        "cb.mercy": ["both", "challenger_only", "none"],
        "cb.fly_penalty": ["per_throw", "per_ball", "lose_round"],
        "cb.self_cleared": ["final_throw", "lose"],
        "cb.standoff_balls": [2, 1, 3, 4, 5],
        "cb.tie_path": ["restart", "one_then_restart"],
        "cb.rematch_first": ["loser", "winner", "alternate"],
    },
}


def random_game(game: str, seed: int, length: int) -> tuple[Document, list[Document]]:
    """A set-up and `length` observations of that game, the same for the same seed."""
    dice = random.Random(f"{game} {seed}")
    setup = random_setup(game, dice)
    match = reference.begin(game, setup)
    observations: list[Document] = []
    while len(observations) < length:
        burst = [next_observation(game, match["now"], dice)]
        if dice.random() < (0.5 if match["now"]["phase"] == "match_over" else 0.05):
            depth = len(match["before"]) + 1 if dice.random() < 0.05 else dice.choice([1, 1, 1, 2, 4])
            burst = [{"type": "undo"}] * depth
        for observation in burst:
            reference.answer(match, observation)
            observations.append(observation)
    return setup, observations[:length]


def random_setup(game: str, dice: random.Random) -> Document:
    players = dice.choice([2, 3, 4] if game in ("money_carrom", "carpetball") else [2, 2, 4])
    setup: Document = {"type": "setup", "players": players}
    if dice.random() < 0.05:
        setup = {"type": "setup"}
        players = 2
    strangeness = dice.choice([0.0, 0.15, 0.5, 1.0])
    options = {}
    for name, values in OPTIONS[game].items():
        if dice.random() < strangeness:
            options[name] = dice.choice(values)
    if options or dice.random() < 0.2:
        setup["options"] = options
    if dice.random() < 0.7:
        if game == "money_carrom":
            setup["position"] = money_position(players, dice)
        elif game == "carpetball":
            setup["position"] = carpetball_position(options, dice)
        else:
            setup["position"] = sides_position(game, players, options, dice)
    return setup


def next_observation(game: str, table: Document, dice: random.Random) -> Document:
    if game == "carpetball":
        return carpetball_observation(table, dice)
    if dice.random() < 0.02:
        return {"type": "no_stroke"}
    if dice.random() < (0.4 if table["break_open"] else 0.03):
        return {"type": "break_not_made"}
    if dice.random() < (0.7 if table["phase"] == "board_over" else 0.01):
        return {"type": "next_board"}
    if game == "money_carrom":
        if dice.random() < (0.2 if table["break_open"] else 0.06):
            return money_recount(table, dice)
        return money_stroke(table, dice)
    if dice.random() < (0.2 if table["break_open"] else 0.06):
        return sides_recount(table, dice)
    return sides_stroke(table, dice)


# Money


def money_position(players: int, dice: random.Random) -> Document:
    on_board = {"white": dice.choice([0, 1, 1, 2, 5, 9]), "black": dice.choice([0, 1, 1, 2, 5, 9])}
    on_board["queen"] = dice.choice([0, 1])
    if sum(on_board.values()) == 0:
        on_board["black"] = 1
    entries = []
    for number in range(1, players + 1):
        entry = {"score": dice.choice([0, 3, 6, 6, 7, 12, 16]), "missed_turns": dice.choice([0, 0, 0, 1])}
        if dice.random() < 0.3:
            entry["player"] = number
        entries.append(entry)
    turn = dice.randint(1, players)
    position: Document = {"players": entries, "on_board": on_board, "turn": {"player": turn}}
    if dice.random() < 0.2:
        del position[dice.choice(["players", "on_board", "turn"])]
    return position


def money_recount(table: Document, dice: random.Random) -> Document:
    observation: Document = {"type": "recount"}
    if dice.random() < 0.5:
        things = dice.sample(["white", "black", "queen"], dice.randint(1, 3))
        observation["on_board"] = {
            thing: dice.choice([0, 1, 1, 1, 2] if thing == "queen" else [0, 0, 1, 2, 9, 10]) for thing in things
        }
    if dice.random() < 0.4:
        observation["turn"] = {"player": dice.randint(1, len(table["score"]) + (dice.random() < 0.1))}
    if dice.random() < 0.5:
        observation["players"] = [
            {"player": number, "score": dice.randint(0, 16), "missed_turns": dice.choice([0, 0, 1])}
            for number in table["score"]
        ]
        if dice.random() < 0.1:
            observation["players"].append({"player": len(table["score"]) + 1, "score": 1})
    return observation


def money_stroke(table: Document, dice: random.Random) -> Document:
    pocketed, jumped = [], []
    for thing, count in table["on_board"].items():
        most = count if dice.random() < 0.95 else count + 1
        chance = 0.5 if thing == "queen" else 0.35
        if dice.random() < chance and most > 0:
            pocketed += [thing] * dice.choice([1, 1, 1, 2 if most > 1 else 1, most])
        left = most - pocketed.count(thing)
        if dice.random() < 0.08 and left > 0:
            jumped += [thing] * dice.choice([1, left])
    strikers(pocketed, jumped, dice)
    return stroke(pocketed, jumped, dice)


def strikers(pocketed: list[str], jumped: list[str], dice: random.Random) -> None:
    if dice.random() < 0.2:
        pocketed.append("striker")
    elif dice.random() < 0.08:
        jumped.append("striker")
    if dice.random() < 0.01:
        dice.choice([pocketed, jumped]).append("striker")


def stroke(pocketed: list[str], jumped: list[str], dice: random.Random) -> Document:
    dice.shuffle(pocketed)
    observation: Document = {"type": "stroke", "pocketed": pocketed}
    if jumped or dice.random() < 0.1:
        observation["jumped"] = jumped
    return observation


# Club and New Carrom


def sides_position(game: str, players: int, options: Document, dice: random.Random) -> Document:
    turn = dice.randint(1, players)
    if game == "club_carrom":
        scores = [score for score in (0, 5, 12, 20, 21, 24) if score < options.get("cc.target", 29)]
    else:
        length = options.get("nc.match", "one_board")
        boards = 1 if length == "one_board" else int(length.removeprefix("best_of_"))
        scores = list(range(boards // 2 + 1))
    sides: Document = {}
    for side in ("A", "B"):
        given: Document = {
            "pocketed": dice.choice([0, 0, 1, 4, 7, 8, 8]),
            "due": 0,
            "score": dice.choice(scores),
        }
        if given["pocketed"] == 0:
            given["due"] = dice.choice([0, 0, 1, 2, 3])
        if dice.random() < 0.3:
            given["queen_right"] = dice.choice([True, False])
        sides[side] = given
    position: Document = {"sides": sides, "turn": {"player": turn}}
    status = dice.choice(["on_board", "on_board", "covered", "uncovered"])
    holder = {"on_board": None, "covered": dice.choice("AB"), "uncovered": "A" if turn % 2 else "B"}[status]
    position["queen"] = {"status": status, "side": holder}
    if dice.random() < 0.15:
        del sides[dice.choice("AB")]
    if dice.random() < 0.1 and status != "uncovered":
        del position[dice.choice(["turn", "queen", "sides"])]
    return position


def sides_recount(table: Document, dice: random.Random) -> Document:
    observation: Document = {"type": "recount"}
    if dice.random() < 0.6:
        observation["sides"] = {}
        for side in dice.choice([["A"], ["B"], ["A", "B"]]):
            given: Document = {}
            if dice.random() < 0.8:
                given["pocketed"] = dice.choice([0, 0, 1, 3, 7, 8, 8, 9, 10] if dice.random() < 0.2 else [0, 1, 8])
            if dice.random() < 0.6:
                given["due"] = 0 if given.get("pocketed") and dice.random() < 0.9 else dice.choice([0, 1, 2])
            if dice.random() < 0.1:
                given["score"] = dice.choice([table["score"][side], 0, 1, 2, 12, 28, 40])
            if dice.random() < 0.1:
                given["queen_right"] = dice.choice([True, False])
            observation["sides"][side] = given
    if dice.random() < 0.4:
        status = dice.choice(["on_board", "covered", "uncovered"])
        side = None if status == "on_board" else dice.choice("AB")
        observation["queen"] = {"status": status, "side": side}
    if dice.random() < 0.3:
        observation["turn"] = {"player": dice.randint(1, table["players"] + (dice.random() < 0.1))}
    return observation


def sides_stroke(table: Document, dice: random.Random) -> Document:
    mine = "A" if (table["turn"] or 1) % 2 == 1 else "B"
    pocketed, jumped = [], []
    for side in ("A", "B"):
        colour = "white" if side == table["white_side"] else "black"
        left = 9 - table["pocketed"][side]
        chance = 0.5 if side == mine else 0.25
        if dice.random() < 0.02:
            left += 1
        if dice.random() < chance and left > 0:
            pocketed += [colour] * dice.choice([1, 1, 1, min(2, left), left if left < 4 else 1, left])
        left -= pocketed.count(colour)
        if dice.random() < 0.05 and left > 0:
            jumped += [colour] * dice.choice([1, min(2, left), left])
    if dice.random() < (0.35 if table["queen"] == "on_board" else 0.01):
        pocketed.append("queen")
    elif dice.random() < (0.04 if table["queen"] == "on_board" else 0.005):
        jumped.append("queen")
    if dice.random() < 0.005:
        dice.choice([pocketed, jumped]).append("queen")
    strikers(pocketed, jumped, dice)
    if dice.random() < 0.05:
        pocketed, jumped = [], []
    return stroke(pocketed, jumped, dice)


# Carpetball


def carpetball_position(options: Document, dice: random.Random) -> Document:
    most = options.get("cb.max_balls", 5)
    phase = dice.choice(["round", "round", "standoff"])
    ends = {end: {"in_play": dice.choice([1, 1, 2, most])} for end in ("north", "south")}
    turn: Document = {"end": dice.choice(["north", "south"])}
    position: Document = {"phase": phase, "ends": ends, "turn": turn}
    if dice.random() < 0.6:
        position["first_thrower"] = dice.choice(["north", "south"])
    if dice.random() < 0.2:
        turn["final_throw"] = True
        ends[turn["end"]]["in_play"] = 0
        return position
    if dice.random() < 0.7:
        turn["final_throw"] = False
    if dice.random() < 0.1:
        del ends[dice.choice(["north", "south"])]
    if dice.random() < 0.1:
        del position["turn"]
    if dice.random() < 0.1 and phase == "round" and ends:
        del position["phase"]
    return position


def carpetball_observation(table: Document, dice: random.Random) -> Document:
    usual = {"line_up": "line_up", "round": "throw", "standoff": "throw", "round_over": "next_round"}
    kind = usual[table["phase"]]
    if dice.random() < 0.2 and kind == "throw":
        kind = dice.choice(["withdraw", "withdraw", "recount"])
    if dice.random() < 0.03:
        kind = dice.choice(["line_up", "throw", "withdraw", "next_round", "recount"])
    most = table["options"]["cb.max_balls"]
    left = {end: table["balls"][end] or 0 for end in ("north", "south")}
    if kind == "line_up":
        counts = [1, 1, 1, *range(1, most + 1)]
        if dice.random() < 0.05:
            counts = [0, most, most + 1, 9]
        return {"type": kind, "north": dice.choice(counts), "south": dice.choice(counts)}
    if kind == "withdraw":
        end = dice.choice(["north", "south"])
        balls = dice.choice([1, 1, left[end], left[end], 0 if dice.random() < 0.1 else 1, left[end] + 1])
        return {"type": kind, "end": end, "balls": balls}
    if kind == "recount":
        return carpetball_recount(most, dice)
    if kind == "next_round":
        return {"type": kind}
    observation: Document = {"type": "throw"}
    chance = {end: 0.2 if end == table["turn"] else 0.6 for end in ("north", "south")}
    out = {}
    for end in ("north", "south"):
        if dice.random() < chance[end]:
            out[end] = dice.choice([0, min(1, left[end]), left[end], left[end]])
            if dice.random() < 0.02:
                out[end] = left[end] + 1
        elif dice.random() < 0.5:
            out[end] = 0
    if out or dice.random() < 0.5:
        observation["out"] = out
    if dice.random() < 0.25:
        observation["off_table"] = dice.choice([0, 1, 1, 2, 3, sum(left.values()) + 1])
        if dice.random() < 0.05:
            observation["off_table"] = sum(left.values()) + 2
    if dice.random() < 0.2:
        observation["short"] = dice.choice([True, False])
    return observation


def carpetball_recount(most: int, dice: random.Random) -> Document:
    observation: Document = {"type": "recount"}
    if dice.random() < 0.7:
        observation["ends"] = {
            end: {"in_play": dice.choice([1, 1, 2, most, dice.choice([0, most + 1, 3])])}
            for end in dice.choice([["north"], ["south"], ["north", "south"]])
        }
    if dice.random() < 0.5:
        observation["turn"] = {"end": dice.choice(["north", "south"])}
    return observation
