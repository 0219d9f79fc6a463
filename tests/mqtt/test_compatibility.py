"""The contract of the last release holds; and whoever breaks it is told where."""

import copy
import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from appliance import __version__
from appliance.mqtt import asyncapi
from tests.support.compatibility import breaks

PUBLISHED = Path(__file__).parent / "published"
NOW = json.loads(asyncapi.main_text())


def version(path: Path) -> tuple[int, ...]:
    return tuple(map(int, path.stem.split(".")))


RELEASES = sorted(PUBLISHED.glob("*.json"), key=version)


def test_nothing_that_the_last_release_promised_is_broken() -> None:
    """A release adds its own: `pocketbeam schema > tests/mqtt/published/VERSION.json`."""
    last = json.loads(RELEASES[-1].read_text("utf-8"))
    assert breaks(last, NOW) == []
    assert last["info"]["version"] == RELEASES[-1].stem


def test_every_release_is_there_and_none_from_the_future() -> None:
    assert RELEASES
    assert version(RELEASES[-1]) <= version(Path(f"{__version__}.json"))


def test_each_release_held_what_the_one_before_had_promised() -> None:
    for older, newer in pairwise(RELEASES):
        assert breaks(json.loads(older.read_text("utf-8")), json.loads(newer.read_text("utf-8"))) == [], newer


# --- each kind of break ------------------------------------------------------------------------------------


def changed(change: Callable[[Any, Any], None]) -> Any:
    """The contract of now after a change: given all of it, and its schemas."""
    document = copy.deepcopy(NOW)
    change(document, document["components"]["schemas"])
    return document


def no_more_topic(document: Any, schemas: Any) -> None:
    del document["channels"]["line"], document["operations"]["sendLine"]


def another_topic(document: Any, schemas: Any) -> None:
    document["channels"]["health"]["address"] = "pocketbeam/{table}/diagnosis"


def no_more_fourth_player(document: Any, schemas: Any) -> None:
    document["components"]["parameters"]["scored"]["enum"].remove("4")


def not_retained(document: Any, schemas: Any) -> None:
    document["operations"]["sendState"]["bindings"]["mqtt"]["retain"] = False


def less_quality(document: Any, schemas: Any) -> None:
    document["operations"]["sendEvent"]["bindings"]["mqtt"]["qos"] = 0


def no_more_message(document: Any, schemas: Any) -> None:
    del document["channels"]["event"]["messages"]["corrected"]


def no_more_key(document: Any, schemas: Any) -> None:
    del schemas["State"]["properties"]["instructions"]


def no_more_key_deep_inside(document: Any, schemas: Any) -> None:
    del schemas["FallenObject"]["properties"]["how"]


def not_always_there(document: Any, schemas: Any) -> None:
    schemas["CarromSide"]["required"].remove("due")


def another_type(document: Any, schemas: Any) -> None:
    schemas["State"]["properties"]["seq"] = {"type": "string"}


def perhaps_null(document: Any, schemas: Any) -> None:
    schemas["Player"]["properties"]["name"] = {"anyOf": [{"type": "string", "maxLength": 40}, {"type": "null"}]}


def fractions(document: Any, schemas: Any) -> None:
    schemas["CarromSide"]["properties"]["score"]["type"] = "number"


def longer_names(document: Any, schemas: Any) -> None:
    schemas["Player"]["properties"]["name"]["maxLength"] = 200


def any_instant(document: Any, schemas: Any) -> None:
    del schemas["State"]["properties"]["at"]["pattern"]


def no_more_event(document: Any, schemas: Any) -> None:
    schemas["Event"]["properties"]["event"]["enum"].remove("queen_covered")


def no_more_phase(document: Any, schemas: Any) -> None:
    schemas["ClubCarromRules"]["properties"]["phase"]["enum"].remove("board_over")


