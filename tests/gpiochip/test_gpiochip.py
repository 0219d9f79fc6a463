"""The daemon on a real gpiochip: a machine of its own whose lines are driven by the kernel's gpio-sim.

The machine is a User-Mode Linux in virtual time (`build-kernel`, `init`, `inside.py`): it is built once into a
cache outside the repository, runs all cases in one go, and what it saw is judged here, a case a test.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.gpiochip.lines import LABEL
from tests.support.passage_runs import SOURCES
from tests.support.passages import BEFORE_US, Case, read_cases

HERE = Path(__file__).parent
RUN_WITHIN_S = 900
PACKAGES = "linux-source make gcc libc6-dev flex bison bc xz-utils busybox-static"
PLACES = ("ne", "nw", "se", "sw")

pytestmark = [pytest.mark.real, pytest.mark.slow, pytest.mark.timeout(2_400)]

Seen = dict[str, Any]


@pytest.fixture(scope="module")
def out_loud(request: pytest.FixtureRequest) -> Any:
    """What takes minutes says why, at once, past pytest's capture."""
    return request.config.pluginmanager.getplugin("capturemanager").global_and_fixture_disabled


@pytest.fixture(scope="module")
def kernel(out_loud: Any) -> str:
    """The program that is the machine; built where the cache has none."""
    with out_loud():
        built = subprocess.run([HERE / "build-kernel"], stdout=subprocess.PIPE, text=True, check=False)
    if built.returncode or shutil.which("busybox") is None:
        pytest.fail(
            "the machine with a simulated gpiochip cannot be had here (build-kernel says above what is in its way); "
            f"it needs: sudo apt-get install {PACKAGES}",
            pytrace=False,
        )
    return built.stdout.strip()


@pytest.fixture(scope="module")
def seen(kernel: str) -> dict[str, Seen]:
    """What was seen, by case. All of it comes from one run of the machine."""
    lines = _run(kernel).splitlines()
    results = [json.loads(line.removeprefix("RESULT ")) for line in lines if line.startswith("RESULT ")]
    said = "\n".join(line for line in lines if not line.startswith("RESULT "))
    assert "EXIT 0" in lines, f"the machine did not come to its end:\n{said}"
    broken = {result["case"]: result["error"] for result in results if "error" in result}
    assert not broken, f"{broken}\n{said}"
    return {result["case"]: result for result in results}


def _run(kernel: str) -> str:
    """Let the machine run; everything on its console."""
    command = [
        kernel,
        *("mem=512M", "rootfstype=hostfs", "rootflags=/", "ro", "quiet", "con=null", "con0=fd:0,fd:1"),
        *("time-travel=inf-cpu", f"init={HERE / 'init'}", f"POCKETBEAM_PYTHON={sys.executable}"),
    ]
    machine = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        console, _ = machine.communicate(timeout=RUN_WITHIN_S)
    except subprocess.TimeoutExpired:
        os.killpg(machine.pid, signal.SIGKILL)
        console, _ = machine.communicate()
        pytest.fail(f"the machine was still running after {RUN_WITHIN_S} s:\n{console[-4_000:]}", pytrace=False)
    return console


# -- whole strokes ---------------------------------------------------------------------------------------------


def test_a_stroke_at_each_pocket_is_scored_a_miss_passes_the_turn_and_undo_takes_it_back(seen: Any) -> None:
    case = seen["strokes_carrom"]
    assert case["scored"] == list(PLACES)
    assert case["counts"] == dict.fromkeys(PLACES, 1)
    assert (case["strokes"], case["pocketed"], case["turns"]) == (5, 4, [2, 1])
    assert case["lamps"] == [["turn-1"], ["turn-2"], ["turn-1"]]
    # Four coins, four presses of a button and one of another, and the edges of the light that came on at first.
    assert case["counters"]["edges"] == 4 + 2 * (4 + 4 + 1)
    assert max(case["shown_after_ms"]) < 5, "a clearing edge is shown at once"


def test_a_throw_into_each_pit_is_scored(seen: Any) -> None:
    case = seen["strokes_carpetball"]
    assert (case["phase"], case["throws"]) == ("round", 2)
    assert case["counts"] == {"north": 2, "south": 2}
    assert case["scored"] == ["north", "north", "south", "south"]
    out = [10 - sum(in_play.values()) for in_play in case["in_play"]]
    assert out == [1, 2], "one of the two balls in each pit is the cue ball"


def test_short_and_long_presses_and_what_is_none(seen: Any) -> None:
    case = seen["presses"]
    # done; undo; redo by a long press; 8 ms are none; 8 s are a stuck button.
    assert case["turns"] == [2, 1, 2, 2, 2]
    assert case["faults"] == ["undo"]


# -- widths ----------------------------------------------------------------------------------------------------


def test_a_pulse_of_1_ms_is_a_glitch_and_one_of_2_ms_a_passage(seen: Any) -> None:
    rows = {row["ms"]: row for row in seen["pulse_widths"]["rows"]}
    assert rows[1] == {"ms": 1, "glitches": 20, "near_misses": 20}
    assert rows[2] == {"ms": 2, "ne": 20}
    for ms, row in rows.items():
        assert row.get("ne", 0) == (20 if ms > 1.5 else 0), row
        assert row.get("near_misses", 0) == (20 if 0.3 <= ms < 1.5 else 0), row


