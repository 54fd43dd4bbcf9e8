"""Measure a random sample of loads in virtual time again, and compare every column of their rows."""

from __future__ import annotations

import argparse
import csv
import random
import shutil
import sys
from pathlib import Path
from typing import Any

from howquick.errors import UserError, run_program
from howquick.extract.tables import write_table
from howquick.files import read_json
from howquick.model import Plan
from howquick.study.cells import clock_of
from howquick.testbed.system import die_with_parent
from howquick.workflow.command import snakemake

KEY = ("study", "cell", "arm", "repetition")
COLUMNS = (*KEY, "same", "differs")
Row = dict[str, str]


def main() -> int:
    """Command line. Exit status 1: not all of them are the same."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("studies", nargs="+", help="names of studies that RESULTS has")
    parser.add_argument("--results", type=Path, required=True)
    parser.add_argument("--cells", type=int, required=True, help="so many of each study")
    parser.add_argument("--draw", type=int, help="seed of the sample; default: a new one each time")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument(
        "--folder", type=Path, required=True, help="where they are measured; emptied"
    )
    parser.add_argument("--output", type=Path, required=True, help="CSV file")
    arguments = parser.parse_args()
    # The workflows that it starts must not outlive the one that asked.
    die_with_parent()
    shutil.rmtree(arguments.folder, ignore_errors=True)
    rows: list[dict[str, Any]] = []
    for study in arguments.studies:
        plan: Plan = read_json(arguments.results / "plan" / f"{study}.json")
        cells = sample(plan, arguments.cells, arguments.draw)
        print(f"{study}: the first load of each arm in {', '.join(cells)}", file=sys.stderr)
        again = measure(plan, cells, arguments.folder / study, arguments.jobs)
        rows += compare(read_rows(arguments.results / "tables" / f"{study}.csv"), read_rows(again))
    write_table(arguments.output, list(COLUMNS), rows)
    other = [row for row in rows if not row["same"]]
    for row in other:
        print(f"{' '.join(row[key] for key in KEY)}: {row['differs']}", file=sys.stderr)
    print(
        f"{len(rows) - len(other)} of {len(rows)} loads are the same in every column",
        file=sys.stderr,
    )
    return 1 if other else 0


def sample(plan: Plan, count: int, draw: int | None) -> list[str]:
    """Names of cells in virtual time, at random. Raises UserError where there is none."""
    cells = [cell["name"] for cell in plan["cells"] if clock_of(cell) == "virtual"]
    if not cells:
        raise UserError(
            f"{plan['study']}: all of its cells are in real time, where no load is ever the same. "
            "Measure with --config clock=virtual, which is what shaped links have by themselves."
        )
    return sorted(random.Random(draw).sample(cells, min(count, len(cells))))


def measure(plan: Plan, cells: list[str], results: Path, jobs: int) -> Path:
    """Measure the first repetition of these cells; returns the table."""
    config = [f"studies={plan['study']}", f"scale={plan['scale']}", f"seed={plan['seed']}"]
    config += [f"cells={','.join(cells)}", "repetitions=1", "clock=virtual", "rebuild=false"]
    config += [f"arms={','.join(arm['name'] for arm in plan['arms'])}"]
    table = results / "tables" / f"{plan['study']}.csv"
    snakemake(results, jobs, str(table), config=config)
    return table


def read_rows(table: Path) -> dict[tuple[str, ...], Row]:
    """The rows of a table of runs, by study, cell, arm and repetition."""
    with table.open(encoding="utf-8", newline="") as stream:
        return {tuple(row[key] for key in KEY): row for row in csv.DictReader(stream)}


def compare(
    published: dict[tuple[str, ...], Row], again: dict[tuple[str, ...], Row]
) -> list[dict[str, Any]]:
    """One row per load that was measured again: whether it is the same, and the columns that differ."""
    compared = []
    for key, row in again.items():
        first = published.get(key)
        differs = (
            ["it is not in the published table"]
            if first is None
            # A column that one table lacks is one that is empty in the other.
            else [n for n in {**first, **row} if (first.get(n) or "") != (row.get(n) or "")]
        )
        known = dict(zip(KEY, key, strict=True))
        compared.append(known | {"same": not differs, "differs": ", ".join(differs)})
    return compared


if __name__ == "__main__":
    run_program(main)
