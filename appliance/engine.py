"""The whole appliance but for its effects: what comes in, what must be kept, what may then be shown.

The engine owns the sensing and the table's tip. Each input gives outputs; an output's `batch` must be durable
before anything else of it is acknowledged or published. It reads no clock (stamps come with the inputs) and
does no I/O, so the daemon, `replay` and the tests in virtual time all run the same one.

Quiet time is measured on the sources' own clocks: a source that has told everything up to a moment says so
with its edges and heartbeats, and a stroke closes by itself only when every live source with a beam has, and
no passage is still going on.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from appliance.events import Chatter, Edge, EdgeId, EdgesLost, Levels, SourceBack, SourceInput, SourceLost
from appliance.grammar import how_many
from appliance.journal import Answer, Batch, Record, Recovered, SourceRow, Stamp
from appliance.records import ends_stroke, is_fact, read_record, read_row, write_event, write_row
from appliance.sensing.bank import (
    Beam,
    Button,
    ColourSeen,
    Input,
    InputBlocked,
    InputNoisy,
    InputWell,
    Line,
    PassageSeen,
    Pressed,
    SensorBank,
    StrikeSeen,
    StrikeSensor,
    TableSignal,
)
from appliance.sensing.health import health_of
from appliance.sensing.ordering import OrderingWindow
from appliance.sensing.quarantine import Quarantine
from appliance.table.decide import Decision, begin, decide
from appliance.table.doubts import SECOND
from appliance.table.evolve import evolve
from appliance.table.inputs import (
    ClockPassed,
    Coloured,
    Passed,
    Rebooted,
    Refused,
    Request,
    Strike,
    TableInput,
)
from appliance.table.matches import first_match
from appliance.table.model import (
    Json,
    PassageAdded,
    PassageWithdrawn,
    Policy,
    Requested,
    TableEvent,
    TableState,
)
from appliance.table.view import happenings, state_body

REMEMBERED_ANSWERS = 1000
LOSS_SHOWN_NS = 60_000_000_000
"""A loss of edges stays a fault for so long: somebody should look whether the score is still right."""
TOLD_AGAIN_NS = 60_000_000_000
"""An error in the program that comes with every edge, or with every heartbeat, is told so seldom."""
SYNC = "sync"
"""The one request that is not the table's: it asks the publisher to say everything again."""


@dataclass(frozen=True, slots=True)
class Output:
    """What follows from an input. `news` are event documents without envelope; `state` is the new `state`
    body where the table changed; `acknowledge` is what the source may be told once `batch` is durable;
    `republish` asks for everything retained once more; `remark` is a sentence for the log; `stumbled` is the error
    in this program that it tells of.
    """

    batch: Batch
    news: tuple[Json, ...] = ()
    state: Json | None = None
    new_match: bool = False
    response: Json | None = None
    acknowledge: tuple[str, int, int] | None = None
    republish: bool = False
    remark: str | None = None
    stumbled: Exception | None = None


