"""What the client reports: timing.json, checked field by field (docs/formats.md, section 2)."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeGuard

from howquick.foreign import NotReadable, parse_json, read_bytes, shown

# A page has some thousand objects of some hundred bytes each here.
MOST_BYTES = 64 << 20
# Beyond these a value is no time and no size: sums of them stay within what tables and arrays hold.
LARGEST_S = 2**32
LARGEST_COUNT = 2**53
LONGEST_TEXT = 4096
# What can be the name of a column.
METRIC_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")


class TimingError(Exception):
    """timing.json does not say what it must; the message names the key."""


@dataclass(frozen=True)
class ObjectTiming:
    """One object; times in seconds since the load's start, None where the client cannot tell.

    `protocol` is the one that this object really came by, where the client tells; `status` and
    `sha256` are what a client says of the answer, which its runner checks.
    """

    path: str
    size_bytes: int
    start_s: float | None
    first_byte_s: float | None
    end_s: float
    protocol: str | None = None
    status: int | None = None
    sha256: str | None = None


@dataclass(frozen=True)
class Timing:
    """One page load as the client saw it; `start` is Unix time in seconds.

    `metrics` are further numbers of the client, `negotiated` what it agreed on with the server
    (`cipher`, `group`, `congestion_control`).
    """

    protocol: str
    start: float
    handshake_s: float | None
    resumed: bool | None
    early_data: bool | None
    connections: int | None
    objects: tuple[ObjectTiming, ...]
    metrics: dict[str, float] = field(default_factory=dict)
    negotiated: dict[str, str] = field(default_factory=dict)

    @property
    def plt_s(self) -> float:
        """Page load time: when the last object was complete, seconds after the start."""
        return max(entry.end_s for entry in self.objects)

    @property
    def start_ns(self) -> int:
        """The start in Unix nanoseconds."""
        return round(self.start * 1e9)

    @property
    def end_ns(self) -> int:
        """The end of the last object in Unix nanoseconds."""
        return self.start_ns + round(self.plt_s * 1e9)

    @property
    def body_bytes(self) -> int:
        """Sum of the objects' sizes."""
        return sum(entry.size_bytes for entry in self.objects)


def read_timing(path: Path) -> Timing:
    """Read and check timing.json. Raises TimingError if it is missing or not as described."""
    try:
        content = read_bytes(path, MOST_BYTES)
    except NotReadable as reason:
        missing = "is missing" if not path.exists() else str(reason)
        raise TimingError(f"{path.name} {missing}") from None
    return parse_timing(content, path)


def parse_timing(content: bytes, path: Path) -> Timing:
    """Check the content of a timing.json; `path` is what messages call it. Raises TimingError."""
    try:
        data = parse_json(content)
    except ValueError as error:
        raise TimingError(f"{path.name} is not JSON: {error}") from None
    if not isinstance(data, dict):
        raise TimingError(f"{path.name}: must be an object")
    fields = _Fields(data, f"{path.name}: ")
    listed = data.get("objects")
    if not isinstance(listed, list) or not listed:
        raise TimingError(f"{path.name}: objects: must be a list with at least one object")
    timing = Timing(
        protocol=fields.text("protocol"),
        start=fields.seconds("start"),
        handshake_s=fields.optional_seconds("handshake_s"),
        resumed=fields.optional_flag("resumed"),
        early_data=fields.optional_flag("early_data"),
        connections=fields.optional_count("connections"),
        objects=tuple(
            _object(entry, f"{path.name}: objects[{index}]") for index, entry in enumerate(listed)
        ),
        metrics=_metrics(data.get("metrics"), path),
        negotiated=_negotiated(data.get("negotiated"), path),
    )
    if timing.plt_s <= 0:
        raise TimingError(f"{path.name}: objects: every end_s is 0, which no page load takes")
    return timing


