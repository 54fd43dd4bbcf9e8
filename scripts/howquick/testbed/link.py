"""The description of a link (docs/formats.md, section 3)."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from howquick.testbed.errors import TestbedError
from howquick.testbed.link_rules import ALWAYS_MARK, Contradiction, contradiction

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
    "bandwidth_up_mbit": (0.1, 1000),
    "delay_up_ms": (0, 5000),
    "loss_burst_packets": (0, 10_000),
    "loss_in_burst_percent": (0.1, 100),
    "jitter_ms": (0, 5000),
    "reorder_percent": (0, 25),
    "path_mtu_bytes": (576, 9000),
}
# Which keys name a trace that a rate follows, and what they are without one. Between its name and the hash of
# what it holds is a sign (howquick.testbed.trace).
TRACES = ("rate_trace", "rate_trace_up")
NO_TRACE, OF_CONTENT = "none", "@"
REQUIRED = ("bandwidth_mbit", "rtt_ms", "loss_percent", "queue_ms")
WHOLE = ("mtu_bytes", "burst_bytes", "path_mtu_bytes")
WORDS = ("offloads", "aqm", "ecn", "jitter_distribution", *TRACES)
# The directions of a link; up is from client to server.
DIRECTIONS = ("up", "down")
OFFLOADS = ("off", "udp", "default")
# In place of a rate: nothing is emulated, one veth pair joins client and server.
UNSHAPED = "unshaped"


@dataclass(frozen=True)
class Link:
    """A link: in each direction loss, then delay, then a queue in front of a rate limit.

    It is symmetric and its queues drop what does not fit, unless one of the keys after `offloads` says
    otherwise. Those are None, "none", 0 or as here where the link is as usual.

    bandwidth_mbit: rate of each direction in Mbit/s (10^6), counted in bytes of Ethernet frames
        (IP packet plus 14 bytes of header), as the kernel's tbf counts.
    rtt_ms: two-way delay; each direction gets half.
    loss_percent: chance in percent that a packet is lost, independent in each direction.
    queue_ms: length of the queue as time at the full rate.
    mtu_bytes: largest IP packet.
    burst_bytes: what a token bucket in the rate's place lets pass at once after idleness; 0: no bucket.
    offloads: of the ends' interfaces: `off`, `udp` (UDP segmentation and receive offload only) or
        `default` (as the kernel makes them); other than `off` only where the link is unshaped.
    bandwidth_up_mbit: rate from client to server, where it is another than that to the client.
    delay_up_ms: delay from client to server; the way back has the rest of rtt_ms.
    aqm: active queue management in the queue's place (AQMS); its length then counts in packets.
    ecn: it marks packets that are capable of ECN instead of dropping them (RFC 3168). Unsaid, those do that
        cannot be told not to (ALWAYS_MARK).
    loss_burst_packets: mean length of bursts of loss: packets that pass while the link is in its bad
        state (Gilbert, BSTJ 39(5), 1960); 0: losses are independent. loss_percent stays the mean.
    loss_in_burst_percent: chance that a packet is lost in the bad state.
    jitter_ms: of each direction's delay, as netem has it: half of the range (uniform), otherwise the
        scale of its table. Packets with a shorter delay overtake others.
    jitter_distribution: `normal`, `uniform`, `pareto` or `paretonormal`.
    reorder_percent: packets of each direction that have no delay, and so overtake those before.
    path_mtu_bytes: largest IP packet that the router forwards, below that of the interfaces; of others
        it says so by ICMP (RFC 1191).
    rate_trace: a trace that the rate follows (howquick.testbed.trace), by name or with the hash of what it
        holds; bandwidth_mbit is its mean. Of both directions, or of that to the client if the other has
        bandwidth_up_mbit.
    rate_trace_up: one that the rate from client to server follows.
    """

    bandwidth_mbit: float
    rtt_ms: float
    loss_percent: float
    queue_ms: float
    mtu_bytes: int = 1500
    burst_bytes: int = 0
    offloads: str = "off"
    bandwidth_up_mbit: float | None = None
    delay_up_ms: float | None = None
    aqm: str = "none"
    ecn: bool | None = None
    loss_burst_packets: float = 0
    loss_in_burst_percent: float = 100
    jitter_ms: float = 0
    jitter_distribution: str = "normal"
    reorder_percent: float = 0
    path_mtu_bytes: int | None = None
    rate_trace: str = NO_TRACE
    rate_trace_up: str = NO_TRACE

    def __post_init__(self) -> None:
        if self.unshaped and (self.rtt_ms or self.loss_percent or self.burst_bytes):
            raise TestbedError("link: an unshaped one has no rtt_ms, loss_percent or burst_bytes")
        if self.offloads not in OFFLOADS or (self.offloads != "off" and not self.unshaped):
            raise TestbedError(
                f"link: offloads is {self.offloads!r}, but must be off, or udp or default without shaping"
            )
        for key, (low, high) in LIMITS.items():
            value = getattr(self, key)
            if value is None or (key == "bandwidth_mbit" and self.unshaped):
                continue
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise TestbedError(f"link: {key} is {value!r}, but must be a number")
            if not low <= value <= high:
                raise TestbedError(f"link: {key} is {value}, but must lie in {low} … {high}")
        for key in WHOLE:
            if (value := getattr(self, key)) is not None and value != int(value):
                raise TestbedError(f"link: {key} is {value}, but must be a whole number")
        if wrong := contradiction(asdict(self)) or self._wrong_trace():
            raise TestbedError(f"link: {wrong.key} {wrong.problem}. {wrong.remedy}.")

    def _wrong_trace(self) -> Contradiction | None:
        if all(getattr(self, key) == NO_TRACE for key in TRACES):
            return None
        # Only here: loads without a trace are begun as if there were none.
        from howquick.testbed.trace_rules import trace_contradiction

        return trace_contradiction(asdict(self))

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Link:
        """Make a link of a mapping with the keys of section 3; unknown keys are an error."""
        unknown = sorted(set(values) - {*LIMITS, *WORDS})
        missing = sorted(set(REQUIRED) - set(values))
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
        usual = {f.name: f.default for f in fields(self) if f.name not in (*REQUIRED, "mtu_bytes")}
        usual |= {"bandwidth_up_mbit": self.bandwidth_mbit, "delay_up_ms": self.rtt_ms / 2}
        usual["path_mtu_bytes"] = self.mtu_bytes
        values = {
            key: value
            for key, value in asdict(self).items()
            if key not in usual or (value is not None and value != usual[key])
        }
        if self.marks == (self.aqm in ALWAYS_MARK):
            values.pop("ecn", None)
        if "loss_burst_packets" not in values:
            values.pop("loss_in_burst_percent", None)
        same_rate = self.bandwidth_up_mbit in (None, self.bandwidth_mbit)
        if same_rate and self.rate_trace_up == self.rate_trace:
            values.pop("rate_trace_up", None)
        if "jitter_ms" not in values:
            values.pop("jitter_distribution", None)
        return values | ({"bandwidth_mbit": UNSHAPED} if self.unshaped else {})

    @property
    def marks(self) -> bool:
        """Whether the queue management marks packets that are capable of ECN."""
        return self.aqm in ALWAYS_MARK if self.ecn is None else self.ecn

    def side(self, direction: str) -> Link:
        """The symmetric link of which each direction is as this one's is, `up` or `down`."""
        up = self.rtt_ms / 2 if self.delay_up_ms is None else self.delay_up_ms
        delay = up if direction == "up" else self.rtt_ms - up
        rate = self.bandwidth_up_mbit if direction == "up" else None
        followed = (
            self.rate_trace_up if direction == "up" and self._up_is_its_own else self.rate_trace
        )
        return replace(
            self, bandwidth_mbit=rate or self.bandwidth_mbit, rtt_ms=2 * delay,
            bandwidth_up_mbit=None, delay_up_ms=None, rate_trace=followed, rate_trace_up=NO_TRACE,
        )  # fmt: skip

    @property
    def _up_is_its_own(self) -> bool:
        """Whether the rate from client to server follows another trace than that to the client, or none."""
        rate_of_its_own = self.bandwidth_up_mbit not in (None, self.bandwidth_mbit)
        return rate_of_its_own or self.rate_trace_up != NO_TRACE

    def sooner(self, offset_ms: float) -> Link:
        """The same with so much taken off the round-trip delay, as far as there is any."""
        up = self.delay_up_ms
        rtt = max(0.0, self.rtt_ms - offset_ms)
        if up is not None:
            up = min(max(0.0, up - offset_ms / 2), rtt)
        return replace(self, rtt_ms=rtt, delay_up_ms=up)

    @property
    def unshaped(self) -> bool:
        """Whether nothing emulates: one bare veth pair."""
        return self.bandwidth_mbit == math.inf

    @property
    def frame_bytes(self) -> int:
        """The longest Ethernet frame on the link, in bytes."""
        return int(self.path_mtu_bytes or self.mtu_bytes) + ETHERNET_HEADER_BYTES

    @property
    def queue_packets(self) -> int:
        """The length of the queue in packets of the longest kind, as active queue management counts."""
        return max(MINIMUM_QUEUE_PACKETS, round(self.queue_bytes / self.frame_bytes))

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
