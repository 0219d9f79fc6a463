"""What is wrong with a message fails the test in whose course a table has said it, whoever listened."""

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from tests.support import mqtt_examples as examples
from tests.support.processes import Program

pytestmark = pytest.mark.real


def said(document: dict[str, Any]) -> str:
    return json.dumps(["pocketbeam/club-1/state", json.dumps(document)]) + "\n"


def test_a_message_that_is_not_in_the_contract_fails_the_test_that_started_the_program(tmp_path: Path) -> None:
    running = Program(tmp_path, "run", "--config", "none")
    assert running.wait() == 2
    running.said.write_text(said({**examples.BUSY, "surprise": 1}))
    with pytest.raises(ValidationError, match="surprise"):
        running.kill()


def test_half_a_line_of_a_killed_program_is_no_fault(tmp_path: Path) -> None:
    running = Program(tmp_path, "run", "--config", "none")
    assert running.wait() == 2
    running.said.write_text(said(examples.BUSY) + said(examples.BUSY)[:40])
    running.kill()
