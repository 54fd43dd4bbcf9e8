"""What is loaded in a cell: its name, its size, and how clients fetch it (docs/formats.md, 1).

A resolved cell's `workload` is `{"objects", "object_size"}` (a page) or has one key: `object`,
`site`, `segments` or `bulk`.
"""

from __future__ import annotations

from typing import Any

# Rough sizes, for planning only, bytes.
SITE_BYTES = {"small": 300_000, "medium": 1_500_000, "large": 4_000_000, "web": 1_700_000}
# The document of a page. Not index.html: some servers redirect that to the name of its folder.
HTML_NAME = "page.html"
BULK_SMALLEST = 8 << 20
BULK_LARGEST = 256 << 20
# Of an unshaped link, for planning only: what a fast stack reaches on one processor, bytes per second.
UNSHAPED_RATE = 60e6


def normalised(given: dict[str, Any]) -> dict[str, Any]:
    """The `workload` parameter of a study as a cell has it: a page becomes objects and their size."""
    if "page" in given:
        page = given["page"]
        return {"objects": page["objects"], "object_size": {"bytes": page["bytes"]}}
    if "bulk" in given:
        return {"bulk": {"at_most_bytes": BULK_LARGEST} | given["bulk"]}
    return dict(given)


def kind_of(workload: dict[str, Any]) -> str:
    """`page`, `object`, `site`, `segments` or `bulk`."""
    return "page" if "objects" in workload else next(iter(workload))


def page_name(workload: dict[str, Any]) -> str:
    """The name of what is served, for folders: `50x131072`, `5x400-8000`, `object-1048576`, …"""
    match kind_of(workload):
        case "page":
            return f"{workload['objects']}x{_size_name(workload['object_size']['bytes'])}"
        case "segments":
            segments = workload["segments"]
            return f"segments-{segments['seeks']}x{_size_name(segments['bytes'])}"
        case "bulk":
            return f"bulk-{workload['bulk']['at_most_bytes']}"
        case kind:
            return f"{kind}-{workload[kind]}"


def _size_name(size: int | list[int]) -> str:
    return f"{size[0]}-{size[1]}" if isinstance(size, list) else f"{size}"


def _mean(size: int | list[int]) -> float:
    return sum(size) / 2 if isinstance(size, list) else size


def requests_of(workload: dict[str, Any]) -> int:
    """How many objects there are besides an HTML."""
    match kind_of(workload):
        case "page":
            return int(workload["objects"])
        case "segments":
            return int(workload["segments"]["seeks"])
        case "site":
            return 30
        case _:
            return 1


def load_bytes(workload: dict[str, Any]) -> int:
    """Expected size of a load, bytes; of a bulk load its largest."""
    match kind_of(workload):
        case "page":
            count = workload["objects"]
            return round(count * _mean(workload["object_size"]["bytes"]) + 40 * count + 500)
        case "segments":
            segments = workload["segments"]
            return round(segments["seeks"] * _mean(segments["bytes"]))
        case "site":
            return SITE_BYTES[workload["site"]]
        case "bulk":
            return int(workload["bulk"]["at_most_bytes"])
        case _:
            return int(workload["object"])


def fetch_mode(workload: dict[str, Any]) -> str:
    """FETCH of clients: segments come one after another, all else as a page."""
    return "sequential" if kind_of(workload) == "segments" else "page"


def body_mode(workload: dict[str, Any]) -> str:
    """BODY of clients: bulk loads are counted only, as hashing would be part of their rate."""
    return "length" if kind_of(workload) == "bulk" else "sha256"


def bulk_sizes(workload: dict[str, Any]) -> list[int]:
    """The sizes that a bulk load may have: powers of two from 8 MiB to its limit, bytes."""
    sizes = [BULK_SMALLEST]
    while 2 * sizes[-1] <= workload["bulk"]["at_most_bytes"]:
        sizes.append(2 * sizes[-1])
    return sizes
