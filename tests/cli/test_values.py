"""What one argument can be."""

from argparse import ArgumentTypeError
from collections.abc import Callable

import pytest

from appliance.cli import values


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("player=1", ("player", 1)),
        ("object=white", ("object", "white")),
        ('names=["Asha","Ben"]', ("names", ["Asha", "Ben"])),
        ("value=true", ("value", True)),
        ("name=a=b", ("name", "a=b")),
        ("name=", ("name", "")),
        ("name=NaN", ("name", "NaN")),
    ],
)
def test_fields_of_a_request_are_json_or_plain_text(text: str, field: tuple[str, object]) -> None:
    assert values.field(text) == field


@pytest.mark.parametrize(
    ("of", "text", "value"),
    [
        (values.host_and_port, "127.0.0.1:1883", ("127.0.0.1", 1883)),
        (values.host_and_port, "[::1]:1883", ("::1", 1883)),
        (values.duration, "90s", 90),
        (values.duration, "2h", 7200),
        (values.speed, "max", None),
        (values.speed, "0.5", 0.5),
        (values.names, "Asha, Élodie", ("Asha", "Élodie")),
    ],
)
def test_what_an_argument_is(of: Callable[[str], object], text: str, value: object) -> None:
    assert of(text) == value


@pytest.mark.parametrize(
    ("of", "text"),
    [
        (values.host_and_port, "localhost"),
        (values.host_and_port, "localhost:0"),
        (values.host_and_port, "mqtt://localhost:1883"),
        (values.host_and_port, "me@localhost:1883"),
        (values.duration, "10"),
        (values.duration, "0s"),
        (values.port, "65536"),
        (values.port, "-1"),
        (values.seconds, "0"),
        (values.seconds, "nan"),
        (values.seconds, "3601"),
        (values.speed, "inf"),
        (values.whole, "1.5"),
        (values.names, "Asha,,Ben"),
        (values.field, "=x"),
    ],
)
def test_what_an_argument_is_not(of: Callable[[str], object], text: str) -> None:
    with pytest.raises(ArgumentTypeError):
        of(text)
