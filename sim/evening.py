"""A match on a rig: what really happens, what the sensors and the people make of it, and how the table stands after.

`play` is a pure function of its arguments. The truth is folded by the rules alone, beside the appliance.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

from appliance import rules
from sim.buttons import CARPETBALL, People
from sim.falls import Shot, carpetball_shot, carrom_shot, put_in_pit
from sim.faults import sensor_faults
from sim.hands import hand
from sim.parameters import Parameters, parameters
from sim.physics import US_PER_MS, US_PER_S
from sim.rig import Rig
from sim.shots import other_end
from sim.tiers import Tier, settings_of
from sim.truth import Drop, TrueStroke

ROUNDS = 3
"""A match of carpetball is this many rounds."""
MOST_STROKES = 3_000


@dataclass(slots=True)
class Evening:
    """A match that was played: the truth, the appliance as it stood at the end, and what people did."""

    rig: Rig
    people: People
    strokes: list[TrueStroke]
    final: rules.GameState
    put_right_after: list[int] = field(default_factory=list)
    put_right_us: list[int] = field(default_factory=list)
    never_put_right: int = 0
    hours: float = 0.0


def play(tier: Tier, game: str, seed: int, faults: Sequence[str] = ()) -> Evening:
    """Play a match of `game` at a table of `tier` with these faults."""
    rng = Random(f"{tier.name} {game} {seed}")
    rig = Rig(settings_of(tier, game))
    people = People(rig, tier, parameters(), rng, tuple(faults))
    return _Play(tier, game, people, tuple(faults)).match()


class _Play:
    """One match in the making."""

    def __init__(self, tier: Tier, game: str, people: People, faults: tuple[str, ...]) -> None:
        self.tier = tier
        self.game = game
        self.people = people
        self.rig = people.rig
        self.rng = people.rng
        self.numbers: Parameters = people.numbers
        self.faults = faults
        self.state = rules.start(rules.parse_setup(game, {"type": "setup", "players": 2}))
        self.strokes: list[TrueStroke] = []
        self.board: list[TrueStroke] = []
        self.wrong_turns: int | None = None
        self.evening = Evening(self.rig, people, self.strokes, self.state)
        self.in_net: dict[str, int] = {}
        self.faulty_until_us = 0

    def match(self) -> Evening:
        rounds = 1
        self.people.wait("people.set_up_s")
        while len(self.strokes) < MOST_STROKES:
            phase = rules.document(self.state)["phase"]
            if phase == "match_over" or (phase == "round_over" and rounds == ROUNDS):
                break
            if phase in ("board_over", "round_over", "line_up"):
                rounds += phase == "round_over"
                self.next_board(str(phase))
                continue
            if not self.stroke():
                self.people.given_up += 1
                break
        self.rig.advance(self.rig.now_us + 20 * US_PER_S)
        self.rig.seal()
        self.evening.final = self.state
        self.evening.hours = self.rig.now_us / US_PER_S / 3600
        self.evening.never_put_right += self.wrong_turns is not None
        return self.evening

    # -- strokes -------------------------------------------------------------------------------------------

    def stroke(self) -> bool:
        """Play one stroke; False where the score cannot be put right any more."""
        start_us = self.rig.now_us + US_PER_MS
        draw = carpetball_shot if self.game == CARPETBALL else carrom_shot
        shot = draw(self.state, self.tier, start_us, self.numbers, self.rng)
        shot.stroke.before, shot.stroke.late_us = self.state, shot.late_us
        self.strokes.append(shot.stroke)
        self.board.append(shot.stroke)
        self._sensors(shot)
        self.rig.advance(max(shot.rest_us, start_us))
        late_us = None if shot.late_us is None else shot.late_us + 300 * US_PER_MS
        if late_us is not None and self.numbers.happens("stroke.teeter_seen", self.rng):
            self.rig.advance(late_us)
        self._hands(shot)
        self.people.after(shot.stroke)
        if late_us is not None and late_us > self.rig.now_us:
            self.rig.advance(late_us)
            self.people.after_late(shot.stroke)
        before = rules.document(self.state)
        assert shot.stroke.observation is not None
        outcome = rules.apply(self.state, shot.stroke.observation)
        assert not isinstance(outcome, rules.Refusal), f"{shot.stroke.observation}: {outcome}"
        self.state = outcome[0]
        after = rules.document(self.state)
        self._between_shots(over=after["phase"] != before["phase"])
        turn_changed = after["turn"] != before["turn"] or after["phase"] != before["phase"]
        over = after["phase"] != before["phase"]
        return self._look(over=over) if turn_changed or self._seems_over(over) else True

    def _sensors(self, shot: Shot) -> None:
        """Lay what passes, and what goes wrong, on the wires."""
        drift = self._drift(shot.stroke.start_us)
        for name, (start, end) in shot.strikes:
            self.rig.pulse(name, start, end)
        for drop in shot.stroke.drops:
            drop.pulses = [(start, start + round((end - start) * drift)) for start, end in drop.pulses]
            self._lay(drop)
            if "bounce_out" in self.faults and self.tier.geometry == "pit_edge":
                self._bounce_out(drop)
        beams = [beam.id for beam in self.rig.settings.beams]
        between = (max(self.faulty_until_us, shot.stroke.start_us - 1), shot.rest_us + 15 * US_PER_S)
        self.faulty_until_us = between[1]
        for name, start, end in sensor_faults(self.faults, beams, between, self.numbers, self.rng):
            self.rig.pulse(name, start, end)
        if "full_nets" in self.faults and self.tier.geometry == "throat":
            self._nets(shot)

    def _lay(self, drop: Drop) -> None:
        for start, end in drop.pulses:
            self.rig.pulse(drop.beam, start, end)
        for start, end in drop.magnet:
            self.rig.pulse(f"{drop.place}-cue", start, end)
        for at_us, colour in drop.colours:
            self.rig.colour(drop.beam, at_us, colour)

    def _drift(self, at_us: int) -> float:
        """By how much pulses seem wider or narrower now: slowly, to and fro, another way in every stretch."""
        if "drift" not in self.faults:
            return 1.0
        stretch = Random(f"{self.game} {at_us // (1200 * US_PER_S)}")
        return self.numbers.draw("fault.drift_factor", stretch)

    def _bounce_out(self, drop: Drop) -> None:
        """A fast ball jumps back over the pit's edge; it is dead all the same."""
        start, end = drop.pulses[0]
        speed = self.numbers.number("size.ball_diameter_mm") * 1_000 / max(1, end - start)
        if speed > self.numbers.number("throw.bounce_from_m_s") and self.numbers.happens("throw.bounce_out", self.rng):
            back = end + round(self.numbers.draw("throw.bounce_back_s", self.rng) * US_PER_S)
            self.rig.pulse(drop.beam, back, back + 2 * (end - start))

    def _nets(self, shot: Shot) -> None:
        """A net that is full reaches up to the beam until somebody empties it."""
        for drop in shot.stroke.drops:
            held = self.in_net.get(drop.place, 0) + (drop.object != "striker")
            if held > self.numbers.draw("fault.net_holds", self.rng):
                end = drop.at_us + round(self.numbers.draw("fault.net_emptied_s", self.rng) * US_PER_S)
                self.rig.pulse(drop.beam, drop.at_us + 60 * US_PER_MS, end)
                held = 0
            self.in_net[drop.place] = held

    def _hands(self, shot: Shot) -> None:
        """Hands in pockets and pits: the cue ball is fetched, a piece taken out and put back."""
        if self.game == CARPETBALL:
            if "over_line" in self.faults and self.numbers.happens("hand.over_line", self.rng):
                self._over_line(shot.stroke)
            cue = next((drop for drop in shot.stroke.drops if drop.object == "cue"), None)
            by_hand = "hands" in self.faults and self.tier.geometry == "pit_edge"
            if cue and by_hand and self.numbers.happens("hand.takes_cue", self.rng):
                self._reach(cue.beam)
        elif "hands" in self.faults and self.numbers.happens("hand.in_pocket", self.rng):
            pockets = [beam.id for beam in self.rig.settings.beams if beam.place != "strike"]
            self._reach(self.rng.choice(pockets))

    def _reach(self, beam: str) -> None:
        at_us = self.rig.now_us + round(self.numbers.draw("people.react_s", self.rng) * US_PER_S)
        for start, end in hand(self.numbers, self.rng):
            self.rig.pulse(beam, at_us + start, at_us + end)

    def _over_line(self, throw: TrueStroke) -> None:
        """A ball that came to rest over the line is out, and is put into the pit by hand: part of the throw."""
        assert throw.end is not None
        assert isinstance(throw.observation, rules.Throw)
        end = other_end(throw.end)
        out = {"north": throw.observation.out_north, "south": throw.observation.out_south}
        if out[end] == rules.on_table(self.state)[end]:
            return
        drop = put_in_pit(end, self.rig.now_us + US_PER_S, self.tier, self.numbers, self.rng)
        self._lay(drop)
        throw.drops.append(drop)
        out[end] += 1
        throw.observation = rules.Throw(out["north"], out["south"])
        self.rig.advance(max(end_us for _, end_us in drop.pulses))

    def _between_shots(self, *, over: bool) -> None:
        if self.game == CARPETBALL:
            self.people.wait("throw.cleared_s")
        if over:
            self._until_quiet()
        self.people.wait("people.next_shot_s")

    def _until_quiet(self) -> None:
        for _ in range(80):
            if self.rig.state.stroke is None:
                return
            self.rig.advance(self.rig.now_us + 250 * US_PER_MS)

    # -- the score -----------------------------------------------------------------------------------------

    def _look(self, *, over: bool) -> bool:
        """At a change of turn somebody may look at the score, at the end of a board everybody does."""
        if self.people.agrees(self.state):
            if self.wrong_turns is not None:
                self._is_right_again(self.wrong_turns)
            return True
        self.wrong_turns = 0 if self.wrong_turns is None else self.wrong_turns + 1
        if not (over or self._seems_over(over) or self.people.notices()):
            return True
        if not self.people.put_right(self.state, self.board):
            return False
        self._is_right_again(self.wrong_turns)
        return True

    def _seems_over(self, over: bool) -> bool:
        """Whether the table says that the board is over when it is not, or the other way round: everybody sees that."""
        return self.rig.projected().in_play == over

    def _is_right_again(self, turns: int) -> None:
        self.evening.put_right_after.append(turns)
        self.evening.put_right_us.append(self.rig.now_us)
        self.wrong_turns = None

    def next_board(self, phase: str) -> None:
        """Everything is set up again."""
        self.board = []
        self.in_net = {}
        if "hands" in self.faults:
            for beam in self.rig.settings.beams:
                if beam.place != "strike":
                    self._reach(beam.id)
        calls: dict[str, rules.Observation] = {
            "board_over": rules.NextBoard(),
            "round_over": rules.NextRound(),
            "line_up": rules.LineUp(5, 5),
        }
        outcome = rules.apply(self.state, calls[phase])
        assert not isinstance(outcome, rules.Refusal), outcome
        self.state = outcome[0]
        self.people.set_up()
        self._look(over=True)
        self.people.wait("people.next_shot_s")
