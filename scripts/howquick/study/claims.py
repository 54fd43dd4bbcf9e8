"""Claims as the scale that runs has them: levels and arms that a study leaves to the plan.

In a condition's selection of cells `measured` stands for the levels of a factor that the scale measures, and
`measured > N` for the larger of them; as `arm` or `against` the word `matrix` stands for all arms that
`arm_matrix` makes.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from howquick.errors import ConfigError
from howquick.model import Cell, CellSelection, Combination
from howquick.study.cells import is_selected

MEASURED = re.compile(r"measured(?: > (?P<above>\d+(?:\.\d+)?))?")
MATRIX = "matrix"
Claims = list[dict[str, Any]]


def with_arms(path: Path, claims: Claims, matrix: list[str]) -> Claims:
    """The claims with the arms of the matrix by name. Raises ConfigError where there is no such arm."""

    def named(key: str, asked: Any) -> Any:
        if asked == MATRIX and not matrix:
            raise ConfigError(
                path, key, "names the arms of `arm_matrix`, and the study has none",
                "Name arms of the study",
            )  # fmt: skip
        return matrix if asked == MATRIX else asked

    return [
        claim
        | {
            "test": [
                condition
                | {
                    side: named(f"claims.{claim['id']}.test.{number}.{side}", condition[side])
                    for side in ("arm", "against")
                    if side in condition
                }
                for number, condition in enumerate(claim["test"])
            ]
        }
        for claim in claims
    ]


def with_levels(claims: Claims, cells: list[Cell], of_study: list[Combination]) -> Claims:
    """The claims with the cells that the scale measures, by name, where they ask for those.

    Where it measures none of them, the claim asks for all that the study has: cells beyond the scale.
    of_study: those, of all scales.
    """
    return [
        claim | {"test": [_with_levels(condition, cells, of_study) for condition in claim["test"]]}
        for claim in claims
    ]


def cells_of_claim(claim: dict[str, Any], cells: list[Cell]) -> list[Cell]:
    """Of the cells of a scale those that the counted conditions of a claim are about, or are held against."""
    found: set[str] = set()
    for condition in with_levels([claim], cells, [])[0]["test"]:
        if not condition.get("counts", True):
            continue
        about = [cell for cell in cells if is_selected(cell, condition.get("cells", {}))]
        found |= {cell["name"] for cell in about}
        if change := condition.get("against_cells"):
            found |= {
                other["name"]
                for other in cells
                if is_selected(other, change) and any(_differs_by(change, other, c) for c in about)
            }
    return [cell for cell in cells if cell["name"] in found]


def _differs_by(change: dict[str, Any], one: Cell, other: Cell) -> bool:
    """Whether two cells have the same level of every factor that does not change."""
    return all(
        level == other["levels"][factor]
        for factor, level in one["levels"].items()
        if factor not in change
    )


def without_measured(selection: CellSelection) -> CellSelection:
    """A selection of cells with every level where it leaves the levels to the plan."""
    if isinstance(selection, list):
        return selection
    return {factor: wanted for factor, wanted in selection.items() if not _asks(wanted)}


def _asks(wanted: Any) -> re.Match[str] | None:
    return MEASURED.fullmatch(wanted) if isinstance(wanted, str) else None


def _with_levels(
    condition: dict[str, Any], cells: list[Cell], of_study: list[Combination]
) -> dict[str, Any]:
    selection = condition.get("cells", {})
    rest = without_measured(selection)
    if rest == selection:
        return condition
    above = {
        factor: float(match["above"])
        for factor, wanted in selection.items()
        if (match := _asks(wanted)) and match["above"]
    }

    def is_meant(cell: Cell | Combination) -> bool:
        large = all(float(cell["values"][factor]) > bound for factor, bound in above.items())
        return large and is_selected(cell, rest)

    chosen = [cell["name"] for cell in cells if is_meant(cell)]
    return condition | {"cells": chosen or [cell["name"] for cell in of_study if is_meant(cell)]}
