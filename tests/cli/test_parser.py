"""Each misuse is one sentence with what would be right, and exit status 2; help is there for every command."""

import pytest

from appliance import cli
from appliance.cli.commands import COMMANDS

NAMES = [command.name for command in COMMANDS]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "which command?"),
        (["rnu"], 'no command "rnu"; did you mean "run"?'),
        (["--log-level", "debug", "scroe"], 'did you mean "score"?'),
        (["xyzzy"], "it can be demo, sim, run"),
        (["run"], "missing: --config"),
        (["run", "--confg", "x"], "--config"),
        (["demo", "--onec"], 'did you mean "--once"?'),
        (["demo", "--on"], 'no option --on; did you mean "--once"?'),
        (["demo", "--game", "carompetball"], 'did you mean "carpetball"?'),
        (["demo", "--seed", "x"], '"x" is not a whole number'),
        (["demo", "--speed", "0"], '"0" is neither'),
        (["demo", "--speed", "nan"], '"nan" is neither'),
        (["demo", "--http-port", "65536"], '"65536" is not a port'),
        (["demo", "--broker", "localhost"], "HOST:PORT"),
        (["demo", "--players", "Asha,Asha"], "name of their own"),
        (["demo", "--players", "Asha,"], "1 to 40"),
        (["demo", "now"], 'anything with "now"'),
        (["score"], "missing: GAME"),
        (["score", "clubcarrom"], 'did you mean "club_carrom"?'),
        (["score", "club_carrom", "a", "b"], '"b"'),
        (["score", "club_carrom", "/nowhere"], "/nowhere cannot be read: no such file or directory"),
        (["replay", "/nowhere"], "/nowhere cannot be read"),
        (["check-config"], "at least one"),
        (["check-config", "/nowhere"], "/nowhere: cannot be read"),
        (["status", "--state-dir", "/nowhere"], "no directory /nowhere"),
        (["export", "--state-dir", "/nowhere"], "missing: --observations"),
        (["export", "--observations", "--state-dir", "/nowhere"], "no directory /nowhere"),
        (["send", "--broker", "h:1", "--table", "t"], "missing: COMMAND"),
        (["send", "--broker", "h:1", "--table", "t", "undo", "x"], '"x" is not key=value'),
        (["--log-level", "loud", "schema"], "it can be debug, info, warning, error"),
    ],
)
def test_wrong_use_is_one_sentence(arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("pocketbeam: ")
    assert err.count("\n") == 1
    assert says in err


def test_help_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        cli.main(["--help"])
    assert end.value.code == 0
    told = capsys.readouterr().out
    assert [name for name in NAMES if f"\n    {name} " not in told] == []


@pytest.mark.parametrize("command", NAMES)
def test_each_command_says_what_it_takes(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        cli.main([command, "--help"])
    assert end.value.code == 0
    assert capsys.readouterr().out.startswith(f"usage: pocketbeam {command} ")
