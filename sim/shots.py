"""What a stroke or throw of a simulated player does: drawn at random, but never impossible.

A player knows what everybody sees: what is left on the table and whose turn it is. What can fall is drawn
from what is there, so each piece falls or jumps at most once a stroke.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random

from appliance import rules
from sim.profile import CARPETBALL, CARROM, at_skill


def carrom_stroke(state: rules.GameState, skill: float, rng: Random) -> rules.Stroke:
    """A stroke of the player on turn, who aims, hits or misses, and has accidents."""
    left = dict(rules.on_table(state))
    player = rules.player_on_turn(state)
    assert player is not None, "a stroke needs a player on turn"
    own = rules.own_colour(state, player)
    aim = _aim_for_points(left, rng) if own is None else _aim_for_side(left, own, rng)
    pocketed: list[str] = []
    if rng.random() < at_skill(CARROM.own, skill):
        _take(aim, left, pocketed)
        more = own or _aim_for_points(left, rng)
        while rng.random() < at_skill(CARROM.another, skill):
            _take(more, left, pocketed)
    if own is not None and rng.random() < at_skill(CARROM.opponents, skill):
        _take("black" if own == "white" else "white", left, pocketed)
    if rng.random() < at_skill(CARROM.striker, skill):
        _take("striker", left, pocketed)
    jumped: list[str] = []
    while rng.random() < at_skill(CARROM.jumped, skill):
        _take(rng.choice(("white", "black", "queen", "striker")), left, jumped)
    return rules.Stroke(tuple(pocketed), tuple(jumped))


def _aim_for_points(left: Mapping[str, int], rng: Random) -> str:
    """Money: any piece, the dear ones sooner."""
    worth = {"white": 2, "black": 3, "queen": 6}
    weights = [worth[name] * left[name] for name in worth]
    return rng.choices(list(worth), weights)[0] if any(weights) else "white"


def _aim_for_side(left: Mapping[str, int], own: str, rng: Random) -> str:
    """Club and New: an own piece, or the queen once one has been pocketed, and before the last one."""
    if not left["queen"] or left[own] == 9:
        return own
    if left[own] == 1:
        return "queen"
    return "queen" if rng.random() < (CARROM.queen_late if left[own] <= 3 else CARROM.queen_early) else own


def _take(name: str, left: dict[str, int], into: list[str]) -> None:
    if left[name]:
        left[name] -= 1
        into.append(name)


@dataclass(frozen=True, slots=True)
class Thrown:
    """A whole throw: what it did (`throw`), what the pits' beams can see of it, and its thrower's end.

    `seen` holds (place, object) in no order. What left the table or came to rest short has no beam.
    """

    throw: rules.Throw
    end: str
    seen: tuple[tuple[str, str], ...]

    @property
    def hidden(self) -> bool:
        """Whether an umpire must say what no sensor saw."""
        return bool(self.throw.off_table) or self.throw.short


def carpetball_throw(state: rules.GameState, skill: float, rng: Random) -> Thrown:
    """A throw from the end on turn."""
    in_play = rules.on_table(state)
    near = throwing_end(state)
    far = other_end(near)
    if rng.random() < at_skill(CARPETBALL.short, skill):
        return Thrown(rules.Throw(0, 0, short=True), near, ())
    out = {near: 0, far: 0}
    if in_play[far] and rng.random() < at_skill(CARPETBALL.hit, skill):
        out[far] = 1
        while out[far] < in_play[far] and rng.random() < CARPETBALL.another:
            out[far] += 1
    if in_play[near] and rng.random() < CARPETBALL.own_ball:
        out[near] = 1
    balls = [(place, "ball") for place in (near, far) for _ in range(out[place])]
    flown = 0
    cue_flown = False
    while rng.random() < at_skill(CARPETBALL.off_table, skill):
        if balls and rng.random() < 0.5:
            balls.pop(rng.randrange(len(balls)))
        elif cue_flown:
            break
        else:
            cue_flown = True
        flown += 1
    if not cue_flown:
        where = rng.random()
        if where < CARPETBALL.cue_in_far_pit:
            balls.append((far, "cue"))
        elif where < CARPETBALL.cue_in_far_pit + CARPETBALL.cue_in_own_pit:
            balls.append((near, "cue"))
    return Thrown(rules.Throw(out["north"], out["south"], off_table=flown), near, tuple(balls))


def throwing_end(state: rules.GameState) -> str:
    """The end whose player throws next."""
    turn = rules.document(state)["turn"]
    assert isinstance(turn, dict), "nobody throws now"
    return str(turn["end"])


def other_end(end: str) -> str:
    """The opposite end."""
    return "south" if end == "north" else "north"
