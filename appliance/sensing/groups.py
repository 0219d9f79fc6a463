"""The beams that see the same objects, and what they make of each of them together.

Each beam sights passages; sightings of different beams of a group less than 40 ms apart are of one object, which
is known by the first of them. An object counts as long as one sighting of it does; what it can be is what every
beam that saw it can pass; and the beam that is least in doubt has seen it best (a disc that tumbles past one beam
for long is a plain pulse in the one across). A hand at one beam is a hand at all of them.

Where a beam's passages take long (`min_dwell_ns`), shorter breaks are none of them; but one that is as close to a
passage as fingers are to a hand, and further off than its bounce, makes it unclear: a hand comes in pieces, an object
does not. A break that is too short even for that says nothing by itself, but may well be the piece of a hand between
two others; only where there are many it is a lamp.

A beam that can be broken by some of these objects only (a magnet sensor feels the cue ball alone) tells by its silence
too: half a second after an object has passed the others and not this one, it was none of those.

Everything follows anew from the sightings of the last half minute, and what differs from what was told is told:
that a passage is more than one object, fewer, or none, may turn out after it was shown.
"""

from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, field, replace

from appliance.sensing.crowd import crowded
from appliance.sensing.debounce import MS, SECOND, STIR_NS, Passage
from appliance.sensing.doubt import ONLY_ONE, Doubt, Usual, doubt_of, is_twice
from appliance.sensing.hands import Stretch, apart_ns, is_hand, of_the_hand
from appliance.sensing.inputs import Beam
from appliance.sensing.signals import PassageSeen, Uncounted

SAME_WITHIN_NS = 40 * MS
TELLS_WITHIN_NS = 500 * MS
KEPT_NS = 30 * SECOND
KEPT = 64
BRIEF_KEPT_NS = 2 * SECOND
SPIKES_OF_A_HAND = 3
"""More of them at a beam within `BRIEF_KEPT_NS` are no fingers."""

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
    has_witness: bool = True
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
    _brief: list[tuple[str, Stretch]] = field(default_factory=list)
    _has_changed: bool = False

    def sight(self, beam: Beam, passage: Passage, *, has_witness: bool = True) -> Sighting | None:
        """Take a passage of a beam, or one that went on; the sighting, where it is a new one.

        Where nothing `has_witness`, it may as well have been a dip of the supply.
        """
        self._has_changed = True
        newest = self._newest.get(beam.id)
        if newest is not None and newest.passage.started_ns == passage.started_ns:
            newest.passage, newest.is_stale = passage, True
            self._find_hands(self._hands())
            return None
        usual = self._usual.setdefault(beam.id, Usual())
        if newest is not None and newest.void is None:
            usual.add(newest.passage.longest_ns)
        sighting = Sighting(beam, passage, usual.median_ns, has_witness=has_witness)
        self._newest[beam.id] = sighting
        self._place(sighting)
        self._find_hands(self._hands())
        self._forget_old(passage.ended_ns)
        return sighting

    def brief(self, beam: Beam, stretch: Stretch) -> None:
        """Something broke that beam for too short a time to be a passage."""
        kept = [each for each in self._brief if stretch[1] - each[1][1] < BRIEF_KEPT_NS]
        self._brief = [*kept, (beam.id, stretch)]
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

    def going_on_at(self, at_ns: int) -> Iterator[tuple[str, int]]:
        """The objects that somebody who looked then may not have seen whole, by beam and start as they are told."""
        for seen in self._seen:
            if any(each.passage.started_ns <= at_ns < each.passage.ended_ns for each in seen.sightings):
                yield seen.sightings[0].beam.id, seen.sightings[0].passage.started_ns

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
        between = [link for beam in self.beams for link in self._links(beam.id)]
        for index in of_the_hand(hands, [*(each.stretch for each in others), *between], gap_ns):
            if index < len(others):
                self._void(others[index], Uncounted.HAND)

    def _links(self, beam_id: str) -> list[Stretch]:
        """The brief breaks of that beam that may be pieces of a hand."""
        own = [stretch for name, stretch in self._brief if name == beam_id]
        spikes = [stretch for stretch in own if not _is_stir(stretch)]
        return own if len(spikes) <= SPIKES_OF_A_HAND else [stretch for stretch in own if _is_stir(stretch)]

    def _void(self, sighting: Sighting, reason: Uncounted) -> None:
        sighting.void, sighting.is_stale = reason, True
        self._has_changed = True

    def _find_crowds(self) -> None:
        by_beam: dict[str, list[Sighting]] = {}
        for sighting in self._sightings():
            if sighting.void in (None, Uncounted.HAND):
                by_beam.setdefault(sighting.beam.id, []).append(sighting)
        for sightings in by_beam.values():
            found = crowded(_starts(sightings), sightings[0].beam.settings.crowd)
            for each in (each for each in sightings if each.void is None):
                # Once in a crowd, always: that its others are forgotten in time makes no plain passage of it.
                in_crowd = each.in_crowd or each.passage.started_ns in found
                each.is_stale |= in_crowd != each.in_crowd
                each.in_crowd = in_crowd

    def _find_company(self) -> None:
        """What is as close to an unclear passage of its beam as it would be to a hand is unclear too, and so is what
        is that close to a stir: hands come in pieces.
        """
        counting = [sighting for sighting in self._sightings() if sighting.void is None]
        for beam in {each.beam.id: each.beam for each in counting}.values():
            own = [each for each in counting if each.beam is beam]
            links = self._links(beam.id)
            pieces = [each.stretch for each in own if each.is_unclear or each.near_unclear or _is_finger(each, own)]
            pieces += [link for link in links if _is_stir(link) and not _is_bounce(link, own)]
            near = set(of_the_hand(pieces, [*(each.stretch for each in own), *links], beam.settings.hand_gap_ns))
            for index, each in enumerate(own):
                near_unclear = each.near_unclear or index in near
                each.is_stale |= near_unclear != each.near_unclear
                each.near_unclear = near_unclear

    def _forget_old(self, now_ns: int) -> None:
        self._seen = [seen for seen in self._seen[-KEPT:] if now_ns - seen.ended_ns < KEPT_NS]


