"""Read the headers of every packet of a capture into one structured array."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from howquick.capture.buffer import Bytes, load, pick
from howquick.capture.pcap import is_pcap, read_header, read_records
from howquick.capture.pcapng_blocks import read_blocks

TCP = 6
UDP = 17
SCTP = 132
FIN, SYN, RST, PSH, ACK = 0x01, 0x02, 0x04, 0x08, 0x10

ETHERNET_BYTES = 14
SCTP_HEADER_BYTES = 12
_LINKTYPE_ETHERNET = 1

FRAME = np.dtype(
    [
        ("time_ns", "i8"),  # Unix nanoseconds
        ("offset", "i8"),  # where the frame starts in the file
        ("captured", "u4"),  # bytes of the frame that are in the file
        ("length", "u4"),  # bytes of the frame on the wire, Ethernet header included
        ("protocol", "u1"),  # TCP, UDP, SCTP; 0: anything else, without ports and what follows
        ("source", "u4"),  # IPv4 addresses as numbers, of any packet over IPv4; else 0
        ("destination", "u4"),
        ("source_port", "u2"),
        ("destination_port", "u2"),
        ("transport_offset", "u2"),  # from the frame's start to what follows the IPv4 header
        ("payload", "u4"),  # bytes behind the TCP, UDP or common SCTP header
        ("sequence", "u4"),  # TCP, as on the wire
        ("acknowledgement", "u4"),
        ("flags", "u1"),
        ("window", "u2"),  # as on the wire, not scaled
        (
            "first_byte",
            "u1",
        ),  # first of a UDP payload (QUIC: header form and packet type) or SCTP chunk (its type)
    ]
)

_NETWORK = np.dtype(
    {
        "names": ["ethertype", "version", "total", "fragment", "protocol", "source", "destination"],
        "formats": [">u2", "u1", ">u2", ">u2", "u1", ">u4", ">u4"],
        "offsets": [12, 14, 16, 20, 23, 26, 30],
        "itemsize": 34,
    }
)
_TRANSPORT = np.dtype(
    {
        "names": [
            "source", "destination", "sequence", "udp_length",
            "acknowledgement", "first_byte", "data_offset", "flags", "window",
        ],
        "formats": [">u2", ">u2", ">u4", ">u2", ">u4", "u1", "u1", "u1", ">u2"],
        "offsets": [0, 2, 4, 4, 8, 8, 12, 13, 14],
        "itemsize": 16,
    }
)  # fmt: skip


@dataclass(frozen=True)
class Frames:
    """The packets of one capture, in the order they were captured.

    `table` has the dtype FRAME and shape (n,); `data` is the file itself; `truncated` tells that
    the capture ended in the middle of a packet; `others` counts frames that are not TCP, UDP or SCTP
    over IPv4.
    """

    path: Path
    table: np.ndarray
    data: Bytes
    truncated: bool
    others: int

    @property
    def size_bytes(self) -> int:
        """Length of the file."""
        return len(self.data)


def read_frames(path: Path) -> Frames:
    """Read a pcapng or pcap file. Raises CaptureError if it is missing, foreign or damaged."""
    return parse_frames(load(path), path)


def parse_frames(data: Bytes, path: Path) -> Frames:
    """The frames of a capture that is in memory; `path` is what messages call it."""
    if is_pcap(data):
        header = read_header(data, path)
        records = read_records(data, header, path)
        cut = records.cut_bytes > 0
        linktype = np.full(len(records.offset), header.linktype)
    else:
        blocks = read_blocks(data, path)
        records, cut, linktype = blocks.records, blocks.truncated, blocks.linktype
    table = np.zeros(len(records.offset), FRAME)
    table["time_ns"] = records.timestamp_ns
    table["offset"] = records.offset
    table["captured"] = records.captured
    table["length"] = records.original
    _decode(data, table, linktype == _LINKTYPE_ETHERNET)
    return Frames(path, table, data, cut, int(np.count_nonzero(table["protocol"] == 0)))


def _decode(data: Bytes, table: np.ndarray, ethernet: np.ndarray) -> None:
    """Fill in the addresses of IPv4 over Ethernet, and the fields of TCP, UDP and SCTP over it."""
    network = pick(data, table["offset"], _NETWORK)
    at = ETHERNET_BYTES + 4 * (network["version"] & 15).astype(np.int64)
    protocol = network["protocol"]
    ipv4 = (
        ethernet
        & (network["ethertype"] == 0x0800)
        & (network["version"] >> 4 == 4)
        & (at >= ETHERNET_BYTES + 20)
        & (table["captured"] >= at)
    )
    for name, values in (
        ("source", network["source"]),
        ("destination", network["destination"]),
        ("transport_offset", at),
    ):
        table[name][ipv4] = values[ipv4]
    # Only a packet's first fragment has a transport header; UDP's is shorter than TCP's.
    wanted = (
        ipv4
        & (network["fragment"] & 0x1FFF == 0)
        & (
            ((protocol == TCP) & (table["captured"] >= at + 20))
            | ((protocol == UDP) & (table["captured"] >= at + 8))
            | ((protocol == SCTP) & (table["captured"] >= at + SCTP_HEADER_BYTES))
        )
    )
    rows = np.flatnonzero(wanted)
    network, at = network[rows], at[rows]
    transport = pick(data, table["offset"][rows] + at, _TRANSPORT)
    is_tcp, is_sctp = network["protocol"] == TCP, network["protocol"] == SCTP
    inside = network["total"].astype(np.int64) - (at - ETHERNET_BYTES)
    tcp_payload = np.maximum(inside - 4 * (transport["data_offset"] >> 4), 0)
    udp_payload = np.maximum(transport["udp_length"].astype(np.int64) - 8, 0)
    sctp_payload = np.maximum(inside - SCTP_HEADER_BYTES, 0)
    payload = np.select([is_tcp, is_sctp], [tcp_payload, sctp_payload], udp_payload)
    header = np.where(is_sctp, SCTP_HEADER_BYTES, 8)
    has_byte = ~is_tcp & (table["captured"][rows] > at + header) & (payload > 0)
    first_byte = np.where(is_sctp, transport["data_offset"], transport["first_byte"])
    columns = {
        "protocol": network["protocol"],
        "source_port": transport["source"],
        "destination_port": transport["destination"],
        "payload": payload,
        "sequence": np.where(is_tcp, transport["sequence"], 0),
        "acknowledgement": np.where(is_tcp, transport["acknowledgement"], 0),
        "flags": np.where(is_tcp, transport["flags"], 0),
        "window": np.where(is_tcp, transport["window"], 0),
        "first_byte": np.where(has_byte, first_byte, 0),
    }
    for name, values in columns.items():
        table[name][rows] = values
