"""Certificates as good and as bad as a test wants them, made by openssl."""

import subprocess
from pathlib import Path

AUTHORITY = """
[ca]
default_ca = here
[here]
database = {0}/index
new_certs_dir = {0}
serial = {0}/serial
default_md = sha256
policy = any
copy_extensions = copy
x509_extensions = none
[any]
commonName = supplied
[none]
"""


def certificate(directory: Path, name: str, start: str = "20200101000000Z", end: str = "21000101000000Z") -> Path:
    """A self-signed certificate for `name`, valid from `start` to `end`, its key in the same file."""
    home = directory / f"authority-{name}"
    home.mkdir()
    (home / "conf").write_text(AUTHORITY.format(home))
    (home / "index").touch()
    (home / "serial").write_text("01\n")
    file, key, asked = directory / f"{name}.pem", home / "key", home / "asked"
    names = ["-subj", f"/CN={name}", "-addext", f"subjectAltName=DNS:{name}"]
    command = "openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes"
    sign = ["openssl", "ca", "-batch", "-selfsign", "-notext", "-config"]
    for step in (
        [*command.split(), "-keyout", key, "-out", asked, *names],
        [*sign, home / "conf", "-in", asked, "-keyfile", key, "-out", file, "-startdate", start, "-enddate", end],
    ):
        subprocess.run(step, check=True, capture_output=True, timeout=20)
    file.write_text(file.read_text() + key.read_text())
    return file
