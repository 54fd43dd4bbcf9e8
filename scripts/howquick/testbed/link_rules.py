"""Which properties of a link contradict each other, in words for whoever asked for them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

# By their names in the kernel, but for the last: dualpi2 that takes each packet capable of ECN for one of
# its low latency queue, since DCTCP marks its packets ECT(0) (RFC 9332, section 2.3, has ECT(1) alone).
AQMS = ("codel", "fq_codel", "cake", "pie", "dualpi2", "dualpi2-any-ect")
# They cannot be told not to mark.
ALWAYS_MARK = ("cake", "dualpi2", "dualpi2-any-ect")
# Of netem's tables (iproute2, netem/*.dist) and of its uniform one, in units of jitter_ms: the shortest delay
# below the mean one, the mean, and the standard deviation.
DISTRIBUTIONS = {
    "normal": (4.0, -0.00078, 1.0),
    "uniform": (1.0, 0.0, 3**-0.5),
    "pareto": (0.66663, -0.03349, 0.81968),
    "paretonormal": (1.50208, -0.0253, 0.83394),
}


class Contradiction(NamedTuple):
    """The key of a link that cannot be, why, and what to do; both without a full stop."""

    key: str
    problem: str
    remedy: str


def contradiction(link: Mapping[str, Any]) -> Contradiction | None:
    """The first contradiction of a link with all its keys; None where there is none."""
    return _words(link) or _bare(link) or _delays(link) or _losses(link) or _sizes(link)


def _words(link: Mapping[str, Any]) -> Contradiction | None:
    if link["aqm"] not in ("none", *AQMS):
        return Contradiction("aqm", f"is {link['aqm']!r}", f"Use none, {', '.join(AQMS)}")
    if link["jitter_distribution"] not in DISTRIBUTIONS:
        known = ", ".join(DISTRIBUTIONS)
        return Contradiction(
            "jitter_distribution", f"is {link['jitter_distribution']!r}", f"Use {known}"
        )
    if link["ecn"] is not None and not isinstance(link["ecn"], bool):
        return Contradiction("ecn", f"is {link['ecn']!r}", "Use true or false")
    if link["ecn"] and link["aqm"] == "none":
        return Contradiction("ecn", "is true without an aqm, and a plain queue marks nothing",
                             f"Add aqm, one of {', '.join(AQMS)}")  # fmt: skip
    if link["aqm"] in ALWAYS_MARK and link["ecn"] is False:
        return Contradiction("ecn", f"is false, and {link['aqm']} marks whatever it is told",
                             "Set ecn to true, or leave it out")  # fmt: skip
    return None


def _bare(link: Mapping[str, Any]) -> Contradiction | None:
    """Nothing emulates an unshaped link."""
    if link["bandwidth_mbit"] != float("inf"):
        return None
    asked = (
        "aqm",
        "bandwidth_up_mbit",
        "delay_up_ms",
        "jitter_ms",
        "reorder_percent",
        "path_mtu_bytes",
    )
    for key in asked:
        if link[key] not in (0, None, "none"):
            return Contradiction(
                key, "is asked of an unshaped link, and nothing emulates there",
                "Leave it out, or give bandwidth_mbit a number",
            )  # fmt: skip
    return None


def _delays(link: Mapping[str, Any]) -> Contradiction | None:
    up, rtt = link["delay_up_ms"], link["rtt_ms"]
    if up is not None and up > rtt:
        return Contradiction(
            "delay_up_ms",
            f"is {up:g}, more than the whole rtt_ms of {rtt:g}",
            "It is the part of rtt_ms from client to server: ask for no more than that",
        )
    shortest = rtt / 2 if up is None else min(up, rtt - up)
    below, _, _ = DISTRIBUTIONS[link["jitter_distribution"]]
    if link["jitter_ms"] * below > shortest:
        return Contradiction(
            "jitter_ms",
            f"is {link['jitter_ms']:g}, which would make some of a delay of {shortest:g} ms negative",
            f"Ask for {shortest / below:.4g} at most, or for another jitter_distribution",
        )
    if link["reorder_percent"] and link["jitter_ms"]:
        return Contradiction(
            "reorder_percent", "is asked for beside jitter_ms, by which packets overtake already",
            "Use one of them",
        )  # fmt: skip
    if link["reorder_percent"] and not shortest:
        return Contradiction(
            "reorder_percent", "is asked of a link without delay, where nobody can be overtaken",
            "Give each direction a delay by rtt_ms and delay_up_ms",
        )  # fmt: skip
    return None


def _losses(link: Mapping[str, Any]) -> Contradiction | None:
    burst, inside = link["loss_burst_packets"], link["loss_in_burst_percent"]
    if not burst:
        return None
    if burst < 1:
        return Contradiction(
            "loss_burst_packets",
            f"is {burst:g}, less than a packet",
            "Use 1 or more, or 0 for none",
        )
    if not link["loss_percent"]:
        return Contradiction("loss_burst_packets", "is asked of a link without loss",
                             "Set loss_percent, the mean over bursts and what is between them")  # fmt: skip
    bad = link["loss_percent"] / inside
    if bad >= 1 or bad / (1 - bad) / burst > 1:
        return Contradiction(
            "loss_percent",
            f"is {link['loss_percent']:g}, which bursts of {burst:g} packets with a loss of {inside:g} %"
            " cannot have",
            "Ask for less loss or for longer bursts",
        )
    return None


def _sizes(link: Mapping[str, Any]) -> Contradiction | None:
    path = link["path_mtu_bytes"]
    if path is not None and path > link["mtu_bytes"]:
        return Contradiction(
            "path_mtu_bytes", f"is {path}, above the interfaces' {link['mtu_bytes']}",
            "Ask for no more than mtu_bytes",
        )  # fmt: skip
    if link["aqm"] != "none" and link["burst_bytes"]:
        return Contradiction(
            "burst_bytes",
            "is asked for beside an aqm, and is not calibrated with one",
            "Use one of them",
        )
    return None
