"""The truth beside what the appliance made of it, stroke by stroke.

A stroke is *right* when everything that fell in it counted as what it was, in one stroke, for whoever shot it. What
people put right afterwards does not make it right: it counts as it was judged. Sorted into one heap each:

* right without help: nobody told the table what fell, and it assumed nothing;
* asked: people told it what fell, and it was right;
* assumed right, assumed wrong: it rests on an assumption that is marked as one;
* silently wrong: wrong, and nothing marks it.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Literal

from appliance import rules
from appliance.table.model import JudgedStroke, StrokeClosed
from sim.buttons import CARPETBALL
from sim.evening import Evening
from sim.physics import US_PER_S
from sim.rig import NS_PER_US
from sim.truth import Drop, TrueStroke

Cause = Literal["none", "assumed", "floor", "other"]
"""What first made the score wrong that stands now."""

FOUND_OUT_US = 10 * US_PER_S
"""The slowest fault is known for what it is after so long."""


Odd = tuple[int, list[tuple[str, str]]]
"""A stroke, by its index, and what counted in it, by place and name."""


@dataclass(slots=True)
class Figures:
    """Sums over matches; all of them add up.

    `right_count` is how many strokes had the right number of objects and of strikers without anybody's help.
    `silently_wrong_told` is how many of the silently wrong miss nothing but what fell past beams of which the table
    told that something was wrong with them. `followed_on` is how many wrong ones had the right number of objects and
    were only wrong because the score had been wrong before: they go where the first error went. `late_drops` is how
    many wrong ones had a disc that dropped when the stroke seemed over. `moved` objects counted in the stroke beside
    their own, and are neither lost nor invented; `invented_misread` of the invented are what a sensor took for
    something that counts. `floor_…` is what physics hid: strokes with an object that no beam saw (`unseen`), that
    shares one pulse with another (`merged`), that looks like the bounce of the one before (`like_a_bounce`), or that
    a slot, a colour or a magnet sensor took for something else (`misread`).
    """

    matches: int = 0
    strokes: int = 0
    pocketing: int = 0
    right_without_help: int = 0
    asked: int = 0
    assumed_right: int = 0
    assumed_wrong: int = 0
    silently_wrong: int = 0
    silently_wrong_beyond_floor: int = 0
    silently_wrong_told: int = 0
    followed_on: int = 0
    late_drops: int = 0
    right_count: int = 0
    taps: int = 0
    taps_pocketing: int = 0
    taps_done_pocketing: int = 0
    objects_pocketing: int = 0
    pocketing_with_more_taps: int = 0
    taps_passes: int = 0
    passes_with_more_taps: int = 0
    points: int = 0
    points_lost: int = 0
    invented: int = 0
    invented_misread: int = 0
    moved: int = 0
    floor_strokes: int = 0
    floor_unseen: int = 0
    floor_merged: int = 0
    floor_like_a_bounce: int = 0
    floor_misread: int = 0
    repairs: int = 0
    put_right: int = 0
    turns_until_put_right: int = 0
    never_put_right: int = 0
    given_up: int = 0
    other_at_the_end: int = 0
    faults_told: int = 0
    hours: float = 0.0

    def add(self, other: "Figures") -> None:
        """Add another sum to this one."""
        for each in fields(self):
            setattr(self, each.name, getattr(self, each.name) + getattr(other, each.name))


@dataclass(slots=True)
class _Made:
    """What the appliance made of one true stroke."""

    objects: list[tuple[str, str]]
    entries: list[JudgedStroke]
    assumed: bool = False


def figures(evening: Evening, odd: Callable[[Odd], None] = lambda each: None) -> Figures:
    """The sums of one match; `odd` hears of strokes with an invented object, or wrong for no reason of physics."""
    found = Figures(matches=1, strokes=len(evening.strokes), hours=evening.hours)
    cause: Cause = "none"
    put_right = iter([*evening.put_right_us, None])
    right_again_us = next(put_right)
    beside = Neighbours()
    for index, (stroke, made) in enumerate(zip(evening.strokes, _made(evening), strict=True)):
        while right_again_us is not None and right_again_us <= stroke.start_us:
            cause, right_again_us = "none", next(put_right)
        beyond, invented = found.silently_wrong_beyond_floor, found.invented
        cause = _count_stroke(found, evening, stroke, made, cause)
        beside.next(found, _off(evening, stroke, made))
        if found.silently_wrong_beyond_floor > beyond or found.invented > invented:
            odd((index, made.objects))
    people = evening.people
    found.repairs = people.repairs
    found.given_up = people.given_up
    found.put_right = len(evening.put_right_after)
    found.turns_until_put_right = sum(evening.put_right_after)
    found.never_put_right = evening.never_put_right
    found.other_at_the_end = int(not people.agrees(evening.final))
    found.faults_told = sum(news["event"] == "beam_fault" for news in evening.rig.news)
    return found


def _count_stroke(found: Figures, evening: Evening, stroke: TrueStroke, made: _Made, cause: Cause = "none") -> Cause:
    """Sort one stroke into its heap; the first cause of what is wrong from then on."""
    carpetball = evening.rig.settings.table.game == CARPETBALL
    truly = Counter((drop.place, drop.object) for drop in stroke.drops if _scores(drop, carpetball=carpetball))
    counted = Counter(made.objects)
    helped = stroke.start_us in evening.people.answered
    same_objects = _objects(truly) == _objects(counted) if not carpetball else truly == counted
    same_objects = same_objects and (len(made.entries) <= 1 or _comes_to_the_same(stroke, made.entries))
    right = same_objects and all(entry.player == stroke.player for entry in made.entries)
    assumed = made.assumed or any(_is_assumed(entry) for entry in made.entries)
    on_floor = bool(stroke.unseen or stroke.merged or stroke.like_a_bounce or stroke.misread)
    if right:
        found.asked += helped
        found.assumed_right += assumed and not helped
        found.right_without_help += not (helped or assumed)
    else:
        own: Cause = "assumed" if assumed else "floor" if on_floor else "other"
        followed = cause != "none" and own == "other" and _numbers(truly) == _numbers(counted)
        found.followed_on += followed
        heap = cause if followed else own
        found.assumed_wrong += heap == "assumed"
        found.silently_wrong += heap != "assumed"
        found.silently_wrong_beyond_floor += heap == "other"
        found.silently_wrong_told += heap != "assumed" and _missed_what_was_told(evening, stroke, truly, counted)
        cause = cause if cause != "none" else own
    found.right_count += _numbers(truly) == _numbers(counted) and (right or not helped)
    taps, done = evening.people.taps[stroke.start_us], evening.people.done[stroke.start_us]
    found.taps += taps
    if stroke.drops:
        found.pocketing += 1
        found.objects_pocketing += len(stroke.drops)
        found.taps_pocketing += taps
        found.taps_done_pocketing += done
        found.pocketing_with_more_taps += taps - done > len(stroke.drops)
    else:
        found.taps_passes += taps
        found.passes_with_more_taps += taps > 1
    found.points += truly.total()
    lost, invented = lost_and_invented(truly, counted, carpetball=carpetball)
    found.points_lost += lost
    found.invented += invented
    found.invented_misread += min(invented, stroke.misread)
    found.late_drops += not right and stroke.late_us is not None
    found.floor_strokes += on_floor
    found.floor_unseen += stroke.unseen
    found.floor_merged += stroke.merged
    found.floor_like_a_bounce += stroke.like_a_bounce
    found.floor_misread += stroke.misread
    return cause


def lost_and_invented(
    truly: Counter[tuple[str, str]], counted: Counter[tuple[str, str]], *, carpetball: bool
) -> tuple[int, int]:
    """How many objects are missing, and how many too many: a ball at the wrong end is a point for the wrong side."""
    if carpetball:
        return (truly - counted).total(), (counted - truly).total()
    return max(0, truly.total() - counted.total()), max(0, counted.total() - truly.total())


def _missed_what_was_told(
    evening: Evening, stroke: TrueStroke, truly: Counter[tuple[str, str]], counted: Counter[tuple[str, str]]
) -> bool:
    """Whether all that is missing, and nothing is too much, fell past beams whose fault was told, or was soon after."""
    missing = truly - counted
    if not missing or counted - truly:
        return False
    return all(any(_was_out(evening, d) for d in stroke.drops if (d.place, d.object) == each) for each in missing)


def _was_out(evening: Evening, drop: Drop) -> bool:
    """Whether something was known to be wrong with the beam that a drop passed, or was found out because of that."""
    return any(
        start_us - FOUND_OUT_US <= drop.first_us and (end_us is None or drop.first_us <= end_us)
        for start_us, end_us in evening.rig.outages.get(drop.beam, ())
    )


@dataclass(slots=True)
class Neighbours:
    """By how many objects the stroke before was off, in all and by name; more than fell are above zero."""

    total: int = 0
    names: Counter[str] = field(default_factory=Counter)

    def next(self, found: Figures, names: Counter[str]) -> None:
        """An object that is missing in one stroke and too many in the next, or the other way round, has moved."""
        total, moved = sum(names.values()), 0
        if total * self.total < 0:
            alike = sum(min(abs(names[n]), abs(self.names[n])) for n in names if names[n] * self.names[n] < 0)
            moved = min(abs(total), abs(self.total), alike)
        found.moved += moved
        found.points_lost -= moved
        found.invented -= moved
        self.total = total - moved if total > 0 else total + moved
        self.names = names


def _off(evening: Evening, stroke: TrueStroke, made: _Made) -> Counter[str]:
    carpetball = evening.rig.settings.table.game == CARPETBALL
    off = _objects(Counter(made.objects))
    off.subtract(drop.object for drop in stroke.drops if _scores(drop, carpetball=carpetball))
    return off


def _comes_to_the_same(stroke: TrueStroke, entries: list[JudgedStroke]) -> bool:
    """Whether several strokes of the table's lead to the score that the one true stroke led to."""
    assert stroke.before is not None
    assert stroke.observation is not None
    state, game = stroke.before, stroke.before.game
    truly = rules.apply(state, stroke.observation)
    for entry in entries:
        if entry.observation is None or entry.player != rules.player_on_turn(state):
            return False
        applied = rules.apply(state, rules.parse_observation(game, entry.observation))
        if isinstance(applied, rules.Refusal):
            return False
        state = applied[0]
    return not isinstance(truly, rules.Refusal) and rules.document(truly[0]) == rules.document(state)


