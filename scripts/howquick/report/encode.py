"""Data as classic scripts, which a page may load from the disk, and tables as columns."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from howquick.files import atomic_text

# What JavaScript holds without rounding.
_LARGEST_INTEGER = 2**53
_NUMBER = re.compile(r"-?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?")
# A column of text with fewer different values than that share of its rows has a list of them.
_REPEATED_SHARE = 0.5

Table = dict[str, Any]


def write_data(folder: Path, key: str, value: Any, within: str = "") -> None:
    """Write `value` as the script `folder/KEY.js`; the page gets it under the key `within` + KEY."""
    path = folder / f"{key}.js"
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_text(path) as stream:
        stream.write(script(within + key, value))


def script(key: str, value: Any) -> str:
    """A call that gives the page `value`; nothing in a text can end the script or begin a comment."""
    return f"howquick.data({_json(key)},{_json(value)});\n"


def _json(value: Any) -> str:
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    # ASCII already, so that line separators are escaped; these occur in texts only.
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def parse(text: str) -> Any:
    """A field of a table as JSON: None if empty, a number where it is one exactly, else text."""
    if not text:
        return None
    if not _NUMBER.fullmatch(text):
        return text
    value = float(text)
    if value.is_integer() and "." not in text and "e" not in text.lower():
        # Seeds have 64 bits: they stay text.
        return int(text) if abs(int(text)) < _LARGEST_INTEGER else text
    return value if abs(value) < float("inf") else text


def read_rows(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV table; none where there is no file."""
    if not path.is_file():
        return []
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def table(rows: Sequence[Mapping[str, Any]], columns: Iterable[str] | None = None) -> Table:
    """Rows of texts as `{"n": rows, "columns": {name: column}}`; columns without any value are left out.

    A column is `{"all": value}`, `{"of": [values], "at": [index]}`, `{"begin": text, "end": [texts]}`, or
    a list of values.
    """
    names = columns if columns is not None else (rows[0] if rows else ())
    found = {}
    for name in names:
        values = [row.get(name) for row in rows]
        values = [parse(value) if isinstance(value, str) else value for value in values]
        if any(value is not None for value in values):
            found[name] = _column(values)
    return {"n": len(rows), "columns": found}


def _column(values: list[Any]) -> Any:
    different = list(dict.fromkeys(values))
    if len(different) == 1:
        return {"all": different[0]}
    text = any(isinstance(value, str) for value in different)
    if text and len(different) <= _REPEATED_SHARE * len(values):
        place = {value: index for index, value in enumerate(different)}
        return {"of": different, "at": [place[value] for value in values]}
    if all(isinstance(value, str) for value in different):
        begin = _common_beginning(values)
        if begin:
            return {"begin": begin, "end": [value[len(begin) :] for value in values]}
    return values


def _common_beginning(values: Sequence[str]) -> str:
    """What all texts begin with; the first and the last of them in order have no more in common."""
    first, last = min(values), max(values)
    same = next(
        (at for at, pair in enumerate(zip(first, last, strict=False)) if len(set(pair)) > 1), None
    )
    return first[: min(len(first), len(last)) if same is None else same]
