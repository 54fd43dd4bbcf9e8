"""Which congestion control a sender really used, as far as its own log shows it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from howquick.extract.qlog_file import Qlog

# What one congestion event leaves of the window: CUBIC's beta (RFC 9438, 4.6), Reno's (RFC 9002, B.2).
_FACTORS = {"cubic": 0.7, "reno": 0.5}
_TOLERANCE = 0.03
# Fewer events say nothing, and most of them must tell the same.
_LEAST_EVENTS = 3
_SHARE = 0.6
_WINDOW_KEYS = ("congestion_window", "cwnd")
# A window that falls by less is not a congestion event (rounding, a probe's end).
_FALL = 0.95
_BBR_STATES = frozenset({"startup", "drain", "probe_bw", "probebw", "probe_rtt", "probertt", "bbr"})


@dataclass(frozen=True)
class Evidence:
    """What a sender's log tells.

    `ratios`: what each fall of its window left; `windows`: how often it told the window; `lost`:
    packets it gave up; `named`: the congestion control that its words are of.
    """

    ratios: tuple[float, ...]
    windows: int
    lost: int
    named: str | None = None


def gather(log: Qlog) -> Evidence:
    """The evidence in a sender's log. Raises QlogError for a record that is not JSON."""
    metrics = log.of_kind("metrics_updated", "recovery_metrics_updated")
    told = (log.number(index, _WINDOW_KEYS) for index in metrics)
    windows = [window for window in told if window]
    falls = [after / before for before, after in pairwise(windows) if after < _FALL * before]
    lost = len(log.of_kind("packet_lost"))
    if metrics and not lost:
        lost = _lost_packets(log.data(metrics[-1]))
    return Evidence(tuple(falls), len(windows), lost, _named(log, metrics))


def _lost_packets(data: dict[str, Any]) -> int:
    """What a stack counts that logs no packet_lost (quiche does so among its metrics)."""
    counted = data.get("cf_lost_packets")
    total = counted.get("total") if isinstance(counted, dict) else None
    return total if isinstance(total, int) else 0


def _named(log: Qlog, metrics: list[int]) -> str | None:
    for index in log.of_kind("congestion_state_updated"):
        state = log.data(index).get("new", "")
        if isinstance(state, str) and state.lower().replace(" ", "_") in _BBR_STATES:
            return "bbr"
    first = log.data(metrics[0]) if metrics else {}
    # aioquic logs CUBIC's maximum window beside the others' metrics.
    cubic = any(key.startswith("cubic") for key in first)
    return "cubic" if cubic else None


def seen(evidence: Evidence) -> str | None:
    """The congestion control the evidence shows; None if it does not say.

    `cubic` or `reno` where at least three congestion events, and 60 % of all, left that share of the
    window; `bbr` where the log names its states, or the window never fell although packets were
    lost.
    """
    if evidence.named:
        return evidence.named
    if len(evidence.ratios) >= _LEAST_EVENTS:
        for name, factor in _FACTORS.items():
            near = [ratio for ratio in evidence.ratios if abs(ratio - factor) <= _TOLERANCE]
            if len(near) >= _SHARE * len(evidence.ratios):
                return name
    if evidence.windows and not evidence.ratios and evidence.lost >= _LEAST_EVENTS:
        return "bbr"
    return None


def verdict(asked: str | None, found: str | None) -> str:
    """`agrees`, `differs` or `unknown`.

    Some Renos leave 0.7 of the window (quic-go), and so do BBR's later versions: then a window that
    falls to 0.7 proves nothing.
    """
    if not asked or not found:
        return "unknown"
    if _family(asked) == _family(found):
        return "agrees"
    if found == "cubic" and (asked == "reno" or asked in ("bbr2", "bbr3")):
        return "unknown"
    return "differs"


def _family(name: str) -> str:
    return "bbr" if name.startswith("bbr") else "reno" if name == "newreno" else name
