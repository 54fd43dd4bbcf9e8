from __future__ import annotations

import numpy as np
import pytest

from howquick.calibrate.statistics import binomial_interval, median_interval, runs_test


# Reference values: R 4.5, binom.test(x, n, conf.level = level)$conf.int
@pytest.mark.parametrize(
    ("hits", "trials", "level", "low", "high"),
    [
        (3, 10, 0.95, 0.06673951, 0.65245285),
        (0, 100, 0.99, 0.0, 0.05160379),
        (10, 10, 0.95, 0.69150290, 1.0),
    ],
)
def test_exact_binomial_interval(hits, trials, level, low, high):
    assert binomial_interval(hits, trials, level) == pytest.approx((low, high), abs=1e-6)


def test_nothing_tried_nothing_known():
    assert binomial_interval(0, 0) == (0.0, 1.0)


def test_runs_test_accepts_independent_and_refuses_clustered_losses():
    random = np.random.default_rng(1).random(5000) < 0.05
    clustered = np.repeat(np.random.default_rng(2).random(500) < 0.05, 10)
    assert runs_test(random) > 0.01
    assert runs_test(clustered) < 1e-9


def test_runs_test_says_nothing_of_too_few_losses():
    assert runs_test(np.arange(100) < 9) is None


def test_median_interval_covers_the_median_in_99_of_100():
    draws = np.random.default_rng(3).normal(size=(2000, 101))
    covered = [low <= 0 <= high for low, high in map(median_interval, draws)]
    assert 0.985 <= np.mean(covered) <= 1
