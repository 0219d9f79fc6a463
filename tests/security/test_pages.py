"""The board page with a broker that has accounts and TLS, in a real browser, and with names that look like markup."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from appliance.config import Tls
from appliance.web.server import WebServer
from tests.security.hostile import NAMES
from tests.security.lan import Lan, lan
from tests.support.brokers import until
from tests.support.processes import program, ran
from tests.web.conftest import LoopThread

pytestmark = pytest.mark.real

LIVE = 'body[data-live="true"]'
WAIT_MS = 30_000
PLAYERS = 4


@pytest.fixture(scope="module")
def broker() -> Iterator[Lan]:
    with lan() as running:
        yield running


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=flags)
        yield browser
        browser.close()


@pytest.fixture
def beside() -> Iterator[LoopThread]:
    loop = LoopThread()
    yield loop
    loop.close()


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"password_file": Path("/dev/null")}, "the broker refuses this page"),
        ({"tls": Tls()}, "the broker cannot be trusted"),
        ({"tls": None}, "the broker is away"),
        ({"port": 1}, "the broker is away"),
    ],
    ids=["wrong password", "unknown authority", "no TLS", "nobody there"],
)
def test_a_page_says_why_it_shows_nothing(
    broker: Lan, browser: Browser, beside: LoopThread, changes: dict[str, Any], reason: str
) -> None:
    settings = broker.settings("appliance").model_copy(update=changes)
    server = WebServer("127.0.0.1", 0, settings, "hall")
    port = beside.run(server.start())
    page = browser.new_context().new_page()
    try:
        page.goto(f"http://127.0.0.1:{port}/")
        expect(page.locator("#status")).to_have_text(f"Waiting for the table: {reason}", timeout=WAIT_MS)
    finally:
        page.context.close()
        beside.run(server.stop())


def table(directory: Path, broker: Lan, account: str = "appliance") -> Path:
    """A table that is scored by hand, with pages; at the broker as `account`."""
    file = directory / "hall.toml"
    players = json.dumps([f"Player {number}" for number in range(1, PLAYERS + 1)])
    file.write_text(
        f'[table]\nid = "hall"\ngame = "money_carrom"\nplayers = {players}\nstate_dir = "state"\n'
        f'[mqtt]\nhost = "localhost"\nport = {broker.ports.tls}\nusername = "{account}"\n'
        f'password_file = "{broker.directory}/{account}.password"\ntls = {{ ca = "{broker.directory}/ca.crt" }}\n'
        '[web]\nlisten = "127.0.0.1:0"\n',
        encoding="utf-8",
    )
    return file


async def rename(broker: Lan, names: list[str]) -> None:
    """As an umpire does it."""
    async with broker.client("umpire", "pocketbeam/hall/response") as umpire:
        await umpire.publish("pocketbeam/hall/request", json.dumps({"command": "players", "names": names}))
        (answer,) = await umpire.wait_for(lambda heard: heard.payloads("pocketbeam/hall/response"), 20.0)
        assert json.loads(answer)["ok"], answer


def test_the_page_is_live_over_tls_and_no_name_becomes_markup(
    broker: Lan, browser: Browser, beside: LoopThread, tmp_path: Path
) -> None:
    taken = [name.name for name in NAMES if name.taken]
    rounds = [taken[at : at + PLAYERS] for at in range(0, len(taken), PLAYERS)]
    with program(tmp_path, "run", "--config", str(table(tmp_path, broker))) as running:
        beside.run(until(lambda: "pages for hall at " in running.err, 30.0))
        address = re.search(r"http://127\.0\.0\.1:\d+/", running.err)
        assert address
        page = browser.new_context().new_page()
        page.set_default_timeout(WAIT_MS)
        complaints: list[str] = []
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: complaints.append(dialog.message))
        page.goto(address[0])
        page.wait_for_selector(LIVE)
        for names in rounds:
            names = [*names, *(f"Player {number}" for number in range(len(names) + 1, PLAYERS + 1))]
            beside.run(rename(broker, names))
            # What a name would close or begin is its text, and nothing else.
            expect(page.locator(".panel bdi.name")).to_have_text(names, timeout=WAIT_MS)
            assert page.locator("script, img, svg, a, iframe").count() == 1  # its own script
        assert complaints == []

    status, out, err = ran(tmp_path, "status", "--state-dir", str(tmp_path / "state"))
    assert status == 0, err
    assert rounds[-1][0] in out
