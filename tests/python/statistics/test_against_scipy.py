"""The numbers of the analysis against SciPy's, through the files that both sides read.

SciPy shares no code with R and its packages, so that an error would have to be made twice.
"""

import csv
import itertools
import json
import subprocess

import numpy as np
import pytest
from scipy import stats

from howquick.errors import ROOT

FACTOR = {"name": "rtt_ms", "label": "RTT", "unit": "ms"}
COLUMNS = ["study", "cell", "arm", "block", "repetition", "order", "session", "status", "reason"]
REPETITIONS = 9
RESAMPLES = 4000


def plan(cells, design, adjust):
    """A resolved study of one factor, whose levels are the cells, and two arms."""
    levels = [{"name": name, "value": number} for number, name in enumerate(cells)]
    return {
        "study": "made-up",
        "title": "Made up for tests",
        "seed": 5,
        "timeout_s": 60,
        "factors": [FACTOR | {"levels": levels}],
        "cells": [{"name": name, "not_applicable": []} for name in cells],
        "arms": [{"name": arm, "label": arm, "group": arm} for arm in ("one", "two")],
        "comparison": {
            "arms": ["one", "two"],
            "pairs": [["one", "two"]],
            "rule": {"share": 0.7, "margin": 0.1},
            "design": design,
            "adjust": adjust,
            "resamples": RESAMPLES,
        },
        "figures": [],
        "claims": [],
        "differences": [],
    }


def loads(seed, ties):
    """Two arms' loads: log-normal with a common effect per repetition, rounded where ties are wanted."""
    rng = np.random.default_rng(seed)
    common = rng.normal(0, 0.1, REPETITIONS)
    one = np.exp(common + rng.normal(0, 0.1, REPETITIONS))
    two = np.exp(common + rng.normal(0.12, 0.1, REPETITIONS))
    return (one.round(1), two.round(1)) if ties else (one.round(6), two.round(6))


CELLS = {f"cell{i}": loads(i, ties=i % 2 == 1) for i in range(6)}


def write_runs(path, cells):
    with path.open("w", newline="") as stream:
        table = csv.writer(stream)
        table.writerow([*COLUMNS, "plt_s", "rtt_ms"])
        for number, (cell, arms) in enumerate(cells.items()):
            for order, (arm, values) in enumerate(zip(("one", "two"), arms, strict=True)):
                for repetition, value in enumerate(values):
                    ended = ("ok", "") if np.isfinite(value) else ("timeout", "60 s")
                    shown = value if np.isfinite(value) else ""
                    row = ["made-up", cell, arm, 0, repetition, order, "s", *ended, shown, number]
                    table.writerow(row)


def analyse(folder, cells, design="paired", adjust="holm"):
    """Rows of comparisons.csv and summary.csv as the analysis writes them."""
    (folder / "plan.json").write_text(json.dumps(plan(list(cells), design, adjust)))
    write_runs(folder / "runs.csv", cells)
    given = ["--study", folder / "plan.json", "--runs", folder / "runs.csv", "--output", folder]
    subprocess.run(["Rscript", ROOT / "R" / "run_statistics.R", *given], check=True)
    read = [folder / "comparisons.csv", folder / "summary.csv"]
    return [list(csv.DictReader(path.open())) for path in read]


@pytest.fixture(scope="module", params=["paired", "independent"])
def table(request, tmp_path_factory):
    comparisons, summary = analyse(tmp_path_factory.mktemp("r"), CELLS, request.param)
    return request.param, {row["cell"]: row for row in comparisons}, summary


def numbers(row, *names):
    return [float(row[name]) for name in names]


def exact_signed_rank(one, two):
    """Pratt's signed-rank test by all 2^n signs; zeros get ranks and no sign."""
    difference = (one - two).round(9)
    ranks = stats.rankdata(np.abs(difference))[difference != 0]
    signs = np.sign(difference[difference != 0])
    sums = np.array([0.0])
    for rank in ranks:
        sums = np.concatenate([sums + rank, sums - rank])
    return np.mean(np.abs(sums) >= abs(np.sum(signs * ranks)) - 1e-9)


def exact_rank_sum(one, two):
    """Rank-sum test by SciPy's enumeration of permutations."""

    def rank_sum(x, y, axis):
        ranks = stats.rankdata(np.concatenate([x, y], axis=axis), axis=axis)
        return np.sum(ranks[..., : x.shape[-1]], axis=-1)

    expected = len(one) * (len(one) + len(two) + 1) / 2
    found = stats.permutation_test(
        (one, two),
        lambda x, y, axis: np.abs(rank_sum(x, y, axis) - expected),
        alternative="greater",
        n_resamples=10**6,
        vectorized=True,
    )
    return found.pvalue


def test_p_values(table):
    design, rows, _ = table
    for cell, (one, two) in CELLS.items():
        (p,) = numbers(rows[cell], "p")
        if design == "paired":
            assert p == pytest.approx(exact_signed_rank(one, two), rel=1e-9)
            if len(set(np.abs(one - two).round(9))) == REPETITIONS:
                assert p == pytest.approx(stats.wilcoxon(one, two, method="exact").pvalue)
        else:
            assert p == pytest.approx(exact_rank_sum(one, two), rel=1e-6)
            if len({*one, *two}) == 2 * REPETITIONS:
                assert p == pytest.approx(stats.mannwhitneyu(one, two, method="exact").pvalue)


