"""What the two captures of a repetition tell about its page load."""

from __future__ import annotations

import numpy as np

from howquick.capture.read import ACK, ETHERNET_BYTES, TCP, Frames
from howquick.extract.compare import count_lost, fingerprints
from howquick.extract.load import (
    CLOCK_SLACK_NS,
    Ends,
    PageLoad,
    Unusable,
    Way,
    closing_ns,
    stream_base,
)
from howquick.extract.tcp import stream_positions
from howquick.timing import Timing

# Share of the one-way delay that a packet needs at least: emulated delays have some jitter.
_OWD_SHARE = 0.9


def last_payload_ns(ends: Ends, timing: Timing, client: Frames) -> int:
    """Arrival of the last packet that brought new payload within the page load, Unix nanoseconds.

    Retransmissions of bytes that were there already do not count, nor does anything later than
    CLOCK_SLACK_NS after the client's last object was complete (session tickets of connections that
    were not needed, close_notify, CONNECTION_CLOSE). Raises Unusable when the payload up to then is
    less than the objects' bytes: packets are missing from the capture.
    """
    down = ends.client_down
    counts = (down.new > 0) & (down.rows["time_ns"] <= timing.end_ns + CLOCK_SLACK_NS)
    payload = int(down.new[counts].sum())
    if payload < timing.body_bytes:
        raise Unusable(
            f"{client.path.name}: holds {payload} bytes of payload, but the client received "
            f"objects of {timing.body_bytes} bytes"
        )
    if not counts.any():
        raise Unusable(f"{client.path.name}: no payload from the server")
    return int(down.rows["time_ns"][counts][-1])


def load_metrics(
    client: Frames, server: Frames, ends: Ends, timing: Timing, rtt_ms: float
) -> dict[str, float | int | None]:
    """The columns that come from the captures (docs/formats.md, section 6). Raises Unusable."""
    last = last_payload_ns(ends, timing, client)
    plt = (last - ends.load.first_ns) / 1e9
    up, down = _until(ends.client_up, last), _until(ends.client_down, last)
    values: dict[str, float | int | None] = {
        "plt_capture_s": plt,
        "plt_disagreement_s": plt - timing.plt_s,
        "connections_capture": len(ends.load.connections),
        "packets_up": len(up),
        "packets_down": len(down),
        "wire_bytes_up": int(up["length"].sum()),
        "wire_bytes_down": int(down["length"].sum()),
        # What path MTU discovery came to: packets that were too long never arrive.
        "largest_packet_down_bytes": int(down["length"].max()) - ETHERNET_BYTES,
        "retransmitted_bytes": _retransmitted(ends, last),
        "first_flight_bytes": _first_flight(ends, rtt_ms),
        "late_payload_bytes": _late(ends, timing),
    }
    return values | losses(client, server, ends.load)


def losses(client: Frames, server: Frames, load: PageLoad) -> dict[str, float | int | None]:
    """Packets that left one end from the start of the load on and did not arrive at the other."""
    return {
        "capture_lost_up": count_lost(*crossing(client, server, load, "destination")),
        "capture_lost_down": count_lost(*crossing(server, client, load, "source")),
    }


def crossing(
    sender: Frames, receiver: Frames, load: PageLoad, server: str
) -> tuple[np.ndarray, np.ndarray]:
    """Fingerprints of what one end sent from the start of the load on, and of what the other received."""
    sent, received = crossing_rows(sender, receiver, load, server)
    return fingerprints(sender, sent), fingerprints(receiver, received)


def crossing_rows(
    sender: Frames, receiver: Frames, load: PageLoad, server: str
) -> tuple[np.ndarray, np.ndarray]:
    """The frames that one end sent from the start of the load on, and those that the other received.

    server: the field that has the server's address in this direction, `source` or `destination`.
    ICMP is among them: a client of before that is gone answers a server that still sends to it.
    """
    sent, received = (
        frames.table[frames.table[server] == load.address] for frames in (sender, receiver)
    )
    return sent[sent["time_ns"] >= load.first_ns], received


def _until(way: Way, last_ns: int) -> np.ndarray:
    return np.asarray(way.rows[way.rows["time_ns"] <= last_ns])


def _retransmitted(ends: Ends, last_ns: int) -> int | None:
    """TCP payload bytes the server sent again within the load; None for UDP: it is encrypted."""
    if ends.load.transport != TCP:
        return None
    down = ends.server_down
    within = down.rows["time_ns"] <= last_ns
    return int((down.rows["payload"][within] - down.new[within]).sum())


def _late(ends: Ends, timing: Timing) -> int:
    """New payload that came after the end of the load and before the client closed the connection.

    Large when a client stops its clock before it has everything.
    """
    down, closing = ends.client_down, closing_ns(ends.client_up, ends.load)
    time = down.rows["time_ns"]
    late = (time > timing.end_ns + CLOCK_SLACK_NS) & (time < closing[down.connection])
    return int(down.new[late].sum())


def _first_flight(ends: Ends, rtt_ms: float) -> int | None:
    """Payload the server sent on the first connection before it could know that any arrived."""
    down, up = ends.server_down, ends.server_up
    mine = (down.connection == 0) & (down.rows["payload"] > 0)
    answer = _first_answer_ns(ends, up.rows[up.connection == 0], rtt_ms)
    if answer is None or not mine.any():
        return None
    return int(down.new[mine & (down.rows["time_ns"] < answer)].sum())


def _first_answer_ns(ends: Ends, up: np.ndarray, rtt_ms: float) -> int | None:
    """When the first packet came to the server that its first payload can have caused."""
    if ends.load.transport == TCP:
        sent = ends.server_down.rows[ends.server_down.connection == 0]
        if len(sent) == 0:
            return None
        acks = up[up["flags"] & ACK != 0]
        position = stream_positions(acks["acknowledgement"], stream_base(sent))
        answers = acks["time_ns"][position > 0]
    else:
        arrived = ends.client_down.rows["time_ns"][ends.client_down.connection == 0]
        if len(arrived) == 0:
            return None
        # Both captures have the same clock. What the client sent earlier cannot be an answer.
        answers = up["time_ns"][up["time_ns"] >= arrived[0] + _OWD_SHARE * rtt_ms / 2 * 1e6]
    return int(answers[0]) if len(answers) else None
