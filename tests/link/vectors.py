"""tests/vectors/frames.txt as values: lines, and messages to and from their text."""

from dataclasses import dataclass
from pathlib import Path

from appliance.link.framing import Rejection
from appliance.link.messages import (
    Ack,
    BoardCounters,
    ChannelLevels,
    Edges,
    ForeignHello,
    Heartbeat,
    Hello,
    HelloRequest,
    HostHeartbeat,
    Message,
    Nak,
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
            return _line("heartbeat", **_header(message), echo=message.echo, **_standing(message))
        case HelloRequest():
            return _line("hello_request", protocol=message.protocol)
        case Ack() | Nak():
            return _line(type(message).__name__.lower(), boot=message.boot, seq=message.seq)
        case HostHeartbeat():
            return _line("host_heartbeat", boot=message.boot, seq=message.seq, token=message.token)


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
            return Heartbeat(fields["boot"], fields["seq"], fields["tick"], echo, counters, levels)
        case "hello_request":
            return HelloRequest(fields["protocol"])
        case "ack":
            return Ack(fields["boot"], fields["seq"])
        case "nak":
            return Nak(fields["boot"], fields["seq"])
        case "host_heartbeat":
            return HostHeartbeat(fields["boot"], fields["seq"], fields["token"])
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


def _line(name: str, **fields: int) -> str:
    return " ".join([name, *(f"{key}={value}" for key, value in fields.items())])
