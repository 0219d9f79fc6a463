"""`pocketbeam broker-config DIR`: a mosquitto configuration for a network, ready to start.

A broker that only this machine can reach needs none of it. On a network everybody who can reach a broker could
forge a score, so here each kind of client has an account that may do what it is for and nothing else
(`configuration.py`), passwords are made up and not chosen, and what crosses the network is encrypted
(`certificate.py`). Everything is written beside its place first and then put there in one step: half a
configuration is never there, and nothing is ever overwritten.
"""

import contextlib
import grp
import json
import os
import pwd
import shlex
import shutil
import tempfile
from pathlib import Path

from appliance.tools.broker_config.certificate import CertificateError, make_certificate
from appliance.tools.broker_config.configuration import (
    ACCOUNTS,
    Listeners,
    access_list,
    broker_configuration,
    hashed,
    new_password,
    new_salt,
)

_BROKER, _TABLES = "mosquitto", "pocketbeam"
"""The users that Debian's broker and our service run as."""


class BrokerConfigError(Exception):
    """Nothing was written; the text is a sentence."""


def broker_config(directory: Path, names: tuple[str, ...], listeners: Listeners) -> str:
    """Write everything into `directory`, which must be new or empty, and return what to say about it.

    `names` are those by which others reach the broker: its certificate is good for them and for nothing else.
    """
    directory = Path(os.path.abspath(directory))
    if any(ord(character) < 32 or character == '"' for character in str(directory)):
        raise BrokerConfigError("the directory's name holds a character that a broker's configuration cannot hold")
    if directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
        raise BrokerConfigError(f"{directory} is there already and is never overwritten: name a new directory")
    if not directory.parent.is_dir():
        raise BrokerConfigError(f"there is no directory {directory.parent} to write into")
    try:
        being_made = Path(tempfile.mkdtemp(prefix=f".{directory.name}-", dir=directory.parent))
    except OSError as error:
        why = f"{directory.parent} cannot be written to: {(error.strerror or str(error)).lower()}"
        raise BrokerConfigError(f"{why}; does it need sudo?" if isinstance(error, PermissionError) else why) from None
    try:
        _write(being_made, directory, names, listeners)
        # An empty directory gives way to it; one that somebody has filled meanwhile does not.
        being_made.rename(directory)
    except CertificateError as error:
        raise BrokerConfigError(str(error)) from None
    finally:
        shutil.rmtree(being_made, ignore_errors=True)
    return told(directory, names, listeners)


def _write(directory: Path, final: Path, names: tuple[str, ...], listeners: Listeners) -> None:
    directory.chmod(0o755)
    make_certificate(directory, names)
    passwords = {account.name: new_password() for account in ACCOUNTS}
    for name, password in passwords.items():
        _file(directory / f"{name}.password", f"{password}\n", 0o600)
    hashes = [f"{name}:{hashed(password, new_salt())}" for name, password in passwords.items()]
    _file(directory / "accounts", "\n".join(hashes) + "\n", 0o600)
    _file(directory / "access", access_list(), 0o600)
    _file(directory / "mosquitto.conf", broker_configuration(final, listeners), 0o644)
    (directory / "kept").mkdir(mode=0o700)
    if os.geteuid() == 0:
        # Started by root, the broker goes on as a user of its own before it reads these.
        for name in ("accounts", "access", "server.key", "kept"):
            _give(directory / name, _BROKER)
        _give(directory / "appliance.password", _TABLES)


def _file(path: Path, text: str, mode: int) -> None:
    """A new file that at no moment anybody else may read."""
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "w", encoding="utf-8") as file:
        os.fchmod(file.fileno(), mode)
        file.write(text)


def _give(path: Path, user: str) -> None:
    """To that user where there is one; a machine without it runs the program as somebody else."""
    with contextlib.suppress(KeyError):
        os.chown(path, pwd.getpwnam(user).pw_uid, grp.getgrnam(user).gr_gid)


def told(directory: Path, names: tuple[str, ...], listeners: Listeners) -> str:
    """What was written, what each table's file needs, and what to do next."""
    width = max(len(account.name) for account in ACCOUNTS)
    accounts = [f"  {account.name:<{width}}  {account.may}" for account in ACCOUNTS]
    if listeners.plain_on_network:
        plain = f"  not encrypted: port {listeners.plain}, and {listeners.websocket} for WebSocket"
    else:
        plain = f"  for programs on this machine, not encrypted: port {listeners.plain}"
    # Debian keeps it where only root looks for programs.
    program = "mosquitto" if shutil.which("mosquitto") else "/usr/sbin/mosquitto"
    start = f"{program} -c {shlex.quote(str(directory / 'mosquitto.conf'))}"
    return "\n".join(
        [
            f"{directory} holds the configuration of a broker. It listens",
            f"  encrypted: port {listeners.tls}, and {listeners.websocket_tls} for WebSocket",
            plain,
            f"and its certificate is good for {', '.join(names)}.",
            "",
            f"The accounts. The password of each is in its file, such as {directory}/umpire.password:",
            *accounts,
            "",
            "For the file of each table on this machine:",
            "",
            "[mqtt]",
            'host = "localhost"',
            f"port = {listeners.tls}",
            'username = "appliance"',
            f"password_file = {_quoted(directory / 'appliance.password')}",
            f"tls = {{ ca = {_quoted(directory / 'ca.crt')} }}",
            "",
            "A table on another machine needs copies of these two files there, and another of the names as host.",
            f"Start it, where no other broker has these ports: {start}",
            "How to start it with the machine, and what each account is for: docs/security.md",
        ]
    )


def _quoted(path: Path) -> str:
    """As TOML writes it, which for a path is as JSON does."""
    return json.dumps(str(path), ensure_ascii=False)
