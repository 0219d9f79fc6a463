"""`pocketbeam doctor`: every part of a table, one line each: well, or what is wrong and what to do.

While a daemon runs the table its ports belong to it: then its own last word on health is told. Else the sources
are opened as the daemon would open them, and looked at for a few seconds in which nobody touches the table.
"""

import asyncio
import json
import logging
import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

from appliance.clock import Clock
from appliance.config import Settings, Source
from appliance.config.settings import Beam, Button
from appliance.daemon import WELL
from appliance.grammar import how_many
from appliance.history import latest
from appliance.journal import JournalError, NoJournalError
from appliance.link.messages import PROTOCOL_VERSION, ForeignHello
from appliance.mqtt.topics import topic
from appliance.mqtt.visitor import VisitError, visit
from appliance.ports import REAL, Ports
from appliance.tools import ports as serial_ports
from appliance.tools.broker import check_broker
from appliance.tools.findings import Finding, Verdict, lines, note, something_is_wrong, unknown, well, wrong
from appliance.tools.probe import CONNECT_S, WATCH_S, Sources, open_sources
from appliance.tools.running import holder

NOISY_EDGES = 8
"""So many changes of an untouched wire within `WATCH_S` are no accident."""
SPACE_NEEDED_BYTES = 64 * 1024 * 1024
HEALTH_WITHIN_S = 3.0
_LEVELS = {"low": 0, "high": 1}


def doctor(tables: Sequence[Settings], clock: Clock, out: TextIO) -> int:
    """Look at every table and say how its parts are; the exit status."""
    logging.getLogger("appliance").setLevel(logging.CRITICAL)  # what sources log while they are tried is said below
    findings: list[Finding] = []
    for settings in tables:
        if len(tables) > 1:
            print(f"table {settings.table.id} ({settings.file})", file=out, flush=True)
        found = asyncio.run(examine(settings, clock))
        findings += found
        print("\n".join(lines(found)), file=out, flush=True)
    return 1 if something_is_wrong(findings) else 0


async def examine(settings: Settings, clock: Clock, ports: Ports = REAL) -> list[Finding]:
    """How every part of the table is."""
    found = [note("configuration", str(warning)) for warning in settings.warnings]
    found = found or [well("configuration", f'table "{settings.table.id}", {settings.table.game}')]
    directory = settings.table.state_dir
    try:
        held = holder(directory)
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        found.append(
            wrong("journal", f"{directory} cannot be looked into: {why}; run this as the table's user, or with sudo")
        )
        held = None
    else:
        if held is None:
            found += check_journal(directory)
    if held is not None:
        return found + await ask_daemon(settings, held)
    found += check_clock(clock.synchronised())
    found += await check_broker(settings.mqtt, settings.table.id)
    hopeless = {each.id for each in settings.sources if each.port and serial_ports.why_not(each.port)}
    async with open_sources(settings, clock, ports) as sources:
        await sources.ready(CONNECT_S, but=hopeless)
        sources.edges.clear()
        if len(hopeless) < len(sources.opened):
            await asyncio.sleep(WATCH_S)
        found += check_sources(settings, sources)
        found += check_inputs(settings, sources)
    return found


# -- the parts that need no port -----------------------------------------------------------------------


def check_clock(synchronised: bool) -> list[Finding]:
    """A clock that nobody has set makes no score wrong."""
    if synchronised:
        return [well("clock", "set by a time service")]
    sentence = "not set by a time service: times of day may be wrong, the score is not; is there a network?"
    return [note("clock", sentence)]


def check_journal(directory: Path) -> list[Finding]:
    """Whether the journal can be read, written, and has room."""
    nearest = next(path for path in (directory, *directory.parents) if path.exists())
    if not nearest.is_dir():
        return [wrong("journal", f"{nearest} is a file: state_dir must be a directory")]
    if os.statvfs(nearest).f_flag & os.ST_RDONLY:
        return [
            wrong("journal", f"{nearest} is on a file system that is read-only: mount it writable (is it failing?)")
        ]
    if not os.access(nearest, os.W_OK | os.X_OK):
        return [
            wrong("journal", f"{nearest} cannot be written to by this user: give it to the table's user with chown")
        ]
    free = shutil.disk_usage(nearest).free
    if free < SPACE_NEEDED_BYTES:
        return [wrong("journal", f"only {free // 1_000_000} MB are free at {nearest}: make room, or nothing is kept")]
    try:
        state = latest(directory)
    except NoJournalError:
        return [well("journal", f"{directory} can be written to; no match has begun")]
    except JournalError as error:
        return [wrong("journal", str(error))]
    told = f"match {state.match.id}, {how_many(state.seq, 'accepted input')}" if state else "no match has begun"
    return [well("journal", f"{directory}: {told}")]