@dataclass(slots=True)
class Engine:
    """One table. Create it, `recover`, then feed it.

    An error in what an input means costs that input's meaning and nothing else: the table stays as it was, the
    edge is kept like any other, and people are told to look. If the error went up to the source instead, what came
    behind the edge would be taken, and acknowledged, as if the edge had been understood; and at the next start
    the board would tell it again, for ever.
    """

    table_id: str
    policy: Policy
    inputs: tuple[Input, ...]
    first_position: Json | None = None
    bank: SensorBank = field(init=False)
    window: OrderingWindow = field(default_factory=OrderingWindow)
    quarantine: Quarantine = field(default_factory=Quarantine)
    _tip: TableState | None = None
    _answers: dict[str, str] = field(default_factory=dict)
    _boots: dict[str, int] = field(default_factory=dict)
    """By source: the boot whose entries were taken last."""
    _reached_ns: dict[str, int] = field(default_factory=dict)
    _striking: set[str] = field(default_factory=set)
    _outages: dict[str, str] = field(default_factory=dict)
    _losses: dict[str, tuple[int, int]] = field(default_factory=dict)
    _stumbles: dict[str, int] = field(default_factory=dict)
    _started: SourceRow | None = None
    """That the program has started, until something is kept of what happens then."""
    _run: int = 0
    _news_count: int = 0

    def __post_init__(self) -> None:
        self.bank = SensorBank(self.inputs)
        # After a restart nobody remembers which sensor felt the open stroke's strike.
        self._striking = {each.source for each in self.inputs if isinstance(each, StrikeSensor)}

    @property
    def state(self) -> TableState:
        """The tip. There is one after `recover`."""
        assert self._tip is not None
        return self._tip

    # -- start ---------------------------------------------------------------------------------------------

    def recover(self, recovered: Recovered, stamp: Stamp) -> list[Output]:
        """Fold what the journal kept; begin the first match where it is empty."""
        self._answers = dict(recovered.answers)
        self._boots = {source: next(reversed(boots)) for source, boots in recovered.progress.items()}
        self._run = stamp.monotonic_ns
        floor = recovered.seq_floor
        widths: dict[str, tuple[str, int]] = {}
        for record in recovered.records:
            if self._tip is not None and self._tip.seq <= floor < record.seq:
                self._tip = _above(self._tip, floor)
            event = read_record(record)
            _note_width(event, widths)
            tip = evolve(self._tip, event, record.seq)
            # The matches before are not read, so how many there were is not folded but kept with each record.
            self._tip = tip if tip.depth == record.match else replace(tip, depth=record.match)
        for beam, width_ns in widths.values():
            self.bank.learn(beam, width_ns)
        if self._tip is None:
            decision = begin(first_match(self.policy, self.first_position), floor + 1)
            return [self._accept(decision, stamp, first=True)]
        if self._tip.seq < floor:
            self._tip = _above(self._tip, floor)
        self._started = SourceRow("", None, None, 0, None, None, stamp.monotonic_ns, stamp, what="started")
        if recovered.records[-1].stamp.boot_id != stamp.boot_id:
            return self._begun(self._decide(Rebooted(stamp.monotonic_ns), stamp))
        return []

    def _begun(self, outputs: list[Output]) -> list[Output]:
        """The outputs, and before the first of them that is kept, that the program has started."""
        if self._started is None:
            return outputs
        first = next((i for i, output in enumerate(outputs) if output.batch != Batch()), None)
        if first is None:
            return outputs
        started, self._started = Output(Batch(rows=(self._started,))), None
        return [*outputs[:first], started, *outputs[first:]]

    def resume(self, source: str, boot_id: int) -> None:
        """That boot of a source is the one that has been heard so far."""
        self._boots[source] = boot_id
        self.bank.resume(source, boot_id)

    def horizon_seq(self, records: Sequence[Record]) -> int:
        """From which record on the edges are needed to know what was going on: those since the stroke before."""
        closed = (record.seq for record in reversed(records) if ends_stroke(record.kind, record.body))
        newest = tuple(islice(closed, 2))
        return newest[1] if len(newest) > 1 else records[0].seq if records else 0

    def rebuild_sensing(self, rows: Iterable[SourceRow], boot_id: str) -> None:
        """Bring the debouncers to where they were: everything that followed from these edges is recorded.

        The rows begin somewhere in the middle. Where a line's first one is the end of a pulse, the pulse was judged
        long ago; taken for an edge it would be the end of a block, which the line would have to settle from.
        """
        resting = {(each.source, each.channel): 1 - _active_level(each) for each in self.inputs}
        for row in rows:
            if row.stamp.boot_id != boot_id or row.boot_id is None:
                continue
            if row.boot_id != self._boots.get(row.source):
                continue
            self.resume(row.source, row.boot_id)
            item = read_row(row)
            if isinstance(item, Edge | Chatter):
                at_rest = resting.pop((item.source, item.channel), None) == item.level
                if isinstance(item, Edge) and at_rest:
                    item = Levels(item.source, ((item.channel, item.level),), item.at_ns)
            if isinstance(item, Chatter):
                self.quarantine.resume(item)
            if item is not None:
                self._sense(item)
        self.bank.resumed()

    # -- sensors -------------------------------------------------------------------------------------------

    def handle(self, item: SourceInput, stamp: Stamp) -> list[Output]:
        """Take what a source delivered; items of several sources are put in order first."""
        due = self.window.push(item, stamp.monotonic_ns)
        return self._begun([output for each in due for output in self._take(each, stamp)])

    def tick(self, stamp: Stamp) -> list[Output]:
        """Let host time pass: what waited for its turn comes in, and a table without beams closes strokes."""
        due = self.window.release(stamp.monotonic_ns)
        outputs = [output for each in due for output in self._take(each, stamp)]
        outputs += self.settle(stamp, all_of_it=False)
        if not any(isinstance(each, Beam) for each in self.inputs):
            outputs += self._clock_passed(stamp.monotonic_ns, stamp)
        return self._begun(outputs)

    def settle(self, stamp: Stamp, *, all_of_it: bool = True) -> list[Output]:
        """Have kept what has come and waits for more of its kind: what is due, or all of it before the end."""
        outputs: list[Output] = []
        for source in dict.fromkeys(each.source for each in self.inputs):
            if not all_of_it and not self.quarantine.is_due(source, stamp.monotonic_ns, pause=True):
                continue
            held = self.quarantine.take(source)
            if rows := _rows(held, stamp):
                outputs.append(Output(Batch(rows=rows), acknowledge=self._received(held)))
        return outputs

    def _take(self, item: SourceInput, stamp: Stamp) -> list[Output]:
        outputs: list[Output] = []
        match item:
            case SourceLost():
                self._reached_ns.pop(item.source, None)
                outputs.append(self._told({"event": "source_lost", "source": item.source, "reason": item.reason}))
            case SourceBack():
                outputs += self._source_back(item, stamp)
            case EdgesLost():
                self._losses[item.source] = (stamp.monotonic_ns, item.count + self._lost_lately(item.source, stamp))
                lost = how_many(item.count, "change was lost before it", "changes were lost before they")
                reason = f"{lost} could be handed over"
                outputs.append(self._told({"event": "beam_fault", "source": item.source, "reason": reason}))
            case _:
                # Levels are read a moment before they are told; a source's clock never goes back for that.
                self._reached_ns[item.source] = max(item.at_ns, self._reached_ns.get(item.source, item.at_ns))
                if (passed_ns := self._passed_ns()) is not None:
                    outputs += self._clock_passed(passed_ns, stamp, item.source)
        noisy = self.bank.quarantined(item)
        signals, error = self._sense(item)
        if error is not None:
            outputs += self._stumble(error, item.source, stamp)
        is_lasting = noisy is not None and self.bank.quarantined(item) is noisy
        return outputs + self._follow(item, signals, stamp, noisy if is_lasting and error is None else None)

    def _sense(self, item: SourceInput) -> tuple[list[TableSignal], Exception | None]:
        """What the lines make of it. One that stumbles over an edge goes on with the next."""
        try:
            return self.bank.feed(item), None
        except Exception as error:
            return [], error

    def _stumble(self, error: Exception, source: str | None, stamp: Stamp) -> list[Output]:
        """Tell of an error in this program: with the source, whose changes are not to be relied on, if it is one's."""
        text = f"{type(error).__name__}: {error}"
        lately_ns = stamp.monotonic_ns - TOLD_AGAIN_NS
        self._stumbles = {told: at_ns for told, at_ns in self._stumbles.items() if at_ns > lately_ns}
        if source is not None:
            self._losses[source] = (stamp.monotonic_ns, 1 + self._lost_lately(source, stamp))
        if text in self._stumbles:
            return []
        self._stumbles[text] = stamp.monotonic_ns
        reason = f"an error in the program, {text}: something was not understood, look whether the score is right"
        news = {"event": "beam_fault", "source": source, "reason": reason}
        output = Output(Batch()) if source is None else self._told(news)
        return [replace(output, remark=reason, stumbled=error)]

    def hear_outages(self, source: str, reasons: Mapping[int, str]) -> list[Output]:
        """Tell of inputs that a source cannot listen to although it is there (`reasons`, by channel), or can again."""
        outputs: list[Output] = []
        for found in self.inputs:
            reason, before = reasons.get(found.channel), self._outages.get(found.id)
            if found.source != source or reason == before:
                continue
            if reason is not None:
                self._outages[found.id] = reason
                outputs.append(self._told({"event": "beam_fault", "beam": found.id, "reason": reason}))
            else:
                del self._outages[found.id]
                if not self.bank.lines[found.id].is_out:
                    outputs.append(self._told({"event": "beam_well", "beam": found.id}))
        return outputs

    def loss_at(self, source: str, stamp: Stamp) -> str | None:
        """What a source has lost lately, and what to do about it, in a sentence."""
        count = self._lost_lately(source, stamp)
        if not count:
            return None
        return f"{how_many(count, 'change was', 'changes were')} lost lately: look whether the score is right"

    def _lost_lately(self, source: str, stamp: Stamp) -> int:
        at_ns, count = self._losses.get(source, (0, 0))
        return count if stamp.monotonic_ns < at_ns + LOSS_SHOWN_NS else 0

    def _source_back(self, item: SourceBack, stamp: Stamp) -> list[Output]:
        # Being there again says nothing about its clock: what it saw while it was away comes after this.
        known = self._boots.get(item.source)
        outputs = [self._told({"event": "source_back", "source": item.source})]
        if known is not None and item.boot_id is not None and known != item.boot_id:
            outputs += self._decide(Rebooted(item.at_ns), stamp, source=item.source)
        return outputs

    def _passed_ns(self) -> int | None:
        """Up to when everything that could matter has been told."""
        sources = {each.source for each in self.inputs if not isinstance(each, Button)}
        relevant = {source for source in sources if source in self._reached_ns} | self._sources_of_stroke()
        if not relevant or any(source not in self._reached_ns for source in relevant):
            return None
        passed_ns = min(self._reached_ns[source] for source in relevant)
        breaking_ns = self.bank.breaking_since_ns()
        return passed_ns if breaking_ns is None else min(passed_ns, breaking_ns)

    def _sources_of_stroke(self) -> set[str]:
        """The sources that saw the open stroke: a stroke never closes by the clock of others alone."""
        stroke = self.state.stroke
        if stroke is None:
            return set()
        seen = {fallen.beam for fallen in stroke.fallen}
        sources = {each.source for each in self.inputs if each.id in seen}
        return sources if stroke.struck_ns is None else sources | self._striking

    def _clock_passed(self, at_ns: int, stamp: Stamp, source: str | None = None) -> list[Output]:
        return self._decide(ClockPassed(at_ns), stamp, source=source) if self.state.stroke is not None else []

    def _follow(self, item: SourceInput, signals: list[TableSignal], stamp: Stamp, noisy: Line | None) -> list[Output]:
        """The outputs of the signals; the first carries the edge itself, so that both are durable together.

        `noisy` is the edge's line where nothing was or is believed of it.
        """
        outputs: list[Output] = []
        for signal in signals:
            outputs += self._signal(signal, item.at_ns, stamp)
        first = next((i for i, output in enumerate(outputs) if output.batch.records), None)
        delivered = self._worth_keeping(item, noisy, at_once=first is not None)
        rows = _rows(delivered, stamp)
        if not rows:
            return outputs
        acknowledge = self._received(delivered)
        if first is None:
            return [*outputs, Output(Batch(rows=rows), acknowledge=acknowledge)]
        carrier = outputs[first]
        batch = Batch(carrier.batch.records, rows, carrier.batch.answers)
        outputs[first] = replace(carrier, batch=batch, acknowledge=acknowledge)
        return outputs

    def _worth_keeping(self, item: SourceInput, noisy: Line | None, *, at_once: bool) -> list[SourceInput]:
        """What is to be kept of the item and of those that came before it, in the order in which they came."""
        quarantine = self.quarantine
        if noisy is not None and isinstance(item, Edge):
            quarantine.add(item, noisy.noise, active=noisy.debouncer.active)
            noisy.debouncer.counters.summed += 1
            is_due = at_once or quarantine.is_due(item.source, item.at_ns)
            return [*quarantine.take(item.source)] if is_due else []
        if isinstance(item, Levels):
            is_due = quarantine.is_due(item.source, item.at_ns, pause=True)
            return [*quarantine.take(item.source)] if is_due else []
        if isinstance(item, Edge):
            quarantine.end(item.source, item.channel)
        elif isinstance(item, SourceLost | SourceBack | EdgesLost):
            quarantine.end(item.source)
        return [*quarantine.take(item.source), item]

    def _received(self, delivered: Sequence[SourceInput]) -> tuple[str, int, int] | None:
        """Up to where the source may be told that it was heard, once all of that is durable."""
        acknowledge: tuple[str, int, int] | None = None
        for item in delivered:
            identity: EdgeId | None = getattr(item, "identity", None)
            if identity is not None:
                self._boots[item.source] = identity.boot_id
                acknowledge = (item.source, identity.boot_id, identity.sequence + 1)
        return acknowledge

    def _signal(self, signal: TableSignal, known_ns: int, stamp: Stamp) -> list[Output]:
        match signal:
            case PassageSeen(beam, passage, doubt, reason):
                seen = Passed(
                    beam.id,
                    beam.place,
                    signal.candidates,
                    passage.started_ns,
                    passage.ended_ns,
                    doubt,
                    None if reason is None else reason.value,
                    max(known_ns, passage.ended_ns),
                )
                return self._decide(seen, stamp, source=beam.source)
            case ColourSeen(beam, started_ns, name, twice):
                return self._decide(Coloured(beam.id, started_ns, name, twice), stamp, source=beam.source)
            case StrikeSeen(sensor, at_ns):
                self._striking = {sensor.source}
                return self._decide(Strike(sensor.end, at_ns, sensor.across), stamp, source=sensor.source)
            case Pressed(button, at_ns, long, amid):
                command, fields = button.asks(long)
                pressed = Request(command, at_ns, fields, button=button.id, amid=amid)
                return self._decide(pressed, stamp, source=button.source)
            case InputBlocked(found, _):
                what = "pressed without end" if isinstance(found, Button) else "blocked"
                return [self._told({"event": "beam_fault", "beam": found.id, "reason": what})]
            case InputNoisy(found, _):
                noisy = health_of(self.bank.lines[found.id], known_ns)
                return [self._told({"event": "beam_fault", "beam": found.id, "reason": noisy.reason})]
            case InputWell(found, _) if found.id in self._outages:
                return []
            case InputWell(found, _):
                return [self._told({"event": "beam_well", "beam": found.id})]

    # -- people --------------------------------------------------------------------------------------------

    def request(
        self,
        command: str,
        fields: Mapping[str, Any],
        stamp: Stamp,
        *,
        transaction: str | None = None,
        expected_seq: int | None = None,
    ) -> list[Output]:
        """Carry out a request; the last output holds the response. A repeated transaction changes nothing."""
        if transaction is not None and transaction in self._answers:
            return [Output(Batch(), response=json.loads(self._answers[transaction]))]
        given = Request(command, stamp.monotonic_ns, fields, expected_seq)
        return self._begun(self._decide(given, stamp, transaction=transaction, asked=True))

    # -- the one way to change -----------------------------------------------------------------------------

    def _decide(
        self,
        given: TableInput,
        stamp: Stamp,
        *,
        transaction: str | None = None,
        asked: bool = False,
        source: str | None = None,
    ) -> list[Output]:
        try:
            return self._decided(given, stamp, transaction=transaction, asked=asked)
        except Exception as error:
            outputs = self._stumble(error, source, stamp)
            if not asked:
                return outputs
            message = "an error in the program: nothing has changed, and the log says more"
            return [*outputs, self._answered(Output(Batch()), transaction, _refusal(transaction, _error(message)))]

    def _decided(self, given: TableInput, stamp: Stamp, *, transaction: str | None, asked: bool) -> list[Output]:
        if isinstance(given, Request) and given.command == SYNC:
            output = Output(Batch(), republish=True)
            response = {"transaction": transaction, "ok": True, "seq": self.state.seq}
            return [self._answered(output, transaction, response) if asked else output]
        decided = decide(self.state, given, self.policy)
        if isinstance(decided, Refused):
            if not asked:
                return [Output(Batch(), remark=f"a button had no effect: {decided.message}")]
            return [self._answered(Output(Batch()), transaction, _refusal(transaction, decided))]
        if not decided.events and not asked:
            return []
        request = given if asked and isinstance(given, Request) else None
        output = self._accept(decided, stamp, request=request) if decided.events else Output(Batch())
        if not asked:
            return [output]
        response = {"transaction": transaction, "ok": True, "seq": self.state.seq}
        return [self._answered(output, transaction, response)]

    def _answered(self, output: Output, transaction: str | None, response: Json) -> Output:
        answers = output.batch.answers
        if transaction is not None:
            text = json.dumps(response, ensure_ascii=False)
            self._answers[transaction] = text
            if len(self._answers) > REMEMBERED_ANSWERS:
                del self._answers[next(iter(self._answers))]
            answers = (*answers, Answer(transaction, text))
        batch = Batch(output.batch.records, output.batch.rows, answers)
        return replace(output, batch=batch, response=response)

    def _accept(
        self, decision: Decision, stamp: Stamp, *, first: bool = False, request: Request | None = None
    ) -> Output:
        before, tip = None if first else self._tip, decision.state
        news: list[Json] = []
        records: list[Record] = []
        for event, was, now in zip(decision.events, decision.states, decision.states[1:], strict=False):
            records.append(self._record(event, now, stamp))
            news += ({"match_id": now.match.id, **each} for each in happenings(event, was, now))
        if request is not None:
            records.append(self._record(Requested(request.command, request.fields), tip, stamp))
        new_match = before is None or before.match.id != tip.match.id
        numbered = tuple({"event_id": f"{tip.seq}.{n}", "seq": tip.seq, **each} for n, each in enumerate(news, 1))
        output = Output(Batch(records=tuple(records)), numbered, state_body(tip), new_match)
        self._tip = tip  # last: whatever went wrong before, the table stays as it was
        return output

    def _record(self, event: TableEvent, after: TableState, stamp: Stamp) -> Record:
        return Record(after.seq, after.depth, event.kind, is_fact(event), write_event(event), stamp)

    def _told(self, news: Json) -> Output:
        """Something about the parts, which is no input of the table."""
        self._news_count += 1
        state = self.state
        # A later run of the program may say something else at the same `seq`: its ids must not repeat.
        event_id = f"{state.seq}.parts.{self._run}.{self._news_count}"
        head = {"event_id": event_id, "match_id": state.match.id, "seq": state.seq}
        return Output(Batch(), ({**head, **news},))


