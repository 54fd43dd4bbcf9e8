"""The few statistics that calibration needs."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Z_99 = 2.5758  # two-sided 99 % point of the normal distribution
T_99_9 = 3.2498  # of Student's t with 9 degrees of freedom
BATCHES = 10


def binomial_interval(hits: int, trials: int, level: float = 0.99) -> tuple[float, float]:
    """The exact (Clopper-Pearson 1934) interval for a probability, given `hits` of `trials`."""
    if trials == 0:
        return 0.0, 1.0
    tail = (1 - level) / 2
    low = 0.0 if hits == 0 else _solve(lambda p: 1 - _at_most(hits - 1, trials, p) - tail)
    high = 1.0 if hits == trials else _solve(lambda p: tail - _at_most(hits, trials, p))
    return low, high


def _at_most(hits: int, trials: int, chance: float) -> float:
    """Probability of `hits` or fewer."""
    steps = np.arange(1, hits + 1)
    ratios = np.log(trials + 1 - steps) - np.log(steps) + math.log(chance) - math.log1p(-chance)
    logs = trials * math.log1p(-chance) + np.concatenate(([0.0], np.cumsum(ratios)))
    return min(1.0, float(np.exp(logs).sum()))


def _solve(rising: Callable[[float], float]) -> float:
    """Where a rising function of a probability crosses zero."""
    low, high = 1e-12, 1 - 1e-12
    for _ in range(60):
        middle = (low + high) / 2
        if rising(middle) < 0:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def runs_test(lost: NDArray[np.bool_]) -> float | None:
    """P value of the runs test (Wald and Wolfowitz 1940) for independence, two-sided.

    None where fewer than ten of either kind make the normal approximation worthless.
    """
    ones = int(lost.sum())
    zeros = len(lost) - ones
    if min(ones, zeros) < 10:
        return None
    total = ones + zeros
    runs = 1 + int((lost[1:] != lost[:-1]).sum())
    product = 2 * ones * zeros
    mean = product / total + 1
    variance = product * (product - total) / (total**2 * (total - 1))
    return math.erfc(abs(runs - mean) / math.sqrt(2 * variance))


def median_interval(values: NDArray[np.float64]) -> tuple[float, float]:
    """99 % interval for the median, by order statistics."""
    ordered = np.sort(values)
    half = Z_99 * math.sqrt(len(ordered)) / 2
    low = max(0, math.floor(len(ordered) / 2 - half) - 1)
    high = min(len(ordered) - 1, math.ceil(len(ordered) / 2 + half))
    return float(ordered[low]), float(ordered[high])


def batch_interval(batches: NDArray[np.float64]) -> tuple[float, float]:
    """99 % interval for a mean, from the means of BATCHES consecutive batches."""
    half = T_99_9 * float(batches.std(ddof=1)) / math.sqrt(len(batches))
    mean = float(batches.mean())
    return mean - half, mean + half
