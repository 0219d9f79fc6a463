"""The board page in a real browser, fed over a real broker through the relay."""

import json
import queue
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from paho.mqtt import client as mqtt
from playwright.sync_api import Browser, Locator, Page, expect, sync_playwright

from appliance.mqtt.models import document_model
from appliance.mqtt.requests import Request, parse_request
from appliance.web.server import WebServer
from tests.support.brokers import Settings
from tests.support.ports import free_port
from tests.web.conftest import HOST, Broker, LoopThread
from tests.web.documents import NAMES, carpetball, carrom, event, fallen, health, money, side, state
from tests.web.prefix_proxy import PrefixProxy

pytestmark = pytest.mark.real

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
STALE_MS = 5000
BACK_MS = 3000
KIOSKS = [(1280, 720), (800, 480), (1920, 1080), (390, 844), (320, 568)]
LIVE = 'body[data-live="true"]'
STALE = 'body[data-live="false"]'


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=FLAGS)
        yield browser
        browser.close()


class Board:
    """A page that shows table `t1`, and the table's side of the broker."""

    def __init__(self, page: Page, broker: Broker, address: str) -> None:
        self.page = page
        self.broker = broker
        self.address = address
        self.complaints: list[str] = []
        self.addresses: list[str] = []
        page.set_default_timeout(STALE_MS)
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("request", lambda request: self.addresses.append(request.url))
        page.on("websocket", lambda socket: self.addresses.append(socket.url))

    def publish(self, kind: str, document: dict[str, Any], *, retain: bool = True) -> None:
        document_model(document["schema"], document).model_validate(document)
        self.broker.publish(f"pocketbeam/t1/{kind}", json.dumps(document), retain=retain)

    def online(self, document: dict[str, Any]) -> None:
        self.broker.publish("pocketbeam/t1/availability", "online")
        self.publish("state", document)

    def show(self, document: dict[str, Any]) -> None:
        self.online(document)
        self.page.goto(self.address)
        self.page.wait_for_selector(LIVE)

    def text(self, where: str) -> str:
        return " ".join(self.page.locator(where).inner_text().split())

    def panel(self, key: str) -> Locator:
        return self.page.locator(f'.panel[data-key="{key}"]')

    def panel_text(self, key: str) -> str:
        return " ".join(self.panel(key).inner_text().split())

    def lines(self) -> list[str]:
        return [" ".join(line.split()) for line in self.page.locator(".line").all_inner_texts()]


@pytest.fixture
def board(browser: Browser, broker: Broker, pages: str) -> Iterator[Board]:
    context = browser.new_context(viewport={"width": 1280, "height": 720})
    board = Board(context.new_page(), broker, f"{pages}/")
    yield board
    context.close()
    assert [address for address in board.addresses if f"//{HOST}:" not in address] == []


# --- what it says, game by game


def test_club_carrom(board: Board) -> None:
    turn = {"player": 1, "side": "A", "must_cover": True}
    board.show(
        state(
            carrom(turn=turn, queen={"status": "uncovered", "side": "A"}),
            stroke={
                "number": 12,
                "player": 1,
                "fallen": [
                    fallen("ne", "white", "white"),
                    fallen("sw", None, "black", "striker", provisional=True),
                ],
                "jumped": ["black"],
            },
            pending=[{"number": 11, "player": 2, "fallen": [], "jumped": []}],
            questions=[
                {
                    "id": "q7",
                    "stroke": 11,
                    "kind": "what_fell",
                    "place": "ne",
                    "candidates": ["white", "black", "striker"],
                    "assumed": "white",
                }
            ],
            instructions=[{"do": "return", "object": "white", "count": 1, "to": "centre_circle", "by_player": 2}],
        )
    )
    assert board.text("h1") == "Club carrom · board 2"
    assert board.panel_text("A") == "to cover Asha 12 points 4 white left queen to cover"
    assert board.panel_text("B") == "Ben 9 points 9 black left owes one"
    assert board.lines() == [
        "What fell in pocket ne? white black striker taken as white if nobody answers",
        "Ben: put one white in the centre circle",
        "One stroke is not judged yet",
        "Asha to cover the queen",
        "This stroke of Asha so far: off the table black; white ne black or striker? sw not sure yet",
        "Queen pocketed by Asha, to cover",
    ]
    assert board.page.title() == "Asha 12 – Ben 9 · Pocketbeam"
    assert board.text("#spoken") == "Asha 12, Ben 9. white left 4, black left 9. Asha to cover the queen."
    assert board.complaints == []


