"""Whole matches by simulated players, with an umpire who calls what no sensor can see.

`simulate` plays a match to its end with the real rules and writes down three things: the script of actions
in simulated time, the truth (what the players really did, as observations), and the state in which it ended.
It is a pure function of its arguments. The appliance, which sees only what the sensors and the umpire make of
the script, must arrive at that same state.

Each action means one thing only to a table that closes strokes by strike and by quiet time:

* a strike closes the stroke before it; a quiet time closes the last one of a board or round;
* `jumped`, `break_not_made`, `no_stroke` and `throw` come while their stroke is open, seconds before the
  quiet time would have closed it; `next_board`, `next_round` and `line_up` come after it has;
* a throw before a withdrawal is told by the umpire as a whole, so that it is closed before the balls are
  taken off, however late the word of the quiet time arrives. Withdrawn balls are laid aside, past the beam.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

from appliance import rules
from sim.actions import Action, Call, Fall, Over, Strike
from sim.profile import CARPETBALL, CARPETBALL_TIMING, CARROM, CARROM_TIMING, Range, Timing, at_skill
from sim.shots import Thrown, carpetball_throw, carrom_stroke

POCKETS = ("ne", "nw", "se", "sw")


@dataclass(frozen=True, slots=True)
class SimulatedMatch:
    """A match that was played: what happened, when, and what it came to."""

    game: str
    players: tuple[str, ...]
    setup: rules.Setup
    actions: tuple[Action, ...]
    truth: tuple[rules.Observation, ...]
    final: rules.GameState


def simulate(
    game: str,
    players: Sequence[str],
    seed: int,
    options: Mapping[str, object] | None = None,
    skill: float = 0.6,
    rounds: int = 1,
) -> SimulatedMatch:
    """Play a match (carpetball: `rounds` rounds) by `players` of `skill` (0 to 1) to its end.

    Raises `rules.BadInput` where the game cannot be played by so many, or with such options.
    """
    document = {"type": "setup", "players": len(players), "options": dict(options or {})}
    setup = rules.parse_setup(game, document)
    script = _Script(setup, Random(seed), CARPETBALL_TIMING if game == "carpetball" else CARROM_TIMING)
    if game == "carpetball":
        most = rules.options_document(setup.options)["cb.max_balls"]
        assert isinstance(most, int)
        _play_rounds(script, skill, rounds, most)
    else:
        _play_boards(script, skill)
    script.end()
    return SimulatedMatch(game, tuple(players), setup, tuple(script.actions), tuple(script.truth), script.state)


def truth_lines(match: SimulatedMatch) -> list[str]:
    """What the players really did, as observation lines: the set-up, then each observation."""
    documents = [rules.setup_document(match.setup), *map(rules.observation_document, match.truth)]
    return [json.dumps(document, ensure_ascii=False) for document in documents]


class _Script:
    """Writes actions in order; knows when the sensors last saw something and when play can go on."""

    def __init__(self, setup: rules.Setup, rng: Random, timing: Timing) -> None:
        self.state = rules.start(setup)
        self.rng = rng
        self.timing = timing
        self.actions: list[Action] = []
        self.truth: list[rules.Observation] = []
        self._seen_us = 0
        self._ready_us = 0

    def draw(self, bounds: Range) -> int:
        return self.rng.randint(*bounds)

    def strike(self, end: str | None, seen: Sequence[tuple[str, str]] = ()) -> None:
        """A strike from `end`, after which `seen` falls: (place, object), in an order of the table's own."""
        at_us = self._ready_us + self.draw(self.timing.aim)
        self.actions.append(Strike(at_us, end, self.draw(self.timing.strike_dwell)))
        falls = _falls(at_us, seen, self.timing, self.rng)
        self.actions += falls
        self._seen_us = max([at_us, *(fall.end_us for fall in falls)])
        self._ready_us = max(self._seen_us, at_us + self.draw(self.timing.settle))

    def call_on_open_stroke(self, request: Mapping[str, object]) -> None:
        """The umpire speaks before the open stroke has closed."""
        self._call(self._seen_us + self.draw(self.timing.call), request)

    def call_on_closed_strokes(self, observation: rules.Observation) -> None:
        """The umpire waits until the last stroke has closed, and the table is set up anew after the call."""
        self._call(self._seen_us + self.timing.quiet + self.draw(self.timing.after_quiet), request(observation))
        self._ready_us += self.draw(self.timing.set_up)
        self.judge(observation)

    def call_between_strokes(self, observation: rules.Observation) -> None:
        """The umpire speaks while no stroke is open."""
        self._call(self._ready_us + self.draw(self.timing.call), request(observation))
        self.judge(observation)

    def _call(self, at_us: int, request: Mapping[str, object]) -> None:
        at_us = max(at_us, self.actions[-1].at_us + self.timing.call[0]) if self.actions else at_us
        self.actions.append(Call(at_us, request))
        self._ready_us = max(self._ready_us, at_us)

    def judge(self, observation: rules.Observation) -> None:
        """Fold the truth; the players never do what cannot be."""
        outcome = rules.apply(self.state, observation)
        assert not isinstance(outcome, rules.Refusal), f"{observation}: {outcome}"
        self.state = outcome[0]
        self.truth.append(observation)

    def end(self) -> None:
        """The last stroke closes by itself."""
        last_us = max(self._seen_us, self._ready_us)
        self.actions.append(Over(last_us + self.timing.quiet + self.timing.after_quiet[0]))


