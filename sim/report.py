"""`pocketbeam sim report`: how much of a tier's play the appliance gets right, as text, as JSON and as a picture.

Figures are sums over seeded matches; shares are of strokes unless they say otherwise.
"""

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from html import escape
from math import log10
from pathlib import Path
from typing import Any, TextIO

from appliance.grammar import how_many
from sim.account import Figures, Odd, figures
from sim.evening import play
from sim.tiers import TIERS, Tier
from sim.where import where


@dataclass(frozen=True, slots=True)
class ReportOptions:
    """What the command line asks for."""

    tier: str
    game: str
    matches: int
    seed: int
    faults: tuple[str, ...]
    as_json: bool
    svg: Path | None
    where: bool = False


def main(options: ReportOptions) -> int:
    """Play, and print the report; exit status 0."""
    tier = TIERS[options.tier]
    odd: Callable[[str], None] = (lambda said: print(said, file=sys.stderr)) if options.where else (lambda said: None)
    progress = _progress(options.matches, sys.stderr)
    found = measure(tier, options.game, options.matches, options.seed, options.faults, progress, odd)
    document = report(tier, options, found)
    if options.svg is not None:
        options.svg.write_text(picture(document), "utf-8")
    print(json.dumps(document, ensure_ascii=False) if options.as_json else text(document))
    return 0


def measure(
    tier: Tier,
    game: str,
    matches: int,
    seed: int,
    faults: Sequence[str] = (),
    played: Callable[[int], None] = lambda count: None,
    odd: Callable[[str], None] = lambda said: None,
) -> Figures:
    """The sums of `matches` matches, seeded one after the other from `seed`.

    `played` hears of each, and `odd` of each stroke with an invented object, or wrong for no reason of physics.
    """
    total = Figures()
    for number in range(seed, seed + matches):
        evening = play(tier, game, number, faults)
        strange: list[Odd] = []
        total.add(figures(evening, strange.append))
        for index, counted in strange:
            odd(where(number, index, evening.strokes, counted, evening.rig))
        played(number + 1 - seed)
    return total


def _progress(matches: int, err: TextIO) -> Callable[[int], None]:
    def played(count: int) -> None:
        end = "\n" if count == matches else ""
        print(f"\r{count} of {how_many(matches, 'match', 'matches')}", end=end, file=err, flush=True)

    return played if err.isatty() else lambda count: None


def report(tier: Tier, options: ReportOptions, found: Figures) -> dict[str, Any]:
    """The report as one object."""
    strokes, points = max(1, found.strokes), max(1, found.points)
    return {
        "tier": tier.name,
        "game": options.game,
        "seed": options.seed,
        "faults": list(options.faults),
        **{name: round(value, 3) if isinstance(value, float) else value for name, value in asdict(found).items()},
        "taps_per_stroke": round(found.taps / strokes, 4),
        "taps_per_pocketing_stroke": round(found.taps_pocketing / max(1, found.pocketing), 4),
        "object_taps_per_object": round(
            (found.taps_pocketing - found.taps_done_pocketing) / max(1, found.objects_pocketing), 4
        ),
        "taps_per_pass": round(found.taps_passes / max(1, found.strokes - found.pocketing), 4),
        "right_without_help_share": round(found.right_without_help / strokes, 6),
        "count_and_striker_right_share": round(found.right_count / strokes, 6),
        "silently_wrong_share": round(found.silently_wrong / strokes, 6),
        "physical_floor": found.floor_strokes,
        "physical_floor_share_of_objects": round(
            (found.floor_unseen + found.floor_merged + found.floor_like_a_bounce + found.floor_misread) / points, 6
        ),
        "mean_turns_until_put_right": round(found.turns_until_put_right / max(1, found.put_right), 3),
    }