def test_new_carrom(board: Board) -> None:
    sides = {"A": side("black", 3, 0, 1), "B": side("white", 7, 0, 0)}
    rules = carrom(
        "new_carrom",
        sides=sides,
        turn={"player": 4, "side": "B", "must_cover": False},
        queen={"status": "covered", "side": "A"},
    )
    board.show(state(rules, NAMES))
    assert board.panel_text("A") == "Asha Chitra 1 boards 6 black left queen covered"
    assert board.panel_text("B") == "Dev to play Ben Dev 0 boards 2 white left"
    assert board.lines() == ["Dev to play", "Queen covered by Asha & Chitra"]
    assert board.complaints == []


def test_money_carrom(board: Board) -> None:
    rules = money()
    rules["players"][1]["missed_turns"] = 1
    board.show(state(rules, NAMES))
    assert [board.panel_text(str(player)) for player in (1, 2, 3, 4)] == [
        "Asha 14 points",
        "Ben 7 points misses a turn",
        "to play Chitra 5 points",
        "Dev 0 points",
    ]
    assert board.text(".pool") == "4 white left 6 black left 1 queen left"
    assert board.lines() == ["Chitra to play"]
    assert board.complaints == []


def test_carpetball(board: Board) -> None:
    board.show(state(carpetball(), NAMES))
    assert board.text("h1") == "Carpetball · round 3"
    assert board.panel_text("north") == "Asha 2 balls in play north end"
    assert board.panel_text("south") == "to throw Ben 4 balls in play south end"
    assert board.lines() == ["Ben to throw", "Waiting: Chitra, Dev"]
    assert board.complaints == []


def test_final_throw_standoff_and_line_up(board: Board) -> None:
    ends = {"north": {"player": 1, "in_play": 2}, "south": {"player": 2, "in_play": 0}}
    board.show(state(carpetball(ends=ends, queue=[], turn={"end": "south", "final_throw": True})))
    assert board.panel_text("south") == "final throw Ben 0 balls in play south end"
    assert board.lines() == ["Ben has the final throw"]
    board.publish("state", state(carpetball(phase="standoff", queue=[])))
    expect(board.page.locator(".line")).to_have_text(["Standoff · Ben to throw"])
    nobody = {"north": {"player": 1, "in_play": None}, "south": {"player": 2, "in_play": None}}
    board.publish("state", state(carpetball(phase="line_up", ends=nobody, queue=[])))
    expect(board.page.locator(".line")).to_have_text(["Line up the balls · Ben throws first"])
    assert board.panel_text("north") == "Asha – to line up north end"


OVER = {"turn": None, "board_result": {"winner": "A", "points": 7}, "phase": "match_over"}


@pytest.mark.parametrize(
    ("document", "said"),
    [
        (
            state(carrom(**{**OVER, "phase": "board_over"}), NAMES),
            "Asha & Chitra win the board: 7 points",
        ),
        (state(carrom(**OVER, match_winner="A")), "Asha wins the match, 7 points for the board"),
        (state(carrom(**OVER, match_winner="draw")), "The match is a draw, 7 points for the board"),
        (
            state(carrom("new_carrom", **OVER, match_winner="B"), last_result={"match_id": "m1", "certain": False}),
            "Ben wins the match — not certain: nobody has confirmed an assumption",
        ),
        (state(money((16, 9), phase="match_over", turn=None, match_winners=[1])), "Asha wins the game"),
        (
            state(money((9, 9, 9), phase="match_over", turn=None, match_winners=[1, 2, 3]), NAMES[:3]),
            "Asha, Ben and Chitra share the win",
        ),
        (
            state(carpetball(phase="round_over", turn=None, round_winner=2), NAMES),
            "Ben wins the round",
        ),
        (state(carrom(), paused=True), "Paused: nothing scores"),
    ],
)
def test_results(board: Board, document: dict[str, Any], said: str) -> None:
    board.show(document)
    assert board.lines()[0] == said