def _above(tip: TableState, floor: int) -> TableState:
    """The tip where a journal was lost: what anybody saw up to `floor`, and asks with, is outdated."""
    return replace(tip, seq=floor, step_seq=floor)


def _note_width(event: TableEvent, widths: dict[str, tuple[str, int]]) -> None:
    """Keep how long a passage took that was shown, by its id; forget it where it was none after all."""
    match event:
        case PassageAdded(fallen, ended_ns) if not fallen.passage_id.endswith(SECOND):
            # A match numbers its passages anew; of the one before the newest are enough.
            widths[fallen.passage_id] = (fallen.beam, ended_ns - fallen.started_ns)
        case PassageWithdrawn(passage_id):
            widths.pop(passage_id, None)


def _rows(delivered: Iterable[SourceInput], stamp: Stamp) -> tuple[SourceRow, ...]:
    return tuple(row for each in delivered if (row := write_row(each, stamp)) is not None)


def _active_level(found: Input) -> int:
    return found.pressed_level if isinstance(found, Button) else found.blocked_level


def _error(message: str) -> Refused:
    return Refused("malformed", message)


def _refusal(transaction: str | None, refused: Refused) -> Json:
    error: dict[str, Any] = {"code": refused.code, "message": refused.message}
    if refused.stroke is not None:
        error["stroke"] = refused.stroke
    return {"transaction": transaction, "ok": False, "error": error}
