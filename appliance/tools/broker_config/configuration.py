"""What a broker is told: its listeners, its accounts and their rights. Pure text, but for the dice of passwords.

Rights follow from what a client is for. Only the tables' account may say what a score is. Whoever may ask
something of a table may write to its topic of requests and nowhere else: the table itself judges requests, so
a right to ask is no right to forge. A scoreboard may write nothing at all.
"""

import base64
import hashlib
import secrets
from dataclasses import dataclass
from pathlib import Path

from appliance.mqtt.topics import BASE

DISCOVERY = "homeassistant"
"""The prefix under which Home Assistant listens for devices."""

LARGEST_MESSAGE = 256 * 1024
"""Bytes; the longest of ours has a tenth of it."""

_LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"  # none that look alike: people type them into displays
_GROUPS, _GROUP = 4, 5
_ITERATIONS = 1_000
"""More would protect passwords that people choose; these have 99 bits of chance."""
_SALT = 12


@dataclass(frozen=True, slots=True)
class Account:
    """A kind of client: its rights as lines of the access list, and as words."""

    name: str
    may: str
    rights: tuple[str, ...]


ACCOUNTS = (
    Account(
        "appliance",
        "the tables themselves: may say everything under their topics",
        (
            f"topic readwrite {BASE}/#",
            f"topic readwrite {DISCOVERY}/device/+/config",
            f"topic read {DISCOVERY}/status",
        ),
    ),
    Account(
        "umpire",
        "may see everything and ask anything of a table",
        (f"topic read {BASE}/#", f"topic write {BASE}/+/request"),
    ),
    Account("scoreboard", "may see everything and change nothing", (f"topic read {BASE}/#",)),
    Account(
        "homeassistant",
        "what an umpire may, and its own topics",
        (f"topic read {BASE}/#", f"topic write {BASE}/+/request", f"topic readwrite {DISCOVERY}/#"),
    ),
)


@dataclass(frozen=True, slots=True)
class Listeners:
    """Ports. What is not encrypted is for this machine, unless it is opened to the network on purpose."""

    plain: int = 1883
    tls: int = 8883
    websocket: int = 9001
    websocket_tls: int = 8884
    plain_on_network: bool = False


def broker_configuration(directory: Path, listeners: Listeners) -> str:
    """The text of mosquitto.conf for files in `directory`."""
    certificate = f"certfile {directory}/server.crt\nkeyfile {directory}/server.key"
    blocks = [
        f"# MQTT, encrypted\nlistener {listeners.tls}\n{certificate}",
        f"# MQTT over WebSocket, encrypted\nlistener {listeners.websocket_tls}\nprotocol websockets\n{certificate}",
    ]
    if listeners.plain_on_network:
        blocks += [
            f"# MQTT, not encrypted\nlistener {listeners.plain}",
            f"# MQTT over WebSocket, not encrypted\nlistener {listeners.websocket}\nprotocol websockets",
        ]
    else:
        # No WebSocket here: Debian 12's mosquitto opens such a listener to the network whatever its address is.
        blocks.append(f"# MQTT for programs on this machine\nlistener {listeners.plain} 127.0.0.1")
    return _HEAD.format(directory=directory, largest=LARGEST_MESSAGE) + "\n" + "\n\n".join(blocks) + "\n"


_HEAD = """\
# A broker for Pocketbeam's tables, written by pocketbeam broker-config for mosquitto 2.
# It is whole: nothing else needs to be included.

allow_anonymous false
password_file {directory}/accounts
acl_file {directory}/access

# A score is one small message: send it at once instead of waiting for more.
set_tcp_nodelay true
# What is retained is still there after a restart.
persistence true
persistence_location {directory}/kept/
# Nothing of ours is longer; nobody can choke a table with something that is.
max_packet_size {largest}
log_dest stderr
"""


def access_list() -> str:
    """Who may read and write what; what is not named here nobody may."""
    blocks = [f"# {account.may}\nuser {account.name}\n" + "\n".join(account.rights) for account in ACCOUNTS]
    return "\n\n".join(blocks) + "\n"


def new_password() -> str:
    """A password by chance that can be read out and typed."""
    return "-".join("".join(secrets.choice(_LETTERS) for _ in range(_GROUP)) for _ in range(_GROUPS))


def new_salt() -> bytes:
    """What makes equal passwords look different."""
    return secrets.token_bytes(_SALT)


def hashed(password: str, salt: bytes) -> str:
    """A password as mosquitto keeps it: PBKDF2 with SHA-512, the program's own form `$7$`."""
    made = hashlib.pbkdf2_hmac("sha512", password.encode(), salt, _ITERATIONS)
    return f"$7${_ITERATIONS}${base64.b64encode(salt).decode()}${base64.b64encode(made).decode()}"
