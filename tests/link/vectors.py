"""tests/vectors/frames.txt as values: lines, and messages to and from their text."""

from dataclasses import dataclass
from pathlib import Path

from appliance.link.configuration import BoardConfiguration, ColourSensor
from appliance.link.framing import Rejection
from appliance.link.messages import (
    Ack,
    BoardCounters,
    ChannelLevels,
    Config,
    Edges,
    ForeignHello,
    Heartbeat,
    Hello,
    HelloRequest,
    HostHeartbeat,
    Message,
    Nak,
    Output,
    Standing,
    UnknownKind,
)

VECTORS = Path(__file__).parents[1] / "vectors" / "frames.txt"


@dataclass(frozen=True)
class Vector:
    """One line of the file."""

    frame: bytes
    text: str

    @property
    def name(self) -> str:
        return self.text.split(" ", 1)[0]

    @property
    def fields(self) -> dict[str, int]:
        return {key: int(value) for key, value in (field.split("=") for field in self.text.split(" ")[1:])}


def read_vectors() -> list[Vector]:
    lines = VECTORS.read_text().splitlines()
    pairs = [line.split("\t") for line in lines if line and not line.startswith("#")]
    return [Vector(bytes.fromhex(frame), text) for frame, text in pairs]


def describe(message: Message | ForeignHello | UnknownKind | Rejection) -> str:
    """The text of what a frame was decoded to, as the file writes it."""
    match message:
        case Rejection():
            return f"bad {message.name.lower()}"
        case UnknownKind(kind):
            return f"unknown kind={kind}"
        case ForeignHello():
            major, minor, patch = message.firmware
            return _line(
                "foreign_hello",
                boot=message.boot,
                protocol=message.protocol,
                fw_major=major,
                fw_minor=minor,
                fw_patch=patch,
                boot_id=message.boot_id,
            )
        case Hello():
            major, minor, patch = message.firmware
            return _line(
                "hello",
                **_header(message),
                protocol=message.protocol,
                fw_major=major,
                fw_minor=minor,
                fw_patch=patch,
                boot_id=message.boot_id,
                reset_cause=message.reset_cause,
                board=message.board,
                tick_hz=message.tick_hz,
                oldest=message.oldest,
                ring=message.ring,
                **_standing(message),
            )
        case Edges():
            fields = _header(message) | {"entries": len(message.entries)}
            for index, entry in enumerate(message.entries):
                raw = entry.to_bytes()
                fields |= {
                    f"tick{index}": int.from_bytes(raw[:4], "little"),
                    f"what{index}": raw[4],
                    f"arg{index}": raw[5],
                }
            return _line("edges", **fields)
        case Heartbeat():
            told = message.standing
            also = {"config": told.config, "muted": told.muted} if told is not None else {}
            return _line("heartbeat", **_header(message), echo=message.echo, **_standing(message), **also)
        case HelloRequest():
            return _line("hello_request", protocol=message.protocol)
        case Ack() | Nak():
            return _line(type(message).__name__.lower(), boot=message.boot, seq=message.seq)
        case HostHeartbeat():
            return _line("host_heartbeat", boot=message.boot, seq=message.seq, token=message.token)
        case Config():
            return _line("config", boot=message.boot, **_configuration(message.configuration))
        case Output():
            return _line("output", boot=message.boot, channels=message.levels.channels, levels=message.levels.mask)


