"""What a study's comparison, figures and claims refer to must exist: cells, arms, columns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from howquick.errors import ConfigError
from howquick.extract.columns import run_columns
from howquick.model import Combination, Factor
from howquick.study.arms import nearest
from howquick.study.cells import is_selected
from howquick.study.claims import without_measured
from howquick.study.conditions import as_list, check_condition
from howquick.study.figures import Drawn, Figures, check_names


def check_known(path: Path, key: str, what: str, wanted: Any, known: list[str]) -> None:
    """Raise ConfigError for a name that is not among `known`, with the nearest one."""
    for name in wanted:
        if name not in known:
            raise ConfigError(
                path, key, f"no {what} is called {name!r}", f"Did you mean {nearest(name, known)}?"
            )


class References:
    """What may be named: arms, cells, factors with their levels, columns of the table of runs.

    measured: the names of the cells that the study measures, of all combinations of levels.
    """

    def __init__(
        self,
        path: Path,
        arms: list[str],
        cells: list[Combination],
        factors: list[Factor],
        metrics: dict[str, set[str]],
        measured: set[str],
    ) -> None:
        self.path, self.arms, self.every_cell, self.measured = path, arms, cells, measured
        self.cells = [cell["name"] for cell in cells]
        self.factors = {
            factor["name"]: {
                text for level in factor["levels"] for text in (level["name"], level["value"])
            }
            for factor in factors
        }
        self.metrics = metrics  # by arm: what its client reports
        self.columns = set(run_columns(set(self.factors), set()))

    def check(self, study: dict[str, Any]) -> None:
        """Look at the comparison, every figure and every claim. Raises ConfigError."""
        comparison = study["comparison"]
        self._arms("comparison.arms", comparison["arms"])
        for pair in comparison["pairs"]:
            self._arms("comparison.pairs", pair)
        self._column("comparison.metric.column", comparison["metric"]["column"], self.arms)
        for name, arm in study["arms"].items():
            self.selection(f"arms.{name}.cells", arm.get("cells", {}))
        if "profile" in study:
            self._arms("profile.arms", study["profile"]["arms"])
            self.selection("profile.cells", study["profile"].get("cells", {}))
        for number, entry in enumerate(study.get("exclude", [])):
            self._arms(f"exclude.{number}.arms", entry.get("arms", []))
            self.selection(f"exclude.{number}.cells", entry.get("cells", {}))
        check_names(self.path, study)
        figures = Figures(self.path, study, list(self.factors), self.measured)
        for figure in study["figures"]:
            key = f"figures.{figure['name']}"
            self._figure(key, figure)
            selection = figure.get("cells", {})
            shown = [cell for cell in self.every_cell if is_selected(cell, selection)]
            figures.check(Drawn(key, figure, shown))
        for claim in study["claims"]:
            for number, condition in enumerate(claim["test"]):
                self._condition(f"claims.{claim['id']}.test.{number}", condition)

    def check_scale(self, name: str, scale: dict[str, Any]) -> None:
        """Look at the cells that a scale tells apart. Raises ConfigError."""
        given = scale["full_captures"]
        for number, entry in enumerate(given["cells"] if isinstance(given, dict) else []):
            self.selection(f"scales.{name}.full_captures.cells.{number}.cells", entry["cells"])

    def _figure(self, key: str, figure: dict[str, Any]) -> None:
        arms = figure.get("arms", "all")
        shown = self.arms if arms == "all" else arms
        self._arms(f"{key}.arms", shown)
        for pair in figure.get("pairs", []):
            self._arms(f"{key}.pairs", pair)
        self.selection(f"{key}.cells", figure.get("cells", {}))
        if "metric" in figure:
            self._column(f"{key}.metric.column", figure["metric"]["column"], shown)
        for axis in ("x", "facet"):
            if axis in figure:
                self._column(f"{key}.{axis}", figure[axis], shown)
        for axis in ("rows", "columns"):
            for name in figure.get(axis, []):
                self._column(f"{key}.{axis}", name, shown)

    def _condition(self, key: str, condition: dict[str, Any]) -> None:
        for side in ("arm", "against"):
            self._arms(f"{key}.{side}", as_list(condition.get(side)))
        for pair in condition.get("pairs", []):
            self._arms(f"{key}.pairs", pair)
        cells = without_measured(condition.get("cells", {}))
        self.selection(f"{key}.cells", cells)
        self.selection(f"{key}.against_cells", condition.get("against_cells", {}))
        # What leaves levels to the plan selects measured cells alone.
        if cells == condition.get("cells", {}):
            self._needs(f"{key}.cells", cells)
        if "metric" in condition:
            self._column(f"{key}.metric.column", condition["metric"]["column"], self.arms)
        if "with" in condition:
            self._column(f"{key}.with", condition["with"], self.arms)
        check_condition(self.path, key, condition)

    def _needs(self, key: str, selection: dict[str, Any] | list[str]) -> None:
        """Every cell that a condition needs is one that the study measures at some scale."""
        asked = [cell["name"] for cell in self.every_cell if is_selected(cell, selection)]
        if never := [name for name in asked if name not in self.measured]:
            raise ConfigError(
                self.path, key, f"selects {never[0]}, which the study never measures",
                "Select cells that `cells` of the study has",
            )  # fmt: skip

    def _arms(self, key: str, wanted: list[str]) -> None:
        check_known(self.path, key, "arm", wanted, self.arms)

    def selection(self, key: str, selection: dict[str, Any] | list[str]) -> None:
        """Check a selection of cells: names of cells, or factors with values or names of levels."""
        if isinstance(selection, list):
            check_known(self.path, key, "cell", selection, self.cells)
            return
        check_known(self.path, key, "factor", selection, list(self.factors))
        for factor, wanted in selection.items():
            for value in wanted if isinstance(wanted, list) else [wanted]:
                if value not in self.factors[factor]:
                    levels = ", ".join(sorted(map(str, self.factors[factor])))
                    raise ConfigError(
                        self.path, f"{key}.{factor}", f"no level is {value!r}", f"Levels: {levels}"
                    )

    def _column(self, key: str, column: str, arms: list[str]) -> None:
        """A column that every run has, or that the client of one of `arms` reports."""
        reported = set().union(*(self.metrics.get(arm, set()) for arm in arms))
        if column not in self.columns | reported:
            near = nearest(column, sorted(self.columns | reported))
            raise ConfigError(
                self.path, key, f"nothing that these arms do measures {column!r}",
                f"Did you mean {near}? What a client reports itself stands in `client.metrics` of "
                "its endpoint.yaml",
            )  # fmt: skip
