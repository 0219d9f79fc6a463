"""The overlay in a real browser: nothing around the bar, everything inside the picture, no old score for a new one."""

import json
import struct
import zlib
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.web.conftest import Broker
from tests.web.documents import NAMES, carpetball, carrom, event, money, state
from tests.web.test_board import FLAGS, LIVE, STALE

pytestmark = pytest.mark.real

LONG = ("Maximiliana-Alexandra von Hohenlohe-Sch.", "Wolfeschlegelsteinhausenbergerdorff Jun.")
RTL = ("שלומית בן־דוד־אברהמי הראשונה", "عبد الرحمن بن عبد العزيز آل سعود")
TO_COVER = {"turn": {"player": 2, "side": "B", "must_cover": True}, "queen": {"status": "uncovered", "side": "B"}}
STANDINGS = [
    state(carrom(**TO_COVER), LONG),
    state(carrom("new_carrom"), (*LONG, *RTL)),
    state(money(), (*RTL, *LONG)),
    state(carpetball(turn={"end": "south", "final_throw": True}), (*LONG, *RTL)),
]
OUTSIDE = """[...document.querySelectorAll('.bar, .bar *, .line, #news')].filter((one) => {
  const box = one.getBoundingClientRect();
  const unseen = getComputedStyle(one).position === 'absolute' || box.width === 0;
  return !unseen && (box.left < 0 || box.top < 0 || box.right > innerWidth || box.bottom > innerHeight);
}).map((one) => one.className || one.id || one.tagName)"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def overlay(browser: Browser, broker: Broker, pages: str) -> Iterator[tuple[Page, Broker, str]]:
    page = browser.new_page(viewport={"width": 1280, "height": 180})
    yield page, broker, f"{pages}/overlay.html"
    page.close()


def show(broker: Broker, document: dict[str, Any]) -> None:
    broker.publish("pocketbeam/t1/availability", "online")
    broker.publish("pocketbeam/t1/state", json.dumps(document))


def first_pixel(png: bytes) -> tuple[int, ...]:
    """Red, green, blue, alpha of the upper left corner; the first pixel is the same in every filter of PNG."""
    depth, kind = png[24], png[25]
    assert (depth, kind) == (8, 6), "eight bits a channel, with alpha"
    data, at = b"", 8
    while at < len(png):
        length, name = struct.unpack(">I4s", png[at : at + 8])
        data += png[at + 8 : at + 8 + length] if name == b"IDAT" else b""
        at += length + 12
    return tuple(zlib.decompress(data)[1:5])


def test_the_bar_is_all_that_is_not_transparent_and_it_goes_grey_when_it_is_old(
    overlay: tuple[Page, Broker, str],
) -> None:
    page, broker, address = overlay
    show(broker, state(carrom()))
    page.goto(address)
    page.wait_for_selector(LIVE)
    expect(page.locator('.panel[data-key="A"] .digits')).to_have_text("12")
    expect(page.locator('.panel[data-key="B"] .digits')).to_have_text("9")
    assert first_pixel(page.screenshot(omit_background=True))[3] == 0
    expect(page.locator("#status")).to_be_hidden()

    broker.publish("pocketbeam/t1/event", json.dumps(event("queen_covered", "e1", player=1)), retain=False)
    expect(page.locator("#news")).to_have_text("Asha: queen covered")

    broker.publish("pocketbeam/t1/availability", "offline")
    page.wait_for_selector(STALE)
    expect(page.locator("#status")).to_contain_text("the table is off")
    expect(page.locator("#status")).to_be_visible()


def test_every_game_fits_with_the_longest_names(overlay: tuple[Page, Broker, str]) -> None:
    page, broker, address = overlay
    show(broker, STANDINGS[-1])
    page.goto(address)
    for width in (1920, 800):
        page.set_viewport_size({"width": width, "height": width // 6})
        for document in STANDINGS:
            show(broker, document)
            expect(page.locator("body")).to_have_attribute("data-game", document["rules"]["game"])
            assert page.evaluate(OUTSIDE) == [], (width, document["rules"]["game"])
    show(broker, state(money(match_winners=[2], phase="match_over", turn=None), NAMES))
    expect(page.locator('.line[data-kind="result"]')).to_have_text("Ben wins the game")
    expect(page.locator('.line[data-kind="result"]')).to_be_visible()
