"""`pocketbeam score`: rulings for anybody, one JSON observation a line in, one JSON answer a line out.

The history is a list of states, so undo is one step back at any depth, across boards too. A refusal changes
nothing and is not part of the history. A line that cannot be read ends the run: all earlier answers have been
written by then, and one sentence says which line and which field it was.
"""

import json
from collections.abc import Iterable, Mapping
from typing import TextIO

from appliance import rules
from appliance.jsonl import numbered, read_object
from appliance.rules import BadInput, GameState, Refusal, Undo

OK = 0
BAD_INPUT = 2
_NOTHING_TO_UNDO = Refusal("nothing_to_undo", "no observation has been accepted that could be taken back")


def score(game: str, lines: Iterable[bytes], out: TextIO, err: TextIO) -> int:
    """Answer every line on `out`, flushed at once; return the exit status (2 and a sentence on `err`: bad input).

    Empty lines are passed over, but counted.
    """
    try:
        history = [rules.start(rules.parse_setup(game, {"type": "setup"}))]
    except BadInput as error:
        err.write(f"pocketbeam score: {error.message}.\n")
        return BAD_INPUT
    first = True
    for number, line in numbered(lines):
        try:
            value = read_object(line)
            if first and value.get("type") == "setup":
                history = [rules.start(rules.parse_setup(game, value))]
                answer = _answer(history[-1], [{"event": "match_started", "game": game}])
            else:
                answer = _observed(game, history, value)
        except BadInput as error:
            err.write(f"pocketbeam score: line {number}, {error.field}: {error.message}.\n")
            return BAD_INPUT
        first = False
        out.write(json.dumps(answer) + "\n")
        out.flush()
    return OK


def _observed(game: str, history: list[GameState], value: Mapping[str, object]) -> dict[str, object]:
    """Answer one observation, and put the state that follows on top of the history."""
    if value.get("type") == "setup":
        raise BadInput("type", "a setup can only be the first line")
    observation = rules.parse_observation(game, value)
    if isinstance(observation, Undo):
        if len(history) == 1:
            return _refused(history[-1], _NOTHING_TO_UNDO)
        history.pop()
        return _answer(history[-1], [{"event": "undone"}])
    result = rules.apply(history[-1], observation)
    if isinstance(result, Refusal):
        return _refused(history[-1], result)
    state, ruling = result
    history.append(state)
    return _answer(
        state,
        [event.document() for event in ruling.events],
        [instruction.document() for instruction in ruling.instructions],
    )


def _answer(
    state: GameState, events: list[dict[str, object]], instructions: list[dict[str, object]] | None = None
) -> dict[str, object]:
    return {"state": rules.document(state), "events": events, "instructions": instructions or []}


def _refused(state: GameState, refusal: Refusal) -> dict[str, object]:
    return {**_answer(state, []), "refused": {"code": refusal.code, "message": refusal.message}}
