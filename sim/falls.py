"""A stroke or throw as it happens at the table: what falls, where, when, and what the sensors of a tier see of it.

What falls is drawn as often as it does among mixed players and never exceeds what is on the table. Calls that only an
umpire can make (jumps, no break, balls off the table) do not come up: no sensor has a part in them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random

from appliance import rules
from sim import physics
from sim.hands import one_ball
from sim.parameters import Parameters
from sim.shots import other_end, throwing_end
from sim.tiers import Tier
from sim.truth import Drop, TrueStroke

POCKETS = ("ne", "nw", "se", "sw")
US_PER_S = physics.US_PER_S
US_PER_MS = physics.US_PER_MS


@dataclass(frozen=True, slots=True)
class Shot:
    """A stroke and what goes with it. `strikes`: which strike sensor feels what; `rest_us`: when all is still,
    and `late_us`, when a disc that rocked has fallen, or None.
    """

    stroke: TrueStroke
    strikes: tuple[tuple[str, physics.Pulse], ...]
    rest_us: int
    late_us: int | None = None


# -- carrom ----------------------------------------------------------------------------------------------


def carrom_shot(state: rules.GameState, tier: Tier, at_us: int, numbers: Parameters, rng: Random) -> Shot:
    """A stroke of the player on turn at `at_us`."""
    player = rules.player_on_turn(state)
    assert player is not None, "a stroke needs a player on turn"
    objects = _objects(state, player, numbers, rng)
    lips: list[tuple[int, str, str]] = []
    rest_us = at_us + _us(numbers, "stroke.settle_s", rng)
    late_us: int | None = None
    last: tuple[str, int] | None = None
    for name in objects:
        if last is not None and numbers.happens("stroke.same_pocket", rng):
            place, lip_us = last[0], last[1] + _us(numbers, "stroke.follow_s", rng)
        else:
            place, lip_us = rng.choice(POCKETS), at_us + _us(numbers, "stroke.first_fall_s", rng)
        last = (place, lip_us)
        if numbers.happens("stroke.teeter", rng):
            lip_us = max(rest_us, lip_us) + _us(numbers, "stroke.teeter_s", rng)
            late_us = max(late_us or 0, lip_us)
        else:
            rest_us = max(rest_us, lip_us)
        lips.append((lip_us, place, name))
    ready: dict[str, int] = {}
    drops = [_disc_falls(name, place, lip_us, ready, tier, numbers, rng) for lip_us, place, name in sorted(lips)]
    strikes: tuple[tuple[str, physics.Pulse], ...] = ()
    if tier.has_strikes:
        strikes = (("strike", (at_us, at_us + round(numbers.draw("stroke.strike_dwell_ms", rng) * US_PER_MS))),)
    stroke = TrueStroke(at_us, player, drops, tier.geometry, observation=rules.Stroke(tuple(objects)))
    return Shot(stroke, strikes, rest_us, late_us)


def _objects(state: rules.GameState, player: int, numbers: Parameters, rng: Random) -> list[str]:
    weights = numbers.weights("stroke.objects")
    count = rng.choices(range(len(weights)), weights)[0]
    left = dict(rules.on_table(state))
    own = rules.own_colour(state, player)
    found: list[str] = []
    if count and rng.random() < numbers.number("stroke.striker") / (1 - weights[0]):
        found.append("striker")
    while len(found) < count:
        pieces = {name: left[name] for name in ("white", "black", "queen") if left[name]}
        if not pieces:
            break
        name = _piece(pieces, own, numbers, rng)
        left[name] -= 1
        found.append(name)
    rng.shuffle(found)
    return found


def _piece(pieces: Mapping[str, int], own: str | None, numbers: Parameters, rng: Random) -> str:
    if own is None:
        return rng.choices(list(pieces), list(pieces.values()))[0]
    other = "black" if own == "white" else "white"
    if other in pieces and rng.random() < numbers.number("stroke.others_piece"):
        return other
    # Whoever has one piece left goes for the queen first: taking it before her is a foul in every sheet.
    if "queen" in pieces and (pieces.get(own, 0) <= 1 or rng.random() < numbers.number("stroke.queen")):
        return "queen"
    return own if own in pieces else next(iter(pieces))


def _disc_falls(
    name: str, place: str, lip_us: int, ready: dict[str, int], tier: Tier, numbers: Parameters, rng: Random
) -> Drop:
    """What the pocket's sensors see of a disc that goes over the lip."""
    if tier.geometry == "throat":
        return Drop(place, name, lip_us, place, _at(lip_us, physics.throat(name, numbers, rng)))
    arrives_us = max(lip_us + _us(numbers, "chute.slide_s", rng), ready.get(place, 0))
    ready[place] = arrives_us + physics.spacing_us(name, numbers, rng)
    if name == "striker" and not numbers.happens("chute.missorted", rng):
        return Drop(place, name, lip_us, f"{place}-striker", _at(arrives_us, physics.slide(name, numbers, rng)))
    pulses = _at(arrives_us, physics.chute(name, numbers, rng))
    drop = Drop(place, name, lip_us, place, pulses, misread=name == "striker")
    for _, end in pulses if tier.has_colours else []:
        if not numbers.happens("chute.colour_unread", rng):
            drop.colours.append(_colour(name, end, numbers, rng))
    drop.misread = drop.misread or any(colour != name for _, colour in drop.colours)
    return drop


