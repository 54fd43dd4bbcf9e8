"""Whether two captures can be trusted: nothing missing, and packets as they were on the wire."""

from __future__ import annotations

import numpy as np

from howquick.capture.read import ACK, ETHERNET_BYTES, TCP, Frames
from howquick.extract.compare import count_unmatched, fingerprints
from howquick.extract.load import Ends, Unusable, stream_base
from howquick.extract.tcp import stream_positions


def longest_frame_bytes(*captures: Frames) -> int:
    """The longest frame in any of the captures, Ethernet header included; 0 if they are empty."""
    return max((int(c.table["length"].max()) for c in captures if len(c.table)), default=0)


def check_frame_length(longest_bytes: int, mtu_bytes: float) -> None:
    """Raises Unusable if a frame is longer than the link carries: an offload was on."""
    if longest_bytes > mtu_bytes + ETHERNET_BYTES:
        raise Unusable(
            f"a frame of {longest_bytes} bytes on a link of {mtu_bytes:g}: an offload was on, so "
            "packets are not what was on the wire"
        )


def check_complete(client: Frames, server: Frames, ends: Ends) -> None:
    """Raises Unusable if the captures prove each other, or themselves, incomplete.

    What one end received the other must have sent; what the client acknowledged it must have
    received.
    """
    for receiver, got, sender, sent in (
        (client, ends.client_down, server, ends.server_down),
        (server, ends.server_up, client, ends.client_up),
    ):
        unknown = count_unmatched(fingerprints(receiver, got.rows), fingerprints(sender, sent.rows))
        if unknown:
            raise Unusable(
                f"{sender.path.name}: lacks {unknown} packets that arrived at the other end"
            )
    if ends.load.transport == TCP:
        for index in range(len(ends.load.connections)):
            _check_acknowledged(client, ends, index)


def _check_acknowledged(client: Frames, ends: Ends, index: int) -> None:
    mine = ends.client_down.connection == index
    sent = ends.client_up
    acks = sent.rows[(sent.connection == index) & (sent.rows["flags"] & ACK != 0)]
    if not mine.any() or len(acks) == 0:
        return
    position = stream_positions(acks["acknowledgement"], stream_base(ends.client_down.rows[mine]))
    seen = int(ends.client_down.new[mine].sum())
    # One more than the bytes: the acknowledgement of the FIN.
    missing = int(np.max(position)) - seen - 1
    if missing > 0:
        raise Unusable(f"{client.path.name}: lacks {missing} bytes that the client acknowledged")
