"""Whatever happens in whatever order: every entry that a board recorded is handed over once, in its order."""

from hypothesis import given, settings
from hypothesis import strategies as st

from appliance.events import Edge, Levels
from appliance.link.session import LinkState
from sim.mcu import CAUSE_WATCHDOG, Mcu
from sim.wire import CLEAN, Faults
from tests.link.bench import BOOT_ID, CHANNELS, SECOND_US, Bench

WRAPS_SOON = 65_530

STEP = st.one_of(
    st.tuples(st.just("edges"), st.integers(1, 12)),
    st.tuples(st.just("wait"), st.integers(1, 4_000_000)),
    st.tuples(st.just("unplug"), st.integers(0, 1_500_000)),
    st.tuples(st.just("restart"), st.integers(0, 50_000)),
    st.tuples(st.just("pause"), st.integers(0, 4_000_000)),
    st.tuples(st.just("faults"), st.integers(0, 2)),
    st.tuples(st.just("reset"), st.integers(0, 10_000)),
)
FAULTS = (
    CLEAN,
    Faults(lose_frames=0.3, hurt_frames=0.2),
    Faults(bytewise=True, flip_bits=0.01, delay_us=30_000, junk=20),
)


class Story:
    """A bench, the truth of what was driven, and hands to do things in any order."""

    def __init__(self, seed: int) -> None:
        mcu = Mcu(CHANNELS, BOOT_ID, first_sequence=WRAPS_SOON, first_tick=(1 << 32) - SECOND_US)
        self.bench = Bench(seed=seed, mcu=mcu, sync_us=20_000).plug()
        self.driven: dict[int, list[tuple[int, int]]] = {BOOT_ID: []}
        self.resets = 0
        self._number = 0

    def edges(self, count: int) -> None:
        for _ in range(count):
            # Once the ring is full the loss is reported; that has its own tests.
            if self.bench.mcu.kept == 128:
                return
            channel, level = self._number % CHANNELS, 1 - self._number // CHANNELS % 2
            self._number += 1
            self.bench.mcu.drive(channel, level, self.bench.now_us)
            self.driven[self.bench.mcu.boot_id].append((channel, level))
            self.wait(500)

    def wait(self, us: int) -> None:
        self.bench.run(self.bench.now_us + us)

    def unplug(self, us: int) -> None:
        self.bench.unplug()
        self.wait(us)
        self.bench.plug()

    def restart(self, us: int) -> None:
        self.wait(us)
        self.bench.restart_host()

    def pause(self, us: int) -> None:
        self.bench.wire.pause()
        self.wait(us)
        self.bench.wire.resume()

    def faults(self, which: int) -> None:
        self.bench.wire.to_host.faults = self.bench.wire.to_board.faults = FAULTS[which]

    def reset(self, us: int) -> None:
        self.resets += 1
        self.bench.mcu.reset(CAUSE_WATCHDOG, self.bench.now_us)
        self.driven[self.bench.mcu.boot_id] = []
        self.wait(us)


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 1000), st.lists(STEP, max_size=25))
def test_every_recorded_edge_once_and_in_order_whatever_happens(seed: int, steps: list[tuple[str, int]]):
    story = Story(seed)
    for name, argument in steps:
        getattr(story, name)(argument)
    story.faults(0)
    story.wait(10 * SECOND_US)
    bench = story.bench
    assert bench.session.state is LinkState.UP
    assert bench.mcu.kept == 0

    # A host that was restarted before its journal was synced hears some again: under the same identity.
    heard: dict[int, dict[int, tuple[int, int]]] = {}
    for edge in bench.inputs:
        if isinstance(edge, Edge):
            assert edge.identity is not None
            of_boot = heard.setdefault(edge.identity.boot_id, {})
            what = (edge.channel, edge.level)
            assert of_boot.setdefault(edge.identity.sequence, what) == what
    for boot_id, driven in story.driven.items():
        first = WRAPS_SOON if boot_id == BOOT_ID else 0
        of_boot = heard.get(boot_id, {})
        # A boot that ended took with it what had not come; what came is the beginning, without a hole.
        complete = boot_id == bench.mcu.boot_id
        count = len(driven) if complete else len(of_boot)
        assert [of_boot.get(first + n) for n in range(count)] == driven[:count]
        assert len(of_boot) == count
    times = [value.at_ns for value in bench.inputs if isinstance(value, Edge | Levels)]
    assert times[-1] <= bench.now_ns
    if not any(name == "restart" for name, _ in steps):
        assert times == sorted(times)
