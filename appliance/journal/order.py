"""The check that `seq` only grows, at the call that breaks it.

The primary key of the file would refuse a repeated record too, but only once it is written, when nobody who
could tell the cause is left and every batch behind it has to wait.
"""

from appliance.journal.values import Batch


class SeqGuard:
    """Knows the newest `seq` that was appended."""

    def __init__(self) -> None:
        """Begin with nothing appended."""
        self._last_seq = 0

    def begin(self, last_seq: int) -> None:
        """Go on after the newest record of the file."""
        self._last_seq = last_seq

    def admit(self, batch: Batch) -> None:
        """Let the batch pass, or raise ValueError and stay as before."""
        last_seq = self._last_seq
        for index, record in enumerate(batch.records):
            if record.seq < last_seq or (record.seq == last_seq and index == 0):
                raise ValueError(f"record {record.seq} ({record.kind}) comes after record {last_seq}")
            last_seq = record.seq
        self._last_seq = last_seq
