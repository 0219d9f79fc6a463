"""`pocketbeam replay`: recorded edges through the whole appliance, without a broker, the same each time.

Time is the recording's own. Between two lines it passes in steps of a heartbeat, each source saying that it
has told everything so far, just as live sources do; nothing asks a clock. A source that is gone says nothing. Where
the program, or the host, began anew, an engine of its own starts on what the journal holds by then, as it would.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from io import StringIO
from typing import Any, TextIO

from appliance.config import ConfigurationError, Settings, from_document
from appliance.documents import event_document, state_document
from appliance.engine import Engine, Output
from appliance.events import Chatter, ColourReading, Edge, EdgeId, Levels, SourceBack, SourceInput, SourceLost
from appliance.journal import InlineJournal, Stamp
from appliance.jsonl import numbered, read_object
from appliance.mqtt.requests import RequestError, check_request
from appliance.rules import BadInput
from appliance.sensing.identify import objects_of
from appliance.table.model import TableState
from appliance.table.view import state_body
from appliance.wiring import inputs_of, policy_of

WELL, BAD_INPUT = 0, 2
HEARTBEAT_US = 250_000
STILL_AFTER_US = 1_800_000_000
"""Longer than every time that the table or a beam can be set to: by then all has happened that time alone brings."""
LAST_US = 1 << 53
"""285 years: the last whole number that every JSON reader keeps exactly."""
NS_PER_US = 1_000
RECORDING_VERSION = 1
NOT_PLAYED = ("lamps", "mqtt", "web")
"""Sections of a configuration that a recording may hold and that change nothing in it."""
MOST_DIGITS = 9
"""Of a channel, written as the key of its level."""
OBJECTS = (*objects_of("club_carrom"), *objects_of("carpetball"))


class RecordingError(Exception):
    """Something in the recording is not as it must be; the text is the sentence."""


@dataclass(slots=True)
class _Player:
    """A recording being played: the engine, the journal behind it, and where the output goes.

    `boards` are the boots of the sources that have such, `away` those that are gone, and `boot` is the host's.
    """

    settings: Settings
    start: Any
    out: TextIO
    err: TextIO
    journal: InlineJournal
    engine: Engine = field(init=False)
    now_us: int = 0
    levels: dict[str, dict[int, int]] = field(default_factory=dict)
    boards: dict[str, int] = field(default_factory=dict)
    away: set[str] = field(default_factory=set)
    boot: int = 1
    delivered: int = 0
    line: int = 1

    @property
    def table(self) -> str:
        return self.settings.table.id

    def stamp(self) -> Stamp:
        now_ns = self.now_us * NS_PER_US
        return Stamp(f"replay-{self.boot}", now_ns, now_ns, True)

    def begin(self) -> None:
        """Start the program on what the journal holds."""
        settings = self.settings
        self.engine = Engine(settings.table.id, policy_of(settings), inputs_of(settings), self.start)
        # The lines of a recording have one clock and are in order: nothing needs to wait for another source.
        self.engine.window.window_ns = 0
        recovered = self.journal.open()
        self.show(self.engine.recover(recovered, self.stamp()))
        rows = self.journal.rows_since(self.engine.horizon_seq(recovered.records))
        self.engine.rebuild_sensing(rows, self.stamp().boot_id)

    def restart(self, *, of_host: bool, for_us: int) -> None:
        """The program ends, and starts after a while during which nothing was heard of anything."""
        self.now_us += for_us
        self.boot += of_host
        self.away = {each.source for each in self.engine.inputs}
        self.begin()

    def back(self, source: str, boot: int | None) -> None:
        """A source is there again; in another boot, or as pins, it tells its levels anew."""
        self.away.discard(source)
        if boot is None or self.boards.get(source) != boot:
            self.levels.pop(source, None)
        if boot is not None:
            self.boards[source] = boot
        self.show(self.engine.handle(SourceBack(source, boot, self.now_ns), self.stamp()))
        self.tell_levels(source)

    def tell_levels(self, source: str) -> None:
        """A heartbeat of a source, if it is there."""
        if source in self.levels and source not in self.away:
            levels = Levels(source, tuple(sorted(self.levels[source].items())), self.now_ns)
            self.show(self.engine.handle(levels, self.stamp()))

    def identity(self, source: str) -> EdgeId | None:
        """What a board would number its next entry."""
        if source not in self.boards:
            return None
        self.delivered += 1
        return EdgeId(self.boards[source], self.delivered)

    @property
    def now_ns(self) -> int:
        return self.now_us * NS_PER_US

    def show(self, outputs: Iterable[Output]) -> None:
        """Journal first, then print the events, as the daemon publishes them."""
        for output in outputs:
            batch = output.batch
            if batch.records or batch.rows or batch.answers:
                self.journal.append(batch)
            for news in output.news:
                self._print(event_document(self.table, self.engine.state, news, self.stamp()))
            if output.remark is not None:
                print(f"pocketbeam: line {self.line}: {output.remark}", file=self.err)

    def pass_time(self, until_us: int) -> None:
        """Let time pass to `until_us`, heartbeat by heartbeat as long as they can bring anything."""
        still_us = self.now_us + STILL_AFTER_US
        while self.now_us < until_us:
            if self.now_us < still_us:
                self.now_us = min(until_us, (self.now_us // HEARTBEAT_US + 1) * HEARTBEAT_US)
            else:
                self.now_us = until_us
            for source in self.levels:
                self.tell_levels(source)
            self.show(self.engine.tick(self.stamp()))

    def request(self, document: Mapping[str, Any]) -> None:
        request = check_request(document)
        if isinstance(request, RequestError):
            print(f"pocketbeam: line {self.line}: refused ({request.code}): {request.message}", file=self.err)
            return
        outputs = self.engine.request(
            request.command,
            request.fields,
            self.stamp(),
            transaction=request.transaction,
            expected_seq=request.expected_seq,
        )
        self.show(outputs)
        response = outputs[-1].response
        if response is not None and not response["ok"]:
            error = response["error"]
            print(f"pocketbeam: line {self.line}: refused ({error['code']}): {error['message']}", file=self.err)

    def end(self) -> None:
        """The last line: the state as it stands."""
        body = state_body(self.engine.state)
        self._print({"state": state_document(self.table, self.engine.state, body, self.stamp())})

    def _print(self, document: Mapping[str, Any]) -> None:
        print(json.dumps(document, ensure_ascii=False), file=self.out, flush=True)


def replay(lines: Iterable[bytes], out: TextIO, err: TextIO) -> int:
    """Play a recording and print every event and, last, the state; the exit status.

    A line that cannot be is bad input: one sentence with its number, and everything before it was printed.
    """
    status, player = _play_all(lines, out, err)
    if player is not None and status == WELL:
        player.end()
    return status


def state_after(lines: Iterable[bytes], err: TextIO) -> TableState | None:
    """What a recording comes to, with nothing printed but refusals; None where it cannot be played."""
    status, player = _play_all(lines, StringIO(), err)
    return None if player is None or status != WELL else player.engine.state


def _play_all(lines: Iterable[bytes], out: TextIO, err: TextIO) -> tuple[int, _Player | None]:
    number = 0
    player: _Player | None = None
    try:
        for number, raw in numbered(lines):
            document = _read(raw)
            if player is None:
                player = _begin(document, out, err)
                continue
            player.line = number
            if _play(player, document):
                break
        if player is None:
            raise RecordingError('the recording is empty; its first line is {"recording": 1, "config": …}')
    except RecordingError as error:
        print(f"pocketbeam: line {max(number, 1)}: {error}", file=err)
        return BAD_INPUT, player
    return WELL, player


def _read(raw: bytes) -> dict[str, Any]:
    try:
        document = read_object(raw)
    except BadInput as error:
        raise RecordingError(f"{error.field}: {error.message}") from None
    try:
        json.dumps(document, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        # It can be escaped, so it can be read; what it names could be neither kept nor printed.
        raise RecordingError("text: the line holds half a character (a lone surrogate)") from None
    return document


def _begin(head: dict[str, Any], out: TextIO, err: TextIO) -> _Player:
    if head.get("recording") is True or head.get("recording") != RECORDING_VERSION:
        raise RecordingError('a recording begins with {"recording": 1, "config": …}')
    _only(head, ("recording", "config", "start"))
    config = head.get("config")
    if not isinstance(config, dict):
        raise RecordingError("config: the sections of a configuration are expected")
    try:
        settings = from_document({name: config[name] for name in config if name not in NOT_PLAYED})
    except ConfigurationError as error:
        raise RecordingError("; ".join(f"config.{p.key_path}: {p.sentence}" for p in error.problems)) from None
    journal = InlineJournal(None, settings.table.id, lambda position: None)
    player = _Player(settings, head.get("start"), out, err, journal)
    try:
        player.begin()
    except BadInput as error:
        raise RecordingError(f"start: {error}") from None
    for section in settings.sources:
        if section.kind == "serial":
            player.boards[section.id] = 1
            player.engine.resume(section.id, 1)
    return player


def _play(player: _Player, document: dict[str, Any]) -> bool:
    """Play one line; True where it was the last."""
    t_us = document.get("t_us")
    if not isinstance(t_us, int) or isinstance(t_us, bool) or not 0 <= t_us <= LAST_US:
        raise RecordingError(f"t_us: a whole number of microseconds from 0 to {LAST_US} is expected")
    if t_us < player.now_us:
        raise RecordingError(f"t_us: {t_us} goes back behind {player.now_us}; a recording has one clock")
    player.pass_time(t_us)
    if "end" in document:
        _only(document, ("t_us", "end"))
        if document["end"] is not True:
            raise RecordingError("end: true is expected; a recording that goes on has no such line")
        return True
    if "request" in document:
        _only(document, ("t_us", "request"))
        if not isinstance(document["request"], dict):
            raise RecordingError("request: a JSON object is expected")
        player.request(document["request"])
        return False
    if "restart" in document:
        _only(document, ("t_us", "restart", "for_us"))
        if document["restart"] not in ("program", "host"):
            raise RecordingError('restart: "program" or "host" is expected')
        player.restart(of_host=document["restart"] == "host", for_us=_whole(document, "for_us"))
        return False
    source = document.get("source")
    known = {each.source for each in player.engine.inputs}
    if not isinstance(source, str) or source not in known:
        raise RecordingError(f"source: no beam or button of the configuration is at {source!r}")
    if "back" in document:
        _only(document, ("t_us", "source", "back"))
        boot = document["back"]
        if (boot is None) is (source in player.boards):
            raise RecordingError("back: a number is expected for a board, and null for pins")
        player.back(source, None if boot is None else _whole(document, "back"))
        return False
    player.show(player.engine.handle(_source_input(player, document, source, t_us * NS_PER_US), player.stamp()))
    return False


def _source_input(player: _Player, document: dict[str, Any], source: str, at_ns: int) -> SourceInput:
    if "lost" in document:
        _only(document, ("t_us", "source", "lost"))
        if document["lost"] is not True:
            raise RecordingError("lost: true is expected")
        player.away.add(source)
        return SourceLost(source, "as recorded", at_ns)
    if "levels" in document:
        _only(document, ("t_us", "source", "levels"))
        known = player.levels.setdefault(source, {})
        known.update(_levels(document["levels"]))
        return Levels(source, tuple(sorted(known.items())), at_ns)
    channel = document.get("channel")
    if not isinstance(channel, int) or isinstance(channel, bool) or channel < 0:
        raise RecordingError("channel: a whole number, 0 or more, is expected")
    if "colour" in document:
        _only(document, ("t_us", "source", "channel", "colour"))
        if document["colour"] not in OBJECTS:
            raise RecordingError(f"colour: one of {', '.join(OBJECTS)} is expected, not {document['colour']!r}")
        return ColourReading(source, channel, document["colour"], at_ns, player.identity(source))
    if "noise" in document:
        _only(document, ("t_us", "source", "channel", "noise"))
        noise = _noise(document["noise"], source, channel, at_ns, player.identity(source))
        player.levels.setdefault(source, {})[channel] = noise.level
        return noise
    _only(document, ("t_us", "source", "channel", "level"))
    level = _level(document.get("level"), "level")
    player.levels.setdefault(source, {})[channel] = level
    return Edge(source, channel, level, at_ns, player.identity(source))


def _noise(told: object, source: str, channel: int, at_ns: int, identity: EdgeId | None) -> Chatter:
    """Changes of a noisy line that nobody kept one by one."""
    if not isinstance(told, dict):
        raise RecordingError("noise: an object with edges, level, for_us and more is expected")
    names = ("edges", "level", "for_us", "noisy_us", "quiet_us", "shortest_us", "longest_us")
    _only(told, names)
    until_ns = at_ns + _whole(told, "for_us") * NS_PER_US
    shortest, longest = (None if told.get(n) is None else _whole(told, n) * NS_PER_US for n in names[-2:])
    return Chatter(
        source,
        channel,
        _level(told.get("level"), "noise.level"),
        at_ns,
        until_ns,
        _whole(told, "edges"),
        shortest,
        longest,
        at_ns - _whole(told, "noisy_us") * NS_PER_US,
        until_ns - _whole(told, "quiet_us") * NS_PER_US,
        identity,
    )


def _whole(document: dict[str, Any], name: str) -> int:
    value = document.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= LAST_US:
        raise RecordingError(f"{name}: a whole number from 0 to {LAST_US} is expected")
    return value


def _levels(levels: object) -> dict[int, int]:
    if not isinstance(levels, dict):
        raise RecordingError('levels: an object of channels and levels is expected, such as {"0": 0}')
    for channel in levels:
        if not (channel.isascii() and channel.isdigit() and len(channel) <= MOST_DIGITS):
            raise RecordingError(f"levels: {channel!r} is no channel")
    return {int(channel): _level(level, f"levels.{channel}") for channel, level in levels.items()}


def _level(level: object, name: str) -> int:
    if level not in (0, 1) or isinstance(level, bool) or not isinstance(level, int):
        raise RecordingError(f"{name}: 0 or 1 is expected, not {level!r}")
    return level


def _only(document: dict[str, Any], names: tuple[str, ...]) -> None:
    unknown = next((name for name in document if name not in names), None)
    if unknown is not None:
        raise RecordingError(f"{unknown}: this line has no such field; it may have {', '.join(names)}")