@pytest.mark.parametrize(
    ("match_id", "lines"),
    [
        ("m1", ["The match was abandoned: it has no winner", "Queen on the board"]),
        ("m0", ["Asha to play", "Queen on the board"]),
    ],
)
def test_an_abandoned_match_has_no_turn_and_the_next_one_has(board: Board, match_id: str, lines: list[str]) -> None:
    last = {"certain": True, "abandoned": True, "match_id": match_id}
    board.online(state(carrom()))
    board.broker.publish("pocketbeam/t1/state", json.dumps(state(carrom(), last_result=last)))
    board.page.goto(board.address)
    expect(board.page.locator(".line")).to_have_text(lines)
    assert board.panel_text("A").startswith("to play") is (match_id == "m0")


def test_questions_of_every_kind(board: Board) -> None:
    def question(kind: str, place: str | None, candidates: list[Any], assumed: Any) -> dict[str, Any]:
        return {
            "id": "q1",
            "stroke": 8,
            "kind": kind,
            "place": place,
            "candidates": candidates,
            "assumed": assumed,
        }

    board.show(
        state(
            carrom(),
            questions=[
                question("how_many", "nw", [1, 2], 1),
                question("who_shot", None, [1, 2], 2),
                question("did_it_fall", "se", [True, False], False),
            ],
        )
    )
    assert board.lines()[:3] == [
        "How many fell in pocket nw? 1 2 taken as 1 if nobody answers",
        "Who played stroke 8? Asha Ben taken as Ben if nobody answers",
        "Did something fall in pocket se? yes no taken as no if nobody answers",
    ]
    board.publish("state", state(carpetball(), NAMES, questions=[question("cue", "south", ["ball", "cue"], None)]))
    expect(board.page.locator('.line[data-kind="question"]')).to_have_text(
        ["Which was the cue ball in the south pit? ballcue ball"]
    )


# --- what somebody at the table may ask

ASKED = {
    "id": "q7",
    "stroke": 12,
    "kind": "what_fell",
    "place": "ne",
    "candidates": ["white", "queen"],
    "assumed": "white",
}


@pytest.fixture
def requests(board: Board) -> Iterator["queue.SimpleQueue[dict[str, Any]]"]:
    """What the table is asked."""
    heard: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
    client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2)
    client.on_message = lambda _client, _data, message: heard.put(json.loads(message.payload))
    listening = threading.Event()
    client.on_subscribe = lambda *_: listening.set()
    client.connect(HOST, board.broker.port)
    client.loop_start()
    client.subscribe("pocketbeam/t1/request", qos=1)
    assert listening.wait(10)
    yield heard
    client.loop_stop()
    client.disconnect()


def test_a_question_is_answered_in_one_tap(board: Board, requests: "queue.SimpleQueue[dict[str, Any]]") -> None:
    board.show(state(carrom(), questions=[ASKED]))
    board.page.get_by_role("group", name="What fell in pocket ne?").get_by_role("button", name="queen").click()
    asked = requests.get(timeout=10)
    transaction = asked.pop("transaction")
    assert asked == {"command": "answer", "question": "q7", "value": "queen", "expected_seq": 41}
    assert isinstance(parse_request(json.dumps(asked).encode(), retained=False), Request)
    refusal = {"transaction": transaction, "ok": False, "error": {"message": "no question is open"}}
    board.broker.publish("pocketbeam/t1/response", json.dumps(refusal), retain=False)
    expect(board.page.locator("#news")).to_have_text("Not done: no question is open")


def test_the_keyboard_reaches_every_button_and_stays_where_it_was(
    board: Board, requests: "queue.SimpleQueue[dict[str, Any]]"
) -> None:
    board.show(state(carrom(), questions=[ASKED]))
    for expected in ("white", "queen", "End stroke", "Undo"):
        board.page.keyboard.press("Tab")
        assert board.page.evaluate("document.activeElement.textContent") == expected
    board.page.keyboard.press("Enter")
    assert requests.get(timeout=10)["command"] == "undo"
    for _ in range(2):
        board.page.keyboard.press("Shift+Tab")
    board.publish("state", state(carrom(), questions=[ASKED], paused=True))
    expect(board.page.locator('.line[data-kind="paused"]')).to_be_visible()
    assert board.page.evaluate("document.activeElement.textContent") == "queen"
    board.page.keyboard.press("Space")
    assert requests.get(timeout=10)["value"] == "queen"


