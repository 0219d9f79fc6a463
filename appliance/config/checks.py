"""How the values of a configuration must fit each other, whatever the game."""

import os
import re
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

from appliance.config.game import STRIKE, objects, places
from appliance.config.lines import KeyPath
from appliance.config.problems import nearest
from appliance.config.report import Report, View
from appliance.config.settings import CARROM, Settings, pin_number
from appliance.config.structure import LISTS
from appliance.link.configuration import MAX_SENSORS

_NUMBERED_PORT = re.compile(r"/dev/tty(USB|ACM)[0-9]+")
_WIRED = ("beams", "buttons", "lamps")
_PULLED_UP = (2, 3)
"""These pins have a resistor to 3.3 V on the board itself."""


def check_ids(document: View, report: Report) -> None:
    """Ids are unique among their kind."""
    for kind in LISTS:
        seen: set[str] = set()
        for each in document.tables(kind):
            name = each.text("id")
            if name in seen:
                report.wrong((*each.path, "id"), f'"{name}" is there twice in [[{kind}]]')
            elif name is not None:
                seen.add(name)


def check_sources(document: View, report: Report) -> None:
    """A serial source has a port of its own, the others have none."""
    ports: dict[str, str] = {}
    for source in document.tables("sources"):
        kind, port = source.text("kind"), source.text("port")
        if kind == "serial" and not source.has("port"):
            report.wrong(source.path, 'a serial source needs its port: port = "/dev/serial/by-id/…"')
        if kind in ("gpio", "none"):
            for key in ("port", "baud"):
                if source.has(key):
                    report.wrong((*source.path, key), f'a source of kind "{kind}" has no {key}: leave it out')
        if kind != "serial" or port is None:
            continue
        device = os.path.realpath(port)
        if device in ports:
            report.wrong((*source.path, "port"), f'source "{ports[device]}" already uses this port')
        ports[device] = str(source.text("id"))
        if _NUMBERED_PORT.fullmatch(port):
            report.doubtful(
                (*source.path, "port"),
                f"{port} can be another device after the next boot: take its name in /dev/serial/by-id",
            )


def check_wires(document: View, report: Report) -> None:
    """Beams, buttons and lamps hang on wires that exist, one thing on each."""
    kinds = {source.text("id"): source.text("kind") for source in document.tables("sources")}
    known = [name for name in kinds if name is not None]
    taken: dict[tuple[str, int], str] = {}
    for each in (each for kind in _WIRED for each in document.tables(kind)):
        source = each.text("source")
        if source is not None and source not in kinds:
            hint = nearest(source, known) or "; there is no [[sources]] at all"
            report.wrong((*each.path, "source"), f'there is no source "{source}"{hint}')
        wire = _wire(each, kinds.get(source), report)
        if source is None or wire is None:
            continue
        on_header = kinds.get(source) == "gpio"
        place = ("" if on_header else source, wire)
        me = f'{str(each.path[-2]).removesuffix("s")} "{each.text("id")}"'
        if place in taken:
            key = "pin" if on_header else "channel"
            report.wrong((*each.path, key), f"{taken[place]} is already on this {key}: one thing a wire")
        taken.setdefault(place, me)
        if on_header:
            _check_pull(each, wire, report)


def _wire(each: View, kind: str | None, report: Report) -> int | None:
    """The channel, or the number of the pin, having said what is wrong with it."""
    if kind == "none":
        report.wrong((*each.path, "source"), 'a source of kind "none" has no wires')
        return None
    if kind == "serial" and each.has("pull"):
        report.wrong((*each.path, "pull"), "the board pulls its inputs up by itself: leave this out")
    if kind == "serial" and each.has("pin"):
        report.wrong((*each.path, "pin"), "a serial source has channels: write channel = 0")
    elif kind == "serial" and not each.has("channel"):
        report.wrong(each.path, "needs its channel at the serial source: channel = 0")
    elif kind == "gpio" and each.has("channel"):
        report.wrong((*each.path, "channel"), 'a GPIO source has pins: write pin = "GPIO17"')
    elif kind == "gpio" and not each.has("pin"):
        report.wrong(each.path, 'needs its pin: pin = "GPIO17"')
    return pin_number(each.text("pin") or "") if kind == "gpio" else each.whole("channel")


def _check_pull(each: View, number: int, report: Report) -> None:
    """What must be pulled down cannot hang on a pin that is pulled up by the board."""
    down = each.text("pull") == "down" or each.text("pressed_level") == "high"
    if number in _PULLED_UP and down:
        sentence = f"GPIO{number} is pulled up by the board, and this must be pulled down: take another pin"
        report.wrong((*each.path, "pin"), sentence)


