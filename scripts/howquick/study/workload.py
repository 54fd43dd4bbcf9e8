"""What is loaded in a cell: its name, its size, and how clients fetch it (docs/formats.md, 1).

A resolved cell's `workload` is `{"objects", "object_size"}` (a page) or has one key: `object`,
`site`, `segments` or `bulk`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from howquick.model import Link, Workload

if TYPE_CHECKING:
    from howquick.player.video import Video

# Rough sizes, for planning only, bytes.
SITE_BYTES = {"small": 300_000, "medium": 1_500_000, "large": 4_000_000, "web": 1_700_000}
# The document of a page. Not index.html: some servers redirect that to the name of its folder.
HTML_NAME = "page.html"
# `bandwidth_mbit` of a link that nothing shapes.
UNSHAPED = "unshaped"
BULK_SMALLEST = 8 << 20
BULK_LARGEST = 256 << 20
# More bytes than this are the same object again, one request after another: servers keep objects in memory.
BULK_OBJECT = 256 << 20
# Of an unshaped link, for planning only: what a fast stack reaches on one processor, bytes per second.
UNSHAPED_RATE = 60e6
# How much of the size of a video's segment is left to its scene, unless a study says otherwise.
VARIATION_PERCENT = 10.0


def normalised(given: dict[str, Any]) -> Workload:
    """The `workload` parameter of a study as a cell has it: a page becomes objects and their size."""
    if "page" in given:
        page = given["page"]
        return {"objects": page["objects"], "object_size": {"bytes": page["bytes"]}}
    if "bulk" in given:
        given = {"bulk": {"at_most_bytes": BULK_LARGEST} | given["bulk"]}
    if "player" in given.get("segments", {}):
        asked = given["segments"]["player"]
        given = {"segments": {"player": {"size_variation_percent": VARIATION_PERCENT} | asked}}
    return cast(Workload, dict(given))


def kind_of(workload: Workload) -> str:
    """`page`, `object`, `site`, `segments` (of a viewer who jumps), `player` or `bulk`."""
    if "player" in workload.get("segments", {}):
        return "player"
    return "page" if "objects" in workload else next(iter(workload))


def video_of(workload: Workload) -> Video:
    """What is played in a workload of the kind `player`."""
    # Only here: loads without a player are begun as if there were none.
    from howquick.player.video import Video

    return Video.from_dict({**workload["segments"]["player"]})


def page_name(workload: Workload) -> str:
    """The name of what is served, for folders: `50x131072`, `5x400-8000`, `object-1048576`, …"""
    match kind_of(workload):
        case "page":
            return f"{workload['objects']}x{_size_name(workload['object_size']['bytes'])}"
        case "segments":
            segments = workload["segments"]
            return f"segments-{segments['seeks']}x{_size_name(segments['bytes'])}"
        case "player":
            # Who plays the same files, and how, is no part of them.
            video = video_of(workload)
            rates = "-".join(f"{rate:.10g}" for rate in video.ladder_mbit)
            vary = f"vary{video.size_variation_percent:.10g}"
            return f"video-{video.segments}x{video.segment_s:.10g}s-{rates}mbit-{vary}"
        case "bulk":
            return f"bulk-{workload['bulk']['at_most_bytes']}"
        case "site":
            return f"site-{workload['site']}"
        case _:
            return f"object-{workload['object']}"


def _size_name(size: int | list[int]) -> str:
    return f"{size[0]}-{size[1]}" if isinstance(size, list) else f"{size}"


def _mean(size: int | list[int]) -> float:
    return sum(size) / 2 if isinstance(size, list) else size


def requests_of(workload: Workload) -> int:
    """How many objects there are besides an HTML."""
    match kind_of(workload):
        case "page":
            return int(workload["objects"])
        case "segments":
            return int(workload["segments"]["seeks"])
        case "player":
            return video_of(workload).segments
        case "site":
            return 30
        case _:
            return 1


def load_bytes(workload: Workload) -> int:
    """Expected size of a load, bytes; of a bulk load, and of a video, its largest."""
    match kind_of(workload):
        case "page":
            count = workload["objects"]
            return round(count * _mean(workload["object_size"]["bytes"]) + 40 * count + 500)
        case "segments":
            segments = workload["segments"]
            return round(segments["seeks"] * _mean(segments["bytes"]))
        case "player":
            video = video_of(workload)
            return round(video.duration_s * video.ladder_mbit[-1] * 1e6 / 8)
        case "site":
            return SITE_BYTES[workload["site"]]
        case "bulk":
            return int(workload["bulk"]["at_most_bytes"])
        case _:
            return int(workload["object"])


def fetch_mode(workload: Workload, requests: int = 1) -> str:
    """FETCH of clients: segments and an object asked for again come one after another, all else as a page.

    What a player asks for next is told when it has decided.
    """
    if kind_of(workload) == "player":
        return "steered"
    repeated = kind_of(workload) == "bulk" and requests > 1
    return "sequential" if repeated or kind_of(workload) == "segments" else "page"


def bulk_sizes(workload: Workload) -> list[int]:
    """The sizes that a bulk load may have: powers of two from 8 MiB to its limit, bytes."""
    sizes = [BULK_SMALLEST]
    while 2 * sizes[-1] <= workload["bulk"]["at_most_bytes"]:
        sizes.append(2 * sizes[-1])
    return sizes


def bulk_objects(workload: Workload) -> list[int]:
    """The sizes of the objects that a server of bulk loads has, bytes."""
    return [size for size in bulk_sizes(workload) if size <= BULK_OBJECT]


def bulk_requests(page: list[dict[str, Any]], size: int) -> list[dict[str, Any]]:
    """What is asked for so that `size` bytes come: an entry of the page, several times if need be."""
    wanted = [entry for entry in page if entry["bytes"] == min(size, BULK_OBJECT)]
    return wanted * max(1, size // BULK_OBJECT)


def is_shaped(link: Link) -> bool:
    """Whether anything emulates the link."""
    return link["bandwidth_mbit"] != UNSHAPED
