"""The description of a link (docs/formats.md, section 3)."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from howquick.testbed.errors import TestbedError

ETHERNET_HEADER_BYTES = 14
MINIMUM_QUEUE_PACKETS = 10

# What can be asked for: (lowest, highest). The limits are those of the backends and of IPv4.
LIMITS: dict[str, tuple[float, float]] = {
    "bandwidth_mbit": (0.1, 1000),
    "rtt_ms": (0, 10_000),
    "loss_percent": (0, 90),
    "queue_ms": (0, 60_000),
    "mtu_bytes": (576, 9000),
    "burst_bytes": (0, 2**30),
}
OPTIONAL = ("mtu_bytes", "burst_bytes", "offloads")
OFFLOADS = ("off", "udp", "default")
# In place of a rate: nothing is emulated, one veth pair joins client and server.
UNSHAPED = "unshaped"


@dataclass(frozen=True)
class Link:
    """A symmetric link: loss, then delay, then a drop-tail queue in front of a rate limit.

    bandwidth_mbit: rate of each direction in Mbit/s (10^6), counted in bytes of Ethernet frames
        (IP packet plus 14 bytes of header), as the kernel's tbf counts.
    rtt_ms: two-way delay; each direction gets half.
    loss_percent: chance in percent that a packet is lost, independent in each direction.
    queue_ms: length of the queue as time at the full rate.
    mtu_bytes: largest IP packet.
    burst_bytes: what a token bucket in the rate's place lets pass at once after idleness; 0: no bucket.
    offloads: of the ends' interfaces: `off`, `udp` (UDP segmentation and receive offload only) or
        `default` (as the kernel makes them); other than `off` only where the link is unshaped.
    """

    bandwidth_mbit: float
    rtt_ms: float
    loss_percent: float
    queue_ms: float
    mtu_bytes: int = 1500
    burst_bytes: int = 0
    offloads: str = "off"

    def __post_init__(self) -> None:
        if self.unshaped and (self.rtt_ms or self.loss_percent or self.burst_bytes):
            raise TestbedError("link: an unshaped one has no rtt_ms, loss_percent or burst_bytes")
        if self.offloads not in OFFLOADS or (self.offloads != "off" and not self.unshaped):
            raise TestbedError(
                f"link: offloads is {self.offloads!r}, but must be off, or udp or default without shaping"
            )
        for key, (low, high) in LIMITS.items():
            value = getattr(self, key)
            if key == "bandwidth_mbit" and self.unshaped:
                continue
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise TestbedError(f"link: {key} is {value!r}, but must be a number")
            if not low <= value <= high:
                raise TestbedError(f"link: {key} is {value}, but must lie in {low} … {high}")
        for key in ("mtu_bytes", "burst_bytes"):
            if getattr(self, key) != int(getattr(self, key)):
                raise TestbedError(
                    f"link: {key} is {getattr(self, key)}, but must be a whole number"
                )

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Link:
        """Make a link of a mapping with the keys of section 3; unknown keys are an error."""
        unknown = sorted(set(values) - {*LIMITS, "offloads"})
        missing = sorted(set(LIMITS) - set(OPTIONAL) - set(values))
        if unknown or missing:
            raise TestbedError(f"link: unknown keys {unknown}, missing keys {missing}")
        rate = values["bandwidth_mbit"]
        return cls(**{**values, "bandwidth_mbit": math.inf if rate == UNSHAPED else rate})

    @classmethod
    def from_json(cls, text: str) -> Link:
        """Make a link of JSON text, or of the file of that name."""
        if not text.lstrip().startswith("{"):
            try:
                text = Path(text).read_text(encoding="utf-8")
            except OSError as error:
                raise TestbedError(f"link: cannot read {text}: {error.strerror}") from None
        try:
            values = json.loads(text)
        except json.JSONDecodeError as error:
            raise TestbedError(f"link: not valid JSON: {error}") from None
        if not isinstance(values, dict):
            raise TestbedError("link: must be a JSON object with the keys of docs/formats.md")
        return cls.from_dict(values)

    def to_dict(self) -> dict[str, Any]:
        """The link as in section 3; what is as usual is left out."""
        usual = {"burst_bytes": 0, "offloads": "off"}
        values = {k: v for k, v in asdict(self).items() if k not in usual or v != usual[k]}
        return values | ({"bandwidth_mbit": UNSHAPED} if self.unshaped else {})

    @property
    def unshaped(self) -> bool:
        """Whether nothing emulates: one bare veth pair."""
        return self.bandwidth_mbit == math.inf

    @property
    def frame_bytes(self) -> int:
        """The longest Ethernet frame, in bytes."""
        return int(self.mtu_bytes) + ETHERNET_HEADER_BYTES

    @property
    def bytes_per_second(self) -> float:
        """The rate in bytes of frames per second."""
        return self.bandwidth_mbit * 1e6 / 8

    @property
    def queue_bytes(self) -> int:
        """The length of the queue: queue_ms x bandwidth, at least ten of the longest frames.

        0 for an unshaped link, which has none.
        """
        if self.unshaped:
            return 0
        asked = round(self.queue_ms / 1e3 * self.bytes_per_second)
        return max(asked, MINIMUM_QUEUE_PACKETS * self.frame_bytes)

    @property
    def queue_delay_ms(self) -> float:
        """How long the last byte of a full queue waits, in milliseconds."""
        return self.queue_bytes / self.bytes_per_second * 1e3
