"""The daemon: what stands between the engine and the world, and the one place where effects have an order.

    recover the journal → open the sources → connect the broker
    input → engine → journal append … synced → acknowledge to the source, publish `state`, then the rest

Nothing is acknowledged or published before its batch is durable. The one exception is a journal that cannot
write: then the score goes on being shown, marked not safe. The boards keep what is not durable as long as they
have room for it; after that they are relieved of the oldest, since a board whose memory is full is blind. The
loop never waits for the disk, a port or the broker; all three report back by callback.
"""

import asyncio
import contextlib
import dataclasses
import logging
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from appliance import lamps
from appliance.clock import Clock
from appliance.config import Settings
from appliance.diagnostics import Diagnostics
from appliance.documents import (
    HEALTH_EVERY_S,
    beam_document,
    event_document,
    health_document,
    info_document,
    response_document,
    start_by,
    state_document,
)
from appliance.engine import Engine, Output
from appliance.events import SourceInput
from appliance.journal import (
    Batch,
    JournalHealth,
    JournalPort,
    NewerJournalError,
    Recovered,
    Stamp,
)
from appliance.mqtt.announcer import Announcer
from appliance.mqtt.replies import ReplyTo, admit, response_messages
from appliance.mqtt.requests import RequestError, parse_request
from appliance.mqtt.topics import (
    beam_message,
    event_message,
    health_message,
    info_message,
    state_messages,
)
from appliance.ports import REAL, Ports, PublisherPort, SourcePort
from appliance.sources.serial import SerialSource
from appliance.sparing import Sparing
from appliance.table.model import TableState
from appliance.table.view import state_body
from appliance.wiring import board_of, inputs_of, lamps_of, pins_of, policy_of

TICK_S = 1.0
STILL_NS = 15_000_000_000
"""No part pauses for so long, however long its device is missing: one that does is dead."""
HUNG_TICKS = 10
"""A disk that has had something to write for so many ticks, and has written nothing, counts as one that cannot.
Ticks, because time that passes while this process is stopped says nothing of the disk.
"""
BOARD_KEEPS = 64
"""So many entries that are not durable a board still has to keep while the disk refuses: half of its memory."""
DIAGNOSTICS, DIAGNOSTICS_S = "diagnostics", 60
"""The request that is about the wires and not the game, and for how long it is meant where it does not say."""
DIAGNOSTICS_GIVE_WAY = 100
"""So many messages that wait for a slow broker leave no room for diagnostics."""
WELL = "connected"
"""The status of a source with which nothing is wrong."""
PARTS_NEWS = frozenset({"beam_fault", "beam_well", "source_lost", "source_back"})
"""Events after which the last word on the parts' health is no longer true."""
MATCH_ENDS = frozenset({"match_ended", "match_abandoned", "round_won"})
"""Events after which there is a result to make a backup of."""

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Waiting:
    """An output whose batch is not durable yet."""

    position: int
    output: Output
    state: TableState
    stamp: Stamp
    reply_to: ReplyTo | None


