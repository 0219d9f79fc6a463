"""The beams that see the same objects, and what they make of each of them together.

Each beam sights passages; sightings of different beams of a group less than 40 ms apart are of one object, which
is known by the first of them. An object counts as long as one sighting of it does; what it can be is what every
beam that saw it can pass; and the beam that is least in doubt has seen it best (a disc that tumbles past one beam
for long is a plain pulse in the one across). A hand at one beam is a hand at all of them.

Where a beam's passages take long (`min_dwell_ns`), shorter breaks are none of them; but one that is as close to a
passage as fingers are to a hand, and further off than its bounce, makes it unclear: a hand comes in pieces, an object
does not.

A beam that can be broken by some of these objects only (a magnet sensor feels the cue ball alone) tells by its silence
too: half a second after an object has passed the others and not this one, it was none of those.

Everything follows anew from the sightings of the last half minute, and what differs from what was told is told:
that a passage is more than one object, fewer, or none, may turn out after it was shown.
"""

from collections.abc import Container, Iterable
from dataclasses import dataclass, field, replace

from appliance.sensing.crowd import crowded
from appliance.sensing.debounce import MS, SECOND, Passage
from appliance.sensing.doubt import Doubt, Usual, doubt_of, is_twice
from appliance.sensing.hands import Stretch, apart_ns, is_hand, of_the_hand
from appliance.sensing.inputs import Beam
from appliance.sensing.signals import PassageSeen, Uncounted

SAME_WITHIN_NS = 40 * MS
TELLS_WITHIN_NS = 500 * MS
KEPT_NS = 30 * SECOND
KEPT = 64
STIRS_KEPT_NS = 2 * SECOND

_BY_DOUBT: tuple[Doubt | None, ...] = (None, "possibly_two", "unclear")


@dataclass(slots=True)
class Sighting:
    """A passage of one beam; `usual_ns` is the width that was usual there at the time. `void` stays once it is set.

    `is_stale`: what is known of it has changed since its object was judged.
    """

    beam: Beam
    passage: Passage
    usual_ns: int | None
    void: Uncounted | None = None
    in_crowd: bool = False
    near_unclear: bool = False
    is_stale: bool = True

    @property
    def is_unclear(self) -> bool:
        """Whether it is too long by itself for something that surely fell, and too short for a hand."""
        return self.passage.longest_ns >= self.beam.settings.unclear_from_ns

    @property
    def stretch(self) -> Stretch:
        """From when to when."""
        return self.passage.started_ns, self.passage.ended_ns


@dataclass(slots=True)
class _Seen:
    """One object, by all who sighted it, and what was told of it last.

    `unlike` is what it is not, by the silence of a beam; that is looked at once (`is_settled`).
    """

    sightings: list[Sighting]
    told: PassageSeen | None = None
    unlike: frozenset[str] = frozenset()
    is_settled: bool = False

    @property
    def ended_ns(self) -> int:
        """When the last of them was whole again."""
        return max(each.passage.ended_ns for each in self.sightings)