def _play_boards(script: _Script, skill: float) -> None:
    """Carrom until the match is over."""
    break_is_due = True
    while script.state.phase != "match_over":
        if script.state.phase == "board_over":
            script.call_on_closed_strokes(rules.NextBoard())
            break_is_due = True
        elif break_is_due and script.rng.random() < at_skill(CARROM.break_not_made, skill):
            falls = script.rng.random() < CARROM.striker_falls_without_break
            script.strike(None, _pocketed(("striker",), script) if falls else ())
            _call_instead(script, rules.BreakNotMade())
        elif script.rng.random() < at_skill(CARROM.no_stroke, skill):
            script.strike(None)
            _call_instead(script, rules.NoStroke())
        else:
            stroke = carrom_stroke(script.state, skill, script.rng)
            script.strike(None, _pocketed(stroke.pocketed, script))
            if stroke.jumped:
                script.call_on_open_stroke({"command": "jumped", "objects": list(stroke.jumped)})
            script.judge(stroke)
            break_is_due = False


def _play_rounds(script: _Script, skill: float, rounds: int, most: int) -> None:
    """Carpetball until `rounds` rounds are over."""
    rng = script.rng
    while rounds:
        phase = script.state.phase
        if phase == "round_over":
            rounds -= 1
            if rounds:
                script.call_on_closed_strokes(rules.NextRound())
        elif phase == "line_up":
            north, south = (_line_up(most, rng) for _ in range(2))
            script.call_on_closed_strokes(rules.LineUp(north, south))
        else:
            _throw(script, carpetball_throw(script.state, skill, rng))


def _throw(script: _Script, thrown: Thrown) -> None:
    withdraws = script.rng.random() < CARPETBALL.withdraw
    script.strike(thrown.end, thrown.seen)
    if thrown.hidden or withdraws:
        _call_instead(script, thrown.throw)
    else:
        script.judge(thrown.throw)
    if withdraws and script.state.phase in ("round", "standoff"):
        in_play = rules.on_table(script.state)
        end = script.rng.choice([end for end in ("north", "south") if in_play[end]])
        balls = 1 if script.rng.random() < 0.7 else script.rng.randint(1, in_play[end])
        script.call_between_strokes(rules.Withdraw(end, balls))


def _call_instead(script: _Script, observation: rules.Observation) -> None:
    """The umpire's word takes the place of what the beams saw in the open stroke."""
    script.call_on_open_stroke(request(observation))
    script.judge(observation)


def request(observation: rules.Observation) -> dict[str, object]:
    """The request that says `observation`: the same fields, with a command for a type."""
    document = dict(rules.observation_document(observation))
    return {"command": document.pop("type"), **document}


def _line_up(most: int, rng: Random) -> int:
    return most if rng.random() < CARPETBALL.full_line_up else rng.randint(1, most)


def _pocketed(objects: Sequence[str], script: _Script) -> tuple[tuple[str, str], ...]:
    """A pocket for each object, often the one before's (a striker follows its target); no crowd in one."""
    seen: list[tuple[str, str]] = []
    for name in objects:
        counts = Counter(place for place, _ in seen)
        free = [place for place in POCKETS if counts[place] < script.timing.crowd]
        follows = seen and seen[-1][0] in free and script.rng.random() < CARROM.same_pocket
        seen.append((seen[-1][0] if follows else script.rng.choice(free), name))
    return tuple(seen)


def _falls(strike_us: int, seen: Sequence[tuple[str, str]], timing: Timing, rng: Random) -> list[Fall]:
    """When each of `seen` falls: at one place one after the other with a gap, at several independently."""
    falls: list[Fall] = []
    for place in sorted({place for place, _ in seen}):
        objects = [name for where, name in seen if where == place]
        rng.shuffle(objects)
        dwells = [rng.randint(*timing.dwell) for _ in objects]
        span = timing.last_fall - timing.first_fall
        taken = [sum(dwells[:index]) + index * timing.gap for index in range(len(objects))]
        if len(objects) > timing.crowd:
            starts = [index * span // (len(objects) - 1) for index in range(len(objects))]
        else:
            slack = sorted(rng.randint(0, span - taken[-1]) for _ in objects)
            starts = [before + more for before, more in zip(taken, slack, strict=True)]
        falls += (
            Fall(strike_us + timing.first_fall + start, place, name, dwell)
            for start, name, dwell in zip(starts, objects, dwells, strict=True)
        )
    return sorted(falls, key=lambda fall: fall.at_us)
