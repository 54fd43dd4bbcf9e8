"""What each kind of figure reads and needs: what it could not draw is refused before anything runs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from howquick.errors import ConfigError
from howquick.model import Combination

# The keys that a kind reads beside name, title, paper, caption, cells and arms.
READS = {
    "bars": {"metric", "x", "facet"},
    "bytes": set(),
    "calibration": set(),
    "cdf": {"facet"},
    "consistency": {"metric", "silent_percent"},
    "curves": {"metric", "x", "facet"},
    "drift": set(),
    "failures": set(),
    "frames": set(),
    "handshake": set(),
    "heatmap": {"metric", "pairs", "rows", "columns", "silent_percent"},
    "matrix": {"metric"},
    "profile": set(),
    "scatter": {"metric", "x"},
    "share": {"facet"},
    "streams": set(),
    "transfer": {"path"},
    "tree": set(),
    "window": set(),
}
OPTIONAL = ("metric", "x", "facet", "rows", "columns", "pairs", "silent_percent", "path")
NEEDS = {
    "scatter": ("x", "Name a column of the table of runs"),
    "transfer": ("path", "Name the path of an object of the page"),
}
Cells = list[Combination]


@dataclass(frozen=True)
class Drawn:
    """A figure of a study file: where it stands, what it says, the cells that it selects."""

    key: str
    says: dict[str, Any]
    cells: Cells


class Figures:
    """The figures of a study against its cells and factors.

    measured: the names of the cells that the study measures, of all combinations of levels.
    """

    def __init__(
        self, path: Path, study: dict[str, Any], factors: list[str], measured: set[str]
    ) -> None:
        self.path, self.study, self.factors, self.measured = path, study, factors, measured

    def check(self, figure: Drawn) -> None:
        """Look at one figure. Raises ConfigError for what it could not draw."""
        kind = figure.says["kind"]
        for name in OPTIONAL:
            if name in figure.says and name not in READS[kind]:
                read = ", ".join(sorted(READS[kind])) or "nothing more"
                self._refuse(
                    f"{figure.key}.{name}", f"is nothing that the kind {kind} reads",
                    f"Leave it out; beside cells and arms it reads {read}",
                )  # fmt: skip
        if kind in NEEDS and NEEDS[kind][0] not in figure.says:
            name, remedy = NEEDS[kind]
            self._refuse(figure.key, f"the kind {kind} needs `{name}`", remedy)
        if not self._measured(figure):
            self._refuse(
                f"{figure.key}.cells", "selects none of the cells that the study measures",
                "Select cells that `cells` of the study has",
            )  # fmt: skip
        look = getattr(self, f"_{kind}", None)
        if look is not None:
            look(figure)

    def _refuse(self, key: str, problem: str, remedy: str) -> None:
        raise ConfigError(self.path, key, problem, remedy)

    def _factors(self, figure: Drawn, *keys: str) -> None:
        """What these keys of a figure name must be factors."""
        for key in keys:
            named = figure.says.get(key, [])
            for name in named if isinstance(named, list) else [named]:
                if name not in self.factors:
                    self._refuse(
                        f"{figure.key}.{key}", f"{name!r} is no factor of the study",
                        f"Factors: {', '.join(self.factors)}",
                    )  # fmt: skip

    def _varying(self, cells: Cells) -> list[str]:
        """The factors in which cells differ."""
        return [n for n in self.factors if len({cell["values"][n] for cell in cells}) > 1]

    def _measured(self, figure: Drawn) -> Cells:
        return [cell for cell in figure.cells if cell["name"] in self.measured]

    def _told_apart(self, figure: Drawn, varying: list[str], named: list[str], where: str) -> None:
        hidden = [name for name in varying if name not in named]
        if hidden:
            self._refuse(
                figure.key, f"its cells differ in {', '.join(hidden)}, which {where} does not name: "
                "it would draw them as one",
                f"Name it in {where}, or select one level in `cells`",
            )  # fmt: skip

    def _heatmap(self, figure: Drawn) -> None:
        if not (figure.says.get("pairs") or self.study["comparison"]["pairs"]):
            self._refuse(
                figure.key,
                "has no pairs of arms",
                "Give `pairs` here or in `comparison`: [[a, b], …]",
            )
        self._factors(figure, "rows", "columns")
        # Cells of no scale are drawn as not measured.
        varying = self._varying(figure.cells)
        columns = figure.says.get("columns", varying[-1:])
        rows = figure.says.get("rows", [name for name in varying if name not in columns])
        if both := [name for name in rows if name in columns]:
            self._refuse(
                figure.key, f"{both[0]} is in rows and in columns", "Name it in one of them"
            )
        self._told_apart(figure, varying, [*rows, *columns], "rows or columns")

    def _tree(self, figure: Drawn) -> None:
        if len(self.study["comparison"]["arms"]) < 2:
            remedy = "Name more in `comparison.arms`"
            self._refuse(figure.key, "has one arm alone to choose from", remedy)

    def _profile(self, figure: Drawn) -> None:
        if "profile" not in self.study:
            remedy = "Say of which arms: `profile: {arms: […]}`"
            self._refuse(figure.key, "nothing is sampled in this study", remedy)

    def _scatter(self, figure: Drawn) -> None:
        if varying := self._varying(self._measured(figure)):
            self._refuse(
                figure.key,
                f"its cells differ in {', '.join(varying)}, and a scatter shows one cell",
                "Select one level of each in `cells`",
            )

    def _cdf(self, figure: Drawn) -> None:
        self._factors(figure, "facet")
        if "facet" in figure.says:
            varying = self._varying(self._measured(figure))
            self._told_apart(figure, varying, [figure.says["facet"]], "facet")

    def _bars(self, figure: Drawn) -> None:
        self._factors(figure, "x", "facet")
        # With x, what no facet names stands side by side.
        if "x" not in figure.says:
            self._cdf(figure)

    def _curves(self, figure: Drawn) -> None:
        self._factors(figure, "x", "facet")
        if "facet" not in figure.says:
            return
        x = figure.says.get("x", self.factors[0])
        levels: dict[Any, Cells] = {}
        for cell in self._measured(figure):
            levels.setdefault(cell["values"][x], []).append(cell)
        # What follows from x, as a rendition from the delay, mixes nothing.
        free = {name for cells in levels.values() for name in self._varying(cells)}
        self._told_apart(figure, sorted(free - {x}), [figure.says["facet"]], "facet")

    def _share(self, figure: Drawn) -> None:
        self._factors(figure, "facet")


def check_names(path: Path, study: dict[str, Any]) -> None:
    """No two figures and no two claims have one name: the second would take the first's place."""
    for key, entries, name in (
        ("figures", study["figures"], "name"),
        ("claims", study["claims"], "id"),
    ):
        seen = [entry[name] for entry in entries]
        if double := [one for one in seen if seen.count(one) > 1]:
            raise ConfigError(
                path, f"{key}.{double[0]}", f"two {key} are called {double[0]!r}",
                "Give each its own name",
            )  # fmt: skip
