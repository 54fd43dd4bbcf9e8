"""Turn what tcpdump wrote into a pcapng that carries its own TLS keys."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from howquick.capture import pcapng as ng
from howquick.capture.buffer import Bytes, load
from howquick.capture.pcap import MAXIMUM_CAPTURED_BYTES, PcapRecords, read_header, read_records

APPLICATION = "howquick"
# The reader looks for this text, and Wireshark shows it: a cut capture stays known as one.
CUT_MARK = "capture cut short"
CHUNK_BYTES = 1 << 20


@dataclass(frozen=True)
class CaptureSummary:
    """What a capture holds. Times are Unix nanoseconds, None when there is no packet.

    `wire_bytes` and `longest_frame_bytes` count frames as they were on the wire (Ethernet header
    included, no checksum), `cut_bytes` the bytes of an unfinished last record that was left out.
    """

    packets: int
    wire_bytes: int
    longest_frame_bytes: int
    first_ns: int | None
    last_ns: int | None
    cut_bytes: int

    @property
    def truncated(self) -> bool:
        """Whether the capture ended in the middle of a packet."""
        return self.cut_bytes > 0


def pack(
    pcap: Path,
    keys: bytes,
    pcapng: Path,
    *,
    interface: str,
    filter: str | None = None,
    comment: str = "",
) -> CaptureSummary:
    """Write `pcapng` from the pcap that tcpdump wrote, with `keys` (a TLS key log) embedded.

    The keys come before the packets, as Wireshark needs them to decrypt in one pass. Empty keys
    leave the secrets block out. An unfinished last packet is left out, counted and noted in the
    file. Raises CaptureError if `pcap` is missing, empty, no pcap or damaged, OSError if `pcapng`
    cannot be written; then no output is left. The caller syncs the folder.
    """
    data = load(pcap)
    header = read_header(data, pcap)
    records = read_records(data, header, pcap)
    if records.cut_bytes:
        cut = f"{CUT_MARK}: {records.cut_bytes} bytes of an unfinished packet left out"
        comment = f"{comment}; {cut}" if comment else cut
    preamble = ng.section_header(APPLICATION, comment)
    preamble += ng.interface(header.linktype, header.snaplen, interface, filter)
    if keys:
        preamble += ng.secrets(keys)
    _write(pcapng, preamble, _packet_blocks(data, records))
    return _summary(records)


def _block_headers(records: PcapRecords, lengths: np.ndarray) -> np.ndarray:
    """The fixed part of every packet's block."""
    head = np.zeros(len(lengths), ng.PACKET)
    head["kind"] = ng.ENHANCED_PACKET
    head["length"] = lengths
    head["time_high"] = records.timestamp_ns >> 32
    head["time_low"] = records.timestamp_ns & 0xFFFFFFFF
    head["captured"] = records.captured
    head["original"] = records.original
    return head


def _packet_blocks(data: Bytes, records: PcapRecords) -> Iterator[memoryview]:
    """All packets as Enhanced Packet Blocks, in pieces of about CHUNK_BYTES.

    The pieces share one buffer, which stays in the processor's cache: each is to be used before the
    next is asked for.
    """
    lengths = ng.PACKET_OVERHEAD_BYTES + ((records.captured + 3) & ~3)
    head = _block_headers(records, lengths)
    ends = np.cumsum(lengths)
    room = bytearray(CHUNK_BYTES + ng.PACKET_OVERHEAD_BYTES + MAXIMUM_CAPTURED_BYTES)
    # Views with a block header, and a trailing length, at every aligned place of the buffer.
    headers = np.ndarray((len(room) // 4 - 6,), ng.PACKET, room, 0, (4,))
    words = np.ndarray((len(room) // 4,), "<u4", room)
    source, target = memoryview(data), memoryview(room)
    first, done = 0, 0
    while first < len(lengths):
        stop = max(int(np.searchsorted(ends, done + CHUNK_BYTES, "right")), first + 1)
        part = slice(first, stop)
        after = ends[part] - done
        start = after - lengths[part]
        # Zeroes first, for the padding: what follows overwrites what is its own.
        words[after // 4 - 2] = 0
        headers[start // 4] = head[part]
        words[after // 4 - 1] = lengths[part]
        for at, to, length in zip(
            records.offset[part].tolist(),
            (start + ng.PACKET_HEADER_BYTES).tolist(),
            records.captured[part].tolist(),
            strict=True,
        ):
            target[to : to + length] = source[at : at + length]
        yield target[: int(after[-1])]
        first, done = stop, int(ends[stop - 1])


def _write(path: Path, preamble: bytes, pieces: Iterable[memoryview]) -> None:
    """Write everything; leave nothing behind when that fails (a full disk)."""
    try:
        with path.open("wb") as file:
            file.write(preamble)
            for piece in pieces:
                file.write(piece)
    except OSError:
        path.unlink(missing_ok=True)
        raise


def _summary(records: PcapRecords) -> CaptureSummary:
    some = len(records.offset) > 0
    return CaptureSummary(
        packets=len(records.offset),
        wire_bytes=int(records.original.sum()),
        longest_frame_bytes=int(records.original.max()) if some else 0,
        first_ns=int(records.timestamp_ns.min()) if some else None,
        last_ns=int(records.timestamp_ns.max()) if some else None,
        cut_bytes=records.cut_bytes,
    )
