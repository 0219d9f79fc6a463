"""`pocketbeam status`: what a table's journal holds, in a few lines."""

from pathlib import Path

from appliance.evidence import sums
from appliance.history import latest_of
from appliance.journal import JournalError, read
from appliance.mqtt.topics import line
from appliance.table.view import state_body


def status_text(directory: Path) -> str:
    """The match, the standing and what is open. Raises OSError with a sentence where there is no journal."""
    try:
        with read(directory) as reader:
            state, noise = latest_of(reader.recovered().records), sums(reader.stretches())
    except JournalError as error:
        raise OSError(str(error)) from error
    if state is None:
        return "No match has begun."
    body = state_body(state)
    game = body["rules"]["game"].replace("_", " ")
    told = [
        f"Match {body['match_id']}, {game}, accepted inputs: {body['seq']}",
        line({**body, "table": directory.name}),
    ]
    if body["stroke"] is not None:
        told.append(f"Stroke {body['stroke']['number']} is open, {len(body['stroke']['fallen'])} fallen")
    if body["pending"]:
        told.append(f"Waiting to be judged: {len(body['pending'])}")
    told += [f"Open question {each['id']}: {each['kind']} (stroke {each['stroke']})" for each in body["questions"]]
    told += noise
    return "\n".join(told)
