"""A table's journal on disk, filled by requests and without a daemon: what `status` and `export` read."""

import io
import json
from pathlib import Path
from typing import Any

from appliance.config import from_document
from appliance.engine import Engine
from appliance.journal import InlineJournal, Stamp
from appliance.score import score
from appliance.wiring import inputs_of, policy_of

S_NS = 1_000_000_000


class Kept:
    """An engine with its journal in `directory`; each request comes a second after the one before."""

    def __init__(self, directory: Path, game: str = "club_carrom", **options: Any) -> None:
        document = {
            "table": {"id": "t1", "game": game, "players": ["Asha", "Ben"], "state_dir": str(directory)},
            "rules": options,
        }
        settings = from_document(document)
        self.engine = Engine("t1", policy_of(settings), inputs_of(settings))
        directory.mkdir(exist_ok=True)
        self.journal = InlineJournal(directory, "t1", lambda position: None)
        self._now_ns = 0
        for output in self.engine.recover(self.journal.open(), self._stamp()):
            self.journal.append(output.batch)

    def ask(self, command: str, **fields: Any) -> dict[str, Any]:
        """Carry out a request and keep what follows; the response."""
        self._now_ns += S_NS
        outputs = self.engine.request(command, fields, self._stamp())
        for output in outputs:
            if output.batch.records:
                self.journal.append(output.batch)
        response = outputs[-1].response
        assert response is not None
        return dict(response)

    def do(self, command: str, **fields: Any) -> None:
        """The same, for a request that must be done."""
        response = self.ask(command, **fields)
        assert response["ok"], response

    def close(self) -> None:
        """Let go of the journal."""
        self.journal.close()

    def _stamp(self) -> Stamp:
        return Stamp("boot", self._now_ns, self._now_ns, True)


def scored(game: str, lines: str) -> dict[str, Any]:
    """The state that `pocketbeam score` comes to with these lines."""
    out, err = io.StringIO(), io.StringIO()
    status = score(game, [line.encode() for line in lines.splitlines()], out, err)
    assert (status, err.getvalue()) == (0, "")
    answers = [json.loads(line) for line in out.getvalue().splitlines()]
    assert not [answer for answer in answers if "refused" in answer]
    state: dict[str, Any] = answers[-1]["state"]
    return state
