"""When the packets that the server sent arrived at the client, by matching the two captures."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from howquick.capture.read import Frames
from howquick.extract.compare import fingerprints, match
from howquick.extract.load import Ends, Way

NEVER = -1


@dataclass(frozen=True)
class Arrivals:
    """Per packet sent, in order: when it arrived (Unix nanoseconds; NEVER if it did not), and as which.

    `down` belongs to Ends.server_down, `up` to Ends.client_up. `down_place` and `up_place` are indices
    into the packets of Ends.client_down and Ends.server_up, -1 where there is none.
    """

    down: np.ndarray
    up: np.ndarray
    down_place: np.ndarray
    up_place: np.ndarray


def find_arrivals(client: Frames, server: Frames, ends: Ends) -> Arrivals:
    """Match what left one end with what arrived at the other, packet by packet."""
    down, down_place = _arrivals(server, ends.server_down, client, ends.client_down)
    up, up_place = _arrivals(client, ends.client_up, server, ends.server_up)
    return Arrivals(down, up, down_place, up_place)


def _arrivals(
    sender: Frames, sent: Way, receiver: Frames, got: Way
) -> tuple[np.ndarray, np.ndarray]:
    place = match(fingerprints(sender, sent.rows), fingerprints(receiver, got.rows))
    arrived = place >= 0
    times = np.full(len(sent.rows), NEVER, np.int64)
    times[arrived] = got.rows["time_ns"][place[arrived]]
    # What was under way when the capture ended is not lost.
    if arrived.any():
        after = len(arrived) - int(np.argmax(arrived[::-1]))
        times[after:] = np.iinfo(np.int64).max
    return times, place
