"""Hold a qlog against the schema of the version it claims, and against what qvis can load.

No package that validates qlog is published for Python; the schemas in config/schemas/ state what
the drafts demand of the heads, the events and the data of the events that QUIC stacks write.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from referencing import Registry, Resource

from howquick.extract.qlog_file import OPENING_BYTES, Qlog, read_qlog
from howquick.files import read_json
from howquick.schemas import SCHEMAS

VERSIONS = ("0.3", "0.4", "1.0")
_SHARED = "qlog-common.schema.json"
# Versions that the log viewer qvis knows by name (its list of aliases of draft-02 and 0.3).
_QVIS_VERSIONS = ("draft-02", "draft-02-RC1", "qlog-03-WIP", "0.3")


@dataclass(frozen=True)
class Report:
    """What a validation found.

    `valid` is None where no schema of the claimed version is known; `violation` is the first one,
    with the place. `qvis` says why qvis does not load the file, None if it does.
    """

    path: Path
    version: str
    events: int
    checked: int
    valid: bool | None
    violation: str | None
    qvis: str | None


def validate_qlog(path: Path) -> Report:
    """Validate every event of a log. Raises QlogError if the file is no qlog at all."""
    return validate_log(read_qlog(path), None)


def validate_log(log: Qlog, per_name: int | None) -> Report:
    """Validate the head and `per_name` events of each name, evenly spread (None: all).

    Raises QlogError for a record that is not JSON.
    """
    path = log.path
    qvis = qvis_refuses(log)
    if log.version not in VERSIONS:
        reason = f"version {log.version!r} is not among {', '.join(VERSIONS)}"
        return Report(path, log.version, len(log.events), 0, None, reason, qvis)
    checked, violation = 0, _head_violation(log)
    if violation is None:
        for index, name in _sample(log, per_name):
            checked += 1
            violation = _event_violation(log, index, name)
            if violation:
                break
    return Report(path, log.version, len(log.events), checked, violation is None, violation, qvis)


def _sample(log: Qlog, per_name: int | None) -> list[tuple[int, str]]:
    """Events to look at, in order: of each name the first, the last and some between."""
    found = []
    for name, places in log.places.items():
        count = len(places)
        if per_name is not None and count > per_name:
            last = max(per_name - 1, 1)
            places = [places[(count - 1) * step // last] for step in range(per_name)]
        found += [(index, name) for index in places]
    return sorted(found)


def _head_violation(log: Qlog) -> str | None:
    part = "head" if log.sequential else "document"
    found = _first(_validator(log.version, part), log.head)
    return f"head: {found}" if found else None


def _event_violation(log: Qlog, index: int, name: str) -> str | None:
    # Counted as in the file: a sequence's first record is its head.
    where = f"record {index + 2}" if log.sequential else f"event {index}"
    event = log.event(index)
    found = _first(_validator(log.version, "event"), event)
    validator = None if found else _validator(log.version, str(event["name"]))
    if validator is not None:
        found = _first(validator, event["data"])
    return f"{where} ({name or 'no name'}): {found}" if found else None


@cache
def _validator(version: str, part: str) -> Draft202012Validator | None:
    """For a part of a version's schema; None for an event that it does not know."""
    names = (f"qlog-{version}.schema.json", _SHARED)
    schemas = {name: read_json(SCHEMAS / name) for name in names}
    if part not in schemas[names[0]]["$defs"]:
        return None
    registry: Registry = Registry().with_resources(
        (name, Resource.from_contents(schema)) for name, schema in schemas.items()
    )
    return Draft202012Validator({"$ref": f"{names[0]}#/$defs/{part}"}, registry=registry)


def _first(validator: Draft202012Validator | None, value: Any) -> str | None:
    """The first violation as one line: where, and what."""
    try:
        error = next(validator.iter_errors(value), None) if validator else None
    except RecursionError:
        return "nested too deeply"
    if error is None:
        return None
    where = ".".join(str(part) for part in error.absolute_path)
    return " ".join(f"{where + ': ' if where else ''}{error.message}"[:300].split())


def qvis_refuses(log: Qlog) -> str | None:
    """Why qvis does not load the file, None if it does.

    It asks for `qlog_version` with a version it knows; of a sequence also for the suffix `.sqlog`,
    `qlog_format` JSON-SEQ and a `trace` in the first record; of a document for `traces`.
    """
    version = log.head.get("qlog_version")
    if version is None:
        return "no qlog_version (qvis knows versions up to 0.3)"
    if version not in _QVIS_VERSIONS:
        return f"qlog_version {version!r} (qvis knows {', '.join(_QVIS_VERSIONS)})"
    if not log.sequential:
        if b"qlog_version" not in log.opening:
            return f"qlog_version is not in its first {OPENING_BYTES} bytes"
        return None if log.events else "no traces with events"
    if log.head.get("qlog_format") != "JSON-SEQ":
        return "a sequence whose qlog_format is not JSON-SEQ"
    if "trace" not in log.head:
        return "no trace in the first record"
    return None if log.path.suffix == ".sqlog" else "a sequence not named .sqlog"
