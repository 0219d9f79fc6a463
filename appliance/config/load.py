"""From files to settings; all that is wrong in all of them is said at once."""

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from appliance.config import checks
from appliance.config.game import STRIKE, check_game, objects
from appliance.config.grammar import toml_fault
from appliance.config.lines import key_lines
from appliance.config.problems import ConfigurationError, Problem
from appliance.config.report import Report, View
from appliance.config.settings import Mqtt, Settings
from appliance.config.structure import read_structure


def load(path: str | Path) -> Settings:
    """The settings in the file at `path`; raises ConfigurationError with every problem in it."""
    return load_all([path])[0]


def load_all(paths: Sequence[str | Path]) -> tuple[Settings, ...]:
    """The settings of several tables, which must not get in each other's way."""
    problems: list[Problem] = []
    read: list[tuple[Settings, Report]] = []
    for index, path in enumerate(paths):
        if path in paths[:index]:
            problems.append(Problem("", None, "is given twice: one file a table", str(path)))
            continue
        try:
            text = _text(Path(path))
            report = Report(str(path), key_lines(text))
            read.append((_settings(tomllib.loads(text), Path(path).absolute().parent, report), report))
        except ConfigurationError as error:
            problems.extend(error.problems)
    checks.between_tables(read)
    for _, report in read:
        problems.extend(report.problems)
    if problems:
        raise ConfigurationError(problems)
    return tuple(settings for settings, _ in read)


def from_document(document: dict[str, Any], base: Path | None = None) -> Settings:
    """The settings in a document that is already parsed (a recording's, the demo's).

    Relative paths start at `base`, or at the current directory.
    """
    return _settings(document, base or Path.cwd(), Report("", {}))


def _text(path: Path) -> str:
    """The file's text, known to be TOML."""
    try:
        text = path.read_bytes().decode("utf-8-sig").replace("\r\n", "\n")
        tomllib.loads(text)
    except OSError as error:
        sentence = f"cannot be read: {(error.strerror or str(error)).lower()}"
        raise ConfigurationError([Problem("", None, sentence, str(path))]) from None
    except UnicodeDecodeError:
        raise ConfigurationError([Problem("", None, "is not a text in UTF-8", str(path))]) from None
    except tomllib.TOMLDecodeError as error:
        line, fault = toml_fault(error)
        raise ConfigurationError([Problem("", line, f"is not TOML: {fault}", str(path))]) from None
    except RecursionError:
        raise ConfigurationError([Problem("", None, "is nested too deeply", str(path))]) from None
    return text


def _settings(document: dict[str, Any], base: Path, report: Report) -> Settings:
    sections = read_structure(document, report)
    view = View((), document)
    checks.check_ids(view, report)
    checks.check_sources(view, report)
    checks.check_wires(view, report)
    checks.check_groups(view, report)
    checks.check_lamps(view, report)
    checks.check_colours(view, report)
    checks.check_debounce(view, report)
    checks.check_files(view, base, report)
    check_game(view, report)
    if report.problems:
        raise ConfigurationError(sorted(report.problems, key=lambda problem: problem.line or 0))
    settings = _complete(Settings(**sections, file=report.file), base)
    checks.warn(settings, report)
    return settings.model_copy(update={"warnings": tuple(report.warnings)})


def _complete(settings: Settings, base: Path) -> Settings:
    """What only the whole document can say: what a beam passes by default, and where paths start."""
    everything = objects(settings.table.game)
    beams = tuple(
        beam if beam.passes or beam.place == STRIKE else beam.model_copy(update={"passes": everything})
        for beam in settings.beams
    )
    table = settings.table.model_copy(update={"state_dir": base / settings.table.state_dir})
    mqtt = _resolved(settings.mqtt, base)
    return settings.model_copy(update={"beams": beams, "table": table, "mqtt": mqtt})


def _resolved(mqtt: Mqtt, base: Path) -> Mqtt:
    tls = mqtt.tls
    if tls is not None:
        names = {key: base / name for key in ("ca", "cert", "key") if (name := getattr(tls, key))}
        tls = tls.model_copy(update=names)
    password_file = base / mqtt.password_file if mqtt.password_file else None
    return mqtt.model_copy(update={"password_file": password_file, "tls": tls})