def test_every_source_counts_the_same_widths_alike(seen: Any, out_loud: Any) -> None:
    chip = {row["ms"]: row for row in seen["pulse_widths"]["rows"]}
    table = {ms: {"gpiochip": (chip[ms].get("ne", 0), chip[ms].get("glitches", 0))} for ms in chip}
    for ms, columns in table.items():
        width_us = round(ms * 1_000)
        begins = [BEFORE_US + turn * (width_us + 100_000) for turn in range(20)]
        case = Case(f"{ms} ms", "club_carrom", tuple(("ne", at, at + width_us) for at in begins), ())
        for name, run in SOURCES.items():
            counts = run(case)
            columns[name] = (counts.get("ne", 0), counts.get("glitches", 0))
    with out_loud():
        print("\n20 pulses of each width: passages / glitches")
        names = [*SOURCES, "gpiochip"]
        print("  ".join(["   ms", *(f"{name:>10}" for name in names)]))
        for ms, columns in table.items():
            print("  ".join([f"{ms:5}", *(f"{'{} / {}'.format(*columns[name]):>10}" for name in names)]))
    for ms, columns in table.items():
        assert len(set(columns.values())) == 1, f"{ms} ms: {columns}"


@pytest.mark.parametrize("case", read_cases(), ids=lambda case: case.name)
def test_passages_are_counted_as_the_table_says(seen: Any, case: Case) -> None:
    assert seen["passages_table"]["seen"][case.name] == dict(case.counted)


# -- what is no coin -------------------------------------------------------------------------------------------


def test_lamps_at_100_hz_on_every_line_score_nothing_and_hide_no_coin(seen: Any) -> None:
    case = seen["flicker"]
    assert case["lines"] == 9
    assert case["edges"] == 2 * 1_000 * 9 + 4
    assert case["counts"] == {"glitches": 4_000, "near_misses": 4_000}
    assert (case["scored"], case["changed"]) == ([], False)
    assert case["then"] == ["se"]
    assert case["counters"]["edges_dropped"] == 0


@pytest.mark.parametrize("ends", ["clear", "blocked"])
@pytest.mark.parametrize("burst", ["5 ms", "at once"])
def test_200_edges_score_nothing_and_leave_the_true_level(seen: Any, burst: str, ends: str) -> None:
    """At once, the kernel keeps the last 16 of a line; the others are lost without a word."""
    case = seen["bursts"][f"{burst} ending {ends}"]
    count = 201 if ends == "blocked" else 200
    assert case["edges"] == count if burst == "5 ms" else 0 < case["edges"] < count
    assert case["level_right_within_s"] <= 0.3
    assert case["out"] is (ends == "blocked")
    assert case["back_within_s"] < (1.5 if ends == "blocked" else 0.1)
    assert (case["scored_by_the_burst"], case["scored_by_the_coin"]) == (0, 1)


def test_two_lines_within_20_us_are_both_heard_a_thousand_times(seen: Any) -> None:
    case = seen["two_lines"]
    assert case["counts"] == {"ne": 1_000, "sw": 1_000}
    assert (case["edges"], case["levels_repaired"]) == (4_000, 0)


def test_a_loop_that_is_held_up_loses_nothing(seen: Any) -> None:
    case = seen["held_up"]
    assert case["counts"] == {"ne": 13, "nw": 13, "se": 12, "sw": 12}
    assert (case["counters"]["edges_dropped"], case["counters"]["levels_repaired"]) == (0, 0)


# -- what is out -----------------------------------------------------------------------------------------------


def test_a_beam_that_is_blocked_at_the_start_is_a_fault_and_the_others_score(seen: Any) -> None:
    case = seen["blocked_at_start"]
    assert case["health"] == "blocked"
    assert case["since_s"] >= 5
    assert case["lamps"] == ["turn-1", "fault"]
    assert case["others"] == ["ne", "nw", "sw"]
    assert case["back_within_s"] < 1.5
    assert (case["then"], case["lamps_then"]) == (["se"], ["turn-1"])


def test_a_busy_pin_is_named_with_its_owner_and_had_when_it_is_free(seen: Any) -> None:
    case = seen["busy_pin"]
    sentence = "GPIO23 is in use by fan-control: stop that, or take another pin"
    assert case["beam"] == ["unknown", sentence]
    assert case["source"] == ["ok", sentence, 1]
    assert case["scored"] == ["ne"]
    assert case["had_within_s"] <= 10
    assert case["then"] == ["sw"]


def test_a_second_program_is_refused_or_told_whose_pin_it_is_and_a_killed_one_leaves_its_lines(seen: Any) -> None:
    case = seen["two_programs"]
    status, refusal, after_s = case["again"]
    assert status == 1
    assert "is already run by process" in refusal
    assert after_s < 2
    status, busy = case["rival"]
    assert status == 0, "it goes on without that pin, and ends when it is told to"
    assert busy.endswith("GPIO17 is in use by pocketbeam: stop that, or take another pin")
    assert case["reclaimed_within_s"] < 2
    assert case["ended"] == 0


def test_a_controller_that_goes_is_told_and_found_again_under_another_number(seen: Any) -> None:
    case = seen["gone_and_back"]
    before, after = case["names"]
    assert before != after, f"{LABEL} should have come back as another chip"
    assert case["lost_within_s"] <= 0.5
    assert case["bytes_on_stderr"] < 500, "one sentence, and no flood from the library"
    state, reason = case["source"]
    assert state == "lost"
    assert "the controller of the header's pins is gone" in reason
    assert case["beams"] == ["unknown"]
    assert case["events"] == ["source_back", "source_lost", "source_back"]
    assert case["back_within_s"] <= 10
    assert (case["scored_before"], case["scored_after"]) == (["ne"], list(PLACES))
    assert case["lamps"] == ["turn-1"]