def _starts(sightings: Iterable[Sighting]) -> list[int]:
    """When each of them began, in order; the pieces of a hand are one."""
    found: list[int] = []
    hand: Sighting | None = None
    for each in sorted(sightings, key=lambda each: each.passage.started_ns):
        goes_on = hand is not None and apart_ns(hand.stretch, each.stretch) < each.beam.settings.hand_gap_ns
        if each.void is None or not goes_on:
            found.append(each.passage.started_ns)
        hand = each if each.void is Uncounted.HAND else hand
    return found


def _is_stir(stretch: Stretch) -> bool:
    """Whether a brief break is more than a spike."""
    return stretch[1] - stretch[0] >= STIR_NS


def _is_bounce(stir: Stretch, sightings: Iterable[Sighting]) -> bool:
    """Whether it is the bounce of one of them, and says nothing of the others."""
    return any(apart_ns(stir, each.stretch) < each.beam.settings.merge_gap_ns for each in sightings)


def _is_finger(sighting: Sighting, own: list[Sighting]) -> bool:
    """Whether a passage with another one beside it is too long for something that surely fell."""
    settings = sighting.beam.settings
    if settings.fingers_from_ns is None or sighting.passage.longest_ns < settings.fingers_from_ns:
        return False
    return any(each is not sighting and apart_ns(each.stretch, sighting.stretch) < settings.hand_gap_ns for each in own)


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
    if sighting.in_crowd or not sighting.has_witness or sighting.near_unclear:
        return "unclear"
    settings, passes = sighting.beam.settings, sighting.beam.passes
    doubt = doubt_of(sighting.passage, settings, sighting.usual_ns)
    comes_alone = settings.long_single_ns is None and len(passes) == 1 and passes[0] in ONLY_ONE
    return "unclear" if doubt == "possibly_two" and comes_alone else doubt
