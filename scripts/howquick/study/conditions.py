"""What a condition of a claim must say for its quantity to be a number (docs/adding-a-study.md, 4)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from howquick.errors import ConfigError

# Of two arms; of these, of how both change from one cell to another.
OF_TWO = ("ratio", "ahead_percent", "rule_share", "gain_ratio", "gap_growth")
OF_A_CHANGE = ("gain_ratio", "gap_growth")
# Of one arm in two cells, where that is asked for.
OF_TWO_CELLS = ("ratio", "ahead_percent", "rule_share")
# Keys that only some quantities read.
READ_BY = {
    "against": (*OF_TWO, "cells_won_percent"),
    "against_cells": (*OF_TWO_CELLS, *OF_A_CHANGE),
    "pairs": OF_TWO,
    "combine": ("ratio", "ahead_percent"),
    "beats": ("cells_won_percent",),
    "with": ("correlation",),
}
Condition = dict[str, Any]


def as_list(named: str | list[str] | None) -> list[str]:
    """One name, or several, or none, as a list."""
    return [named] if isinstance(named, str) else list(named or [])


def check_condition(path: Path, key: str, condition: Condition) -> None:
    """Raise ConfigError for a condition that compares nothing, or not what it seems to."""
    quantity = condition["quantity"]
    for name, quantities in READ_BY.items():
        if name in condition and quantity not in quantities:
            raise ConfigError(
                path, f"{key}.{name}", f"is nothing that {quantity} reads",
                f"Leave it out, or ask for {', '.join(quantities)}",
            )  # fmt: skip
    low, high = condition.get("between", (0, 1))
    if low >= high:
        raise ConfigError(
            path, f"{key}.between", f"no number is between {low:g} and {high:g}",
            f"Give the lower one first: [{min(low, high):g}, {max(low, high):g}]",
        )  # fmt: skip
    _check_sides(path, key, condition)
    _check_change(path, key, condition)


def _check_sides(path: Path, key: str, condition: Condition) -> None:
    quantity = condition["quantity"]
    arms, against = as_list(condition.get("arm")), as_list(condition.get("against"))
    if "pairs" in condition:
        if arms or against:
            raise ConfigError(
                path, f"{key}.pairs", "is given beside `arm` or `against`", "Give one of the two"
            )
        return
    if not arms:
        raise ConfigError(
            path, key, "names no arm", "Give `arm`, or `pairs: [[a, b], …]` where arms are compared"
        )
    if quantity == "spread" and len(arms) < 2:
        raise ConfigError(
            path, f"{key}.arm", "a spread is over several arms", "Name two or more: arm: [a, b]"
        )
    if quantity in OF_TWO and len(arms) > 1 and len(against) > 1:
        raise ConfigError(
            path, f"{key}.against", "there are several arms on both sides, and nothing says which "
            "is compared with which",
            "Say it in place of `arm` and `against`: pairs: [[a, b], …]",
        )  # fmt: skip
    alone = quantity in OF_TWO_CELLS and "against_cells" in condition
    compared = any(one != other for one in arms for other in against)
    if quantity in (*OF_TWO, "cells_won_percent") and not alone and not compared:
        raise ConfigError(
            path, key, f"{quantity} compares no two different arms",
            "Give `against`" + (", or `against_cells`" if quantity in OF_TWO_CELLS else ""),
        )  # fmt: skip


def _check_change(path: Path, key: str, condition: Condition) -> None:
    quantity, change = condition["quantity"], condition.get("against_cells")
    if change is None:
        if quantity in OF_A_CHANGE:
            raise ConfigError(
                path, key, f"{quantity} is of a change of cells, and there is none",
                "Give `against_cells`: {factor: level} of the cells to compare with",
            )  # fmt: skip
        return
    if quantity in OF_TWO_CELLS and ("against" in condition or "pairs" in condition):
        raise ConfigError(
            path, f"{key}.against_cells", "is given beside another arm to compare with",
            "Give one of them: another arm in the same cells, or the same arm in other cells",
        )  # fmt: skip
    if isinstance(change, list) or any(isinstance(level, list) for level in change.values()):
        raise ConfigError(
            path, f"{key}.against_cells", "does not name one cell for each of `cells`",
            "Give one level of each factor that changes: {factor: level}",
        )  # fmt: skip
