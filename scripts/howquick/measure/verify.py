"""Checking what a client reports against the page it was asked to load."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from howquick import timing as report
from howquick.measure.children import ProgramFailed
from howquick.timing import ObjectTiming, Timing, TimingError

# Their answers have no status; where an object is not there the bytes are not either.
WITHOUT_STATUS = ("hq", "tls", "sctp")


def verified_timing(path: Path, page: list[dict[str, Any]], protocol: str) -> Timing:
    """The client's timing.json, every object of `page` verified by size and SHA-256.

    Raises ProgramFailed when the file is missing or malformed, when the protocol was another one, or when
    an object is missing, doubled, or not what the server was given, or a metric is no number.
    """
    if not path.exists():
        raise ProgramFailed("the client exited with 0 but wrote no timing")
    try:
        # The reader of the extraction: what counts here counts there.
        timing = report.read_timing(path)
    except TimingError as error:
        raise ProgramFailed(f"the client's timing is malformed: {error}") from None
    if timing.protocol != protocol:
        raise ProgramFailed(f"the client spoke {timing.protocol}, not {protocol}")
    if len(timing.objects) != len(page):
        raise ProgramFailed(f"{len(timing.objects)} objects reported, {len(page)} asked")
    if timing.start <= 0:
        raise ProgramFailed("the client's times are not positive")
    objects: dict[str, list[ObjectTiming]] = {}
    for entry in timing.objects:
        objects.setdefault(entry.path, []).append(entry)
    for wanted in page:
        if not (left := objects.get(wanted["path"])):
            raise ProgramFailed(f"object {wanted['path']} was not fetched")
        got = left.pop()
        if got.status != 200 and not (protocol in WITHOUT_STATUS and not got.status):
            raise ProgramFailed(f"object {wanted['path']}: HTTP status {got.status}")
        # Where bodies are only counted there is no sum to compare: hashing would be part of the rate.
        same = got.sha256 == wanted.get("sha256", got.sha256)
        if got.size_bytes != wanted["bytes"] or not same:
            raise ProgramFailed(
                f"object {wanted['path']}: other bytes than served ({got.size_bytes} of {wanted['bytes']})"
            )
    return timing