def _metrics(values: Any, path: Path) -> dict[str, float]:
    """Numbers by name; a null is left out."""
    if not isinstance({} if values is None else values, dict):
        raise TimingError(f"{path.name}: metrics: must be an object of numbers")
    known = {name: value for name, value in (values or {}).items() if value is not None}
    for name, value in known.items():
        if not METRIC_NAME.fullmatch(name):
            raise TimingError(f"{path.name}: metrics: {shown(name)} is no name of a column")
        if not is_number(value):
            raise TimingError(f"{path.name}: metrics: {name}: must be a number, is {shown(value)}")
    return known


def is_number(value: Any) -> TypeGuard[int | float]:
    """Whether a JSON value is a number that a table can hold: no NaN, and none too large for a float."""
    # bool is a kind of int in Python; JSON's NaN and Infinity are floats.
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def _negotiated(values: Any, path: Path) -> dict[str, str]:
    """Texts by name; a null is left out."""
    if not isinstance({} if values is None else values, dict):
        raise TimingError(f"{path.name}: negotiated: must be an object")
    where = f"{path.name}: negotiated: "
    named = {
        name: str(value) if is_number(value) else value for name, value in (values or {}).items()
    }
    return {name: _Fields(named, where).text(name) for name in named if named[name] is not None}


def _object(entry: Any, where: str) -> ObjectTiming:
    if not isinstance(entry, dict):
        raise TimingError(f"{where}: must be an object")
    fields = _Fields(entry, f"{where}.")
    found = ObjectTiming(
        path=fields.text("path"),
        size_bytes=fields.count("bytes"),
        start_s=fields.optional_seconds("start_s"),
        first_byte_s=fields.optional_seconds("first_byte_s"),
        end_s=fields.seconds("end_s"),
        protocol=fields.optional_text("protocol"),
        status=fields.optional_count("status"),
        sha256=fields.optional_text("sha256"),
    )
    for name in ("start_s", "first_byte_s"):
        earlier = getattr(found, name)
        if earlier is not None and earlier > found.end_s:
            raise TimingError(f"{where}.{name}: {earlier} is later than end_s, {found.end_s}")
    return found


@dataclass(frozen=True)
class _Fields:
    """Checked access to the keys of one JSON object; `where` is put before the key in messages."""

    values: dict[str, Any]
    where: str

    def optional_text(self, key: str) -> str | None:
        return None if self.values.get(key) is None else self.text(key)

    def text(self, key: str) -> str:
        value = self.values.get(key)
        if not isinstance(value, str) or not value:
            raise self._wrong(key, "a text")
        if len(value) > LONGEST_TEXT:
            raise self._wrong(key, f"a text of at most {LONGEST_TEXT} characters")
        # Half a surrogate pair is a text to JSON and to nobody else.
        if not value.isascii() and value != value.encode(errors="replace").decode():
            raise self._wrong(key, "a text of characters that exist")
        return value

    def seconds(self, key: str) -> float:
        value = self.optional_seconds(key)
        if value is None:
            raise self._wrong(key, "a number of seconds, zero or more")
        return value

    def optional_seconds(self, key: str) -> float | None:
        value = self.values.get(key)
        if value is None:
            return None
        if not is_number(value) or not 0 <= value <= LARGEST_S:
            raise self._wrong(key, "a number of seconds, zero or more")
        return float(value)

    def count(self, key: str) -> int:
        value = self.optional_count(key)
        if value is None:
            raise self._wrong(key, "a whole number, zero or more")
        return value

    def optional_count(self, key: str) -> int | None:
        value = self.values.get(key)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= LARGEST_COUNT:
            raise self._wrong(key, "a whole number, zero or more")
        return value

    def optional_flag(self, key: str) -> bool | None:
        value = self.values.get(key)
        if value is not None and not isinstance(value, bool):
            raise self._wrong(key, "true or false")
        return value

    def _wrong(self, key: str, expected: str) -> TimingError:
        found = shown(self.values[key]) if key in self.values else "missing"
        return TimingError(f"{self.where}{key}: must be {expected}, is {found}")
