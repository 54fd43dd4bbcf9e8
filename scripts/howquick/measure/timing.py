"""Checking what a client reports against the page it was asked to load."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from howquick.measure.process import ProgramFailed


def read_timing(path: Path, page: list[dict[str, Any]], protocol: str) -> dict[str, Any]:
    """The client's timing.json, every object of `page` verified by size and SHA-256.

    Raises ProgramFailed when the file is missing or malformed, when the protocol was another one, or when
    an object is missing, doubled, or not what the server was given.
    """
    try:
        timing = json.loads(path.read_text())
        objects = {entry["path"]: entry for entry in timing["objects"]}
        count = len(timing["objects"])
        spoken = timing["protocol"]
        end = max(float(entry["end_s"]) for entry in timing["objects"])
        start = float(timing["start"])
    except FileNotFoundError:
        raise ProgramFailed("the client exited with 0 but wrote no timing") from None
    except (ValueError, KeyError, TypeError) as error:
        raise ProgramFailed(f"the client's timing is malformed: {error!r}") from None
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
        if got.get("status") != 200:
            raise ProgramFailed(f"object {wanted['path']}: HTTP status {got.get('status')}")
        if got.get("bytes") != wanted["bytes"] or got.get("sha256") != wanted["sha256"]:
            raise ProgramFailed(
                f"object {wanted['path']}: other bytes than served ({got.get('bytes')} of {wanted['bytes']})"
            )
    return timing


def page_load_time_s(timing: dict[str, Any]) -> float:
    """PLT: from the start of the first connection to the last byte of the last object, seconds."""
    return max(entry["end_s"] for entry in timing["objects"])
