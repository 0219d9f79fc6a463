"""What a calibration came to: as a page to keep, and as changes of the configuration."""

from collections.abc import Mapping, Sequence
from typing import Any

from appliance.config import Settings
from appliance.config.settings import Beam, Button
from appliance.documents import instant
from appliance.grammar import how_many, times
from appliance.sensing.bank import Button as ButtonInput
from appliance.tools.measure import LEVELS, Measured, Proposal, propose
from appliance.tools.rewrite import Changes
from appliance.wiring import inputs_of

_NS_PER_MS = 1_000_000


def proposals(settings: Settings, beams: Mapping[str, Measured]) -> dict[str, Proposal]:
    """What follows for each measured beam from its configured numbers."""
    dwell_ns = {
        each.id: each.settings.min_dwell_ns for each in inputs_of(settings) if not isinstance(each, ButtonInput)
    }
    return {
        beam.id: propose(beams[beam.id], beam.blocked_level, dwell_ns[beam.id], _limits(beam))
        for beam in settings.beams
        if beam.id in beams
    }


def _limits(beam: Beam) -> Mapping[str, int] | None:
    return None if beam.colour is None else {str(name): limit for name, limit in beam.colour.limits.items()}


def changes_of(settings: Settings, found: Mapping[str, Proposal], buttons: Mapping[str, int | None]) -> Changes:
    """What to write; empty where the file is right as it is. `buttons` are the levels of pressed ones."""
    beams: dict[str, dict[str, Any]] = {}
    for name, proposal in found.items():
        if proposal.blocked_level is not None:
            beams.setdefault(name, {})["blocked_level"] = proposal.blocked_level
        if proposal.min_dwell_ms is not None:
            beams.setdefault(name, {})["settings"] = {"min_dwell_ms": proposal.min_dwell_ms}
        if proposal.limits is not None:
            beams.setdefault(name, {})["colour"] = {"limits": dict(proposal.limits)}
    pressed = {
        button.id: {"pressed_level": LEVELS[level]}
        for button in settings.buttons
        if (level := buttons.get(button.id)) is not None and LEVELS[level] != button.pressed_level
    }
    return {name: each for name, each in (("beams", beams), ("buttons", pressed)) if each}


def sheet(
    settings: Settings,
    beams: Mapping[str, Measured],
    found: Mapping[str, Proposal],
    buttons: Mapping[str, int | None],
    wall_ns: int,
) -> list[str]:
    """The acceptance sheet."""
    when = instant(wall_ns)[:16].replace("T", " ")
    lines = [f'Acceptance sheet of table "{settings.table.id}" ({settings.table.game}), {when} UTC', ""]
    for beam in settings.beams:
        lines += _beam(beam, beams.get(beam.id), found.get(beam.id))
    for button in settings.buttons:
        lines.append(f"button {button.id}: {_button(button, buttons)}")
    accepted = sum(each.accepted for each in found.values())
    lines += ["", f"{accepted} of {how_many(len(settings.beams), 'beam')} accepted. Looked at by: ____________________"]
    return lines


def _beam(beam: Beam, measured: Measured | None, proposal: Proposal | None) -> Sequence[str]:
    if measured is None or proposal is None:
        return [f"beam {beam.id}: not measured"]
    lines = [f"beam {beam.id} at {beam.place}: {'accepted' if proposal.accepted else 'NOT ACCEPTED'}"]
    if measured.broken is not None:
        lines.append(f"    rests {LEVELS[measured.rest]}, broken {LEVELS[measured.broken]}")
    if measured.slow_ns:
        lines.append(f"    slow: {_widths(measured.slow_ns)}")
    if measured.fast_ns:
        lines.append(f"    fast: {_widths(measured.fast_ns)}")
    if measured.glitches_ns:
        lines.append(f"    glitches: {len(measured.glitches_ns)}, the longest {_ms(measured.longest_glitch_ns)}")
    if measured.restless:
        lines.append(f"    changed {times(measured.restless)} while untouched")
    if proposal.blocked_level is not None:
        lines.append(f'    polarity was wrong: blocked_level = "{proposal.blocked_level}"')
    if proposal.min_dwell_ms is not None:
        lines.append(f"    min_dwell_ms = {proposal.min_dwell_ms:g}")
    for name, values in measured.readings:
        lines.append(f"    colour sensor, {name}: {f'{min(values)} to {max(values)}' if values else 'not shown'}")
    if proposal.limits is not None:
        lines.append(f"    limits: {', '.join(f'{name} up to {limit}' for name, limit in proposal.limits.items())}")
    return [*lines, *(f"    trouble: {trouble}" for trouble in proposal.troubles)]


def _button(button: Button, buttons: Mapping[str, int | None]) -> str:
    if button.id not in buttons:
        return "not measured"
    level = buttons[button.id]
    if level is None:
        return "NOT ACCEPTED: pressing it changed nothing"
    if LEVELS[level] != button.pressed_level:
        return f'accepted; polarity was wrong: pressed_level = "{LEVELS[level]}"'
    return "accepted"


def _widths(widths_ns: Sequence[int]) -> str:
    ordered = sorted(widths_ns)
    middle = ordered[len(ordered) // 2]
    return f"{how_many(len(ordered), 'passage')}, {_ms(ordered[0])} to {_ms(ordered[-1])}, middle {_ms(middle)}"


def _ms(ns: int) -> str:
    return f"{ns / _NS_PER_MS:.1f} ms"
