"""Let tshark decrypt the beginning of a capture and give back the fields of its packets."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from howquick.capture.read import Frames
from howquick.extract.load import Unusable

# tshark decrypts some 10 to 20 MB per second; longer captures are looked at up to here.
DISSECTED_BYTES = 20_000_000
_TIMEOUT_S = 300
_SEPARATOR, _AGGREGATOR = "|", ";"


@dataclass(frozen=True)
class Dissection:
    """Fields of the packets, in order: `packets[i]` belongs to row i of Frames.table.

    Every packet has one list of values per field asked for, as a packet may have it many times.
    """

    packets: list[list[list[str]]]
    complete: bool


def is_full(frames: Frames) -> bool:
    """Whether every packet is there as a whole, so that it can be decrypted."""
    return bool((frames.table["captured"] >= frames.table["length"]).all())


def dissect(frames: Frames, fields: Sequence[str], options: Sequence[str] = ()) -> Dissection:
    """The `fields` (names of tshark's) of the packets within the first DISSECTED_BYTES.

    The keys are those embedded in the capture. Raises Unusable if tshark is missing or fails.
    """
    return parse_fields(fields_text(frames, fields, options), frames, len(fields))


def fields_text(frames: Frames, fields: Sequence[str], options: Sequence[str] = ()) -> str:
    """What tshark says of the packets: a line for each. Raises Unusable."""
    argv = ["tshark", "-n", "-r", str(frames.path), "-c", str(max(_count(frames), 1)),
            "-T", "fields", "-E", "occurrence=a", "-E", f"separator={_SEPARATOR}",
            "-E", f"aggregator={_AGGREGATOR}"]  # fmt: skip
    for field in fields:
        argv += ["-e", field]
    for option in options:
        argv += ["-o", option]
    try:
        done = subprocess.run(
            argv, capture_output=True, text=True, errors="replace", timeout=_TIMEOUT_S, check=False
        )
    except FileNotFoundError:
        raise Unusable("tshark is not installed: nothing was decrypted") from None
    except subprocess.TimeoutExpired:
        raise Unusable(f"{frames.path.name}: tshark took longer than {_TIMEOUT_S} s") from None
    if done.returncode:
        last = (done.stderr.strip() or "no reason given").splitlines()[-1]
        raise Unusable(f"{frames.path.name}: tshark: {last}")
    return done.stdout


def _count(frames: Frames) -> int:
    return int(np.searchsorted(frames.table["offset"], DISSECTED_BYTES))


def parse_fields(text: str, frames: Frames, fields: int) -> Dissection:
    """What tshark said as lists of values. Raises Unusable if it is not of these packets and fields."""
    packets = [
        [cell.split(_AGGREGATOR) if cell else [] for cell in line.split(_SEPARATOR)]
        for line in text.removesuffix("\n").split("\n")
        if line
    ]
    count = _count(frames)
    if len(packets) != count or any(len(packet) != fields for packet in packets):
        raise Unusable(f"{frames.path.name}: tshark's answer does not fit the packets")
    return Dissection(packets, count == len(frames.table))
