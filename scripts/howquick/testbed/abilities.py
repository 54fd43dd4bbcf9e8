"""What of a link each way to make one can do."""

from __future__ import annotations

from collections.abc import Collection

from howquick.testbed.link import TRACES, Link

# What of a link is not in every emulator, by key, in words.
FEATURES = {
    "bandwidth_up_mbit": "a rate of its own for each direction",
    "delay_up_ms": "a delay of its own for each direction",
    "aqm": "active queue management",
    "loss_burst_packets": "losses in bursts",
    "jitter_ms": "delays that vary",
    "reorder_percent": "packets that overtake others",
    "path_mtu_bytes": "a path MTU below that of the interfaces",
    "rate_trace": "a rate that follows a trace",
    "rate_trace_up": "a rate that follows a trace",
}
NETEM, RATTAN = "netem", "rattan"
LATE_STEPS = (
    "by the machine's own clock a rate that follows a trace would change late, and each change let a frame"
    " more pass; virtual time has it"
)


def features(link: Link) -> list[str]:
    """The keys of what a link has that is not in every emulator."""
    return [key for key in FEATURES if key in link.to_dict()]


def why_not(backend: str, link: Link, aqms: Collection[str] | None = None) -> str:
    """Why a backend cannot make a link, in words for the appendix; empty if it can.

    aqms: of the kernel, where that is known: netem on a machine's own kernel may lack some.
    """
    asked = features(link)
    if backend == RATTAN and asked:
        return f"the emulator of this machine (rattan) has not {FEATURES[asked[0]]}; virtual time has it"
    if backend == NETEM and aqms is not None and link.aqm not in ("none", *aqms):
        return f"the kernel of this machine has no {link.aqm}; that of virtual time has it"
    # Known where it is a machine's own: in virtual time nothing is late.
    if backend == NETEM and aqms is not None and any(key in asked for key in TRACES):
        return LATE_STEPS
    return ""
