"""A button that could never do anything but be refused is said to be wrong before it is built."""

from typing import Any

import pytest

from appliance.config import ConfigurationError, from_document

TABLE = {"id": "t1", "game": "club_carrom", "players": ["Asha", "Ben"]}


def problems(button: dict[str, Any]) -> list[tuple[str, str]]:
    document = {
        "table": TABLE,
        "sources": [{"id": "board", "kind": "serial", "port": "/dev/none"}],
        "buttons": [{"id": "b", "source": "board", "channel": 8, **button}],
    }
    try:
        from_document(document)
    except ConfigurationError as error:
        return [(problem.key_path, problem.sentence) for problem in error.problems]
    return []


@pytest.mark.parametrize(
    ("button", "key", "says"),
    [
        ({"action": "jumped", "objects": []}, "objects", "at least one"),
        ({"action": "new_match", "players": ["Asha"]}, "players", "two players"),
        ({"action": "new_match", "players": ["Asha", "Asha"]}, "players", "twice"),
        ({"action": "players", "swap": [2, 2]}, "swap", "two players"),
        ({"action": "done", "player": 1, "long": {"action": "jumped", "objects": []}}, "long.objects", "at least one"),
    ],
)
def test_what_would_always_be_refused(button: dict[str, Any], key: str, says: str) -> None:
    ((where, sentence),) = problems(button)
    assert where == f"buttons[0].{key}"
    assert says in sentence


@pytest.mark.parametrize(
    "button",
    [
        {"action": "stroke", "pocketed": []},
        {"action": "jumped", "objects": ["striker"]},
        {"action": "new_match", "players": ["Cem", "Dora"]},
        {"action": "players", "swap": [2, 1]},
    ],
)
def test_what_means_something_is_well(button: dict[str, Any]) -> None:
    assert problems(button) == []