def _colour(name: str, end_us: int, numbers: Parameters, rng: Random) -> tuple[int, str]:
    """What the colour sensor tells of a pulse, and when: it looks at each pulse, a bounce's as well."""
    wrong = [other for other in ("white", "black", "queen", "striker") if other != name]
    seen = rng.choice(wrong) if numbers.happens("chute.colour_misread", rng) else name
    return end_us + round(numbers.draw("chute.colour_after_ms", rng) * US_PER_MS), seen


# -- carpetball ------------------------------------------------------------------------------------------


def carpetball_shot(state: rules.GameState, tier: Tier, at_us: int, numbers: Parameters, rng: Random) -> Shot:
    """A throw from the end on turn at `at_us`."""
    player = rules.player_on_turn(state)
    assert player is not None, "a throw needs a player on turn"
    near = throwing_end(state)
    far = other_end(near)
    in_play = rules.on_table(state)
    weights = numbers.weights("throw.balls")
    count = min(rng.choices(range(len(weights)), weights)[0], in_play[far])
    names = ["ball"] * count + ["cue"] * numbers.happens("throw.cue_in_pit", rng)
    rng.shuffle(names)
    travel_us = round(numbers.number("throw.length_m") / numbers.draw("throw.speed_m_s", rng) * US_PER_S)
    arrives_us = at_us + travel_us
    drops: list[Drop] = []
    edge_us, ready_us = arrives_us, 0
    for name in names:
        drop, ready_us = _ball_falls(name, far, edge_us, ready_us, tier, numbers, rng)
        drops.append(drop)
        edge_us += _us(numbers, "throw.gap_s", rng)
    own = int(in_play[near] > 0 and numbers.happens("throw.own_ball", rng))
    if own:
        edge_us = arrives_us + _us(numbers, "throw.gap_s", rng) + travel_us
        drops.append(_ball_falls("ball", near, edge_us, 0, tier, numbers, rng)[0])
    out = {far: count, near: own}
    observation = rules.Throw(out["north"], out["south"])
    ends_us = [end for drop in drops for _, end in (*drop.pulses, *drop.magnet)]
    rest_us = max([arrives_us, *(drop.at_us for drop in drops), *ends_us])
    stroke = TrueStroke(at_us, player, drops, tier.geometry, near, observation)
    arrives = bool(names) or numbers.happens("throw.dies_late", rng)
    return Shot(stroke, _crossings(near, at_us, arrives_us if arrives else None, tier, numbers, rng), rest_us)


def put_in_pit(place: str, at_us: int, tier: Tier, numbers: Parameters, rng: Random) -> Drop:
    """What a pit's sensors see of a ball that is put there by hand."""
    if tier.geometry == "pit_edge":
        return Drop(place, "ball", at_us, place, _at(at_us, one_ball(numbers, rng)))
    return _ball_falls("ball", place, at_us, 0, tier, numbers, rng)[0]


def _crossings(
    near: str, at_us: int, arrives_us: int | None, tier: Tier, numbers: Parameters, rng: Random
) -> tuple[tuple[str, physics.Pulse], ...]:
    """What the beams at the throwing lines see: the arm, the arrival, and what rolls back over the far line."""
    if not tier.has_strikes:
        return ()
    arm = (f"strike-{near}", (at_us, at_us + _us(numbers, "throw.arm_s", rng)))
    if arrives_us is None:
        return (arm,)
    far = f"strike-{other_end(near)}"
    passing_us = round(numbers.number("size.cue_diameter_mm") / numbers.draw("pit_edge.cue_speed_m_s", rng) * 1_000)
    found = [arm, (far, (arrives_us, arrives_us + passing_us))]
    if numbers.happens("throw.crossing_back", rng):
        back_us = arrives_us + passing_us + _us(numbers, "throw.crossing_back_s", rng)
        found.append((far, (back_us, back_us + 2 * passing_us)))
    return tuple(found)


def _ball_falls(
    name: str, place: str, edge_us: int, ready_us: int, tier: Tier, numbers: Parameters, rng: Random
) -> tuple[Drop, int]:
    """What a pit's sensors see of a ball, and when the next one can be there."""
    if tier.geometry == "pit_edge":
        pulses, _ = physics.pit_edge(name, numbers, rng)
        return Drop(place, name, edge_us, place, _at(edge_us, pulses)), 0
    arrives_us = max(edge_us + _us(numbers, "trough.arrival_s", rng), ready_us)
    seen = physics.trough(name, numbers, rng)
    drop = Drop(place, name, edge_us, place, _at(arrives_us, seen.beam), magnet=_at(arrives_us, seen.magnet))
    drop.misread = name == "cue" and not seen.magnet
    return drop, arrives_us + seen.own_us


def _at(at_us: int, pulses: list[physics.Pulse]) -> list[physics.Pulse]:
    """Pulses in absolute time; what a magnet sensor feels begins before the ball is at the beam."""
    return [(at_us + start, at_us + end) for start, end in pulses]


def _us(numbers: Parameters, name: str, rng: Random) -> int:
    return round(numbers.draw(name, rng) * US_PER_S)