def _scores(drop: Drop, *, carpetball: bool) -> bool:
    """The cue ball changes nothing by falling."""
    return not (carpetball and drop.object == "cue")


def _objects(counted: Mapping[tuple[str, str], int]) -> Counter[str]:
    found: Counter[str] = Counter()
    for (_, name), count in counted.items():
        found[name] += count
    return found


def _numbers(counted: Mapping[tuple[str, str], int]) -> tuple[int, int]:
    """How many objects, and how many of them the striker."""
    objects = _objects(counted)
    return objects.total(), objects["striker"]


def _is_assumed(entry: JudgedStroke) -> bool:
    assumes_object = any(each.how == "assumed" for each in entry.judged.objects)
    return assumes_object or entry.judged.player_assumed or entry.misses > 0


def _made(evening: Evening) -> list[_Made]:
    """By true stroke: what of it counted. A passage belongs to the stroke in which it fell."""
    starts = [stroke.start_us for stroke in evening.strokes]
    carpetball = evening.rig.settings.table.game == CARPETBALL
    found = [_Made([], []) for _ in starts]
    for entry in evening.rig.judged.values():
        if entry.stroke.by == "request":
            # Told by hand to put the score right: nothing that the table saw.
            continue
        if entry.player is None and entry.observation is None:
            # Hands between boards, and what people answered about them: nobody's stroke.
            continue
        windows = set()
        told = _told(entry, carpetball=carpetball)
        for fallen in entry.stroke.fallen:
            judged = next((j for j in entry.judged.objects if j.passage_id == fallen.passage_id), None)
            if judged is None or judged.object is None or entry.observation is None:
                continue
            window = max(0, bisect_right(starts, fallen.started_ns // NS_PER_US + 1) - 1)
            windows.add(window)
            if not (carpetball and judged.object == "cue"):
                found[window].objects.append((fallen.place, judged.object))
        if not windows:
            windows.add(max(0, bisect_right(starts, _moment_us(entry.stroke)) - 1))
        if told:
            found[min(windows)].objects = told
        for window in windows:
            found[window].entries.append(entry)
    for index, made in enumerate(found[:-1]):
        if not made.entries and not evening.strokes[index].drops:
            # A miss that nothing told: the next stroke of somebody else brings it in, marked as assumed.
            made.assumed = any(entry.misses for entry in found[index + 1].entries)
    return found


def _told(entry: JudgedStroke, *, carpetball: bool) -> list[tuple[str, str]]:
    """What people said that a stroke was which the table had asked about."""
    told = entry.stroke.told
    if carpetball and told.out is not None:
        return [("north", "ball")] * told.out[0] + [("south", "ball")] * told.out[1]
    return [("", name) for name in told.pocketed or ()]


def _moment_us(stroke: StrokeClosed) -> int:
    """When an empty stroke was played: before it closed, and a strike that closes it is already the next one's."""
    return stroke.at_ns // NS_PER_US - 2
