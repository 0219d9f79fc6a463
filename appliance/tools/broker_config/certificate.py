"""A broker's certificate, by an authority of its own.

No public authority signs for `club-pi.local`, and a certificate without an authority has to be trusted anew by
every client at each change. The authority signs once: its key is thrown away at once, so that nobody can ever
sign another broker with it. For another name a new authority is made. The work is done by the program
openssl, which every Debian has; a library for it would be the biggest part of this one.
"""

import ipaddress
import re
import socket
import subprocess
import tempfile
from pathlib import Path

YEARS = 10
_DAYS = YEARS * 365 + 2
_DNS_NAME = re.compile(r"(?!-)[A-Za-z0-9-]{1,63}(?<!-)(\.(?!-)[A-Za-z0-9-]{1,63}(?<!-))*")

_SETTINGS = """\
[req]
prompt = no
distinguished_name = name
[name]
CN = {name}
[authority]
basicConstraints = critical, CA:TRUE, pathlen:0
keyUsage = critical, keyCertSign
subjectKeyIdentifier = hash
[server]
basicConstraints = critical, CA:FALSE
keyUsage = critical, digitalSignature
extendedKeyUsage = serverAuth
subjectAltName = {names}
"""


class CertificateError(Exception):
    """There is no certificate; the text is a sentence."""


def own_names() -> tuple[str, ...]:
    """The names by which this machine is usually reached."""
    host = socket.gethostname().split(".")[0]
    found = [host, f"{host}.local"] if _DNS_NAME.fullmatch(host) else []
    return (*(name for name in found if not name.startswith("localhost")), "localhost", "127.0.0.1")


def is_name(text: str) -> bool:
    """Whether a certificate can be made out for it: a name in a network, or an address."""
    return _is_address(text) or (_DNS_NAME.fullmatch(text) is not None and len(text) <= 253)


def make_certificate(directory: Path, names: tuple[str, ...]) -> None:
    """Write `ca.crt`, `server.crt` and `server.key` into `directory`; CertificateError with a sentence."""
    with tempfile.TemporaryDirectory(prefix="pocketbeam-") as scratch:
        at = Path(scratch)
        listed = ", ".join(f"{'IP' if _is_address(name) else 'DNS'}:{name}" for name in names)
        for kind, name in {"authority": f"Pocketbeam authority of {names[0]}"[:64], "server": names[0][:64]}.items():
            (at / kind).write_text(_SETTINGS.format(name=name, names=listed), encoding="utf-8")
        ca_key, request, server_key = at / "ca.key", at / "request", directory / "server.key"
        ca, server = directory / "ca.crt", directory / "server.crt"
        for key in (ca_key, server_key):
            _openssl("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", str(key))
            key.chmod(0o600)
        _openssl(
            *("req", "-new", "-x509", "-key", str(ca_key), "-out", str(ca), "-days", str(_DAYS)),
            *("-config", str(at / "authority"), "-extensions", "authority"),
        )
        _openssl(
            *("req", "-new", "-key", str(server_key), "-out", str(request), "-config", str(at / "server")),
        )
        _openssl(
            *("x509", "-req", "-in", str(request), "-out", str(server), "-days", str(_DAYS)),
            *("-CA", str(ca), "-CAkey", str(ca_key), "-CAserial", str(at / "serial"), "-CAcreateserial"),
            *("-extfile", str(at / "server"), "-extensions", "server"),
        )
        for certificate in (ca, server):
            certificate.chmod(0o644)


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _openssl(*arguments: str) -> None:
    try:
        done = subprocess.run(
            ["openssl", *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, umask=0o077
        )
    except FileNotFoundError:
        raise CertificateError("the certificate is made by openssl: sudo apt-get install openssl") from None
    except OSError as error:
        raise CertificateError(f"openssl cannot be run: {error.strerror or error}") from None
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["no reason"])[-1]
        raise CertificateError(f"openssl makes no certificate: {last}")
