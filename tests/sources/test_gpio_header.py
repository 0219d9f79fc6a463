"""What stands between the source and the header: each obstacle is one sentence with its remedy."""

import os
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

import pytest

from appliance.sources import header
from appliance.sources.header import HeaderError, find_controller, open_header
from tests.support.pins import Header

NOBODY = 65_534


@contextmanager
def without_rights() -> Iterator[None]:
    """As a user without rights: the superuser may open everything."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


def sentence(devices: Path) -> str:
    with pytest.raises(HeaderError) as error:
        find_controller(devices)
    return str(error.value)


def test_four_obstacles_are_four_sentences_each_with_its_remedy(tmp_path: Path) -> None:
    missing = sentence(tmp_path)
    assert "is this a Raspberry Pi" in missing

    with tempfile.TemporaryDirectory() as directory:
        Path(directory).chmod(0o755)
        Path(directory, "gpiochip0").touch(mode=0)
        with without_rights():
            denied = sentence(Path(directory))
    assert "gpiochip0 may not be opened: add the user of the service to the group gpio" in denied

    (tmp_path / "gpiochip0").write_text("no device at all")
    wrong = sentence(tmp_path)
    assert 'gpiochip0, which is no GPIO controller: kind = "gpio" is for a Raspberry Pi\'s own pins' in wrong

    busy = Header(lambda: 0)
    busy.held = {17: "fan-control"}
    with pytest.raises(HeaderError) as error:
        busy.open().claim(17, "up", lambda *edge: None)
    assert str(error.value) == "GPIO17 is in use by fan-control: stop that, or take another pin"
    assert len({missing, denied, wrong, str(error.value)}) == 4


def test_names_that_only_look_like_a_controller_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "gpiochip0.old").touch()
    (tmp_path / "gpiochip").touch()
    assert "is this a Raspberry Pi" in sentence(tmp_path)


def test_an_unlisted_pin_factory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    for factory in ("mock", "rpigpio", "pigpio", "native"):
        monkeypatch.setenv(header.FACTORY_VARIABLE, factory)
        with pytest.raises(HeaderError) as error:
            open_header()
        assert str(error.value) == (
            f"GPIOZERO_PIN_FACTORY asks for '{factory}', whose edges have no times of the kernel: "
            "unset it, the pins need lgpio"
        )


@pytest.mark.parametrize("missing", ["lgpio", "gpiozero.pins.lgpio"])
def test_a_missing_pin_library_is_named_and_no_other_is_taken(monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    monkeypatch.delenv(header.FACTORY_VARIABLE, raising=False)
    monkeypatch.setitem(sys.modules, "lgpio", ModuleType("lgpio"))
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(HeaderError, match=rf"the pin library {missing} cannot be used .*install pocketbeam with its"):
        open_header()


@pytest.mark.real
def test_the_library_is_loaded_without_a_trace(tmp_path: Path) -> None:
    """It would leave a pipe where it is loaded, and stay in that directory."""
    tmp_path.chmod(0o500)
    lines = (
        "import os, threading; from appliance.sources.header import _library",
        "before = os.getcwd(); lgpio, _ = _library(); assert os.getcwd() == before",
        "assert lgpio._notify_thread.is_alive()",
        "print(len(os.listdir('.')), os.environ.get('LG_WD'))",
    )
    root = Path(__file__).resolve().parents[2]
    temporary = tmp_path.parent / f"{tmp_path.name}-tmp"
    temporary.mkdir()
    environment = {**os.environ, "PYTHONPATH": str(root), "TMPDIR": str(temporary)}
    environment.pop("LG_WD", None)
    ran = subprocess.run(
        [sys.executable, "-c", "\n".join(lines)], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert (ran.stdout, ran.stderr) == ("0 None\n", "")
    assert list(temporary.iterdir()) == []
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o500
