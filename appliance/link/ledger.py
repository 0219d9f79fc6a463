"""Which entries of a board have come, which are durable, and which are missing.

Numbers are unwrapped: they grow without bound within one boot, while the wire carries their low 16 bits.
A wire number is taken to be the one nearest to what is expected, which is certain as long as a board keeps
fewer than 32,768 entries.
"""

SEQ_WRAP = 1 << 16


class Ledger:
    """The numbers of one boot of a board, from `start` on.

    `expected` is the next entry to take, `durable` the first that may not be acknowledged yet, `announced`
    the highest number of which the board has said that it will be its next.
    """

    def __init__(self, start: int) -> None:
        """Begin with everything below `start` taken and durable."""
        self.expected = self.durable = self.announced = start
        self._nameless: set[int] = set()

    def unwrap(self, seq: int) -> int:
        """Return the unbounded number nearest to what is expected for a number off the wire."""
        return self.expected + (seq - self.expected + SEQ_WRAP // 2) % SEQ_WRAP - SEQ_WRAP // 2

    def announce(self, number: int) -> None:
        """Note that all entries below `number` exist."""
        self.announced = max(self.announced, number)

    @property
    def missing(self) -> int:
        """How many entries are known to exist and have not come."""
        return self.announced - self.expected

    def take(self, *, nameless: bool) -> int:
        """Take the expected entry and return its number.

        A nameless entry is one that nobody above can acknowledge because it bears no identity; it becomes
        durable with the entry before it.
        """
        number = self.expected
        self.expected += 1
        self.announce(self.expected)
        if nameless:
            self._nameless.add(number)
            self._extend()
        return number

    def make_durable(self, number: int) -> None:
        """Note that all entries below `number`, as far as they have come, are durable."""
        self.durable = max(self.durable, min(number, self.expected))
        self._nameless = {waiting for waiting in self._nameless if waiting >= self.durable}
        self._extend()

    def skip_to(self, number: int) -> int:
        """Give up what the board no longer has below `number`; return how many entries that is."""
        lost = number - self.expected
        self.expected = number
        self.announce(number)
        self.make_durable(number)
        return lost

    def _extend(self) -> None:
        while self.durable in self._nameless:
            self._nameless.remove(self.durable)
            self.durable += 1