@dataclass(slots=True)
class TableDaemon:
    """One table: create, `start`, and `stop`."""

    settings: Settings
    clock: Clock
    ports: Ports = REAL
    engine: Engine = field(init=False)
    _journal: JournalPort = field(init=False)
    _publisher: PublisherPort = field(init=False)
    _sources: dict[str, SourcePort] = field(default_factory=dict)
    _waiting: deque[_Waiting] = field(default_factory=deque)
    _owed: deque[tuple[int, tuple[str, int, int]]] = field(default_factory=deque)
    """What was shown, with the position at which it is durable and the source may be told."""
    _position: int = 0
    _refused: str | None = None
    _hung: str | None = None
    _unsafe: str | None = None
    _wrote: int = 0
    """How far the disk had come at the last tick."""
    _ticks_stuck: int = 0
    _journal_news: int = 0
    _notice: str | None = None
    _shown: TableState | None = None
    _stopping: bool = False
    _broker: tuple[bool, str] = (False, "not connected yet")
    _announcer: Announcer = field(init=False)
    _publishing: asyncio.Task[None] | None = None
    _timers: dict[str, asyncio.TimerHandle] = field(default_factory=dict)
    _lamps: tuple[lamps.Lamp, ...] = ()
    _said: dict[str, str] = field(default_factory=dict)
    _begun_ns: int = 0
    _started_at_ns: int | None = None
    _ticked_at_ns: int = 0
    _diagnostics: Diagnostics = field(default_factory=Diagnostics)
    _refusals: Sparing = field(default_factory=Sparing)
    _requests_refused: int = 0
    shown: asyncio.Event = field(default_factory=asyncio.Event)
    """Set once the first `state` was handed to the connection to the broker."""
    _loop: asyncio.AbstractEventLoop = field(init=False)

    async def start(self) -> None:
        """Recover, then open the sources, then the broker. JournalError where the journal cannot be had."""
        self._loop = asyncio.get_running_loop()
        self._begun_ns = self.clock.monotonic_ns()
        settings = self.settings
        self._publisher = self.ports.publisher(settings, self._hear_request, self._hear_connection)
        memory = self.ports.memory(settings)
        self._announcer = Announcer(settings, self._publisher, memory, self._set_timer, memory.read())
        self._journal = self.ports.journal(settings, self._from_thread(self._synced), self._from_thread(self._safety))
        recovered = self._journal.open()
        try:
            recovered, outputs = self._fold(recovered)
            self._begin(outputs)
            rows = self._journal.rows_since(self.engine.horizon_seq(recovered.records))
            self.engine.rebuild_sensing(rows, self.clock.boot_id())
        except BaseException:
            self._journal.close()
            raise
        for section in settings.sources:
            if section.kind == "serial":
                progress, board = recovered.progress.get(section.id, {}), board_of(settings, section.id)
                self._sources[section.id] = self.ports.source(section, board, progress, self._hear_source, self.clock)
            elif section.kind == "gpio":
                wanted = pins_of(settings, section.id)
                self._sources[section.id] = self.ports.pins(section.id, wanted, self._hear_source, self.clock)
        self._lamps = lamps_of(settings)
        for source in self._sources.values():
            source.start()
        self._publishing = self._loop.create_task(self._publisher.run())
        self._tick()
        self._tell_health()

    def _fold(self, recovered: Recovered) -> tuple[Recovered, list[Output]]:
        """The engine on what the journal holds; on an older copy where that cannot be folded, and never on less
        than a newer program wrote.
        """
        while True:
            self.engine = Engine(self.settings.table.id, policy_of(self.settings), inputs_of(self.settings))
            try:
                return recovered, self.engine.recover(recovered, self.stamp())
            except NewerJournalError:
                raise
            except Exception as error:  # whatever it is, it would be the same at every start
                recovered = self._journal.distrust(f"the journal cannot be folded: {error}")

    async def stop(self) -> None:
        """Let go of the sources, write what waits, say goodbye to the broker.

        UnsavedError, once all of that is done, where the disk did not take everything.
        """
        self._stopping = True
        for source in self._sources.values():
            await source.stop()
        self._cancel_timers()
        stamp = self.stamp()
        self._take(self.engine.settle(stamp), stamp)
        try:
            await self._loop.run_in_executor(None, self._journal.close)
        finally:
            self._flush()
            self._cancel_timers()
            if self._publishing is not None:
                self._publishing.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await self._publishing

    def _cancel_timers(self) -> None:
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()

    def show_page(self, address: str) -> None:
        """The table's page is served there."""
        self._announcer.show_page(address)

    def is_connected(self, source: str) -> bool:
        """Whether that source is heard."""
        return self._sources[source].is_connected

    def standing_still(self, now_ns: int) -> str | None:
        """Which part must be dead: an error has ended its timers, or its thread. None where all of them move."""
        if self._publishing is not None and self._publishing.done():
            return f"table {self.settings.table.id}: the connection to the broker is no longer looked after"
        moved = {f"source {name}": source.moved_at_ns for name, source in self._sources.items()}
        for part, at_ns in {"the clock of the game": self._ticked_at_ns, **moved}.items():
            if now_ns - at_ns > STILL_NS:
                return f"table {self.settings.table.id}: {part} stands still"
        return None

    def summary(self) -> str:
        """How the table stands: one line for the service manager."""
        wrong = [f"{name}: {source.status}" for name, source in self._sources.items() if source.status != WELL]
        wrong += [] if self._broker[0] else [self._broker[1]]
        wrong += [] if self._unsafe is None else [f"the score is not safe: {self._unsafe}"]
        return f"table {self.settings.table.id}: {', '.join(wrong) or 'all is well'}"

    def stamp(self) -> Stamp:
        """Now, by all clocks."""
        clock = self.clock
        return Stamp(clock.boot_id(), clock.monotonic_ns(), clock.wall_ns(), clock.synchronised())

    # -- what comes in -------------------------------------------------------------------------------------

    def _hear_source(self, items: list[SourceInput]) -> None:
        stamp = self.stamp()
        for item in items:
            self._tell_beams(self._diagnostics.hear(item, stamp.monotonic_ns), stamp)
            self._take(self.engine.handle(item, stamp), stamp)
        self._watch_window(stamp)

    def _hear_request(self, payload: bytes, retained: bool, reply_to: ReplyTo | None = None) -> None:
        if self._stopping:
            _log.info("table %s: a request came too late, the table is stopping", self.settings.table.id)
            return
        request, reply_to = admit(
            parse_request(payload, retained=retained),
            reply_to,
            self.settings.table.id,
            self.settings.home_assistant.prefix,
        )
        stamp = self.stamp()
        if isinstance(request, RequestError):
            self._requests_refused += 1
            if (unsaid := self._refusals.unsaid_before(stamp.monotonic_ns)) is not None:
                more = f" ({unsaid} more since the last such line)" if unsaid else ""
                _log.warning("table %s: a request was refused: %s%s", self.settings.table.id, request.message, more)
            if not request.ignored:
                error = {"code": request.code, "message": request.message}
                refused = {"transaction": request.transaction, "ok": False, "error": error}
                self._take([Output(Batch(), response=refused)], stamp, reply_to)
            return
        if request.command == DIAGNOSTICS:
            seconds = request.fields.get("seconds", DIAGNOSTICS_S)
            assert isinstance(seconds, int)  # checked with the request
            self._diagnostics.switch_on(self.engine.inputs, seconds, stamp.monotonic_ns)
            done = {"transaction": request.transaction, "ok": True, "seq": self.engine.state.seq}
            self._take([Output(Batch(), response=done)], stamp, reply_to)
            return
        self._take(
            self.engine.request(
                request.command,
                request.fields,
                stamp,
                transaction=request.transaction,
                expected_seq=request.expected_seq,
            ),
            stamp,
            reply_to,
        )

    def _tell_beams(self, bodies: Sequence[Mapping[str, Any]], stamp: Stamp) -> None:
        """Diagnostics go out at once, for they are levels and widths and no score, and never in the way of events."""
        for body in bodies:
            if self._shown is None or self._publisher.counters().get("queued", 0) > DIAGNOSTICS_GIVE_WAY:
                self._diagnostics.dropped += 1
            else:
                document = beam_document(self.settings.table.id, self._shown, body, stamp)
                self._publisher.publish(beam_message(document))

    def _hear_connection(self, connected: bool, reason: str) -> None:
        before, self._broker = self._broker, (connected, reason)
        if connected and not before[0]:
            _log.info("table %s: connected to the broker", self.settings.table.id)
        elif not connected and reason != before[1]:
            _log.warning("table %s: %s", self.settings.table.id, reason)
        self._tell_health()
        if not self._stopping:
            self._announcer.connection(connected)

    def _from_thread(self, call: Callable[[Any], None]) -> Callable[[Any], None]:
        """The same call, made on the loop whichever thread makes it."""

        def made(argument: Any) -> None:
            with contextlib.suppress(RuntimeError):  # the loop has ended: nobody is left to be told
                self._loop.call_soon_threadsafe(call, argument)

        return made

    # -- the order of effects ------------------------------------------------------------------------------

    def _begin(self, outputs: list[Output]) -> None:
        """Publish what the journal holds; what recovery itself added waits for its sync like everything."""
        stamp = self.stamp()
        if not outputs:
            self._show_state(self.engine.state, stamp, None)
        self._take(outputs, stamp)

    def _take(self, outputs: list[Output], stamp: Stamp, reply_to: ReplyTo | None = None) -> None:
        for output in outputs:
            if output.remark is not None:
                level = logging.INFO if output.stumbled is None else logging.ERROR
                _log.log(level, "table %s: %s", self.settings.table.id, output.remark, exc_info=output.stumbled)
            batch = output.batch
            if batch.records or batch.rows or batch.answers:
                self._position = self._journal.append(batch)
            self._waiting.append(_Waiting(self._position, output, self.engine.state, stamp, reply_to))
        if self._position <= self._journal.synced or self._unsafe is not None:
            self._flush()

    def _synced(self, position: int) -> None:
        self._flush()
        if self._hung is not None:
            self._watch_disk()

    def _safety(self, reason: str | None) -> None:
        self._refused = reason
        self._tell_safety()

    def _watch_disk(self) -> None:
        """A disk that never answers says nothing: notice it by what does not become durable."""
        synced = self._journal.synced
        stuck = synced == self._wrote and synced < self._position
        self._ticks_stuck = self._ticks_stuck + 1 if stuck else 0
        self._wrote = synced
        is_hung = self._ticks_stuck >= HUNG_TICKS
        self._hung = f"the disk has taken nothing for {HUNG_TICKS * TICK_S:.0f} s" if is_hung else None
        self._tell_safety()

    def _tell_safety(self) -> None:
        reason = self._refused or self._hung
        if reason == self._unsafe:
            return
        self._unsafe = reason
        _log.log(
            logging.ERROR if reason else logging.INFO,
            "table %s: %s",
            self.settings.table.id,
            f"the score is not safe: {reason}" if reason else "everything is written again; the score is safe",
        )
        self._flush()
        self._publish_safety(reason)
        self._tell_health()

    def _publish_safety(self, reason: str | None) -> None:
        if self._shown is None:
            return
        stamp = self.stamp()
        self._journal_news += 1
        # Another run of the program may say something at the same `seq` too: the ids must not repeat.
        event_id = f"{self.engine.state.seq}.journal.{self._begun_ns}.{self._journal_news}"
        news = {"event": "journal_unsafe" if reason else "journal_safe", "event_id": event_id}
        self._publish_event({**news, **({"reason": reason} if reason else {})}, self._shown, stamp)

    def _flush(self) -> None:
        """Acknowledge and publish everything that is durable now: `state` once, first; then the rest in order."""
        synced = self._journal.synced
        ready: list[_Waiting] = []
        while self._waiting and (self._unsafe is not None or self._waiting[0].position <= synced):
            waiting = self._waiting.popleft()
            ready.append(waiting)
            if waiting.output.acknowledge is not None:
                self._owed.append((waiting.position, waiting.output.acknowledge))
        self._show(ready)
        if any(waiting.output.republish for waiting in ready):
            self._publisher.republish()
        self._acknowledge(synced)

    def _acknowledge(self, synced: int) -> None:
        """Tell the boards what is durable, and relieve them while the disk refuses."""
        due: dict[str, tuple[int, int]] = {}
        while self._owed:
            position, (source_id, boot_id, next_sequence) = self._owed[0]
            if position > synced and (self._unsafe is None or len(self._owed) <= BOARD_KEEPS):
                break
            self._owed.popleft()
            due[source_id] = (boot_id, next_sequence)
        for source_id, (boot_id, next_sequence) in due.items():
            self._sources[source_id].acknowledge(boot_id, next_sequence)

    def _show(self, ready: Sequence[_Waiting]) -> None:
        table, parts_changed = self.settings.table.id, False
        newest = next((waiting for waiting in reversed(ready) if waiting.output.state is not None), None)
        if newest is not None:
            new_match = any(waiting.output.new_match for waiting in ready)
            self._show_state(newest.state, newest.stamp, newest.output, new_match=new_match)
        for waiting in ready:
            for news in waiting.output.news:
                self._publish_event(news, waiting.state, waiting.stamp)
                self._tell_beams(self._diagnostics.passed(news, waiting.stamp.monotonic_ns), waiting.stamp)
                parts_changed |= news["event"] in PARTS_NEWS
                if news["event"] in MATCH_ENDS:
                    self._journal.match_ended()
            if waiting.output.response is not None:
                response = response_document(table, waiting.state, waiting.output.response, waiting.stamp)
                for message in response_messages(response, waiting.reply_to):
                    self._publisher.publish(message)
        if parts_changed:
            self._tell_health()

    def _show_state(self, state: TableState, stamp: Stamp, output: Output | None, *, new_match: bool = False) -> None:
        first, self._shown = self._shown is None, state
        # At first the broker may still retain what another game, or another configuration, has left there.
        new_match |= first
        body = output.state if output is not None and output.state is not None else state_body(state)
        document = state_document(self.settings.table.id, state, body, stamp)
        for message in state_messages(document, clear=new_match):
            self._publisher.publish(message)
        if new_match:
            info = info_document(self.settings, self.engine.policy, state, stamp)
            self._publisher.publish(info_message(info))
            if first and info["pending_configuration"]:
                event_id = f"{state.seq}.configuration.{self._begun_ns}"
                news = {"event": "configuration_changed", "changes": info["pending_configuration"]}
                self._publish_event({**news, "event_id": event_id}, state, stamp)
        if first:
            self.shown.set()
            self._tell_health()
        self._light()

    def _light(self) -> None:
        """Let the lamps show what was published last, and whether something needs a hand."""
        if not self._lamps or self._shown is None or self._stopping:
            return
        stamp = self.stamp()
        fault = (
            self._unsafe is not None
            or any(not source.is_connected or source.outages for source in self._sources.values())
            or any(self.engine.loss_at(name, stamp) for name in self._sources)
            or lamps.out_of_service(self.engine.bank)
        )
        for source_id, levels in lamps.levels(self._lamps, self._shown, fault=fault).items():
            self._sources[source_id].show(levels)

    def _publish_event(self, news: Any, state: TableState, stamp: Stamp) -> None:
        document = event_document(self.settings.table.id, state, news, stamp)
        self._publisher.publish(event_message(document))

    # -- time ----------------------------------------------------------------------------------------------

    def _tick(self) -> None:
        stamp = self.stamp()
        self._ticked_at_ns = stamp.monotonic_ns
        self._watch_disk()
        self._take(self.engine.tick(stamp), stamp)
        for name, source in self._sources.items():
            if source.is_connected:
                self._take(self.engine.hear_outages(name, source.outages), stamp)
        self._light()
        self._set_timer("tick", TICK_S, self._tick)

    def _watch_window(self, stamp: Stamp) -> None:
        """Come back when the first of the items that wait for another source has waited long enough."""
        deadline_ns = self.engine.window.deadline_ns()
        if deadline_ns is not None:
            delay_s = max(0, deadline_ns - stamp.monotonic_ns) / 1_000_000_000
            self._set_timer("window", delay_s, self._window_due)

    def _window_due(self) -> None:
        stamp = self.stamp()
        self._take(self.engine.tick(stamp), stamp)
        self._watch_window(stamp)

    def _tell_notice(self, health: JournalHealth) -> None:
        """Tell once that something was lost before, although what happens now is written."""
        if health.notice != self._notice and self._shown is not None:
            self._notice = health.notice
            self._publish_safety(health.notice)

    def _tell_health(self) -> None:
        if self._shown is None or self._stopping:
            return
        stamp = self.stamp()
        journal = self._journal.health()
        if self._hung is not None and journal.safe:
            journal = dataclasses.replace(journal, safe=False, reason=self._hung)
        self._tell_notice(journal)
        self._started_at_ns = start_by(stamp, self._begun_ns, self._started_at_ns)
        connected, reason = self._broker
        counters = {
            **self._publisher.counters(),
            "requests_refused": self._requests_refused,
            "diagnostics_dropped": self._diagnostics.dropped,
        }
        document = health_document(
            self.settings.table.id,
            self._shown,
            stamp,
            started_at_ns=self._started_at_ns,
            bank=self.engine.bank,
            sources={n: _source_health(each, self.engine.loss_at(n, stamp)) for n, each in self._sources.items()},
            outages={name: source.outages for name, source in self._sources.items()},
            journal=journal,
            broker={"connected": connected, "reason": reason or None, "counters": counters},
        )
        self._publisher.publish(health_message(document))
        self._log_sources()
        self._light()
        self._set_timer("health", HEALTH_EVERY_S, self._tell_health)

    def _log_sources(self) -> None:
        """Say of each source how it stands, once for each change."""
        for name, source in self._sources.items():
            before, status = self._said.get(name), source.status
            if status != before:
                self._said[name] = status
                level = logging.INFO if status == WELL else logging.WARNING
                _log.log(level, "table %s, source %s: %s", self.settings.table.id, name, status)

    def _set_timer(self, name: str, delay_s: float, call: Callable[[], None]) -> None:
        """Each timer is set once: a new time takes the place of the old one."""
        if name in self._timers:
            self._timers[name].cancel()
        self._timers[name] = self._loop.call_later(delay_s, call)


def _source_health(source: SourcePort, loss: str | None) -> dict[str, Any]:
    reasons = [] if source.status == WELL else [source.status]
    return {
        "state": "ok" if source.is_connected else "lost",
        "board": source.board if isinstance(source, SerialSource) else None,
        "reason": "; ".join([*reasons, *([loss] if loss else [])]) or None,
        "counters": asdict(source.counters),
    }
