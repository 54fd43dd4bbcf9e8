"""At scale artifact each number that a claim counts has loads for an interval, or is not tested there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from howquick.errors import ROOT
from howquick.model import Cell, ResolvedStudy
from howquick.plan.blocks import repetitions_of
from howquick.study.cells import is_selected
from howquick.study.conditions import as_list
from howquick.study.resolve import Selection, resolve_study

PUBLISHED = ("how-quick", "production-quic", "web-streaming", "highway")
# Loads in which chance has no part have an interval however many they are.
CERTAIN = 1_000_000
# A bootstrap of shares and ranks at a confidence of 95 % (`loads_needed` of R/statistics/enough.R).
OF_SHARES = 6


def smallest_spread() -> int:
    text = (ROOT / "R/statistics/enough.R").read_text(encoding="utf-8")
    found = re.search(r"^SMALLEST_SPREAD <- (\d+)L$", text, re.MULTILINE)
    assert found
    return int(found[1])


def by_students() -> list[str]:
    """The quantities that few loads have an interval of."""
    text = (ROOT / "R/statistics/claims.R").read_text(encoding="utf-8")
    found = re.search(r"^STUDENT_QUANTITIES <- c\(([^)]*)\)", text, re.MULTILINE)
    assert found
    return re.findall(r'"(\w+)"', found[1])


@pytest.mark.parametrize("name", PUBLISHED)
def test_what_counts_has_loads_enough_or_is_not_tested_at_this_scale(name: str) -> None:
    study = resolve_study(name, Selection("artifact", 1))
    every = resolve_study(name, Selection("paper", 1))["cells"]
    students, few = by_students(), smallest_spread()
    for claim in study["claims"]:
        for condition in claim["test"]:
            if not condition.get("counts", True):
                continue
            least = few if condition["quantity"] in students else OF_SHARES
            for cell, arms in measured(study, condition, every):
                loads = CERTAIN if cell.get("exact") else repetitions_of(study, cell)
                assert loads >= least, (claim["id"], condition["quantity"], cell["name"], arms)


def measured(
    study: ResolvedStudy, condition: dict[str, Any], every: list[Cell]
) -> Iterator[tuple[Cell, list[str]]]:
    """The cells of a condition that the scale measures, with arms of the condition that it has in each."""
    planned = {cell["name"]: cell for cell in study["cells"]}
    wanted = [cell for cell in every if is_selected(cell, condition.get("cells", {}))]
    assert wanted
    pairs = condition.get("pairs", [])
    sides = [as_list(condition.get("arm")), as_list(condition.get("against")), *pairs]
    arms = [arm for side in sides for arm in side]
    for cell in wanted:
        if here := planned.get(cell["name"]):
            out = {entry["arm"] for entry in here["not_applicable"]}
            yield here, [arm for arm in arms if arm not in out]
