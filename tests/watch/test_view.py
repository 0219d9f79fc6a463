"""What somebody who watches a table sees, from the documents that it publishes."""

from typing import Any

from appliance.tools.view import WIDTHS_KEPT, View

AT = "2026-03-01T19:30:05.250Z"


def beam(what: str, active: bool, **more: Any) -> dict[str, Any]:
    return {
        "beam": "ne",
        "at": AT,
        "what": what,
        "active": active,
        "passage_id": None,
        "dwell_us": None,
        "gap_us": None,
        **more,
    }


def health(state: str = "ok", reason: str | None = None, **beam: int) -> dict[str, Any]:
    counted = {"passages": 4, "glitches": 1, "near_misses": 0, **beam}
    source = {"state": "ok", "reason": None}
    beams = {"ne": {"state": state, "reason": reason, **counted}}
    return {"valid_for_s": 15.0, "sources": {"board": source}, "beams": beams}


def seen(view: View, now_s: float = 0.0) -> str:
    return "\n".join(view.screen(now_s, 200, 40))


def row(view: View, name: str) -> list[str]:
    return next(line.split() for line in view.screen(0.0, 200, 40) if line.startswith(name))


def test_each_change_is_a_line_with_its_time_and_width() -> None:
    view = View("club-1")
    assert view.hear_beam(beam("level", True)) == ["19:30:05.250 ne broken"]
    assert view.hear_beam(beam("level", True)) == []
    assert view.hear_beam(beam("level", False, dwell_us=34_600)) == ["19:30:05.250 ne clear 34.6 ms"]
    told = view.hear_beam(beam("passage", False, dwell_us=34_600, passage_id="p3"))
    assert told == ["19:30:05.250 ne passage p3 34.6 ms"]
    assert view.hear_beam(beam("glitch", False, dwell_us=200)) == ["19:30:05.250 ne glitch 0.2 ms"]


def test_the_screen_shows_now_counters_and_the_newest_widths_first() -> None:
    view = View("club-1")
    view.hear_health(health(), 0.0)
    assert row(view, "ne") == ["ne", "?", "4", "1", "0", "ok"]
    for n in range(WIDTHS_KEPT + 2):
        view.hear_beam(beam("level", True))
        view.hear_beam(beam("level", False, dwell_us=1_000 * n))
    widths = [f"{n}.0" for n in range(WIDTHS_KEPT + 1, 1, -1)]
    assert row(view, "ne") == ["ne", "clear", "4", "1", "0", "ok", *widths]
    view.hear_beam(beam("level", True))
    assert "BROKEN" in row(view, "ne")


def test_counters_go_on_between_two_words_on_health() -> None:
    view = View("club-1")
    view.hear_health(health(), 0.0)
    view.hear_beam(beam("passage", False, passage_id="p5"))
    view.hear_beam(beam("glitch", False))
    assert row(view, "ne")[2:4] == ["5", "2"]
    view.hear_health(health(passages=5, glitches=2), 5.0)
    assert row(view, "ne")[2:4] == ["5", "2"]


def test_what_is_wrong_is_told_once_and_stays_on_the_screen() -> None:
    view = View("club-1")
    assert view.hear_health(health(), 0.0) == ["source board: ok", "ne: ok"]
    assert view.hear_health(health(), 5.0) == []
    assert view.hear_health(health("polarity_suspect", "Swap it."), 10.0) == ["ne: polarity suspect: Swap it."]
    assert "ne: Swap it." in seen(view, 10.0)


def test_old_health_is_said_to_be_old() -> None:
    view = View("club-1")
    view.hear_health(health(), 0.0)
    assert "nothing has been heard" not in seen(view, 15.0)
    assert "nothing has been heard of its health for 16 s" in seen(view, 16.0)


def test_the_line_and_whether_the_table_is_there() -> None:
    view = View("club-1")
    assert view.hear_text("availability", "online") == ["the table is online"]
    assert view.hear_text("line", "Asha 1 – 0 Ben") == ["Asha 1 – 0 Ben"]
    assert view.hear_text("line", "Asha 1 – 0 Ben") == []
    assert seen(view).startswith("club-1   online   Asha 1 – 0 Ben")


def test_it_fits_a_small_terminal() -> None:
    view = View("club-1", line="x" * 300)
    for n in range(30):
        view.wire(f"beam-{n}")
    screen = view.screen(0.0, 40, 12)
    assert len(screen) == 12
    assert all(len(line) <= 40 for line in screen)
