"""Checking what a client reports against the page it was asked to load."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from howquick.measure.process import ProgramFailed

# Their answers have no status; where an object is not there the bytes are not either.
WITHOUT_STATUS = ("hq", "tls", "sctp")


def read_timing(path: Path, page: list[dict[str, Any]], protocol: str) -> dict[str, Any]:
    """The client's timing.json, every object of `page` verified by size and SHA-256.

    Raises ProgramFailed when the file is missing or malformed, when the protocol was another one, or when
    an object is missing, doubled, or not what the server was given, or a metric is no number.
    """
    try:
        timing = json.loads(path.read_text())
        objects = {entry["path"]: entry for entry in timing["objects"]}
        count = len(timing["objects"])
        spoken = timing["protocol"]
        end = max(float(entry["end_s"]) for entry in timing["objects"])
        start = float(timing["start"])
        metrics = {
            name: float(value)
            for name, value in timing.get("metrics", {}).items()
            if value is not None
        }
    except FileNotFoundError:
        raise ProgramFailed("the client exited with 0 but wrote no timing") from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ProgramFailed(f"the client's timing is malformed: {error!r}") from None
    if not all(map(math.isfinite, metrics.values())):
        raise ProgramFailed(f"the client's metrics are not numbers: {metrics}")
    if spoken != protocol:
        raise ProgramFailed(f"the client spoke {spoken}, not {protocol}")
    if count != len(page):
        raise ProgramFailed(f"{count} objects reported, {len(page)} asked")
    if end <= 0 or start <= 0:
        raise ProgramFailed("the client's times are not positive")
    for wanted in page:
        got = objects.get(wanted["path"])
        if got is None:
            raise ProgramFailed(f"object {wanted['path']} was not fetched")
        if got.get("status") != 200 and not (protocol in WITHOUT_STATUS and not got.get("status")):
            raise ProgramFailed(f"object {wanted['path']}: HTTP status {got.get('status')}")
        # Of a bulk load there is no sum to compare: bodies are only counted.
        same = got.get("sha256") == wanted.get("sha256", got.get("sha256"))
        if got.get("bytes") != wanted["bytes"] or not same:
            raise ProgramFailed(
                f"object {wanted['path']}: other bytes than served ({got.get('bytes')} of {wanted['bytes']})"
            )
    return timing


def page_load_time_s(timing: dict[str, Any]) -> float:
    """PLT: from the start of the first connection to the last byte of the last object, seconds."""
    return max(entry["end_s"] for entry in timing["objects"])
