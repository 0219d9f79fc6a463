"""`pocketbeam broker-config` where it cannot do what it is asked: one sentence, and nothing is left behind."""

import os
import subprocess
from pathlib import Path

import pytest

from appliance.cli import main
from appliance.tools.broker_config.certificate import is_name
from appliance.tools.broker_config.configuration import ACCOUNTS, Listeners, access_list, broker_configuration, hashed


@pytest.mark.parametrize(
    ("arguments", "status", "sentence"),
    [
        (["there"], 1, "is there already and is never overwritten: name a new directory"),
        (["file"], 1, "is there already and is never overwritten: name a new directory"),
        (["nowhere/deeper"], 1, "there is no directory"),
        (['a"b'], 1, "holds a character that a broker's configuration cannot hold"),
        (["a\nb"], 1, "holds a character that a broker's configuration cannot hold"),
        (["new", "--name", "a b"], 2, '"a b" is neither a name in a network, such as club.local, nor an address'),
        (["new", "--name", "x,IP:0.0.0.0"], 2, "is neither a name in a network"),
        (["new", "--port", "8883"], 2, "the four ports must differ, and none can be 0"),
        (["new", "--tls-port", "0"], 2, "the four ports must differ, and none can be 0"),
    ],
)
def test_what_cannot_be_is_one_sentence(
    arguments: list[str],
    status: int,
    sentence: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "mosquitto.conf").write_text("mine")
    (tmp_path / "file").touch()
    monkeypatch.chdir(tmp_path)
    assert main(["broker-config", *arguments]) == status
    told = capsys.readouterr()
    assert sentence in told.err
    assert told.err.count("\n") <= 1 + arguments[0].count("\n")
    assert told.out == ""
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "there"]
    assert (tmp_path / "there" / "mosquitto.conf").read_text() == "mine"


def test_without_openssl_it_says_what_to_install_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert main(["broker-config", str(tmp_path / "new")]) == 1
    assert "sudo apt-get install openssl" in capsys.readouterr().err
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("name", "good"),
    [
        ("club.local", True),
        ("192.168.1.4", True),
        ("fd00::1", True),
        ("a", True),
        ("", False),
        ("-a", False),
        ("a..b", False),
        ("a_b", False),
        ("*.local", False),
        ("münchen", False),
        ("x" * 64, False),
        ("a.b\n", False),
    ],
)
def test_names_that_a_certificate_can_be_made_out_for(name: str, good: bool) -> None:
    assert is_name(name) == good


def test_no_account_but_the_tables_may_write_what_a_score_is() -> None:
    for account in ACCOUNTS:
        writes = [right.split()[2] for right in account.rights if right.split()[1] in ("write", "readwrite")]
        allowed = {"pocketbeam/+/request", "homeassistant/#"} if account.name != "appliance" else None
        assert allowed is None or set(writes) <= allowed
    assert access_list().count("\nuser ") == len(ACCOUNTS)


def test_nobody_comes_in_without_an_account_and_scores_are_sent_at_once() -> None:
    lines = broker_configuration(Path("/etc/mosquitto/pocketbeam"), Listeners()).splitlines()
    assert {"allow_anonymous false", "set_tcp_nodelay true", "persistence true"} <= set(lines)


@pytest.mark.real
def test_mosquitto_reads_our_hashes_as_its_own(tmp_path: Path) -> None:
    """Its own program adds an account to a file of ours, and leaves ours as they were."""
    accounts = tmp_path / "accounts"
    accounts.write_text(f"umpire:{hashed('secret', b'0123456789ab')}\n")
    accounts.chmod(0o600)
    before = accounts.read_text()
    subprocess.run(["mosquitto_passwd", "-b", str(accounts), "other", "x"], check=True, capture_output=True, timeout=20)
    assert accounts.read_text().startswith(before)
    assert accounts.read_text().count("\n") == 2
