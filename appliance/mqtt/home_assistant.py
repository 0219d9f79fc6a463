"""Home Assistant's discovery: from a table's description to the one message that makes it a device there.

Which entities there are follows from how the table is built (its beams and sources) and from nothing else: not
from the game, so that entities do not come and go with it, and not from anybody's name. An entity is known by
the ids of the configuration, and so survives every change of names.

A retained message cannot take back what an earlier one has said. Home Assistant removes an entity when it sees
its component with nothing but a `platform`; so whoever announces must know what was announced before
(`Announced`). Such a farewell stays in the message until the table's next start, because Home Assistant may be
away now. And one that starts after it has forgotten which entity the farewell means, although its register
still holds it: it is shown the old component first (`Plan.revival`), and then the farewell.

No I/O and no clock in here; `announcer.py` decides when.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from appliance.mqtt import home_assistant_templates as templates
from appliance.mqtt.topics import BASE, Document, Message, to_json, topic

BIRTH_TOPIC = "homeassistant/status"
"""Where Home Assistant tells that it has started, whatever its discovery prefix is."""

GAMES = ("money_carrom", "club_carrom", "new_carrom", "carpetball")
PHASES = ("playing", "board_over", "match_over", "line_up", "round", "standoff", "round_over")
EVENTS = (
    *("match_started", "match_point", "match_ended", "match_abandoned", "board_started", "board_won"),
    *("round_started", "round_won", "standoff", "final_throw", "stroke_closed", "stroke_scored", "stroke_missed"),
    *("turn_passed", "turn_missed", "turn_forfeited", "points_scored", "break_missed", "no_stroke", "lined_up"),
    *("penalty_paid", "withdrawn", "round_restarted", "queen_right_earned", "piece_jumped", "queen_pocketed"),
    *("queen_covered", "queen_returned", "foul", "due_owed", "due_paid", "piece_returned", "passage"),
    *("passage_not_scored", "passage_doubted", "question_opened", "question_answered", "corrected", "recounted"),
    *("undone", "redone", "paused", "resumed", "players_changed", "beam_fault", "beam_well", "source_lost"),
    *("source_back", "journal_unsafe", "journal_safe", "configuration_changed"),
)
"""Every name that an event may have; the models that say so are too heavy to load for it."""

Component = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Description:
    """What of a table is announced: beams with their source, sources of edges, those that are sensor boards.

    `page` is the address of its page, where it has one.
    """

    table: str
    version: str
    beams: tuple[tuple[str, str], ...] = ()
    sources: tuple[str, ...] = ()
    boards: tuple[str, ...] = ()
    page: str | None = None


@dataclass(frozen=True, slots=True)
class Announced:
    """What Home Assistant was told last: the topic, and every component by its key."""

    topic: str
    components: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Plan:
    """What to publish, retained; `revival` goes before it for a Home Assistant that has just started.

    `announced` is what is known there afterwards: nothing, where the table does not announce itself.
    """

    messages: tuple[Message, ...]
    revival: Message | None
    announced: Announced | None


def discovery_topic(prefix: str, table: str) -> str:
    """Where the table is announced."""
    return f"{prefix}/device/pocketbeam_{table}/config"


def plan(before: Announced | None, prefix: str | None, description: Description, *, base: str = BASE) -> Plan:
    """How to get from what was announced before to what the table is now; without a prefix, to nothing."""
    if prefix is None:
        return Plan(() if before is None else (_cleared(before.topic),), None, None)
    where = discovery_topic(prefix, description.table)
    components = _components(description, base)
    document = _device(description, components, base)
    announced = Announced(where, components)
    if before is None:
        return Plan((_retained(where, document),), None, announced)
    if before.topic != where:
        return Plan((_cleared(before.topic), _retained(where, document)), None, announced)
    gone = {key: old for key, old in before.components.items() if key not in components}
    if not gone:
        return Plan((_retained(where, document),), None, announced)
    farewell = {key: {"platform": old["platform"]} for key, old in gone.items()}
    return Plan(
        (_retained(where, {**document, "components": {**components, **farewell}}),),
        _retained(where, {**document, "components": {**components, **gone}}),
        announced,
    )


def _retained(where: str, document: Document) -> Message:
    return Message(where, to_json(document), True, 1)


def _cleared(where: str) -> Message:
    return Message(where, None, True, 1)


def discovery(description: Description, *, base: str = BASE) -> dict[str, Any]:
    """The discovery document of a table."""
    return _device(description, _components(description, base), base)


def _device(description: Description, components: Mapping[str, Component], base: str) -> dict[str, Any]:
    device: dict[str, Any] = {
        "identifiers": [f"pocketbeam_{description.table}"],
        "name": f"Pocketbeam {description.table}",
        "manufacturer": "Pocketbeam",
        "model": "Scoring appliance",
        "sw_version": description.version,
    }
    if description.page is not None:
        device["configuration_url"] = description.page
    return {
        "device": device,
        "origin": {"name": "Pocketbeam", "sw_version": description.version},
        "availability_topic": topic(description.table, "availability", base=base),
        "components": components,
    }


@dataclass(frozen=True, slots=True)
class _Maker:
    """Makes the components of one table."""

    table: str
    base: str

    def topic(self, *levels: str) -> str:
        return topic(self.table, *levels, base=self.base)

    def entity(self, key: str, platform: str, name: str, icon: str | None, **more: Any) -> tuple[str, Component]:
        """An entity; None in `more` is left out."""
        component = {"platform": platform, "unique_id": f"pocketbeam_{self.table}_{key}", "name": name}
        return key, {**component, **{k: v for k, v in {"icon": icon, **more}.items() if v is not None}}

    def reading(
        self, key: str, platform: str, name: str, icon: str | None, source: str, template: str, **more: Any
    ) -> tuple[str, Component]:
        """An entity that shows what a document says; `attributes` is the template of what stands beside it."""
        where, attributes = self.topic(source), more.pop("attributes", None)
        if attributes is not None:
            more |= {"json_attributes_topic": where, "json_attributes_template": attributes}
        return self.entity(key, platform, name, icon, state_topic=where, value_template=template, **more)

    def problem(
        self, key: str, name: str, template: str, attributes: str | None = None, icon: str | None = None
    ) -> tuple[str, Component]:
        """A binary sensor that is on while something needs a hand."""
        more: Component = {"device_class": "problem", "entity_category": "diagnostic", "attributes": attributes}
        return self.reading(key, "binary_sensor", name, icon, "health", template, **more)

    def button(self, command: str, name: str, icon: str, template: str = templates.COMMAND) -> tuple[str, Component]:
        return self.entity(
            command,
            "button",
            name,
            icon,
            command_topic=self.topic("request"),
            payload_press=command,
            command_template=template,
            qos=1,
        )

    def trigger(
        self, event: str, subtype: str, happened: str, template: str = templates.EVENT_NAME, payload: str | None = None
    ) -> tuple[str, Component]:
        """A device trigger: Home Assistant shows it as `"subtype" happened`."""
        return f"on_{event}", {
            "platform": "device_automation",
            "automation_type": "trigger",
            "topic": self.topic("event"),
            "type": happened,
            "subtype": subtype,
            "value_template": template,
            "payload": payload or event,
        }


def _components(description: Description, base: str) -> dict[str, Component]:
    maker = _Maker(description.table, base)
    return dict(
        [
            *_scoreboard(maker),
            *_controls(maker),
            *_parts(maker, description),
            *_diagnostics(maker, description.boards),
            *_triggers(maker),
        ]
    )


def _scoreboard(maker: _Maker) -> Sequence[tuple[str, Component]]:
    counted = {"state_class": "measurement"}
    return [
        maker.entity("standing", "sensor", "Standing", "mdi:scoreboard", state_topic=maker.topic("line")),
        *(
            maker.reading(
                f"score_{number}",
                "sensor",
                f"Score {number}",
                "mdi:counter",
                "state",
                templates.score(number),
                attributes=templates.score_attributes(number),
                **counted,
            )
            for number in range(1, templates.PLAYERS_LIMIT + 1)
        ),
        maker.reading("left", "sensor", "Pieces left", "mdi:circle-multiple", "state", templates.LEFT, **counted),
        *(
            maker.reading(
                f"left_{number}",
                "sensor",
                f"Pieces left {number}",
                "mdi:circle-multiple-outline",
                "state",
                templates.left(number),
                **counted,
            )
            for number in (1, 2)
        ),
        maker.reading(
            "phase",
            "sensor",
            "Phase",
            "mdi:progress-clock",
            "state",
            templates.PHASE,
            attributes=templates.PHASE_ATTRIBUTES,
            device_class="enum",
            options=list(PHASES),
        ),
        maker.reading(
            "turn",
            "sensor",
            "Turn",
            "mdi:account-arrow-right",
            "state",
            templates.TURN,
            attributes=templates.TURN_ATTRIBUTES,
        ),
        maker.reading(
            "winner",
            "sensor",
            "Winner",
            "mdi:trophy",
            "state",
            templates.WINNER,
            attributes=templates.WINNER_ATTRIBUTES,
        ),
        maker.reading(
            "question",
            "binary_sensor",
            "Question open",
            "mdi:help-circle",
            "state",
            templates.QUESTION,
            attributes=templates.QUESTION_ATTRIBUTES,
        ),
        maker.reading("event", "event", "Event", "mdi:bell-ring", "event", templates.EVENT, event_types=list(EVENTS)),
    ]


def _controls(maker: _Maker) -> Sequence[tuple[str, Component]]:
    return [
        maker.reading(
            "game",
            "select",
            "Game",
            "mdi:cards-playing-outline",
            "state",
            templates.GAME,
            options=list(GAMES),
            command_topic=maker.topic("request"),
            command_template=templates.CHOOSE_GAME,
            qos=1,
        ),
        maker.button("end_stroke", "End stroke", "mdi:check-bold"),
        maker.button("undo", "Undo", "mdi:undo"),
        maker.button("next_board", "Next board", "mdi:skip-next"),
        maker.button("next_round", "Next round", "mdi:skip-next-outline"),
        maker.button("new_match", "New match", "mdi:flag-checkered", templates.NEW_MATCH),
    ]


def _parts(maker: _Maker, description: Description) -> Sequence[tuple[str, Component]]:
    beams = [
        maker.problem(
            f"beam_{beam}",
            f"Beam {beam}",
            templates.beam_problem(beam, source),
            templates.condition_attributes("beams", beam),
        )
        for beam, source in description.beams
    ]
    sources = [
        maker.problem(
            f"source_{source}",
            f"Source {source}",
            templates.source_problem(source),
            templates.condition_attributes("sources", source),
        )
        for source in description.sources
    ]
    return [*beams, *sources]


def _diagnostics(maker: _Maker, boards: Sequence[str]) -> Sequence[tuple[str, Component]]:
    def text(key: str, name: str, icon: str | None, source: str, template: str, **more: Any) -> tuple[str, Component]:
        return maker.reading(key, "sensor", name, icon, source, template, entity_category="diagnostic", **more)

    return [
        text("version", "Version", "mdi:tag", "info", templates.VERSION),
        *(
            text(f"firmware_{board}", f"Firmware {board}", "mdi:chip", "health", templates.firmware(board))
            for board in boards
        ),
        text("started", "Up since", None, "health", templates.STARTED, device_class="timestamp"),
        text("answer", "Last answer", "mdi:message-reply-text", "response", templates.ANSWER),
        maker.problem("clock", "Clock", templates.CLOCK_PROBLEM),
        maker.problem("journal", "Journal", templates.JOURNAL_PROBLEM, templates.JOURNAL_ATTRIBUTES),
    ]


def _triggers(maker: _Maker) -> Sequence[tuple[str, Component]]:
    return [
        maker.trigger("stroke_scored", "stroke", "scored"),
        maker.trigger("queen_covered", "queen", "covered"),
        maker.trigger("foul", "foul", "called"),
        maker.trigger("board_won", "board", "won"),
        maker.trigger("match_won", "match", "won", templates.MATCH_WON, "won"),
        maker.trigger("beam_fault", "beam", "fault"),
        maker.trigger("question_opened", "question", "opened"),
    ]
