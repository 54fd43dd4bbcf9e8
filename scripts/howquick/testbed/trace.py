"""Traces of a rate: files in mahimahi's form, and the piecewise constant rate that a link has from one.

A line is the time of an opportunity to deliver 1500 bytes, in whole milliseconds from the start; the file
repeats after its last time (Netravali et al., Mahimahi, USENIX ATC 2015).
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path

from howquick.errors import ROOT, ConfigError
from howquick.testbed.link import OF_CONTENT

PLACE = "config/traces"
FOLDER = ROOT / PLACE
SUFFIX = ".trace"
# Of the hash of what a trace holds.
DIGITS = 16
OPPORTUNITY_BYTES = 1500
# Over so long opportunities are counted: the link has their mean rate meanwhile.
WINDOW_MS = 100
# While the rate is nothing a byte a second passes (howquick.testbed.replay): no frame, as long as this.
LONGEST_OUTAGE_MS = 20_000
MOST_OPPORTUNITIES = 2_000_000
# By how much what a study gives as the mean may be rounded.
MEAN_TOLERANCE = 1e-3


@dataclass(frozen=True)
class Trace:
    """A trace: its name, and the times of its opportunities in milliseconds."""

    name: str
    times_ms: tuple[int, ...]

    @property
    def period_ms(self) -> int:
        """After how long it repeats, milliseconds."""
        return self.times_ms[-1]

    @property
    def mean_mbit(self) -> float:
        """Its mean rate, Mbit/s."""
        return rate_mbit(len(self.times_ms), self.period_ms)

    @property
    def digest(self) -> str:
        """Hash of the times, however the file writes them."""
        text = "\n".join(map(str, self.times_ms))
        return hashlib.sha256(text.encode()).hexdigest()[:DIGITS]

    @property
    def reference(self) -> str:
        """As links have it: the name and the hash of what it holds."""
        return f"{self.name}{OF_CONTENT}{self.digest}"

    def steps(self) -> list[tuple[int, float]]:
        """The rate over one period: until when, milliseconds from the start, and how much, Mbit/s.

        An opportunity at the end of a window counts to it; the last window ends with the period.
        """
        counts = [0] * -(-self.period_ms // WINDOW_MS)
        for time in self.times_ms:
            counts[max(0, time - 1) // WINDOW_MS] += 1
        ends = [min((k + 1) * WINDOW_MS, self.period_ms) for k in range(len(counts))]
        spans = (end - begin for begin, end in pairwise([0, *ends]))
        rates = [rate_mbit(n, span) for n, span in zip(counts, spans, strict=True)]
        return list(zip(ends, rates, strict=True))


def rate_mbit(opportunities: int, span_ms: int) -> float:
    """The rate of so many opportunities in so many milliseconds, Mbit/s."""
    return opportunities * OPPORTUNITY_BYTES * 8 / span_ms / 1000


def name_of(reference: str) -> str:
    """The name in a reference."""
    return reference.partition(OF_CONTENT)[0]


def known() -> list[str]:
    """The names of the traces that are there."""
    return sorted(file.stem for file in FOLDER.glob(f"*{SUFFIX}"))


def file_of(name: str) -> Path:
    """The file of a trace."""
    return FOLDER / f"{name}{SUFFIX}"


def load(reference: str) -> Trace:
    """The trace of a name or a reference, one of `known`. Raises ConfigError for a file that is none."""
    return _read(file_of(name_of(reference)))


@cache
def _read(file: Path) -> Trace:
    try:
        lines = file.read_text(encoding="ascii").splitlines()
    except (UnicodeDecodeError, OSError) as error:
        raise ConfigError(
            file, "", f"cannot be read ({error})", "Write it as docs/formats.md says"
        ) from None
    if not lines:
        raise ConfigError(
            file, "", "is empty", "Write a line for each opportunity: its time in milliseconds"
        )
    if len(lines) > MOST_OPPORTUNITIES:
        raise ConfigError(
            file, "", f"has {len(lines)} lines, more than {MOST_OPPORTUNITIES}", "Take a shorter part of it"
        )  # fmt: skip
    times = [_time(file, number, line) for number, line in enumerate(lines, 1)]
    for number, (before, time) in enumerate(pairwise(times), 2):
        if time < before:
            raise ConfigError(
                file, f"line {number}", f"{time} after {before}", "Sort the times"
            )  # fmt: skip
    trace = Trace(file.stem, tuple(times))
    if not trace.period_ms:
        raise ConfigError(
            file, f"line {len(lines)}", "the last time is 0, after which it would repeat at once",
            "Let the last line be the length of the trace in milliseconds",
        )  # fmt: skip
    _check_outages(file, times)
    return trace


def _time(file: Path, number: int, line: str) -> int:
    # As digits alone: int() would take signs, spaces and underscores.
    if not line.isdecimal():
        raise ConfigError(
            file, f"line {number}", f"{line[:40]!r} is no time",
            "Write whole milliseconds from the start, one in a line and nothing else",
        )  # fmt: skip
    return int(line)


def _check_outages(file: Path, times: list[int]) -> None:
    """No stretch without opportunities is longer than a link can be without a rate. Raises ConfigError."""
    for number, (before, time) in enumerate(pairwise([0, *times]), 1):
        if time - before > LONGEST_OUTAGE_MS:
            raise ConfigError(
                file, f"line {number}",
                f"nothing is delivered from {before} to {time} ms, and {LONGEST_OUTAGE_MS} ms are the most",
                "Shorten it, or take another part of the trace",
            )  # fmt: skip