@dataclass(slots=True)
class Group:
    """The objects that some beams at one place have seen lately."""

    beams: list[Beam] = field(default_factory=list)
    _seen: list[_Seen] = field(default_factory=list)
    _usual: dict[str, Usual] = field(default_factory=dict)
    _newest: dict[str, Sighting] = field(default_factory=dict)
    _stirs: list[tuple[str, Stretch]] = field(default_factory=list)
    _has_changed: bool = False

    def sight(self, beam: Beam, passage: Passage, void: Uncounted | None = None) -> Sighting | None:
        """Take a passage of a beam, or one that went on; the sighting, where it is a new one."""
        self._has_changed = True
        newest = self._newest.get(beam.id)
        if newest is not None and newest.passage.started_ns == passage.started_ns:
            newest.passage, newest.is_stale = passage, True
            self._find_hands(self._hands())
            return None
        usual = self._usual.setdefault(beam.id, Usual())
        if newest is not None and newest.void is None:
            usual.add(newest.passage.longest_ns)
        sighting = Sighting(beam, passage, usual.median_ns, void)
        self._newest[beam.id] = sighting
        self._place(sighting)
        self._find_hands(self._hands())
        self._forget_old(passage.ended_ns)
        return sighting

    def stir(self, beam: Beam, stretch: Stretch) -> None:
        """Something broke that beam for too short a time to be a passage, and for too long to be a spike."""
        kept = [each for each in self._stirs if stretch[1] - each[1][1] < STIRS_KEPT_NS]
        self._stirs = [*kept, (beam.id, stretch)]
        self._has_changed = True

    def learn(self, beam_id: str, width_ns: int) -> None:
        """A passage of that beam, before this began, took so long."""
        self._usual.setdefault(beam_id, Usual()).add(width_ns)

    def hand(self, stretch: Stretch) -> None:
        """One of the beams has been broken for that long, and still is: too long for anything that falls."""
        self._find_hands([stretch])

    def void(self, beam: Beam, between: Stretch, reason: Uncounted) -> None:
        """What that beam sighted that began, or ended, between two moments is none."""
        first_ns, last_ns = between
        for sighting in self._sightings():
            ends = sighting.stretch
            if sighting.beam is beam and sighting.void is None and any(first_ns <= at_ns <= last_ns for at_ns in ends):
                self._void(sighting, reason)

    def listen(self, now_ns: int, in_service: Container[str]) -> None:
        """Let time pass: what a beam `in_service` has not seen in its time is nothing that it would have seen."""
        for seen in reversed(self._seen):
            if seen.is_settled:
                return
            if now_ns - seen.ended_ns < TELLS_WITHIN_NS:
                continue
            seen.is_settled = True
            sighted = {each.beam.id for each in seen.sightings}
            possible = set(seen.sightings[0].beam.passes)
            silent = [beam for beam in self.beams if beam.id in in_service and beam.id not in sighted]
            seen.unlike = frozenset(n for beam in silent if set(beam.passes) < possible for n in beam.passes)
            if seen.unlike:
                seen.sightings[0].is_stale = self._has_changed = True

    def told_as(self, beam: Beam, started_ns: int) -> tuple[Beam, int] | None:
        """The beam and start by which the object was told that `beam` saw from `started_ns` on."""
        for seen in reversed(self._seen):
            for sighting in seen.sightings:
                if sighting.beam is beam and sighting.passage.started_ns == started_ns:
                    return seen.sightings[0].beam, seen.sightings[0].passage.started_ns
        return None

    def is_twice(self, beam: Beam) -> bool:
        """Whether that beam's newest passage has two pulses that are each as long as an object takes."""
        newest = self._newest.get(beam.id)
        return newest is not None and is_twice(newest.passage, beam.settings, newest.usual_ns)

    def news(self) -> list[PassageSeen]:
        """What has not been told yet, or differs from what was told."""
        found: list[PassageSeen] = []
        if not self._has_changed:
            return found
        self._has_changed = False
        self._find_crowds()
        self._find_company()
        for seen in self._seen:
            if not any(each.is_stale for each in seen.sightings):
                continue
            for each in seen.sightings:
                each.is_stale = False
            now = _judged(seen.sightings, seen.unlike)
            if now != seen.told and (seen.told is None or seen.told.reason is None):
                seen.told = now
                found.append(now)
        return found

    def _sightings(self) -> Iterable[Sighting]:
        return (sighting for seen in self._seen for sighting in seen.sightings)

    def _place(self, sighting: Sighting) -> None:
        """Join what another beam has seen just now and this one has not, or begin an object."""
        for seen in reversed(self._seen):
            if all(other.beam is not sighting.beam for other in seen.sightings) and any(
                apart_ns(other.stretch, sighting.stretch) < SAME_WITHIN_NS for other in seen.sightings
            ):
                seen.sightings.append(sighting)
                return
        self._seen.append(_Seen([sighting]))

    def _hands(self) -> list[Stretch]:
        return [
            each.stretch
            for each in self._sightings()
            if each.void is Uncounted.HAND or (each.void is None and is_hand(each.stretch, each.beam.settings))
        ]

    def _find_hands(self, hands: list[Stretch]) -> None:
        if not hands:
            return
        others = [sighting for sighting in self._sightings() if sighting.void is None]
        gap_ns = max((each.beam.settings.hand_gap_ns for each in others), default=0)
        for index in of_the_hand(hands, [each.stretch for each in others], gap_ns):
            self._void(others[index], Uncounted.HAND)

    def _void(self, sighting: Sighting, reason: Uncounted) -> None:
        sighting.void, sighting.is_stale = reason, True
        self._has_changed = True

    def _find_crowds(self) -> None:
        by_beam: dict[str, list[Sighting]] = {}
        for sighting in self._sightings():
            if sighting.void is None:
                by_beam.setdefault(sighting.beam.id, []).append(sighting)
        for sightings in by_beam.values():
            starts = sorted(each.passage.started_ns for each in sightings)
            found = crowded(starts, sightings[0].beam.settings.crowd)
            for each in sightings:
                # Once in a crowd, always: that its others are forgotten in time makes no plain passage of it.
                in_crowd = each.in_crowd or each.passage.started_ns in found
                each.is_stale |= in_crowd != each.in_crowd
                each.in_crowd = in_crowd

    def _find_company(self) -> None:
        """What is as close to an unclear passage of its beam as it would be to a hand is unclear too: hands come in
        pieces.
        """
        counting = [sighting for sighting in self._sightings() if sighting.void is None]
        for name, stirred in self._stirs:
            own = [each for each in counting if each.beam.id == name]
            if any(apart_ns(stirred, each.stretch) < each.beam.settings.merge_gap_ns for each in own):
                # The bounce of one of them says nothing of the others.
                continue
            for each in own:
                if apart_ns(stirred, each.stretch) < each.beam.settings.hand_gap_ns and not each.near_unclear:
                    each.near_unclear = each.is_stale = True
        for beam in {each.beam.id: each.beam for each in counting if each.is_unclear or each.near_unclear}.values():
            own = [each for each in counting if each.beam is beam]
            unclear = [each.stretch for each in own if each.is_unclear or each.near_unclear]
            near = set(of_the_hand(unclear, [each.stretch for each in own], beam.settings.hand_gap_ns))
            for index, each in enumerate(own):
                near_unclear = each.near_unclear or index in near
                each.is_stale |= near_unclear != each.near_unclear
                each.near_unclear = near_unclear

    def _forget_old(self, now_ns: int) -> None:
        self._seen = [seen for seen in self._seen[-KEPT:] if now_ns - seen.ended_ns < KEPT_NS]


def _judged(sightings: list[Sighting], unlike: frozenset[str]) -> PassageSeen:
    """What is to be told of an object."""
    lead, counting = sightings[0], [each for each in sightings if each.void is None]
    ended_ns = max(each.passage.ended_ns for each in sightings)
    passage = lead.passage if ended_ns == lead.passage.ended_ns else replace(lead.passage, ended_ns=ended_ns)
    if not counting:
        return PassageSeen(lead.beam, passage, reason=lead.void)
    passes = tuple(name for name in lead.beam.passes if all(name in each.beam.passes for each in counting))
    passes = tuple(name for name in passes if name not in unlike) or passes
    narrower = passes if passes and passes != lead.beam.passes else None
    return PassageSeen(lead.beam, passage, min(map(_doubt, counting), key=_BY_DOUBT.index), passes=narrower)


def _doubt(sighting: Sighting) -> Doubt | None:
    if sighting.in_crowd or sighting.near_unclear:
        return "unclear"
    return doubt_of(sighting.passage, sighting.beam.settings, sighting.usual_ns)