def no_more_game(document: Any, schemas: Any) -> None:
    rules = schemas["State"]["properties"]["rules"]
    rules["oneOf"] = [each for each in rules["oneOf"] if not each["$ref"].endswith("/CarpetballRules")]


def another_schema_number(document: Any, schemas: Any) -> None:
    schemas["State"]["properties"]["schema"]["const"] = "pocketbeam.state/2"


def no_more_error(document: Any, schemas: Any) -> None:
    schemas["ResponseError"]["properties"]["code"]["enum"].remove("outdated")


def other_counters(document: Any, schemas: Any) -> None:
    schemas["BrokerHealth"]["properties"]["counters"]["additionalProperties"] = {"type": "string"}


def no_more_command(document: Any, schemas: Any) -> None:
    schemas["Plain"]["properties"]["command"]["enum"].remove("redo")


def no_more_field(document: Any, schemas: Any) -> None:
    del schemas["NameObject"]["properties"]["place"]


def a_field_that_is_needed(document: Any, schemas: Any) -> None:
    schemas["EndStroke"]["required"].append("player")


def a_new_field_that_is_needed(document: Any, schemas: Any) -> None:
    schemas["WatchBeams"]["properties"]["why"] = {"type": "string"}
    schemas["WatchBeams"]["required"].append("why")


def no_more_choice(document: Any, schemas: Any) -> None:
    schemas["NameObject"]["properties"]["object"]["enum"].remove("own")


def a_choice_where_none_was(document: Any, schemas: Any) -> None:
    schemas["Asked"] = None
    schemas["EndStroke"]["properties"]["transaction"] = {"enum": ["a", "b"]}


def no_more_null(document: Any, schemas: Any) -> None:
    schemas["EndStroke"]["properties"]["player"] = {"type": "integer", "minimum": 1}


def a_lower_limit(document: Any, schemas: Any) -> None:
    schemas["WatchBeams"]["properties"]["seconds"]["maximum"] = 60


def a_pattern(document: Any, schemas: Any) -> None:
    schemas["Person"]["properties"]["name"]["pattern"] = "^[A-Z]"


BREAKS: dict[Callable[[Any, Any], None], str] = {
    no_more_topic: "the topic pocketbeam/{table}/line is gone",
    another_topic: "the topic pocketbeam/{table}/health is gone",
    no_more_fourth_player: "pocketbeam/{table}/score/{side}: side is never 4 any more",
    not_retained: "pocketbeam/{table}/state: sent with QoS 1, retained, now with QoS 1, not retained",
    less_quality: "pocketbeam/{table}/event: sent with QoS 1, not retained, now with QoS 0, not retained",
    no_more_message: "the message corrected is never sent any more",
    no_more_key: "state.instructions is gone",
    no_more_key_deep_inside: "state.stroke.fallen[].how is gone",
    not_always_there: "state.rules.sides.A.due was always there, now it may be missing",
    another_type: "state.seq can no longer be integer",
    perhaps_null: "state.players[].name can now be null, which nobody expects",
    fractions: "state.rules.sides.A.score can now be number, which nobody expects",
    longer_names: "state.players[].name: maxLength was 40, now 200",
    any_instant: "state.at: pattern was",
    no_more_event: "event.event can no longer be 'queen_covered'",
    no_more_phase: "state.rules.phase can no longer be 'board_over'",
    no_more_game: "state.rules.game can no longer be 'carpetball'",
    another_schema_number: "state.schema can no longer be 'pocketbeam.state/1'",
    no_more_error: "response.error.code can no longer be 'outdated'",
    other_counters: "health.broker.counters.* can no longer be integer",
    no_more_command: "the command redo is gone",
    no_more_field: "object.place is gone",
    a_field_that_is_needed: "end_stroke.player is needed now",
    a_new_field_that_is_needed: "diagnostics.why is needed now",
    no_more_choice: "object.object can no longer be 'own'",
    a_choice_where_none_was: "end_stroke.transaction could be anything of its type, now only 'a', 'b'",
    no_more_null: "end_stroke.player can no longer be null",
    a_lower_limit: "diagnostics.seconds: maximum was 600, now 60",
    a_pattern: "new_match.players[].name: pattern was None, now ^[A-Z]",
}


