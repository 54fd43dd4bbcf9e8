"""One study of the report: what its page shows, and a file for each cell."""

from __future__ import annotations

import statistics as numbers
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from howquick.files import read_json
from howquick.report.encode import parse, read_rows, table, write_data
from howquick.report.head import Row, study_head
from howquick.report.load import TABLES, Details, LoadFiles, detail_tables, load_detail
from howquick.study.cells import calibration_name

# Of each load what figures of a whole study are drawn from.
_RUNS = ("cell", "arm", "repetition", "status", "started")
_ARM = (
    "name", "label", "group", "protocol", "server", "client", "congestion_control", "connection", "options",
    "own_options",
)  # fmt: skip
_CELL = ("name", "levels", "values", "link", "workload", "clock", "not_applicable")
_TABLES = (
    "summary", "comparisons", "overall", "failures", "checks", "programs", "tree", "figure_medians",
    "figure_comparisons", "figure_correlations", "figure_transfers", "figure_pairings",
)  # fmt: skip
# Of pairs of programs it is a result that nobody measured them.
_WITH_UNMEASURED = ("figure_pairings",)
# Numbers that name or place a load and measure nothing.
_NO_METRIC = frozenset(
    {"block", "repetition", "order", "started", "queue_ms", "mtu_bytes", "timeout_s", "loss_seed_up",
     "loss_seed_down"}
)  # fmt: skip


@dataclass(frozen=True)
class Study:
    """Where the parts of a study are: its plan, its table of runs, its statistics, and all results."""

    plan: dict[str, Any]
    runs: Path
    statistics: Path
    results: Path

    @property
    def name(self) -> str:
        """The study's name; it is safe as part of a path (config/schemas/study.schema.json)."""
        return str(self.plan["study"])


def write_study(study: Study, folder: Path) -> None:
    """Write all files of a study below `folder`, which is `data/STUDY` of the report."""
    runs = [row for row in read_rows(study.runs) if row["study"] == study.name]
    cells = [cell["name"] for cell in study.plan["cells"]]
    # A table of somebody else may have cells that no plan of ours knows.
    names = list(dict.fromkeys([*cells, *(row["cell"] for row in runs)]))
    by_cell: dict[str, list[Row]] = defaultdict(list)
    for row in runs:
        by_cell[row["cell"]].append(row)
    protocols: list[dict[str, Any]] = []
    for number, name in enumerate(names):
        if by_cell[name]:
            protocols += _write_cell(study, name, number, by_cell[name], folder)
    page = {
        **_page(study, runs, names),
        "medians": write_medians(study.plan, runs, folder),
        "protocols": table(protocols),
        "links": _links(study),
    }
    write_data(folder, "study", page, f"{study.name}/")


def _page(study: Study, runs: Sequence[Row], names: Sequence[str]) -> dict[str, Any]:
    plan = study.plan
    column = plan["comparison"]["metric"]["column"]
    tables = {
        name: [
            row
            for row in read_rows(study.statistics / f"{name}.csv")
            # Cells of other scales have no numbers: a page tells them by what is not there.
            if name in _WITH_UNMEASURED or row.get("state") != "not measured"
        ]
        for name in _TABLES
    }
    return {
        **study_head(plan, runs, study.statistics),
        "factors": plan["factors"],
        "plan_cells": [{key: cell.get(key) for key in _CELL} for cell in plan["cells"]],
        "cell_names": list(names),
        "plan_arms": [{key: arm.get(key) for key in _ARM} for arm in plan["arms"]],
        "comparison": plan["comparison"],
        "figures": plan["figures"],
        "differences": plan.get("differences", []),
        "runs": table(runs, dict.fromkeys((*_RUNS, column))),
        "tables": {name: table(rows) for name, rows in tables.items()},
    }


def write_medians(plan: dict[str, Any], runs: Sequence[Row], folder: Path) -> list[str]:
    """Write `m0.js`, `m1.js`, … : per column of numbers the median of finished loads per cell and arm.

    Returns the columns in that order. They are numbers to look around in; what is claimed is from
    the statistics alone.
    """
    given = {factor["name"] for factor in plan["factors"]} | _NO_METRIC
    groups: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in runs:
        if row["status"] == "ok":
            groups[row["cell"], row["arm"]].append(row)
    columns = [name for name in (runs[0] if runs else ()) if name not in given]
    found: list[str] = []
    for column in columns:
        rows = list(_medians(groups, column))
        if rows:
            value = {"column": column, "medians": table(rows)}
            write_data(folder, f"m{len(found)}", value, f"{plan['study']}/")
            found.append(column)
    return found


def _medians(groups: Mapping[tuple[str, str], list[Row]], column: str) -> Iterable[dict[str, Any]]:
    for (cell, arm), rows in groups.items():
        values = [parse(row.get(column) or "") for row in rows]
        known = [value for value in values if value is not None]
        if known and all(isinstance(value, int | float) for value in known):
            yield {"cell": cell, "arm": arm, "median": numbers.median(known), "n": len(known)}


def _write_cell(
    study: Study, name: str, number: int, runs: Sequence[Row], folder: Path
) -> list[dict[str, Any]]:
    """Write `cNUMBER.js` and `NUMBER/LOAD.js` for each load of which there is more than its row.

    Returns what `protocol_counts` says of the cell.
    """
    blocks = sorted({row["block"] for row in runs if row.get("block")})
    tables = study.results / "tables" / study.name / name
    details = detail_tables(tables / block for block in blocks)
    detailed: list[int] = []
    having: dict[str, list[int]] = {name: [] for name in TABLES}
    for index, row in enumerate(runs):
        found = load_detail(LoadFiles(study.results, row), details)
        if found:
            write_data(folder, f"{number}/{index}", found, f"{study.name}/")
            detailed.append(index)
        for table_name in TABLES:
            if table_name in found:
                having[table_name].append(index)
    cell = next((cell for cell in study.plan["cells"] if cell["name"] == name), None)
    page = {
        "name": name,
        "runs": table(runs),
        "detailed": detailed,
        "tables": {table_name: loads for table_name, loads in having.items() if loads},
        "calibration": _calibration(study.results, cell),
    }
    write_data(folder, f"c{number}", page, f"{study.name}/")
    return protocol_counts(runs, details)


def protocol_counts(runs: Iterable[Row], details: Details) -> list[dict[str, Any]]:
    """How many resources of finished loads came over each protocol: cell, arm, protocol, resources."""
    found: Counter[tuple[str, str, str]] = Counter()
    for row in runs:
        if row["status"] == "ok":
            objects = details["objects"].get((row["arm"], row["repetition"]), ())
            said = [one["protocol"] for one in objects if one.get("protocol")]
            found.update((row["cell"], row["arm"], protocol) for protocol in said)
    return [
        {"cell": cell, "arm": arm, "protocol": protocol, "resources": count}
        for (cell, arm, protocol), count in found.items()
    ]


def _links(study: Study) -> list[dict[str, Any]]:
    """Each link of the study that was calibrated, once: name, link, checks."""
    every = (_calibration(study.results, cell) for cell in study.plan["cells"])
    found = {one["name"]: one for one in every if one is not None}
    return [{key: one[key] for key in ("name", "link", "checks")} for one in found.values()]


def _calibration(results: Path, cell: dict[str, Any] | None) -> dict[str, Any] | None:
    """What was measured of the cell's link; None where nothing was, as for somebody else's table."""
    if cell is None:
        return None
    path = results / "calibration" / f"{calibration_name(cell)}.json"  # type: ignore[arg-type]
    return dict(read_json(path)) if path.is_file() else None
