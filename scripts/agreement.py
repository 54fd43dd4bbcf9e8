"""Measure the cells of study aa in one way; the tables of several ways are then compared."""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

from bench import snakemake
from howquick.errors import UserError, run_program
from howquick.files import atomic_text
from howquick.workflow import INTERFERENCE_STUDY

UNOBSERVED = "unobserved"
JOBS = "jobs"


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "way",
        help="jobs1, jobs8, … (so many at once) or unobserved (one, and no captures or qlogs)",
    )
    parser.add_argument("--scale", required=True)
    parser.add_argument("--seed", required=True)
    parser.add_argument("--folder", type=Path, required=True, help="where results go: FOLDER/<way>")
    parser.add_argument("--output", type=Path, required=True, help="the table of runs")
    arguments = parser.parse_args()
    results = (arguments.folder / arguments.way).resolve()
    config = [f"studies={INTERFERENCE_STUDY}", f"scale={arguments.scale}", f"seed={arguments.seed}"]
    if arguments.way == UNOBSERVED:
        config.append("observe=false")
    jobs = jobs_of(arguments.way)
    # Calibration and content first: they are not what is compared.
    snakemake(results, jobs, "prepare", config=config)
    measured = results / "tables" / f"{INTERFERENCE_STUDY}.csv"
    snakemake(results, jobs, str(measured), config=config)
    with atomic_text(arguments.output) as stream, measured.open() as table:
        shutil.copyfileobj(table, stream)


def jobs_of(way: str) -> int:
    """How many blocks run at once: -j."""
    if way == UNOBSERVED:
        return 1
    number = way.removeprefix(JOBS)
    if not way.startswith(JOBS) or not number.isdigit() or int(number) < 1:
        raise UserError(f"there is no way {way!r}: ask for jobs1, jobs2, … or unobserved")
    return int(number)


if __name__ == "__main__":
    run_program(main)
