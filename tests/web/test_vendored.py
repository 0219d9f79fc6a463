"""What others wrote is shipped exactly as they published it."""

import hashlib
import re

from appliance.web.assets import STATIC

ROW = re.compile(r"^\| `(?P<file>[^`]+)` \|.*\| (?P<version>\d[\d.]*) \| MIT.*\| `(?P<sum>[0-9a-f]{64})` \|$", re.M)


def test_every_vendored_script_has_its_checksum_and_licence() -> None:
    folder = STATIC / "vendor"
    rows = {row["file"]: row["sum"] for row in ROW.finditer((folder / "VENDORED.md").read_text("utf-8"))}
    scripts = {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in folder.glob("*.js")}
    assert scripts == rows
    assert "Permission is hereby granted, free of charge" in (folder / "mqtt.LICENSE.md").read_text("utf-8")