def build(vector: Vector) -> Message:
    """The message that a line of the file describes, built from its numbers alone."""
    fields = vector.fields
    match vector.name:
        case "hello":
            return Hello(
                boot=fields["boot"],
                seq=fields["seq"],
                tick=fields["tick"],
                protocol=fields["protocol"],
                firmware=(fields["fw_major"], fields["fw_minor"], fields["fw_patch"]),
                boot_id=fields["boot_id"],
                reset_cause=fields["reset_cause"],
                board=fields["board"],
                tick_hz=fields["tick_hz"],
                oldest=fields["oldest"],
                ring=fields["ring"],
                counters=_counters(fields),
                levels=ChannelLevels(fields["channels"], fields["levels"]),
            )
        case "edges":
            body = b"".join(
                fields[f"tick{index}"].to_bytes(4, "little") + bytes([fields[f"what{index}"], fields[f"arg{index}"]])
                for index in range(fields["entries"])
            )
            header = bytes(9)
            entries = Edges.from_bytes(header + body).entries
            return Edges(fields["boot"], fields["seq"], fields["tick"], entries)
        case "heartbeat":
            levels = ChannelLevels(fields["channels"], fields["levels"])
            echo, counters = fields["echo"], _counters(fields)
            standing = Standing(fields["config"], fields["muted"]) if "config" in fields else None
            return Heartbeat(fields["boot"], fields["seq"], fields["tick"], echo, counters, levels, standing)
        case "hello_request":
            return HelloRequest(fields["protocol"])
        case "ack":
            return Ack(fields["boot"], fields["seq"])
        case "nak":
            return Nak(fields["boot"], fields["seq"])
        case "host_heartbeat":
            return HostHeartbeat(fields["boot"], fields["seq"], fields["token"])
        case "config":
            return Config(fields["boot"], _build_configuration(fields))
        case "output":
            return Output(fields["boot"], ChannelLevels(fields["channels"], fields["levels"]))
    raise AssertionError(f"no message is called {vector.name}")


def _counters(fields: dict[str, int]) -> BoardCounters:
    return BoardCounters(fields["lost"], fields["bad_frames"], fields["resent"])


def _header(message: Hello | Edges | Heartbeat) -> dict[str, int]:
    return {"boot": message.boot, "seq": message.seq, "tick": message.tick}


def _standing(message: Hello | Heartbeat) -> dict[str, int]:
    counters, levels = message.counters, message.levels
    return {
        "lost": counters.lost,
        "bad_frames": counters.bad_frames,
        "resent": counters.resent,
        "channels": levels.channels,
        "levels": levels.mask,
    }


def _configuration(configuration: BoardConfiguration) -> dict[str, int]:
    fields = {
        "channels": configuration.channels,
        "inputs": configuration.inputs,
        "pull_ups": configuration.pull_ups,
        "outputs": configuration.outputs,
        "rest": configuration.rest,
        "mute_after": configuration.mute_after,
        "sensors": len(configuration.sensors),
    }
    for place, sensor in enumerate(configuration.sensors):
        raw = sensor.to_bytes()
        fields |= {
            f"channel{place}": raw[0],
            f"analog{place}": raw[1],
            f"after{place}": raw[2],
            f"limits{place}": int.from_bytes(raw[3:7], "little"),
            f"objects{place}": int.from_bytes(raw[7:9], "little"),
        }
    return fields | {"checksum": configuration.checksum}


def _build_configuration(fields: dict[str, int]) -> BoardConfiguration:
    sensors = tuple(
        ColourSensor(
            channel=fields[f"channel{n}"],
            analog=fields[f"analog{n}"] & 0x0F,
            classes=tuple(
                (fields[f"limits{n}"] >> 8 * place & 0xFF, fields[f"objects{n}"] >> 4 * place & 0xF)
                for place in range(4)
            ),
            after=fields[f"after{n}"],
            wants_lowest=bool(fields[f"analog{n}"] & 0x10),
            active_level=fields[f"analog{n}"] >> 5 & 1,
        )
        for n in range(fields["sensors"])
    )
    names = ("channels", "inputs", "pull_ups", "outputs", "rest", "mute_after")
    configuration = BoardConfiguration(*(fields[name] for name in names), sensors)
    assert configuration.checksum == fields["checksum"]
    return configuration


def _line(name: str, **fields: int) -> str:
    return " ".join([name, *(f"{key}={value}" for key, value in fields.items())])
