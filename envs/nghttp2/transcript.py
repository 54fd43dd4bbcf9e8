"""Read what ``nghttp --verbose --stat --har`` leaves: bodies between log records, statistics, a HAR file."""

import hashlib
import re
from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from contract.timing import ObjectTiming, Timing

# One log record: a line with a time, then lines indented by ten spaces.
RECORD = re.compile(rb"\[ *\d+\.\d{3}\] (?:(?:send|recv) .*|Connected)\n(?: {10}.*\n)*")
DATA = re.compile(rb"recv DATA frame <length=(\d+), flags=0x[0-9a-f]+, stream_id=(\d+)>")
STATISTICS = b"***** Statistics *****\n"
ROW = re.compile(r"^ *(\d+) +\+[\d.]+(?:us|ms|s) +\+([\d.]+)(us|ms|s) ", re.MULTILINE)
UNIT_S = {"us": 1e-6, "ms": 1e-3}
HAR_RESOLUTION_S = 0.001


class TranscriptError(Exception):
    """The output of nghttp is not what its version 1.64 writes."""


@dataclass(frozen=True)
class Body:
    """Length (bytes) and SHA-256 of one response body."""

    size: int
    sha256: str


def bodies(output: bytes) -> dict[int, Body]:
    """Return the body of every stream by its number.

    nghttp writes the bytes of a DATA frame, then the record of that frame. A record of something
    that was sent may stand between two pieces of one frame's bytes.
    """
    log = output[: output.rfind(STATISTICS)]
    sizes: dict[int, int] = defaultdict(int)
    hashes: dict[int, Any] = defaultdict(hashlib.sha256)
    pending: list[bytes] = []
    position = 0
    for record in RECORD.finditer(log):
        pending.append(log[position : record.start()])
        position = record.end()
        frame = DATA.search(record.group())
        if frame is None:
            continue
        length, stream = int(frame[1]), int(frame[2])
        payload = b"".join(pending)[-length:] if length else b""
        pending = []
        if len(payload) != length:
            raise TranscriptError(
                f"DATA frame of {length} bytes on stream {stream} has {len(payload)}"
            )
        sizes[stream] += length
        hashes[stream].update(payload)
    return {stream: Body(sizes[stream], hashes[stream].hexdigest()) for stream in sizes}


def request_starts(output: bytes) -> dict[int, float]:
    """Return the start of each request in seconds after the handshake, where it is known to 10 µs.

    The statistics give two decimals of the unit they choose, which is too coarse from one second on.
    """
    text = output[output.rfind(STATISTICS) :].decode(errors="replace")
    return {
        int(row[1]): float(row[2]) * UNIT_S[row[3]]
        for row in ROW.finditer(text)
        if row[3] in UNIT_S
    }


def _unix(moment: str) -> float:
    return datetime.fromisoformat(moment).timestamp()


def page(har: dict[str, Any], output: bytes) -> Timing:
    """Return TIMING (docs/formats.md, section 2) of a page load. Raises TranscriptError or KeyError."""
    log = har["log"]
    started = _unix(log["pages"][0]["startedDateTime"])
    entries = sorted(log["entries"], key=lambda entry: int(entry["connection"]))
    if not entries:
        raise TranscriptError("no response")
    first = entries[0]["timings"]
    handshake_s = (first["dns"] + first["connect"]) / 1000
    content, precise = bodies(output), request_starts(output)
    objects = []
    for number, entry in enumerate(entries):
        stream, took = int(entry["connection"]), entry["timings"]
        end_after_s = (took["wait"] + took["receive"]) / 1000
        if stream in precise:
            request_s = handshake_s + precise[stream]
        else:
            request_s = max(handshake_s, _unix(entry["startedDateTime"]) - started)
        body = content.get(stream, Body(0, hashlib.sha256().hexdigest()))
        path = next(h["value"] for h in entry["request"]["headers"] if h["name"] == ":path")
        objects.append(
            ObjectTiming(
                path=path,
                status=entry["response"]["status"],
                size=body.size,
                sha256=body.sha256,
                # The HTML's clock starts with the connection.
                start_s=0.0 if number == 0 else request_s,
                first_byte_s=request_s + took["wait"] / 1000,
                end_s=request_s + end_after_s,
            )
        )
    return Timing(
        protocol="h2",
        # The HAR file cuts the time to milliseconds: its middle is at most half of one away.
        start=started + HAR_RESOLUTION_S / 2,
        handshake_s=handshake_s,
        resumed=False,
        early_data=False,
        objects=tuple(objects),
    )
