"""What contradicts that the rate of a link follows a trace, in words for whoever asked for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from howquick.testbed import trace
from howquick.testbed.link import NO_TRACE, TRACES
from howquick.testbed.link_rules import Contradiction


def trace_contradiction(link: Mapping[str, Any]) -> Contradiction | None:
    """The first contradiction of what a link with all its keys says of traces; None where there is none.

    Raises ConfigError for a file that is no trace.
    """
    down, up = (link[key] for key in TRACES)
    rate = link["bandwidth_mbit"]
    if (up, down) == (NO_TRACE, NO_TRACE):
        return None
    if rate == float("inf"):
        return Contradiction(
            TRACES[down == NO_TRACE], "is asked of an unshaped link, and nothing emulates there",
            "Leave it out, or give bandwidth_mbit a number",
        )  # fmt: skip
    if link["burst_bytes"]:
        return Contradiction("burst_bytes", "is asked for beside a trace, whose wire has no bucket",
                             "Use one of them")  # fmt: skip
    return _trace("rate_trace", down, "bandwidth_mbit", rate) or _trace(
        "rate_trace_up", up, "bandwidth_up_mbit", link["bandwidth_up_mbit"] or rate
    )


def _trace(key: str, reference: object, rate_key: str, rate: float) -> Contradiction | None:
    """What is wrong with a trace, or with the rate that is given beside it as its mean."""
    if reference == NO_TRACE:
        return None
    name = trace.name_of(reference) if isinstance(reference, str) else ""
    # By the list of those that are there: a path is none.
    if name not in trace.known():
        there = ", ".join([NO_TRACE, *trace.known()])
        return Contradiction(
            key, f"is {reference!r}, and there is no such file in {trace.PLACE}",
            f"Use the name of one that is there ({there}), or add NAME{trace.SUFFIX}",
        )  # fmt: skip
    followed = trace.load(name)
    if reference not in (name, followed.reference):
        return Contradiction(key, f"is {reference!r}, and {trace.PLACE} has another {name} by now",
                             "Start the workflow again: it plans anew")  # fmt: skip
    if abs(rate - followed.mean_mbit) > trace.MEAN_TOLERANCE * followed.mean_mbit:
        return Contradiction(
            rate_key, f"is {rate:g} beside {key}: {name}, whose mean is {followed.mean_mbit:.6g} Mbit/s",
            f"Give the mean, {followed.mean_mbit:.6g}, or another trace",
        )  # fmt: skip
    return None
