"""The program with one ear more: `overheard FILE ARGUMENTS` runs `pocketbeam ARGUMENTS` and writes each message down.

Nothing is judged here, so that the program stays as quick as it is: whoever started it looks at the file when it
has ended (`check`), and so at every message of a real table, also those to which nobody in the test listened.
"""

import json
import os
import sys
from pathlib import Path

from appliance import cli
from appliance.mqtt.client import MqttLink
from appliance.mqtt.topics import Message


def check(file: Path) -> None:
    """Everything in the file is what the contract says."""
    from tests.support.validated import validate

    if file.exists():
        # A program that was killed may have left half a line.
        whole, _, _ = file.read_bytes().rpartition(b"\n")
        for line in whole.splitlines():
            validate(*json.loads(line))


def main(file: str, arguments: list[str]) -> int:
    """The program's exit status."""
    out = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    publish = MqttLink.publish

    def overheard(self: MqttLink, message: Message) -> None:
        os.write(out, json.dumps([message.topic, message.payload or ""]).encode() + b"\n")
        publish(self, message)

    MqttLink.publish = overheard  # type: ignore[method-assign]
    return cli.main(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