def test_a_page_that_may_only_look_has_no_buttons(
    browser: Browser, broker: Broker, beside: LoopThread, tmp_path: Path
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret")
    server = WebServer(HOST, 0, Settings(broker.port, username="appliance", password_file=secret), "t1")
    port = beside.run(server.start())
    context = browser.new_context()
    board = Board(context.new_page(), broker, f"http://{HOST}:{port}/")
    board.show(state(carrom(), questions=[ASKED]))
    assert board.lines()[0] == "What fell in pocket ne? white or queen · taken as white if nobody answers"
    assert board.page.get_by_role("button").count() == 0
    context.close()
    beside.run(server.stop())


def test_an_old_board_cannot_be_answered(board: Board) -> None:
    board.show(state(carrom(), questions=[ASKED]))
    assert board.page.get_by_role("button").count() == 4
    board.broker.publish("pocketbeam/t1/availability", "offline")
    board.page.wait_for_selector(STALE)
    assert board.page.get_by_role("button").count() == 0


def test_nothing_stands_over_anything_else_however_much_there_is(board: Board) -> None:
    board.show(state(carrom(), questions=[{**ASKED, "id": f"q{number}"} for number in range(9)]))
    for width, height in KIOSKS:
        board.page.set_viewport_size({"width": width, "height": height})
        last, below = board.page.locator(".line").last.bounding_box(), board.page.locator("footer").bounding_box()
        assert last is not None
        assert below is not None
        assert last["y"] + last["height"] <= below["y"]


def test_faults_are_said(board: Board) -> None:
    board.show(state(carrom()))
    beam = {
        "since_s": 3.0,
        "passages": 1,
        "glitches": 0,
        "near_misses": 0,
        "uncounted": 0,
        "summed": 0,
        "reason": "a hand",
    }
    board.publish(
        "health",
        health(
            30,
            beams={"ne": {"state": "blocked", **beam}, "sw": {"state": "ok", **beam}},
            sources={"board": {"state": "lost", "board": None, "reason": "unplugged", "counters": {}}},
        ),
    )
    expect(board.page.locator('.line[data-kind="fault"]')).to_have_text(
        [
            "The sensor board “board” is not answering: score by hand",
            "Beam ne is blocked: it scores nothing",
        ]
    )


@pytest.mark.parametrize(
    ("reason", "said"),
    [
        ("the disk is full", "The score is not safe: the disk is full"),
        (None, "The score is not safe: a power cut would lose it"),
    ],
)
def test_a_journal_that_is_not_safe_is_said_with_its_reason(board: Board, reason: str | None, said: str) -> None:
    board.show(state(carrom()))
    board.publish("health", health(30, journal={"safe": False, "reason": reason, "queue": 3, "counters": {}}))
    expect(board.page.locator('.line[data-kind="fault"]')).to_have_text([said])
    board.publish("health", health(30))
    expect(board.page.locator('.line[data-kind="fault"]')).to_have_count(0)


def test_news_comes_once_for_each_event(board: Board) -> None:
    board.show(state(carrom()))
    news = board.page.locator("#news")
    board.publish("event", event("foul", "e1", player=2, kinds=["striker"], penalty=1), retain=False)
    expect(news).to_have_text("Foul by Ben")
    board.publish("event", event("recounted", "e2"), retain=False)
    expect(news).to_have_text("The board has been recounted")
    board.publish("event", event("foul", "e1", player=2, kinds=["striker"], penalty=1), retain=False)
    # The broker keeps the order: when this state is there, the repeated event has been taken.
    board.publish("state", state(carrom(sides={"A": side("white", score=13), "B": side("black")})))
    expect(board.panel("A").locator(".digits")).to_have_text("13")
    expect(news).to_have_text("The board has been recounted")


# --- every state of the scenarios


def test_every_state_of_the_scenarios_shows_its_own_numbers(board: Board) -> None:
    folder = Path(__file__).parent.parent / "scenarios"
    scenarios = [
        json.loads(line) for file in sorted(folder.glob("*.jsonl")) for line in file.read_text("utf-8").splitlines()
    ]
    rules = [step["state"] for scenario in scenarios for step in ({"state": scenario["start"]}, *scenario["steps"])]
    assert len(rules) > 300
    board.page.goto(board.address)
    models = board.page.evaluate(
        "docs => import('/view.js').then(module => docs.map(doc => module.view(doc)))",
        [state(one, NAMES) for one in rules],
    )
    for one, model in zip(rules, models, strict=True):
        panels = model["panels"]
        tagged = [panel["key"] for panel in panels if panel["tag"] and panel["tag"]["kind"] != "won"]
        turn = one["turn"]
        if one["game"] == "money_carrom":
            assert [panel["score"] for panel in panels] == [str(seat["score"]) for seat in one["players"]]
            assert {item["object"]: item["count"] for item in model["pool"]} == one["on_board"]
            assert tagged == ([str(turn["player"])] if turn else [])
        elif one["game"] == "carpetball":
            numbers = [end["in_play"] for end in one["ends"].values()]
            assert [panel["score"] for panel in panels] == ["–" if n is None else str(n) for n in numbers]
            assert tagged == ([turn["end"]] if turn else [])
        else:
            sides = one["sides"].values()
            assert [panel["score"] for panel in panels] == [str(side["score"]) for side in sides]
            assert [panel["left"]["count"] for panel in panels] == [9 - side["pocketed"] for side in sides]
            assert tagged == ([turn["side"]] if turn else [])
        kinds = [line["kind"] for line in model["lines"]]
        assert ("result" in kinds) == (one["phase"] in ("board_over", "match_over", "round_over"))


# --- names are other people's words

HOSTILE = [
    "<img src=x onerror=alert(1)><script>alert(2)</script>",
    "javascript:alert(1)//\"'`{}${alert(3)}",
    "👨‍👩‍👧‍👦🏳️‍🌈 \ue000",
    "שלום עולם",
    "W" * 200,
]


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_are_text_and_move_nothing(board: Board, name: str) -> None:
    # Longer names than the appliance accepts go past its model on purpose.
    board.show(state(carrom()))
    digits = board.panel("A").locator(".digits")
    places = {}
    for width, height in KIOSKS:
        board.page.set_viewport_size({"width": width, "height": height})
        places[width] = digits.bounding_box()
    document = state(carrom(), (name, f"{name}2"))
    board.broker.publish("pocketbeam/t1/state", json.dumps(document))
    expect(board.panel("A").locator("h2")).to_have_text(name)
    assert board.panel("A").locator("h2 *").count() == 1
    assert board.page.locator("script, img").count() == 1
    for width, height in KIOSKS:
        board.page.set_viewport_size({"width": width, "height": height})
        assert board.page.evaluate("document.documentElement.scrollWidth") <= width
        box = digits.bounding_box()
        before = places[width]
        assert box is not None
        assert before is not None
        assert (box["x"], box["width"]) == (before["x"], before["width"])
    assert board.complaints == []


def test_line_breaks_and_direction_marks_in_names_are_taken_out(board: Board) -> None:
    board.online(state(carrom()))
    names = ("A\nsha\u0000", "B\u202een\u2066")
    board.broker.publish("pocketbeam/t1/state", json.dumps(state(carrom(), names)))
    board.page.goto(board.address)
    expect(board.page.locator("h2")).to_have_text(["A sha", "Ben"])


# --- legible


@pytest.mark.parametrize(
    "document",
    [state(carrom()), state(carrom(), NAMES), state(money(), NAMES), state(carpetball(), NAMES)],
    ids=["club", "doubles", "money", "carpetball"],
)
def test_scores_are_whole_and_large_on_every_screen(board: Board, document: dict[str, Any]) -> None:
    board.show(document)
    for width, height in KIOSKS:
        board.page.set_viewport_size({"width": width, "height": height})
        for panel in board.page.locator(".panel").all():
            outer = panel.bounding_box()
            assert outer is not None
            for part in (".digits", ".left", ".notes", "h2"):
                inner = panel.locator(part).bounding_box()
                assert inner is not None
                assert inner["x"] >= outer["x"]
                assert inner["x"] + inner["width"] <= outer["x"] + outer["width"]
                assert inner["y"] >= outer["y"]
                assert inner["y"] + inner["height"] <= outer["y"] + outer["height"] + 1
            size = panel.locator(".digits").evaluate("made => parseFloat(getComputedStyle(made).fontSize)")
            assert size >= min(width, height) / 10
        assert board.page.evaluate("document.documentElement.scrollWidth") <= width
        if (width, height) != (320, 568):
            assert board.page.evaluate("document.documentElement.scrollHeight") <= height


LONGEST = ("Maximiliane Sophie of Hohenstaufen-Bergk", "Aleksandr Konstantinovich Rimsky-Korsako")
WHOLE = "made => made.scrollWidth <= made.clientWidth"


def test_the_longest_names_can_be_read_whole(board: Board) -> None:
    assert [len(name) for name in LONGEST] == [40, 40]
    board.show(state(carrom(), LONGEST))
    for width, height in ((1280, 720), (390, 844)):
        board.page.set_viewport_size({"width": width, "height": height})
        for name in board.page.locator("h2 .name").all():
            assert name.evaluate(WHOLE), (width, name.inner_text())


def test_what_stands_over_a_name_can_be_read_whole(board: Board) -> None:
    board.show(state(money(phase="match_over", turn=None, match_winners=[1, 3]), NAMES))
    for width, height in KIOSKS:
        board.page.set_viewport_size({"width": width, "height": height})
        for tag in board.page.locator(".panel[data-tag] .tag").all():
            assert tag.evaluate(WHOLE), (width, tag.inner_text())


def contrast(board: Board, ink: str, ground: str) -> float:
    def luminance(where: str, what: str) -> float:
        colour = board.page.locator(where).first.evaluate(f"made => getComputedStyle(made).{what}")
        parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
        linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))

    light, dark = luminance(ink, "color"), luminance(ground, "backgroundColor")
    return (max(light, dark) + 0.05) / (min(light, dark) + 0.05)


