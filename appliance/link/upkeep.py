"""Keeping a board as it is wanted: its configuration and the levels of its outputs.

Both are states, not commands: they are sent until a heartbeat shows them, and again whenever one does not, be it
after a reset or a lost frame. So nothing has to be remembered about what the board was told.
"""

from collections.abc import Mapping
from types import MappingProxyType

from appliance.link import framing
from appliance.link.configuration import BoardConfiguration
from appliance.link.messages import ChannelLevels, Config, Heartbeat, Hello, Output

AGAIN_AFTER_NS = 500_000_000

_MUTED = "it changes thousands of times a second, so the board does not listen to it: look at its sensor and wire"


class Upkeep:
    """What one board should be, and how far it is. `wanted` is None where the board may stay as it is."""

    def __init__(self, wanted: BoardConfiguration | None) -> None:
        """Begin before any hello."""
        self._wanted = wanted
        self._shown: dict[int, int] = {}
        self._told: BoardConfiguration | None = None
        self._channels = 0
        self._muted = 0
        self._config_at_ns: int | None = None
        self._output_at_ns: int | None = None
        self.in_force = wanted is None
        """Whether the board is what it should be; until it is, its levels are not those of the table."""

    @property
    def outages(self) -> Mapping[int, str]:
        """By channel, why it cannot be used now: a sentence to follow its name."""
        found = {channel: _MUTED for channel in range(self._channels) if self._muted >> channel & 1}
        if self._wanted is not None and self._channels:
            used = self._wanted.inputs | self._wanted.outputs
            for channel in range(self._channels, self._wanted.channels):
                if used >> channel & 1:
                    found[channel] = f"the board has only the channels 0 to {self._channels - 1}"
        return MappingProxyType(found)

    @property
    def muted(self) -> int:
        """How many inputs the board does not listen to."""
        return self._muted.bit_count()

    def show(self, levels: Mapping[int, int]) -> None:
        """Let outputs have these levels from now on."""
        if any(self._shown.get(channel) != level for channel, level in levels.items()):
            self._shown.update(levels)
            self._output_at_ns = 0

    def greeted(self, hello: Hello, now_ns: int) -> None:
        """Begin with a board that has come, or come back: only its next heartbeat says what it is."""
        self._channels = hello.levels.channels
        self._muted = 0
        if self._wanted is not None:
            self._told = self._wanted.within(self._channels)
            self.in_force = False
            self._config_at_ns = now_ns
        self._output_at_ns = now_ns

    def heard(self, heartbeat: Heartbeat, now_ns: int) -> None:
        """Compare what the board says with what it should be."""
        standing = heartbeat.standing
        self._muted = standing.muted if standing is not None else 0
        if self._told is not None:
            # A board that says nothing of a configuration takes none.
            self.in_force = standing is None or standing.config == self._told.checksum
            self._config_at_ns = self._next(self._config_at_ns, is_well=self.in_force, now_ns=now_ns)
        outputs = self._told.outputs if self._told is not None else 0
        is_shown = standing is None or heartbeat.levels.mask & outputs == self._output_mask()
        self._output_at_ns = self._next(self._output_at_ns, is_well=is_shown, now_ns=now_ns)

    def next_deadline_ns(self) -> int | None:
        """Return when `poll` has something to send although nothing happens."""
        times = [at_ns for at_ns in (self._config_at_ns, self._due_output_ns) if at_ns is not None]
        return min(times, default=None)

    def poll(self, boot: int, now_ns: int) -> bytes:
        """Return the bytes to send now."""
        out = b""
        if self._told is not None and self._config_at_ns is not None and now_ns >= self._config_at_ns:
            out += framing.encode(Config(boot, self._told).to_bytes())
            self._config_at_ns = now_ns + AGAIN_AFTER_NS
        if (due_ns := self._due_output_ns) is not None and now_ns >= due_ns:
            out += framing.encode(Output(boot, ChannelLevels(self._channels, self._output_mask())).to_bytes())
            self._output_at_ns = now_ns + AGAIN_AFTER_NS
        return out

    @property
    def _due_output_ns(self) -> int | None:
        """When to send the outputs; never before the board knows which those are."""
        return self._output_at_ns if self._shown and self.in_force and self._told is not None else None

    def _output_mask(self) -> int:
        """The levels of the board's outputs; those that nobody has asked for rest."""
        if self._told is None:
            return 0
        mask = self._told.rest
        for channel, level in self._shown.items():
            if self._told.outputs >> channel & 1:
                mask = mask & ~(1 << channel) | level << channel
        return mask

    @staticmethod
    def _next(at_ns: int | None, *, is_well: bool, now_ns: int) -> int | None:
        if is_well:
            return None
        return now_ns if at_ns is None else at_ns
