"""Recordings under `tests/recordings`: each is played through the whole appliance and must say what it said.

Beside each `NAME.jsonl` stands `NAME.md`, which says where it comes from, what it shows and how its outcome was
worked out, and `NAME.expected`, the transcript. A transcript is written anew by nobody but a person who asks for
it, and looks at the difference:

    python tests/test_recordings.py --write-expected NAME …
"""

import io
import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from appliance.replay import replay

HERE = Path(__file__).parent / "recordings"
RECORDINGS = sorted(HERE.glob("*.jsonl"))
_ENVELOPE = frozenset({"schema", "table", "match_id", "at", "clock_synchronised", "event", "event_id", "seq"})
_STATE = ("paused", "rules", "stroke", "pending", "questions", "instructions", "last_result")


def output_of(recording: Path) -> str:
    """Everything that `pocketbeam replay` says of it, refusals on standard error at the end."""
    out, err = io.StringIO(), io.StringIO()
    with recording.open("rb") as lines:
        assert replay(lines, out, err) == 0, err.getvalue()
    return out.getvalue() + err.getvalue()


def transcript(output: str) -> str:
    """The events, one a line, and the last state, as people read them."""
    lines: list[str] = []
    for line in output.splitlines():
        if not line.startswith("{"):
            lines.append(line)
            continue
        document = json.loads(line)
        lines += _state(document["state"]) if set(document) == {"state"} else [_event(document)]
    return "\n".join(lines) + "\n"


def _event(event: dict[str, Any]) -> str:
    told = " ".join(f"{key}={_short(value)}" for key, value in sorted(event.items()) if key not in _ENVELOPE)
    return f"{event['at'][11:23]} {event['seq']:>3} {event['event']} {told}".rstrip()


def _state(state: dict[str, Any]) -> list[str]:
    known = [(part, _short(state[part])) for part in _STATE]
    return ["", f"at {state['at'][11:23]}, seq {state['seq']}", *(f"{part}: {value}" for part, value in known)]


def _short(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)


@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda path: path.stem)
def test_it_says_what_was_checked_by_hand(recording: Path) -> None:
    expected = recording.with_suffix(".expected").read_text("utf-8")
    assert transcript(output_of(recording)) == expected


@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda path: path.stem)
def test_it_says_the_same_each_time(recording: Path) -> None:
    assert output_of(recording) == output_of(recording)


@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda path: path.stem)
def test_it_says_where_it_comes_from_and_names_nobody(recording: Path) -> None:
    provenance = recording.with_suffix(".md").read_text("utf-8")
    for part in ("Comes from:", "Shows:", "Worked out:"):
        assert part in provenance
    config = json.loads(recording.read_text("utf-8").splitlines()[0])["config"]
    assert all(re.fullmatch(r"P\d+", name) for name in config["table"]["players"])
    assert set(config) <= {"table", "rules", "sources", "beams", "buttons"}


def test_there_are_recordings_of_both_kinds_of_table() -> None:
    games = {json.loads(path.read_text("utf-8").splitlines()[0])["config"]["table"]["game"] for path in RECORDINGS}
    assert {"club_carrom", "carpetball"} <= games


def write_expected(names: list[str]) -> None:
    """Write the transcripts of these recordings anew."""
    for name in names:
        recording = HERE / f"{name}.jsonl"
        recording.with_suffix(".expected").write_text(transcript(output_of(recording)), "utf-8")
        print(f"written: {recording.with_suffix('.expected')}; look at the difference before you commit it")


if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1] != "--write-expected":
        sys.exit("usage: python tests/test_recordings.py --write-expected NAME …")
    write_expected(sys.argv[2:])
