"""One quantity of a link that was asked for and measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True)
class Check:
    """One quantity asked for and measured; low and high are a 99 % interval where there is one.

    runs_p: of a loss, the p value of the runs test for independence (None: too few losses).
    """

    quantity: str
    direction: str
    asked: float
    measured: float
    low: float
    high: float
    n: int
    tolerance: float
    verdict: str
    runs_p: float | None = None


class Reading(NamedTuple):
    """What was measured, its interval, and of how many readings; none: nothing arrived."""

    measured: float
    low: float
    high: float
    n: int


# Of a train that did not arrive.
NONE = Reading(0, 0, 0, 0)


def make_check(
    quantity: str,
    direction: str,
    asked: float,
    found: Reading,
    tolerance: float,
) -> Check:
    """A check that passes if what was measured is within `tolerance` of what was asked for."""
    passed = found.n > 0 and abs(found.measured - asked) <= tolerance
    return Check(quantity, direction, asked, *found, tolerance, verdict_of(passed))


def verdict_of(passed: bool) -> str:
    """As the file has it."""
    return "pass" if passed else "fail"
