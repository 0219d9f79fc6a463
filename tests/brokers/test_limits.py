"""A broker whose limit is too low for a table: `pocketbeam doctor` says so."""

import asyncio
from pathlib import Path

import pytest

from appliance.tools.broker import check_broker
from appliance.tools.findings import Verdict
from tests.support.brokers import Settings, mosquitto

pytestmark = pytest.mark.real


@pytest.mark.parametrize(
    ("limit", "verdict", "words"),
    [
        ("max_packet_size 8000", Verdict.WRONG, "it takes no message of 16 kB"),
        ("message_size_limit 20000", Verdict.NOTE, "it takes no message of 64 kB"),
    ],
)
def test_a_limit_that_is_too_low_is_told(limit: str, verdict: Verdict, words: str, tmp_path: Path) -> None:
    with mosquitto(tmp_path, extra=limit) as narrow:
        found = asyncio.run(check_broker(Settings(narrow.port), "t1"))
    assert found[-1].verdict is verdict
    assert found[-1].sentence.startswith(words)