# -- sources that were opened --------------------------------------------------------------------------


def check_sources(settings: Settings, sources: Sources) -> list[Finding]:
    """Who is at each source, or what is in its way."""
    found: list[Finding] = []
    for section in settings.sources:
        part = f"source {section.id}"
        match section.kind:
            case "none":
                found.append(well(part, "the table is scored by hand"))
            case "gpio":
                status = sources.opened[section.id].status
                found.append(well(part, "the pins are watched") if status == WELL else wrong(part, status))
            case _:
                found += _serial(part, section, sources)
    return found


def _serial(part: str, section: Source, sources: Sources) -> list[Finding]:
    assert section.port is not None
    opened, hello = sources.opened[section.id], sources.hello(section.id)
    if isinstance(hello, ForeignHello):
        return [wrong(part, _mismatch(section.port, hello))]
    if opened.is_connected:
        board = sources.board(section.id) or "connected"
        renumbers = serial_ports.renumbers(section.port)
        if opened.status != WELL:
            found = [wrong(part, f"{board}; {opened.status}")]
        else:
            found = [note(part, f"{board}; {renumbers}") if renumbers else well(part, board)]
        return found + [note(part, remedy) for _, remedy in serial_ports.meddlers()]
    return [wrong(part, _in_the_way(section, opened.status))]


def _mismatch(port: str, hello: ForeignHello) -> str:
    firmware = ".".join(map(str, hello.firmware))
    newer = " (or update this program)" if hello.protocol > PROTOCOL_VERSION else ""
    return (
        f"the board speaks protocol {hello.protocol} (firmware {firmware}), this program protocol "
        f"{PROTOCOL_VERSION}{newer}: {_flash(port)}"
    )


def _flash(port: str) -> str:
    return f"flash it with make -C firmware flash PORT={port} (docs/flashing.md)"


def _in_the_way(section: Source, status: str) -> str:
    """The port's own trouble where it has one, who holds it, or what the link came to."""
    assert section.port is not None
    port = section.port
    if (trouble := serial_ports.why_not(port)) is not None:
        return trouble
    if "in use" in status:
        other = serial_ports.who_has(port) or "another program"
        return f"{port} is in use by {other}: close that one"
    told = status if port in status else f"{port}: {status}"
    if "hello" in status:
        told += f"; if it is the right board, {_flash(port)}"
        told += "".join(f"; {remedy}" for _, remedy in serial_ports.meddlers())
    return told


# -- beams and buttons ---------------------------------------------------------------------------------


def check_inputs(settings: Settings, sources: Sources) -> list[Finding]:
    """Every beam and button, untouched."""
    inputs: tuple[Beam | Button, ...] = (*settings.beams, *settings.buttons)
    return [_input(each, sources) for each in inputs]


def _input(section: Beam | Button, sources: Sources) -> Finding:
    button = isinstance(section, Button)
    part = f"{'button' if button else 'beam'} {section.id}"
    wire = (section.source, section.channel)
    outage = sources.outages(section.source).get(section.channel)
    if outage is not None:
        return wrong(part, outage)
    if not sources.is_ready(section.source):
        return unknown(part, f"cannot be judged before source {section.source} is well")
    if sources.edges[wire] >= NOISY_EDGES:
        return wrong(part, f"changes {sources.edges[wire]} times in {WATCH_S:g} s though untouched: {_NOISE[button]}")
    if sources.levels[wire] == _LEVELS[_active_level(section)]:
        return wrong(part, _pressed(section) if isinstance(section, Button) else _polarity(section))
    return well(part, "not pressed" if button else "clear")


_NOISE = {
    False: "look for sunlight, lamps, a loose wire or a floating input",
    True: "look for a loose wire or a floating input",
}


def _active_level(section: Beam | Button) -> str:
    return section.pressed_level if isinstance(section, Button) else section.blocked_level


def _polarity(section: Beam) -> str:
    other = "low" if section.blocked_level == "high" else "high"
    return (
        "polarity suspect: broken at rest; if nothing lies in it and its emitter is lit and its wire whole, "
        f'write blocked_level = "{other}"'
    )