def check_groups(document: View, report: Report) -> None:
    """Beams of one exclusive group see the same object, so they are at one place."""
    group_places: dict[str, str] = {}
    for beam in document.tables("beams"):
        group, place = beam.text("exclusive"), beam.text("place")
        if group is None or place is None:
            continue
        if group_places.setdefault(group, place) != place:
            report.wrong(
                (*beam.path, "exclusive"),
                f'group "{group}" is at place "{group_places[group]}", this beam at "{place}"',
            )


def check_lamps(document: View, report: Report) -> None:
    """A turn lamp belongs to a player, the others to nobody."""
    for lamp in document.tables("lamps"):
        shows = lamp.text("shows")
        if shows == "turn" and not lamp.has("player"):
            report.wrong(lamp.path, "a turn lamp needs its player: player = 1")
        if shows in ("question", "fault") and lamp.has("player"):
            report.wrong((*lamp.path, "player"), f"a {shows} lamp belongs to no player: leave this out")


_FIRST_ANALOG_CHANNEL, _SHARED_ANALOG = 11, 6
"""An Uno or Nano has its first analog inputs at these channels."""


def check_colours(document: View, report: Report) -> None:
    """Colour sensors are at serial boards, at analog inputs of their own, and know only what their beam can pass."""
    kinds = {source.text("id"): source.text("kind") for source in document.tables("sources")}
    wires = {(each.text("source"), each.whole("channel")) for kind in _WIRED for each in document.tables(kind)}
    taken: dict[str, list[int]] = {}
    for beam in document.tables("beams"):
        if not beam.has("colour"):
            continue
        colour, source = beam.section("colour"), beam.text("source") or ""
        analog = colour.whole("analog")
        if beam.text("place") == STRIKE:
            report.wrong(colour.path, "a strike sensor sees no objects: leave this out")
        if kinds.get(source) == "gpio":
            report.wrong(colour.path, "pins have no analog input: a colour sensor needs a sensor board (serial)")
        used = taken.setdefault(source, [])
        if analog in used:
            report.wrong((*colour.path, "analog"), f"another colour sensor is already at analog input {analog}")
        elif analog is not None and analog < _SHARED_ANALOG and (source, _FIRST_ANALOG_CHANNEL + analog) in wires:
            report.wrong(
                (*colour.path, "analog"),
                f"analog input {analog} is channel {_FIRST_ANALOG_CHANNEL + analog} of the board, which is in use",
            )
        if analog is not None:
            used.append(analog)
        if len(used) == MAX_SENSORS + 1:
            report.wrong(colour.path, f"a board has at most {MAX_SENSORS} colour sensors")
        _check_limits(beam, colour.section("limits"), report)


def _check_limits(beam: View, limits: View, report: Report) -> None:
    objects_at: dict[int, str] = {}
    for name in limits.raw:
        limit = limits.whole(name)
        passes = beam.raw.get("passes")
        if isinstance(passes, list) and name not in passes:
            report.wrong((*limits.path, name), f'"{name}" is not among what this beam passes')
        if limit is not None and limit in objects_at:
            report.wrong((*limits.path, name), f'"{objects_at[limit]}" has the same limit: one of them is never told')
        elif limit is not None:
            objects_at[limit] = name


_OF_STRIKES = {"min_dwell_ms", "min_clear_ms", "merge_gap_ms", "blocked_after_ms", "noisy_over"}
_WIDTHS = ("min_dwell_ms", "long_single_ms", "fingers_from_ms", "unclear_from_ms", "hand_from_ms", "blocked_after_ms")
"""In this order from the narrowest to the widest; `long_single_ms` may be 0."""


def check_debounce(document: View, report: Report) -> None:
    """A pulse that grows goes from one meaning to the next: each limit is beyond the one before."""
    for beam in document.tables("beams"):
        numbers = beam.section("settings")
        before: tuple[str, float] | None = None
        for name in _WIDTHS:
            value = numbers.raw.get(name)
            if not isinstance(value, int | float) or (name == "long_single_ms" and value == 0):
                continue
            if before is not None and value <= before[1]:
                report.wrong((*numbers.path, name), f"must be more than {before[0]}, {before[1]}")
            before = (name, value)
        if beam.text("place") == STRIKE:
            for name in sorted(numbers.raw.keys() - _OF_STRIKES):
                report.wrong((*numbers.path, name), "a strike sensor sees no objects: leave this out")


def check_files(document: View, base: Path, report: Report) -> None:
    """The files that the broker's section names are there; secrets are not open to everybody."""
    mqtt = document.section("mqtt")
    tls = mqtt.section("tls")
    for path, file in ((mqtt, "password_file"), (tls, "ca"), (tls, "cert"), (tls, "key")):
        name = path.text(file)
        if name and "\0" not in name:
            _check_file((*path.path, file), base / name, file in ("password_file", "key"), report)
    if mqtt.has("password_file") and not mqtt.has("username"):
        report.wrong(mqtt.path, "a password_file needs a username beside it")
    if tls.has("cert") != tls.has("key"):
        report.wrong((*mqtt.path, "tls"), "cert and key go together")
    state_dir = document.section("table").text("state_dir")
    if state_dir and "\0" not in state_dir:
        directory = base / state_dir
        if directory.exists() and not directory.is_dir():
            report.wrong(("table", "state_dir"), f"{directory} is not a directory")


