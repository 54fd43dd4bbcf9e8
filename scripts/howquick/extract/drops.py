"""Which packets the link dropped: held against the captures, and against what the senders believed."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from howquick.capture.read import Frames
from howquick.extract.compare import match
from howquick.extract.load import PageLoad, Unusable
from howquick.extract.metrics import crossing

FILE = "drops.csv"
# The emulator lists no more than this in a direction.
MOST_LISTED = 20_000


def listed_drops(folder: Path) -> dict[str, list[int]] | None:
    """Of each direction the indices of the dropped packets; None where the backend told none.

    Raises Unusable for a file that is not as docs/formats.md (section 4) says.
    """
    found: dict[str, list[int]] = {"up": [], "down": []}
    try:
        with (folder / FILE).open(encoding="utf-8", newline="") as stream:
            for row in csv.DictReader(stream, strict=True):
                found[row["direction"]].append(int(row["index"]))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, csv.Error) as error:
        raise Unusable(f"{FILE}: cannot be read: {error!r}") from error
    return found


def compare_drops(
    folder: Path, client: Frames, server: Frames, load: PageLoad
) -> tuple[str | None, list[str]]:
    """(`drops_verdict`, what is wrong): whether exactly the packets listed did not arrive.

    `agrees` or `differs`; None without a list. A packet's index is its place in the sender's
    capture from the start of the load on: nothing else crosses the link.
    """
    try:
        listed = listed_drops(folder)
    except Unusable as damage:
        return "differs", [str(damage)]
    if listed is None:
        return None, []
    ways = {"up": (client, server, "destination"), "down": (server, client, "source")}
    wrong = [
        f"{FILE}: {way}: {text}"
        for way, (sender, receiver, address) in ways.items()
        if (
            text := _difference(listed[way], match(*crossing(sender, receiver, load, address)) >= 0)
        )
    ]
    return "differs" if wrong else "agrees", wrong


def _difference(listed: list[int], arrived: np.ndarray) -> str:
    """What the list and the captures say differently; empty if nothing."""
    if not arrived.any():
        return ""
    # What was sent after the last packet that arrived may have been under way.
    decided = len(arrived) - int(np.argmax(arrived[::-1]))
    if len(listed) >= MOST_LISTED:
        decided = min(decided, max(listed) + 1)
    dropped = np.zeros(len(arrived), dtype=bool)
    dropped[[index for index in listed if index < len(arrived)]] = True
    there = int(np.count_nonzero(dropped & arrived))
    unlisted = int(np.count_nonzero(~dropped[:decided] & ~arrived[:decided]))
    parts = [f"{there} listed packets arrived"] if there else []
    parts += [f"{unlisted} packets that did not arrive are not listed"] if unlisted else []
    return " and ".join(parts)


def beliefs(row: Mapping[str, Any], retransmitted: Mapping[str, int | None]) -> dict[str, Any]:
    """`believed_lost_*` and `belief_error_*` of a row of the runs table (docs/formats.md, section 6).

    retransmitted: segments that the kernel sent again, by direction; None where TCP does not carry
    the arm. Then the sender's qlog tells; one without a lost packet may be of a stack that logs none
    (quiche), so the server's is believed only if its full capture has nothing sent again.
    """
    found: dict[str, Any] = {}
    for way, sender in (("up", "client"), ("down", "server")):
        believed = retransmitted[way]
        # A log is one connection's.
        if believed is None and row.get("connections_capture") == 1:
            again = row.get("retransmitted_packets") if way == "down" else None
            believed = row.get(f"qlog_{sender}_lost") or again
        found[f"believed_lost_{way}"] = believed
        lost, queue = row.get(f"link_lost_{way}"), row.get(f"queue_dropped_{way}")
        if believed is not None and lost is not None and queue is not None:
            found[f"belief_error_{way}"] = believed - lost - queue
    return found