def test_contrast_stays_high_even_when_stale(board: Board) -> None:
    board.show(state(carrom()))
    bright = contrast(board, ".digits", ".panel")
    assert bright >= 7
    assert contrast(board, ".score-word", ".panel") >= 4.5
    board.broker.publish("pocketbeam/t1/availability", "offline")
    board.page.wait_for_selector(STALE)
    dimmed = contrast(board, ".digits", ".panel")
    assert 7 <= dimmed < bright
    assert contrast(board, "#status", "#status") >= 7


def test_it_has_a_structure_that_can_be_listened_to(board: Board) -> None:
    board.show(state(carrom()))
    assert board.page.locator("html").get_attribute("lang") == "en"
    assert board.page.get_by_role("heading", level=1).count() == 1
    assert board.page.get_by_role("region", name="Asha").count() == 1
    assert board.page.get_by_role("main", name="Score").count() == 1
    assert board.page.locator("#spoken").get_attribute("aria-live") == "polite"
    assert board.page.get_by_role("status").inner_text() == "live"


# --- stale, and well again


def test_a_broker_that_dies_is_said_and_its_return_too(board: Board) -> None:
    board.show(state(carrom()))
    board.broker.kill()
    board.page.wait_for_selector(STALE, timeout=STALE_MS)
    assert re.fullmatch(r"stale since \d\d:\d\d · the broker is away", board.text("#status"))
    assert board.panel("A").locator(".digits").inner_text() == "12"
    board.broker.start()
    board.online(state(carrom(sides={"A": side("white", score=13), "B": side("black")})))
    board.page.wait_for_selector(LIVE, timeout=BACK_MS)
    assert board.panel("A").locator(".digits").inner_text() == "13"
    assert board.text("#status") == "live"


