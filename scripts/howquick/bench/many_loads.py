"""A report's worth of made-up loads, and the statistics that R makes of some of them."""

from __future__ import annotations

import csv
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from howquick.errors import ROOT
from howquick.extract.columns import SHARE_COLUMNS, run_columns

LOADS = 80_000
# Tables of statistics have as many rows of few repetitions as of many; bootstraps take longer of many.
REPETITIONS = 3
# Numbers that a load of a page does not have: of bulk transfers, of a player, and of flows beside an arm.
_OTHERS = ("profile", "_buffer_bytes", "startup_s", "stall", "mean_bitrate_mbit", *SHARE_COLUMNS)
Row = dict[str, str]


def many_loads(plan: Mapping[str, Any], loads: int | None = None) -> list[Row]:
    """Rows of a table of runs: as many as the plan asks for, or at least so many, evenly by cell and arm.

    Every column that a load of a page can have has a number.
    """
    factors = {factor["name"] for factor in plan["factors"]}
    columns = run_columns(factors, set(plan.get("client_metrics", ())))
    rows: list[Row] = []
    for cell, repetition in _repetitions(plan, loads):
        for order, arm in enumerate(_arms(plan, cell)):
            number = len(rows)
            row = {name: _number(name, number, at) for at, name in enumerate(columns)}
            rows.append(row | {
                "study": plan["study"], "cell": cell["name"], "arm": arm["name"], "block": "0",
                "repetition": str(repetition), "order": str(order), "session": "s1",
                "clock": "real", "status": "failed" if number % 97 == 0 else "ok",
                "reason": "the connection was closed" if number % 97 == 0 else "",
                "disturbed": "", "extract_note": "", "attempts": "1", "protocol": arm["protocol"],
                "machine": "m", "started": f"{1790000000 + number}.500000",
                "path": f"runs/{plan['study']}/{cell['name']}/{arm['name']}/{repetition:04d}",
                **{name: str(cell["values"][name]) for name in factors},
            })  # fmt: skip
    return rows


def _arms(plan: Mapping[str, Any], cell: Mapping[str, Any]) -> list[Any]:
    without = {one["arm"] for one in cell["not_applicable"]}
    return [arm for arm in plan["arms"] if arm["name"] not in without]


def _repetitions(plan: Mapping[str, Any], loads: int | None) -> list[tuple[Any, int]]:
    """Each cell with each of its repetitions."""
    cells = {cell["name"]: cell for cell in plan["cells"]}
    if loads is None:
        return [(cells[block["cell"]], n) for block in plan["blocks"] for n in block["repetitions"]]
    pairs = sum(len(_arms(plan, cell)) for cell in cells.values())
    return [(cell, n) for cell in cells.values() for n in range(-(-loads // pairs))]


def _number(column: str, row: int, at: int) -> str:
    if any(part in column for part in _OTHERS):
        return ""
    drawn = (row * 7919 + at * 104729) % 1000003
    # Packets of a load are counted, and some hundreds.
    return str(drawn % 1000) if column.startswith("ecn_") else f"{drawn / 1000}"


def write_runs(rows: Sequence[Row], path: Path) -> None:
    """Write a table of runs."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def write_statistics(plan: Path, rows: Iterable[Row], folder: Path) -> None:
    """Write all tables of statistics, claims among them, as R makes them of the first repetitions."""
    few = [row for row in rows if int(row["repetition"]) < REPETITIONS]
    table = folder.with_name(f"{folder.name}-runs.csv")
    write_runs(few, table)
    program = ["Rscript", str(ROOT / "R/run_statistics.R")]
    given = ["--study", str(plan), "--runs", str(table), "--output", str(folder)]
    subprocess.run([*program, *given], check=True)