def _check_file(path: KeyPath, file: Path, secret: bool, report: Report) -> None:
    try:
        mode = file.stat().st_mode
    except OSError as error:
        report.wrong(path, f"{file} cannot be read: {(error.strerror or str(error)).lower()}")
        return
    if stat.S_ISDIR(mode):
        report.wrong(path, f"{file} is a directory, not a file")
    elif not os.access(file, os.R_OK):
        report.wrong(path, f"{file} cannot be read: permission denied")
    elif secret and mode & stat.S_IROTH:
        report.doubtful(path, f"{file} can be read by everybody on this machine: chmod o-r {file}")


def warn(settings: Settings, report: Report) -> None:
    """What works but leaves something unseen or unanswered."""
    table = settings.table
    pockets = [beam for beam in settings.beams if beam.place != STRIKE]
    shot_with = objects(table.game)[-1]
    what = "striker" if table.game in CARROM else "cue ball"
    if pockets:
        for place in places(table.game):
            if all(beam.place != place for beam in pockets):
                report.doubtful(("beams",), f'no beam at place "{place}": what falls there is not seen')
        told = any(beam.colour is not None and shot_with in beam.colour.limits for beam in pockets)
        if table.unknown_object != "ask" and not told and all(beam.passes != (shot_with,) for beam in pockets):
            report.doubtful(
                ("table", "unknown_object"),
                f'"{table.unknown_object}" assumes what fell, and no beam tells the {what} apart '
                f'(passes = ["{shot_with}"]): assumed results can be wrong until somebody corrects them',
            )
    for index, beam in enumerate(settings.beams):
        if beam.colour is not None and not beam.colour.limits:
            report.doubtful(
                ("beams", index, "colour"), "it has no limits yet, so it tells nothing: pocketbeam calibrate finds them"
            )
    _warn_of_cut_wires(settings, report)
    if not settings.buttons and settings.web is None:
        report.doubtful((), "no button and no page: strokes and questions can be answered over MQTT only")
    closers = [button for button in settings.buttons if button.action in ("done", "end_stroke")]
    if pockets and table.quiet_time_s == 0 and not closers:
        report.doubtful(("table", "quiet_time_s"), "0 and no done button: strokes close by page or request only")


def _warn_of_cut_wires(settings: Settings, report: Report) -> None:
    gpio = {source.id for source in settings.sources if source.kind == "gpio"}
    for index, beam in enumerate(settings.beams):
        pulled_to = "low" if beam.pull == "down" else "high"
        if beam.source in gpio and pulled_to != beam.blocked_level:
            report.doubtful(
                ("beams", index, "blocked_level"),
                f"the pin is pulled {pulled_to}, so a cut wire reads as an intact beam and nothing is seen there: "
                "a sensor that drives the line while its beam is intact makes it a fault",
            )


def between_tables(tables: Sequence[tuple[Settings, Report]]) -> None:
    """Tables of one process share neither id nor state directory nor wires; the later one is told."""
    taken: dict[tuple[str, str], str] = {}
    for settings, report in tables:
        for path, kind, value in _owned(settings):
            other = taken.setdefault((kind, value), settings.file)
            if other != settings.file:
                report.wrong(path, f"{other} already uses this {kind}")
    pages: dict[str, Settings] = {}
    for settings, report in tables:
        if settings.web is not None and not settings.web.listen.endswith(":0"):
            first = pages.setdefault(settings.web.listen, settings)
            if first.mqtt != settings.mqtt:
                same = f"{first.file} serves pages there too: tables that share an address need the same [mqtt]"
                report.wrong(("web", "listen"), same)


def _owned(settings: Settings) -> Iterator[tuple[KeyPath, str, str]]:
    yield ("table", "id"), "id", settings.table.id
    yield ("table", "state_dir"), "state directory", os.path.realpath(settings.table.state_dir)
    gpio = set()
    for index, source in enumerate(settings.sources):
        if source.port is not None:
            yield ("sources", index, "port"), "serial port", os.path.realpath(source.port)
        if source.kind == "gpio":
            gpio.add(source.id)
    for name, wired in (("beams", settings.beams), ("buttons", settings.buttons), ("lamps", settings.lamps)):
        for index, each in enumerate(wired):
            if each.source in gpio:
                yield (name, index, "pin"), "pin", str(each.channel)