def test_a_silent_network_is_said_and_its_return_too(board: Board) -> None:
    board.show(state(carrom()))
    board.broker.freeze()
    board.page.wait_for_selector(STALE, timeout=STALE_MS)
    assert board.text("#status").endswith("· the connection is silent")
    board.broker.thaw()
    board.page.wait_for_selector(LIVE, timeout=BACK_MS)


def test_a_connection_that_stays_silent_is_made_anew(board: Board) -> None:
    board.show(state(carrom()))
    board.broker.freeze()
    with board.page.expect_websocket(timeout=10_000):
        board.page.wait_for_selector(STALE, timeout=STALE_MS)
    expect(board.page.locator("#status")).to_have_text(re.compile("^stale since .* · the broker does not answer$"))
    board.broker.thaw()
    board.page.wait_for_selector(LIVE, timeout=BACK_MS)


def test_a_table_that_goes_offline_is_said(board: Board) -> None:
    board.show(state(carrom()))
    board.broker.publish("pocketbeam/t1/availability", "offline")
    board.page.wait_for_selector(STALE, timeout=STALE_MS)
    assert re.fullmatch(r"stale since \d\d:\d\d · the table is off", board.text("#status"))
    board.broker.publish("pocketbeam/t1/availability", "online")
    board.page.wait_for_selector(LIVE, timeout=BACK_MS)


