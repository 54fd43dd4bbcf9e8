"""results/results.md: what was found, from tables, statistics and calibrations."""

from __future__ import annotations

import csv
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from howquick.analysis_model import Metric
from howquick.archive.guide import Claim, read_claims
from howquick.documents.markdown import table
from howquick.documents.study_files import StudyFiles
from howquick.files import read_json
from howquick.model import Plan

HEAD = """# What was found

Written by `./enter snakemake -j8 results_page` from plans, tables, statistics and calibrations. The numbers
behind each verdict are in `results/statistics/STUDY/claims.csv` and in the appendix.
"""
VERDICTS = (
    "supported", "not supported", "undecided", "too few loads", "not tested at this scale",
    "not applicable",
)  # fmt: skip
# As in R/read/processor.R.
COSTLY_SHARE = 0.1
Row = dict[str, str]


def results_page(studies: Iterable[StudyFiles], calibrations: Sequence[Path]) -> str:
    """The whole page."""
    parts = [HEAD, *map(_study, studies)]
    if calibrations:
        parts += ["## Links\n", links_table(map(read_json, calibrations))]
    return "\n".join(parts)


def _rows(file: Path) -> list[Row]:
    with file.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def _study(files: StudyFiles) -> str:
    plan, statistics = files.plan, files.statistics
    labels = {arm["name"]: arm.get("label", arm["name"]) for arm in plan["arms"]}
    cells = [cell["name"] for cell in plan["cells"]]
    claims = read_claims(statistics / "claims.csv", cells)
    metric = plan["comparison"]["metric"]
    parts = [f"## {plan['title']}\n", loads_text(plan, _rows(files.runs))]
    if claims:
        parts += [tally_text(claims), claims_table(claims)]
    if pairs := _rows(statistics / "overall.csv"):
        parts += [
            f"{metric['label']}, ratio of medians over all cells:\n",
            pairs_table(pairs, labels),
        ]
    summary = _rows(statistics / "summary.csv")
    if extremes := extremes_text(summary, labels, metric):
        parts.append(extremes)
    if processor := processor_text(summary, labels):
        parts.append(processor)
    return "\n".join(parts)


def loads_text(plan: Plan, runs: Sequence[Row]) -> str:
    """How much was measured, when, and what became of it."""
    counts = Counter(row["status"] for row in runs)
    virtual = [row for row in runs if row.get("clock") == "virtual"]
    # By the clock of a guest it is always the same day.
    real = (row for row in runs if row.get("clock") != "virtual")
    times = sorted(float(row["started"]) for row in real if row.get("started"))
    days = list(dict.fromkeys(_day(time) for time in (times[:1] + times[-1:])))
    when = f", {' to '.join(days)}" if days else ""
    if virtual:
        some = "" if len(virtual) == len(runs) else f"{len(virtual)} of them "
        when += f", {some}in virtual time"
    states = ", ".join(f"{counts[state]} {state}" for state in sorted(counts))
    cells, arms = (len({row[key] for row in runs}) for key in ("cell", "arm"))
    return f"Scale `{plan['scale']}`{when}: {len(runs)} loads ({states}) of {arms} arms in {cells} cells.\n"


def _day(time: float) -> str:
    return datetime.fromtimestamp(time, UTC).strftime("%Y-%m-%d")


def tally_text(claims: Sequence[Claim]) -> str:
    """Of how many claims what is said."""
    counts = Counter(claim.verdict for claim in claims)
    said = ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS)
    return f"Claims: {said}.\n"


def claims_table(claims: Sequence[Claim]) -> str:
    """One row per claim."""
    return table(
        ("claim", "where", "verdict", "numbers that support it"),
        [(claim.text, claim.where, claim.verdict, _support(claim)) for claim in claims],
    )


def _support(claim: Claim) -> str:
    supporting = sum(number.endswith(f": {VERDICTS[0]}") for number in claim.numbers)
    return f"{supporting} of {len(claim.numbers)}"


def pairs_table(pairs: Sequence[Row], labels: dict[str, str]) -> str:
    """One row per pair of arms, over all cells that have both."""
    return table(
        ("first", "second", "cells", "first wins", "second wins", "tie", "ratio"),
        [
            (
                labels.get(row["a"], row["a"]),
                labels.get(row["b"], row["b"]),
                *(row[key] for key in ("cells", "a_wins", "b_wins", "ties")),
                _interval(row["ratio"], row["low"], row["high"]),
            )
            for row in pairs
        ],
    )


def extremes_text(summary: Sequence[Row], labels: dict[str, str], metric: Metric) -> str | None:
    """The lowest and the highest median of all cells and arms; None where no load finished."""
    finite = [row for row in summary if row["median"] and 0 < float(row["median"]) < math.inf]
    if not finite:
        return None
    ends = [choose(finite, key=lambda row: float(row["median"])) for choose in (min, max)]
    said = [
        f"{_number(row['median'])} {metric['unit']} "
        f"({labels.get(row['arm'], row['arm'])}, `{row['cell']}`, n = {row['n']})"
        for row in ends
    ]
    return f"Medians reach from {said[0]} to {said[1]}.\n"


def processor_text(summary: Sequence[Row], labels: dict[str, str]) -> str | None:
    """What virtual time leaves out, where it is most; None where no load is in virtual time."""
    known = [row for row in summary if row.get("processor_share")]
    if not known:
        return None
    costly = sum(float(row["processor_share"]) > COSTLY_SHARE for row in known)
    most = max(known, key=lambda row: float(row["processor_share"]))
    return (
        "The processor takes no time in virtual time. Measured by the real clock, server and client use"
        f" it for more than {100 * COSTLY_SHARE:.0f} % of their load in {costly} of {len(known)} pairs"
        f" of cell and arm; at most {100 * float(most['processor_share']):.0f} %"
        f" ({labels.get(most['arm'], most['arm'])}, `{most['cell']}`).\n"
    )


def links_table(calibrations: Iterable[dict[str, Any]]) -> str:
    """One row per quantity: how far the links are from what was asked for, at most."""
    checks: dict[str, list[dict[str, Any]]] = {}
    for calibration in calibrations:
        for check in calibration["checks"]:
            checks.setdefault(check["quantity"], []).append(check)
    return table(
        ("quantity", "checks", "passed", "largest deviation"),
        [
            (
                f"`{quantity}`",
                len(found),
                sum(check["verdict"] == "pass" for check in found),
                _deviation(found),
            )
            for quantity, found in checks.items()
        ],
    )


def _deviation(checks: Sequence[dict[str, Any]]) -> str:
    """In percent of what was asked where that is not 0, else as it was measured."""
    known = [check for check in checks if check["measured"] is not None]
    shares = [abs(c["measured"] / c["asked"] - 1) for c in known if c["asked"]]
    if shares:
        return f"{100 * max(shares):.2g} %"
    return f"{max((abs(check['measured']) for check in known), default=0):.3g}"


def _interval(value: str, low: str, high: str) -> str:
    if not value:
        return "—"
    return _number(value) + (f" ({_number(low)} to {_number(high)})" if low and high else "")


def _number(text: str) -> str:
    """Three significant digits, and never fewer than those before the point."""
    value = float(text)
    return f"{value:.0f}" if 1000 <= abs(value) < math.inf else f"{value:.3g}"