@pytest.mark.parametrize("change", BREAKS, ids=lambda change: change.__name__)
def test_a_break_is_found_and_its_place_is_said(change: Callable[[Any, Any], None]) -> None:
    found = breaks(NOW, changed(change))
    assert any(each.startswith(BREAKS[change]) for each in found), found


# --- what breaks nobody ------------------------------------------------------------------------------------


def one_more_topic(document: Any, schemas: Any) -> None:
    document["channels"]["more"] = {**document["channels"]["line"], "address": "pocketbeam/{table}/more"}
    document["operations"]["sendMore"] = {
        **document["operations"]["sendLine"],
        "channel": {"$ref": "#/channels/more"},
    }


def one_more_key(document: Any, schemas: Any) -> None:
    schemas["State"]["properties"]["weather"] = {"type": "string"}
    schemas["State"]["required"].append("weather")


def always_there(document: Any, schemas: Any) -> None:
    schemas["FallenObject"]["required"].append("doubt")


def one_more_event(document: Any, schemas: Any) -> None:
    schemas["Event"]["properties"]["event"]["enum"].append("table_kicked")


def one_more_game(document: Any, schemas: Any) -> None:
    schemas["ChessRules"] = {**schemas["ClubCarromRules"], "title": "ChessRules"}
    schemas["State"]["properties"]["rules"]["oneOf"].append({"$ref": "#/components/schemas/ChessRules"})


def never_null_again(document: Any, schemas: Any) -> None:
    schemas["BeamHealth"]["properties"]["since_s"] = {"type": "number", "minimum": 0}


def whole_numbers_alone(document: Any, schemas: Any) -> None:
    schemas["Info"]["properties"]["quiet_time_s"] = {"type": "integer", "minimum": 0}


def shorter_names(document: Any, schemas: Any) -> None:
    schemas["Player"]["properties"]["name"]["maxLength"] = 30


def one_more_command(document: Any, schemas: Any) -> None:
    schemas["Plain"]["properties"]["command"]["enum"].append("applaud")


def one_more_field(document: Any, schemas: Any) -> None:
    schemas["EndStroke"]["properties"]["note"] = {"type": "string"}


def one_more_choice(document: Any, schemas: Any) -> None:
    schemas["NameObject"]["properties"]["object"]["enum"].append("nothing")


def a_field_that_may_be_missing(document: Any, schemas: Any) -> None:
    schemas["LineUp"]["required"].remove("north")


def a_higher_limit(document: Any, schemas: Any) -> None:
    schemas["WatchBeams"]["properties"]["seconds"]["maximum"] = 3600


def other_names_for_the_parts(document: Any, schemas: Any) -> None:
    text = json.dumps(document).replace("/ClubCarromRules", "/Club").replace("/Plain", "/Simple")
    document.update(json.loads(text))
    document["components"]["schemas"]["Club"] = document["components"]["schemas"].pop("ClubCarromRules")
    document["components"]["schemas"]["Simple"] = document["components"]["schemas"].pop("Plain")


ADDITIONS = (
    one_more_topic,
    one_more_key,
    always_there,
    one_more_event,
    one_more_game,
    never_null_again,
    whole_numbers_alone,
    shorter_names,
    one_more_command,
    one_more_field,
    one_more_choice,
    a_field_that_may_be_missing,
    a_higher_limit,
    other_names_for_the_parts,
)


@pytest.mark.parametrize("change", ADDITIONS, ids=lambda change: change.__name__)
def test_what_is_added_breaks_nothing(change: Callable[[Any, Any], None]) -> None:
    after = changed(change)
    assert after != NOW
    assert breaks(NOW, after) == []
