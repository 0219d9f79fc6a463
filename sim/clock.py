"""The clock of a simulated table: it stands still until the driver moves it on.

The device and the appliance read the same clock, so simulated time is the only time there is, at any speed.
"""

_WALL_START_NS = 1_735_689_600_000_000_000  # 2025-01-01T00:00:00Z: the same day in every run
_START_NS = 1_000_000_000


class SimClock:
    """Simulated time in the shape of the daemon's clock; always synchronised, one boot."""

    def __init__(self, wall_start_ns: int = _WALL_START_NS) -> None:
        """Stand still; the wall shows `wall_start_ns`."""
        self._wall_start_ns = wall_start_ns
        self._now_ns = _START_NS

    def monotonic_ns(self) -> int:
        """Simulated nanoseconds."""
        return self._now_ns

    def wall_ns(self) -> int:
        """Simulated nanoseconds since the epoch."""
        return self._wall_start_ns + self._now_ns - _START_NS

    def synchronised(self) -> bool:
        """Simulated wall time is always right."""
        return True

    def boot_id(self) -> str:
        """The name of this simulated boot."""
        return "simulated-boot"

    def now_us(self) -> int:
        """Simulated microseconds, for the device."""
        return self._now_ns // 1_000

    def advance_to_us(self, at_us: int) -> None:
        """Move on to `at_us`; never back."""
        self._now_ns = max(self._now_ns, at_us * 1_000)
