"""What a study's comparison, figures and claims refer to must exist: cells, arms, columns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from howquick.arms import nearest
from howquick.errors import ConfigError
from howquick.extract.columns import run_columns


def check_known(path: Path, key: str, what: str, wanted: Any, known: list[str]) -> None:
    """Raise ConfigError for a name that is not among `known`, with the nearest one."""
    for name in wanted:
        if name not in known:
            raise ConfigError(
                path, key, f"no {what} is called {name!r}", f"Did you mean {nearest(name, known)}?"
            )


class References:
    """What may be named: arms, cells, factors with their levels, columns of the table of runs."""

    def __init__(
        self,
        path: Path,
        arms: list[str],
        cells: list[dict[str, Any]],
        factors: list[dict[str, Any]],
        metrics: dict[str, set[str]],
    ) -> None:
        self.path, self.arms = path, arms
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
        if "metric" in comparison:
            self._column("comparison.metric.column", comparison["metric"]["column"], self.arms)
        for name, arm in study["arms"].items():
            self.selection(f"arms.{name}.cells", arm.get("cells", {}))
        if "profile" in study:
            self._arms("profile.arms", study["profile"]["arms"])
            self.selection("profile.cells", study["profile"].get("cells", {}))
        for number, entry in enumerate(study.get("exclude", [])):
            self._arms(f"exclude.{number}.arms", entry.get("arms", []))
            self.selection(f"exclude.{number}.cells", entry.get("cells", {}))
        for figure in study["figures"]:
            self._figure(f"figures.{figure['name']}", figure)
        for claim in study["claims"]:
            for number, condition in enumerate(claim["test"]):
                self._condition(f"claims.{claim['id']}.test.{number}", condition)

    def _figure(self, key: str, figure: dict[str, Any]) -> None:
        arms = figure.get("arms", "all")
        shown = self.arms if arms == "all" else arms
        self._arms(f"{key}.arms", shown)
        for pair in figure.get("pairs", []):
            self._arms(f"{key}.pairs", pair)
        self.selection(f"{key}.cells", figure.get("cells", {}))
        if "metric" in figure:
            self._column(f"{key}.metric.column", figure["metric"]["column"], shown)
        for axis in ("x", "y", "facet"):
            if axis in figure:
                self._column(f"{key}.{axis}", figure[axis], shown)
        for axis in ("rows", "columns"):
            for name in figure.get(axis, []):
                self._column(f"{key}.{axis}", name, shown)

    def _condition(self, key: str, condition: dict[str, Any]) -> None:
        for side in ("arm", "against"):
            named = condition.get(side, [])
            self._arms(f"{key}.{side}", [named] if isinstance(named, str) else named)
        for side in ("cells", "against_cells"):
            self.selection(f"{key}.{side}", condition.get(side, {}))
        if "metric" in condition:
            self._column(f"{key}.metric.column", condition["metric"]["column"], self.arms)
        if "with" in condition:
            self._column(f"{key}.with", condition["with"], self.arms)

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