def test_holm_and_benjamini_hochberg(table, tmp_path):
    design, rows, _ = table
    p = np.array([float(rows[cell]["p"]) for cell in CELLS])
    order = np.argsort(p)
    holm = np.empty_like(p)
    holm[order] = np.minimum(1, np.maximum.accumulate((len(p) - np.arange(len(p))) * p[order]))
    assert [float(rows[cell]["p_adjusted"]) for cell in CELLS] == pytest.approx(holm)
    comparisons, _ = analyse(tmp_path, CELLS, design, "bh")
    found = [float(row["p_adjusted"]) for row in comparisons]
    assert found == pytest.approx(stats.false_discovery_control(p, method="bh"))


def test_hodges_lehmann(table):
    design, rows, _ = table
    for cell, (one, two) in CELLS.items():
        if design == "paired":
            difference = one - two
            pairs = itertools.combinations_with_replacement(difference, 2)
            shifts = np.sort([np.mean(pair) for pair in pairs])
        else:
            shifts = np.sort(np.subtract.outer(one, two).ravel())
        low, high = numbers(rows[cell], "shift_low", "shift_high")
        assert float(rows[cell]["shift"]) == pytest.approx(np.median(shifts), abs=1e-9)
        first = confidence_rank(design)
        assert (low, high) == pytest.approx((shifts[first], shifts[-1 - first]), abs=1e-9)


def confidence_rank(design):
    """Index of the shift at which the interval begins: the test refuses all shifts below it."""
    n = REPETITIONS
    if design == "paired":
        sums = np.array([0])
        for rank in range(1, n + 1):
            sums = np.concatenate([sums, sums + rank])
        below = [np.mean(sums <= u) for u in range(n)]
    else:
        below = [u_probability(u, n) for u in range(n * n // 2)]
    return int(np.sum(np.array(below) <= 0.025)) - 1


def u_probability(u, n):
    """P(U <= u) by SciPy, from two samples that have this U."""
    full, rest = divmod(u, n)
    one = np.arange(n) / 100.0 - 1000
    two = np.arange(n) * 10.0
    one[n - full :] = 10.0 * n + np.arange(full)
    if rest:
        one[n - full - 1] = 10.0 * (rest - 1) + 5
    found = stats.mannwhitneyu(one, two, alternative="less", method="exact")
    assert found.statistic == u
    return found.pvalue


def test_cliffs_delta_and_rule(table):
    _, rows, _ = table
    for cell, (one, two) in CELLS.items():
        greater = stats.mannwhitneyu(one, two).statistic / (len(one) * len(two))
        assert float(rows[cell]["delta"]) == pytest.approx(2 * greater - 1)
        share = np.mean(np.less_equal.outer(one, 0.9 * two * (1 + 1e-9)))
        assert float(rows[cell]["share_a"]) == pytest.approx(share)


def test_bootstrap_intervals(table):
    design, rows, summary = table
    for cell in ("cell0", "cell2", "cell4"):
        one, two = CELLS[cell]
        own = stats.bootstrap(
            (one, two),
            lambda x, y, axis: np.median(x, axis=axis) / np.median(y, axis=axis),
            paired=design == "paired",
            vectorized=True,
            method="percentile",
            n_resamples=RESAMPLES,
            rng=1,
        ).confidence_interval
        assert numbers(rows[cell], "low", "high") == pytest.approx([own.low, own.high], rel=0.04)
        (arm,) = (row for row in summary if (row["cell"], row["arm"]) == (cell, "one"))
        own = stats.bootstrap(
            (one,), np.median, method="percentile", n_resamples=RESAMPLES, rng=1
        ).confidence_interval
        assert numbers(arm, "low", "high") == pytest.approx([own.low, own.high], rel=0.04)


def test_unfinished_loads_are_the_slowest(tmp_path):
    one, two = (values.copy() for values in CELLS["cell0"])
    two[[2, 5, 7]] = np.inf  # of 9: the median is finite
    (row,), summary = analyse(tmp_path, {"cell0": (one, two)}, "independent")
    ranked = np.where(np.isfinite(two), two, 1000)
    assert float(row["p"]) == pytest.approx(exact_rank_sum(one, ranked), rel=1e-6)
    assert float(row["median_b"]) == pytest.approx(np.median(ranked))
    slow = summary[1]
    assert float(slow["mean"]) == pytest.approx(np.mean(np.where(np.isfinite(two), two, 60)))
    assert (slow["mean_is_bound"], slow["timeout"]) == ("TRUE", "3")


def test_checks(tmp_path):
    rng = np.random.default_rng(1)
    drifting = np.linspace(1, 1.3, REPETITIONS) * np.exp(rng.normal(0, 0.05, REPETITIONS))
    calm = np.exp(rng.normal(0, 0.05, REPETITIONS))
    analyse(tmp_path, {"cell0": (drifting, calm)})
    rows = list(csv.DictReader((tmp_path / "checks.csv").open()))
    for row, values in zip(rows, (drifting, calm), strict=True):
        own = stats.kendalltau(np.arange(REPETITIONS), values, method="exact")
        assert numbers(row, "tau", "p_drift") == pytest.approx([own.statistic, own.pvalue])
        slope = stats.theilslopes(values).slope
        percent = 100 * slope * (REPETITIONS - 1) / np.median(values)
        assert float(row["drift_percent"]) == pytest.approx(percent)