def text(document: dict[str, Any]) -> str:
    """The report for people."""
    strokes = max(1, document["strokes"])

    def row(name: str, value: int, what: str) -> str:
        return f"  {name:<22}{value:>8}  {100 * value / strokes:7.3f} %  {what}"

    faults = f", with {', '.join(document['faults'])}" if document["faults"] else ""
    matches = how_many(document["matches"], "match", "matches")
    head = f"{document['tier']}, {document['game']}: {matches} from seed {document['seed']}{faults}"
    wrong = how_many(document["put_right"] + document["never_put_right"], "time")
    lines = [
        f"{head}: {how_many(document['strokes'], 'stroke')} in {how_many(round(document['hours']), 'hour')} of play",
        row("right without help", document["right_without_help"], "nothing told, nothing assumed"),
        row("asked", document["asked"], "right, because somebody named what fell"),
        row("assumed right", document["assumed_right"], "marked as assumed"),
        row("assumed wrong", document["assumed_wrong"], "marked as assumed"),
        row("silently wrong", document["silently_wrong"], "nothing marks it"),
        row("  beyond the floor", document["silently_wrong_beyond_floor"], "of these, what physics did not hide"),
        row("  past a faulty beam", document["silently_wrong_told"], "of these, where the table told of the fault"),
        row("physical floor", document["physical_floor"], _floor(document)),
        row("count and striker", document["right_count"], "right without help, whatever the colours"),
        f"  taps per stroke {document['taps_per_stroke']:.2f}, per pass {document['taps_per_pass']:.2f}, per pocketing "
        f"stroke {document['taps_per_pocketing_stroke']:.2f} (per object {document['object_taps_per_object']:.2f}, and "
        f"{how_many(document['taps_done_pocketing'], 'time')} done)",
        f"  more than one an object in {document['pocketing_with_more_taps']} of "
        f"{how_many(document['pocketing'], 'pocketing stroke')}, more than one in "
        f"{how_many(document['passes_with_more_taps'], 'pass', 'passes')}",
        f"  of {how_many(document['points'], 'object')} {document['points_lost']} lost, "
        f"{document['invented']} invented (of them {document['invented_misread']} misread by a "
        f"sensor), {document['moved']} counted in the stroke beside theirs",
        f"  the score was wrong {wrong}, put right "
        f"{document['mean_turns_until_put_right']:.1f} turns later with {how_many(document['repairs'], 'request')}; "
        f"never: {document['never_put_right']}, given up: {document['given_up']}",
    ]
    return "\n".join(lines)


def _floor(document: dict[str, Any]) -> str:
    share = 100 * document["physical_floor_share_of_objects"]
    kinds = {"unseen": "never seen", "merged": "in one pulse", "like_a_bounce": "like a bounce", "misread": "misread"}
    parts = ", ".join(f"{document[f'floor_{key}']} {name}" for key, name in kinds.items())
    return f"objects: {parts} ({share:.2f} % of what falls)"


# -- the picture -----------------------------------------------------------------------------------------

_ROWS = (
    ("right_without_help", "right without help", "#2e7d32"),
    ("asked", "asked, and right", "#1565c0"),
    ("assumed_right", "assumed, and right", "#00838f"),
    ("assumed_wrong", "assumed, and wrong", "#ef6c00"),
    ("silently_wrong", "silently wrong", "#c62828"),
    ("silently_wrong_beyond_floor", "of these beyond the floor", "#8e0000"),
    ("physical_floor", "physical floor", "#616161"),
)
_LEAST = 0.0001
"""The left edge of the picture: one stroke in ten thousand."""


def picture(document: dict[str, Any]) -> str:
    """Where strokes are lost: one bar a heap, on a scale from a hundredth of a percent to all."""
    strokes = max(1, document["strokes"])
    title = f"{document['tier']}, {document['game']}: where strokes are lost"
    matches = how_many(document["matches"], "simulated match", "simulated matches")
    said = "; ".join(f"{name} {100 * document[key] / strokes:.3f} %" for key, name, _ in _ROWS)
    body = [_tick(share) for share in (0.0001, 0.001, 0.01, 0.1, 1.0)]
    for index, (key, name, colour) in enumerate(_ROWS):
        share = document[key] / strokes
        y, width = 56 + 30 * index, _x(share) - _x(_LEAST)
        body += [
            f'<text x="212" y="{y + 14}" text-anchor="end">{escape(name)}</text>',
            f'<rect x="{_x(_LEAST)}" y="{y}" width="{width:.1f}" height="20" fill="{colour}"/>',
            f'<text x="{_x(_LEAST) + width + 6:.1f}" y="{y + 14}">{100 * share:.3f} %</text>',
        ]
    height = 56 + 30 * len(_ROWS) + 20
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 {height}" role="img" '
            'font-family="sans-serif" font-size="14" fill="#222">',
            f"<title>{escape(title)}</title>",
            f"<desc>{escape(said)}, of {how_many(strokes, 'stroke')} in {matches}.</desc>",
            f'<rect width="760" height="{height}" fill="#fff"/>',
            f'<text x="20" y="24" font-size="16" font-weight="bold">{escape(title)}</text>',
            *body,
            "</svg>",
            "",
        ]
    )


def _x(share: float) -> float:
    """Where a share lies: the same step for every factor of ten."""
    return 220 + 110 * log10(max(share, _LEAST) / _LEAST)


def _tick(share: float) -> str:
    x = _x(share)
    label = f"{100 * share:g} %"
    bottom = 56 + 30 * len(_ROWS)
    return (
        f'<line x1="{x}" y1="44" x2="{x}" y2="{bottom}" stroke="#ddd"/>'
        f'<text x="{x}" y="40" text-anchor="middle" font-size="11">{label}</text>'
    )
