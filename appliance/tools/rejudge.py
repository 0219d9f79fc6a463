"""`pocketbeam rejudge`: what a match that was played would have been with other settings.

The match's edges and requests, as the journal keeps them, run through the whole appliance once more with the settings
of a file, and what they come to is laid beside what counted. Nothing is changed: whoever agrees with the new account
corrects the match by hand. Requests that named a passage or a question which is another one now are told as refused.

A match may reach over several starts of the program and of the host: each of them is made once more, with the engine's
own way to recover. What the journal does not hold cannot be judged: edges that are too old to be kept, noise of which
there is a sum alone (it is noise again), what a source lost, and what time alone would have brought between the last
thing that was kept before a start and that start.
"""

import io
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any, TextIO

from appliance.config import Settings
from appliance.grammar import how_many, there_are, times
from appliance.history import matches_of
from appliance.journal import JournalReader
from appliance.mqtt.topics import line
from appliance.replay import state_after
from appliance.table.model import Match
from appliance.table.view import observation_lines, state_body
from appliance.tools.record import RecordError, match_lines
from appliance.tools.recording import Recorder

Json = Mapping[str, Any]


def rejudge(reader: JournalReader, settings: Settings, match_id: str | None, out: TextIO) -> bool:
    """Print the difference that the settings would have made to a match (the latest, or `match_id`).

    Whether there is one. RecordError, one sentence, where the match cannot be judged anew.
    """
    states = matches_of(reader)
    wanted = match_id or next(reversed(states), None)
    if wanted is None:
        raise RecordError("no match has begun: there is nothing to judge")
    if wanted not in states:
        raise RecordError(f"there is no match {wanted}; {there_are(list(states))}")
    before = states[wanted]
    refusals = io.StringIO()
    recording = match_lines(reader, settings, before)
    after = state_after((text.encode() for text in recording.lines), refusals)
    if after is None:
        raise RecordError(refusals.getvalue().strip())
    changes = differences(observed(before.match), observed(after.match))
    told = recording.recorder
    print(f"Match {wanted}, {how_many(told.edges, 'edge')}, judged with {settings.file or 'other settings'}:", file=out)
    for text in changes or ["Nothing would have been otherwise."]:
        print(text, file=out)
    people = {"table": settings.table.id, "players": state_body(before)["players"]}
    print(f"It came to:       {line({**state_body(before), **people})}", file=out)
    print(f"It would come to: {line({**state_body(after), **people})}", file=out)
    for text in refusals.getvalue().splitlines():
        print(text.replace("pocketbeam: ", "Not taken this time, "), file=out)
    for text in _reservations(told):
        print(text, file=out)
    print("Nothing was changed.", file=out)
    return bool(changes)


def _reservations(told: Recorder) -> list[str]:
    """What the new account rests on besides edges."""
    found: list[str] = []
    if told.starts:
        found.append(f"In it the program started anew, {times(told.starts)}; the machine, {times(told.reboots)}.")
    found += (
        f"{source}, channel {channel}: {how_many(edges, 'change is', 'changes are')} kept as a sum; noise again, "
        "whatever the settings."
        for (source, channel), edges in sorted(told.noise.items())
    )
    if told.lost:
        found.append(f"A source had lost changes, {times(told.lost)}: what they were is not known.")
    return found


def observed(match: Match) -> list[str]:
    """What counted in a match, one text each, in order."""
    return [_words(observation) for observation in observation_lines(match)[1:]]


def differences(before: Sequence[str], after: Sequence[str]) -> list[str]:
    """What stands in one account and not in the other, each with its place in its own."""
    found: list[str] = []
    for kind, first, last, new_first, new_last in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if kind != "equal":
            found += (f"  was       {index + 1}: {before[index]}" for index in range(first, last))
            found += (f"  would be  {index + 1}: {after[index]}" for index in range(new_first, new_last))
    return found


def _words(observation: Json) -> str:
    """An observation in words; inside a stroke there is no order."""
    parts = [str(observation["type"]).replace("_", " ")]
    for name, value in observation.items():
        if name == "type" or value in (False, 0, [], None):
            continue
        said = ", ".join(sorted(map(str, value))) if isinstance(value, list | tuple) else str(value)
        parts.append(f"{name.replace('_', ' ')} {said}")
    return "; ".join(parts)
