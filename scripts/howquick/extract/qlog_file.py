"""Read a qlog in any of its forms without parsing more of it than is asked for.

Forms: qlog 0.3 and 0.4 (`qlog_version`) and the later drafts of 1.0 (`file_schema`), as one JSON
document (`.qlog`) and as JSON text sequences (`.sqlog`, RFC 7464); draft-ietf-quic-qlog-main-schema.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeGuard

from howquick.foreign import NotReadable, parse_json, read_bytes
from howquick.timing import is_number

SUFFIXES = (".qlog", ".sqlog")
RECORD_SEPARATOR = b"\x1e"
MOST_BYTES = 1 << 30
# No stack logs a larger one: what is beyond is damage, and would not fit where numbers are kept.
_LARGEST = 2.0**63
_LONGEST_VERSION = 40
# qvis looks for the version among the first bytes of a file whose name does not tell its form.
OPENING_BYTES = 1024
# A quotation mark within a JSON text is escaped, so nothing but a name looks like this; names of
# HTTP fields and of settings have no colon in their middle.
_NAME = re.compile(rb'"name"\s*:\s*"(\w+:\w+)"')


class QlogError(Exception):
    """A file is no qlog; the message says why."""


@dataclass(frozen=True)
class Qlog:
    """One connection's log.

    `version` is what it claims: `0.3`, `0.4`, …, or `1.0` for the drafts that name a `file_schema`.
    `head` is the first record of a sequence, or the document without its events. `trace` describes
    the connection. `events` are the records as bytes (a sequence) or parsed (a document), `opening` is
    how the file begins.
    """

    path: Path
    version: str
    sequential: bool
    head: dict[str, Any]
    trace: dict[str, Any]
    events: list[Any]
    opening: bytes = b""

    def event(self, index: int) -> Any:
        """The event parsed. Raises QlogError if it is not JSON."""
        found = self.events[index]
        if not isinstance(found, bytes):
            return found
        try:
            # Decoding first saves json.loads its guess of the encoding.
            return parse_json(found.decode())
        except ValueError as error:
            raise QlogError(f"{self.path.name}: record {index + 2} is not JSON: {error}") from None

    def data(self, index: int) -> dict[str, Any]:
        """The data of an event; empty where it has none. Raises QlogError as `event` does."""
        found = self.event(index)
        data = found.get("data") if isinstance(found, dict) else None
        return data if isinstance(data, dict) else {}

    @cached_property
    def names(self) -> list[str]:
        """The name of every event; empty where it has none."""
        if not self.sequential:
            return [
                str(found.get("name", "")) if isinstance(found, dict) else ""
                for found in self.events
            ]
        matches = (_NAME.search(record) for record in self.events)
        return [match[1].decode() if match else "" for match in matches]

    @cached_property
    def places(self) -> dict[str, list[int]]:
        """Where the events of each name are, in order."""
        places: dict[str, list[int]] = {}
        for index, name in enumerate(self.names):
            places.setdefault(name, []).append(index)
        return places

    def of_kind(self, *kinds: str) -> list[int]:
        """Where the events are whose names, without their category, are among `kinds`; in order."""
        found = [at for name, at in self.places.items() if name.partition(":")[2] in kinds]
        return sorted(index for at in found for index in at)

    def number(self, index: int, keys: Sequence[str]) -> float | None:
        """A number in an event's data, by the first of the keys that is there.

        Much faster than parsing the event: for what thousands of them repeat.
        """
        event = self.events[index]
        if isinstance(event, bytes):
            matches = (re.search(rb'"%b"\s*:\s*(\d+\.?\d*)' % k.encode(), event) for k in keys)
            told: list[Any] = [float(match[1]) for match in matches if match]
        else:
            told = [self.data(index).get(key) for key in keys]
        return next((float(value) for value in told if is_amount(value)), None)

    def milliseconds(self) -> list[float]:
        """The time of every event in milliseconds on one time line of the log's own."""
        times, now = [], 0.0
        fields = self.trace.get("common_fields")
        form = fields.get("time_format") if isinstance(fields, dict) else None
        steps = form in ("delta", "relative_to_previous_event")
        for index in range(len(self.events)):
            found = self.event(index)
            time = found.get("time") if isinstance(found, dict) else None
            time = float(time) if is_amount(time) else 0.0
            now = now + time if steps else time
            times.append(now)
        return times


def is_amount(value: Any) -> TypeGuard[int | float]:
    """Whether a value is a number that a log can mean."""
    return is_number(value) and abs(value) <= _LARGEST


def read_qlog(path: Path) -> Qlog:
    """Read a log. Raises QlogError if it is missing, cut short or not a qlog."""
    try:
        content = read_bytes(path, MOST_BYTES)
    except NotReadable as reason:
        raise QlogError(f"{path.name} {reason}") from None
    return parse_qlog(content, path)


def parse_qlog(content: bytes, path: Path) -> Qlog:
    """A log that is in memory; `path` is where it is from. Raises QlogError."""
    if content.lstrip()[:1] == RECORD_SEPARATOR:
        return _sequence(path, content)
    return _document(path, content)


def _parse(path: Path, text: bytes) -> dict[str, Any]:
    try:
        value = parse_json(text)
    except ValueError:
        raise QlogError(f"{path.name}: cut short or no qlog") from None
    if not isinstance(value, dict):
        raise QlogError(f"{path.name}: no qlog")
    return value


def _sequence(path: Path, content: bytes) -> Qlog:
    records = [record for record in content.split(RECORD_SEPARATOR) if record.strip()]
    head = _parse(path, records[0]) if records else {}
    version = _version(path, head)
    # The last record of a log that was cut does not parse.
    _parse(path, records[-1])
    trace = head.get("trace")
    return Qlog(path, version, True, head, trace if isinstance(trace, dict) else {}, records[1:])


def _document(path: Path, content: bytes) -> Qlog:
    whole = _parse(path, content)
    version = _version(path, whole)
    traces = whole.get("traces")
    listed = [t for t in traces if isinstance(t, dict)] if isinstance(traces, list) else []
    trace = next((t for t in listed if isinstance(t.get("events"), list)), {})
    opening = content[:OPENING_BYTES]
    return Qlog(path, version, False, whole, trace, trace.get("events", []), opening)


def _version(path: Path, head: dict[str, Any]) -> str:
    if "file_schema" in head:
        return "1.0"
    version = head.get("qlog_version")
    if isinstance(version, str | float) and len(str(version)) <= _LONGEST_VERSION:
        return str(version)
    raise QlogError(f"{path.name}: no qlog")