def _pressed(section: Button) -> str:
    other = "low" if section.pressed_level == "high" else "high"
    return f'pressed at rest: if nobody holds it and its wires do not touch, write pressed_level = "{other}"'


# -- a table that a daemon runs ------------------------------------------------------------------------


async def ask_daemon(settings: Settings, held: str) -> list[Finding]:
    """What the daemon itself says of its parts."""
    table = settings.table.id
    found = [well("daemon", f"{held} runs the table; this is what it says of itself")]
    broker = await check_broker(settings.mqtt, table)
    if something_is_wrong(broker):
        reason = "only the daemon can tell, and only over the broker; or stop it, and look again"
        return [*found, *broker, unknown("sources", reason)]
    try:
        health = await _health(settings)
    except VisitError as error:
        return [*found, wrong("broker", str(error))]
    if health is None:
        told = f"is up, and has heard nothing of table {table}: does the daemon's [mqtt] section name the same broker?"
        return [*found, wrong("broker", told)]
    return found + broker + told_of(settings, health)


async def _health(settings: Settings) -> dict[str, Any] | None:
    """The retained health of a table that is online."""
    told: dict[str, bytes] = {}
    wanted = {topic(settings.table.id, level): level for level in ("availability", "health")}
    async with visit(settings.mqtt) as client:
        for each in wanted:
            await client.subscribe(each, qos=1)
        try:
            async with asyncio.timeout(HEALTH_WITHIN_S):
                async for message in client.messages:
                    told[wanted[message.topic.value]] = bytes(message.payload or b"")
                    if told.get("availability") == b"online" and told.get("health"):
                        break
        except TimeoutError:
            return None
    document: dict[str, Any] = json.loads(told["health"])
    return document


def told_of(settings: Settings, health: Mapping[str, Any]) -> list[Finding]:
    """The daemon's health document as findings."""
    journal = health["journal"]
    found = check_clock(health["clock"]["synchronised"])
    found.append(wrong("journal", journal["reason"]) if journal["reason"] else well("journal", "the score is safe"))
    for section in settings.sources:
        part = f"source {section.id}"
        told = health["sources"].get(section.id)
        if section.kind == "none":
            found.append(well(part, "the table is scored by hand"))
        elif told is None:
            found.append(_restart(part))
        elif told["reason"] or told["state"] != "ok":
            found.append(wrong(part, _told_source(section, told)))
        else:
            found.append(well(part, told.get("board") or "connected"))
    beams = health["beams"]
    found += [_told_beam(f"beam {beam.id}", beams.get(beam.id)) for beam in settings.beams]
    lost = {section.id for section in settings.sources if health["sources"].get(section.id, {}).get("state") != "ok"}
    for button in settings.buttons:
        part, told = f"button {button.id}", beams.get(button.id)
        if told is not None:
            found.append(_told_beam(part, told))
        elif button.source in lost:
            found.append(unknown(part, f"cannot be judged before source {button.source} is well"))
        else:
            found.append(well(part, "not stuck"))
    return found


def _told_source(section: Source, told: Mapping[str, Any]) -> str:
    """The daemon's reason; the command that puts it right where the board carries the wrong firmware."""
    reason: str = told["reason"] or f"is {told['state']}"
    if told["state"] == "ok" and told.get("board"):
        return f"{told['board']}; {reason}"
    if section.port is not None and "firmware" in reason:
        return f"{reason}; stop the daemon, then {_flash(section.port)}"
    return reason


def _told_beam(part: str, told: Mapping[str, Any] | None) -> Finding:
    if told is None:
        return _restart(part)
    if told["state"] == "ok":
        summed = told.get("summed")
        was_noise = how_many(summed or 0, "change was noise, and is", "changes were noise, and are")
        noise = f"; {was_noise} kept as a sum" if summed else ""
        passages, glitches = how_many(told["passages"], "passage"), how_many(told["glitches"], "glitch", "glitches")
        return well(part, f"clear; {passages}, {glitches}{noise}")
    verdict = Verdict.UNKNOWN if told["state"] == "unknown" else Verdict.WRONG
    return Finding(part, verdict, f"{told['state'].replace('_', ' ')}: {told['reason'] or 'look at it'}")


def _restart(part: str) -> Finding:
    return wrong(part, "the daemon does not know it: the file has changed since it began; restart the daemon")
