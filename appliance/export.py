"""`pocketbeam export`: what a table keeps, as text that other programs read."""

import json
from pathlib import Path
from typing import TextIO

from appliance.grammar import there_are
from appliance.history import latest, matches
from appliance.journal import JournalError
from appliance.table.view import observation_lines

WELL, BAD_INPUT = 0, 2


def export_observations(directory: Path, match_id: str | None, out: TextIO, err: TextIO) -> int:
    """Write a match (the latest, or `match_id`) as observation lines; the exit status.

    The lines are its set-up and its effective history: corrections applied, what was undone left out, assumed
    misses as empty strokes. `pocketbeam score` reads them and comes to the same state.
    """
    try:
        if match_id is None:
            state = latest(directory)
            found = None if state is None else state.match
            known = "no match has begun"
        else:
            every = matches(directory)
            found = every.get(match_id)
            known = f"there is no match {match_id}; {there_are(list(every))}"
    except JournalError as error:
        print(f"pocketbeam: {error}", file=err)
        return BAD_INPUT
    if found is None:
        print(f"pocketbeam: {known}", file=err)
        return BAD_INPUT
    for line in observation_lines(found):
        print(json.dumps(line, ensure_ascii=False), file=out)
    return WELL
