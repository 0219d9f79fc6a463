"""TLS towards a broker: always verified, and a sentence for each way in which it can fail.

What is wrong is nearly always one of five things (expired, not yet valid, another name, an unknown authority,
no TLS at all), and each has another remedy; OpenSSL's own words name none of them.
"""

import ssl
from os import PathLike, fspath
from typing import Protocol

FilePath = PathLike[str] | str


class TlsSettings(Protocol):
    """Files for TLS; without `ca` the system's authorities are trusted."""

    @property
    def ca(self) -> FilePath | None:
        """Authorities to trust."""

    @property
    def cert(self) -> FilePath | None:
        """This client's certificate."""

    @property
    def key(self) -> FilePath | None:
        """The certificate's key, where it is not in the same file."""


class RejectedError(Exception):
    """Somebody answered and does not want us, or is not who they should be; the text is a sentence."""


def tls_context(settings: TlsSettings) -> ssl.SSLContext:
    """Certificates and names are always verified; RejectedError names the file that is wrong."""
    ca, certificate, key = (
        None if path is None else fspath(path) for path in (settings.ca, settings.cert, settings.key)
    )
    try:
        context = ssl.create_default_context(cafile=ca)
    except (OSError, ssl.SSLError) as error:
        raise RejectedError(f"the file of authorities {ca} cannot be used: {reason(error)}") from None
    if certificate is not None:
        try:
            # A key that is locked would make OpenSSL ask for its password on a terminal that nobody sits at.
            context.load_cert_chain(certificate, key, password=lambda: "")
        except (OSError, ssl.SSLError) as error:
            files = certificate if key is None else f"{certificate} with {key}"
            raise RejectedError(f"the client certificate {files} cannot be used: {reason(error)}") from None
    return context


def tls_sentence(error: OSError, host: str, port: int) -> str:
    """Why there is no TLS with a broker that answered."""
    where = f"{host}:{port}"
    if isinstance(error, ssl.SSLCertVerificationError):
        remedy = _REMEDIES.get(error.verify_code)
        if remedy is None:
            return f"the certificate of {where} is not accepted: {error.verify_message}"
        return f"the certificate of {where} {remedy.format(host=host)}"
    if isinstance(error, ssl.SSLError) and error.reason == "WRONG_VERSION_NUMBER":
        return f"{where} does not speak TLS: is it the port for plain MQTT?"
    if isinstance(error, ssl.SSLError):
        return f"TLS with {where} fails: {reason(error)}"
    return f"{where} closes the connection during the TLS handshake: is it a port for TLS?"


def reason(error: OSError) -> str:
    """The shortest of an error's own words."""
    return getattr(error, "reason", None) or error.strerror or str(error)


_UNKNOWN = "is signed by nobody whom this table trusts: name the file of its authority as ca in [mqtt] tls"
_OTHER_NAME = 'is for other names than "{host}": the host in [mqtt] must be one of those that stand in it'
_REMEDIES = {  # by OpenSSL's number
    9: "is not valid yet: is this machine's clock set?",
    10: "has expired: give the broker a new one (or set this machine's clock, if it is wrong)",
    18: _UNKNOWN,
    19: _UNKNOWN,
    20: _UNKNOWN,
    21: _UNKNOWN,
    62: _OTHER_NAME,
    64: _OTHER_NAME,
}
