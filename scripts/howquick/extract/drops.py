"""Which packets the link dropped: held against the captures, and against what the senders believed."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from howquick.capture.read import Frames
from howquick.extract.compare import fingerprints, match
from howquick.extract.load import PageLoad, Unusable
from howquick.extract.metrics import crossing_rows

FILE = "drops.csv"
# The emulator lists no more than this in a direction.
MOST_LISTED = 20_000
# It counts from the moment at which the load's seeds are set. Until the client's first packet, late
# packets of the load before may enter the link; more than so many would not be told from a wrong list.
MOST_EARLY = 16

# Index and bytes of a packet that the link dropped.
Drop = tuple[int, int]


def listed_drops(folder: Path) -> dict[str, list[Drop]] | None:
    """Of each direction the dropped packets; None where the backend told none.

    Raises Unusable for a file that is not as docs/formats.md (section 4) says.
    """
    found: dict[str, list[Drop]] = {"up": [], "down": []}
    try:
        with (folder / FILE).open(encoding="utf-8", newline="") as stream:
            for row in csv.DictReader(stream, strict=True):
                found[row["direction"]].append((int(row["index"]), int(row["bytes"])))
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
    capture from the start of the load on, after at most MOST_EARLY packets of before.
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
        if (text := _compare(listed[way], sender, receiver, load, address))
    ]
    return "differs" if wrong else "agrees", wrong


def _compare(
    listed: list[Drop], sender: Frames, receiver: Frames, load: PageLoad, address: str
) -> str:
    """What list and captures of one direction say differently; empty if nothing."""
    sent, received = crossing_rows(sender, receiver, load, address)
    prints = fingerprints(sender, sent)
    crossed = Crossed(
        sizes=sent["length"].astype(np.int64),
        prints=prints,
        arrived=match(prints, fingerprints(receiver, received)) >= 0,
    )
    texts = (crossed.difference(listed, early) for early in range(MOST_EARLY + 1))
    first = next(texts)
    return first if first and all(texts) else ""


@dataclass(frozen=True)
class Crossed:
    """What one end sent, in order: sizes in bytes, fingerprints, and what the other end received of it."""

    sizes: np.ndarray
    prints: np.ndarray
    arrived: np.ndarray

    def difference(self, listed: list[Drop], early: int) -> str:
        """What the list says differently if so many packets entered the link before; empty if nothing."""
        if not self.arrived.any():
            return ""
        # What was sent after the last packet that arrived may have been under way.
        decided = len(self.arrived) - int(np.argmax(self.arrived[::-1]))
        if len(listed) >= MOST_LISTED:
            decided = min(decided, max(listed)[0] - early + 1)
        inside = [(i - early, size) for i, size in listed if 0 <= i - early < len(self.arrived)]
        resized = sum(int(self.sizes[i]) != size for i, size in inside)
        dropped = np.zeros(len(self.arrived), dtype=bool)
        dropped[[i for i, _ in inside]] = True
        # Packets that look alike (an acknowledgement sent twice) are told apart by nobody.
        missing = ~self.arrived
        there = np.count_nonzero(match(self.prints[dropped], self.prints[missing]) < 0)
        missing[decided:] = False
        unlisted = np.count_nonzero(match(self.prints[missing], self.prints[dropped]) < 0)
        parts = [f"{there} listed packets arrived"] if there else []
        parts += [f"{unlisted} packets that did not arrive are not listed"] if unlisted else []
        parts += [f"{resized} have another size than listed"] if resized else []
        return " and ".join(parts)


def beliefs(row: Mapping[str, Any], retransmitted: Mapping[str, int | None]) -> dict[str, Any]:
    """`believed_lost_*` and `belief_error_*` of a row of the runs table (docs/formats.md, section 6).

    retransmitted: segments that the kernel sent again, by direction; None where TCP does not carry
    the arm. Then the sender's qlog tells; one without a lost packet may be of a stack that logs none
    (quiche), so the server's is believed only if nothing was sent again.
    """
    found: dict[str, Any] = {}
    # What the link dropped is of all flows on it, and nobody says of which.
    if row.get("flows_overlap_s") is not None:
        return found
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