def test_health_that_runs_out_is_said(board: Board) -> None:
    board.show(state(carrom()))
    board.publish("health", health(1.5))
    board.page.wait_for_selector(STALE, timeout=STALE_MS)
    assert board.text("#status").endswith("· nothing is heard from the table")
    board.publish("health", health(60))
    board.page.wait_for_selector(LIVE, timeout=BACK_MS)


def test_old_kept_health_of_a_right_clock_is_not_believed(board: Board) -> None:
    board.publish("health", health(60, clock_synchronised=True))
    board.online(state(carrom()))
    board.page.goto(board.address)
    expect(board.panel("A").locator(".digits")).to_have_text("12")
    expect(board.page.locator("#status")).to_have_text(
        re.compile(r"^stale since 2026-01-0[123] \d\d:\d\d · nothing is heard from the table$")
    )


def test_pages_that_lose_their_server_find_it_again(browser: Browser, broker: Broker, beside: LoopThread) -> None:
    port = free_port()
    context = browser.new_context()
    board = Board(context.new_page(), broker, f"http://{HOST}:{port}/")
    server = WebServer(HOST, port, Settings(broker.port), "t1")
    beside.run(server.start())
    board.show(state(carrom()))
    beside.run(server.stop())
    board.page.wait_for_selector(STALE, timeout=STALE_MS)
    assert board.text("#status").startswith("stale since ")
    beside.run(server.start())
    board.page.wait_for_selector(LIVE, timeout=BACK_MS)
    assert sum("/mqtt" in address for address in board.addresses) >= 2
    context.close()
    beside.run(server.stop())


def test_a_page_keeps_one_connection(browser: Browser, broker: Broker, beside: LoopThread) -> None:
    server = WebServer(HOST, 0, Settings(broker.port), "t1", max_relays=1)
    port = beside.run(server.start())
    context = browser.new_context()
    board = Board(context.new_page(), broker, f"http://{HOST}:{port}/")
    board.show(state(carrom()))
    for score in (20, 21):
        broker.kill()
        board.page.wait_for_selector(STALE, timeout=STALE_MS)
        broker.start()
        board.online(state(carrom(sides={"A": side("white", score=score), "B": side("black")})))
        board.page.wait_for_selector(LIVE, timeout=BACK_MS)
    # With room for a single relay a second connection of the page would have been refused.
    assert server.counters.relays_refused == 0
    context.close()
    beside.run(server.stop())


# --- which table


@pytest.mark.parametrize(("query", "name"), [("", None), ("?table=t2", "Zoe"), ("?table=<b>x</b>", None)])
def test_the_address_chooses_among_several_tables(
    browser: Browser, broker: Broker, beside: LoopThread, query: str, name: str | None
) -> None:
    server = WebServer(HOST, 0, Settings(broker.port), ["t1", "t2"])
    port = beside.run(server.start())
    for table, who in (("t1", "Asha"), ("t2", "Zoe")):
        broker.publish(f"pocketbeam/{table}/availability", "online")
        broker.publish(f"pocketbeam/{table}/state", json.dumps(state(carrom(), (who, "Ben"))))
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"http://{HOST}:{port}/{query}")
    if name is None:
        expect(page.locator(".choice")).to_have_text(
            "Which table?" if not query else "There is no table “<b>x</b>” here."
        )
        page.get_by_role("link", name="t2").click()
    expect(page.locator(".panel h2").first).to_have_text("Zoe")
    context.close()
    beside.run(server.stop())


def test_a_path_prefix_of_a_proxy_is_kept(browser: Browser, broker: Broker, beside: LoopThread, pages: str) -> None:
    proxy = PrefixProxy("/club/board", int(pages.rpartition(":")[2]))
    port = beside.run(proxy.start())
    context = browser.new_context()
    board = Board(context.new_page(), broker, f"http://{HOST}:{port}/club/board/")
    board.show(state(carrom()))
    assert f"ws://{HOST}:{port}/club/board/mqtt" in board.addresses
    assert [address for address in board.addresses if "/club/board/" not in address] == []
    context.close()
    beside.run(proxy.stop())
