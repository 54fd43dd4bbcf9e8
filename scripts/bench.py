"""What the pipeline itself costs: each subcommand measures one thing and writes one table."""

from __future__ import annotations

import argparse
import csv
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from howquick.bench import (
    emulator,
    extraction,
    finished,
    fuzz,
    guard,
    report,
    stacks,
    virtual_time,
    workflow,
)
from howquick.errors import UserError, run_program
from howquick.files import atomic_text
from howquick.testbed.system import die_with_parent


def write_table(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    """Write rows with the same keys as CSV, whole or not at all."""
    rows = list(rows)
    if not rows:
        raise UserError(
            f"{path}: nothing to report. Run `snakemake -j8` first; bench reads its results."
        )
    with atomic_text(path) as stream:
        writer = csv.DictWriter(stream, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def main() -> None:
    """Command line."""
    # By the name of the table, what measures its rows.
    measure: dict[str, Callable[[argparse.Namespace], list[dict[str, Any]]]] = {
        "provisioning": lambda _: finished.provisioning(),
        "overhead": lambda asked: finished.overhead(asked.results),
        "network_share": lambda asked: finished.network_share(asked.results),
        "accuracy": lambda asked: finished.accuracy(asked.results),
        "emulator": lambda _: emulator.emulator(),
        "parallel": lambda asked: workflow.parallel(asked.results / "bench/parallel", asked.jobs),
        "dag": lambda asked: workflow.dag(asked.results / "bench/dag"),
        "extraction": lambda asked: extraction.extraction(asked.results),
        "startup": lambda _: stacks.startup(),
        "loopback": lambda _: stacks.loopback(),
        "log_cost": lambda asked: stacks.log_cost(asked.programs),
        "guard": lambda _: guard.guard(),
        "report": lambda asked: report.report(asked.results / "bench/report"),
        "virtual_time": lambda asked: virtual_time.virtual_time(
            asked.results / "bench/virtual-time"
        ),
        "fuzz": lambda asked: fuzz.fuzz_runs(asked.results),
    }
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=measure)
    parser.add_argument("--results", type=lambda name: Path(name).resolve(), required=True)
    parser.add_argument("--jobs", type=int, nargs="+", default=[1, 2, 4, 8])
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--programs", nargs="+", default=[], help="of log_cost: only these")
    arguments = parser.parse_args()
    # What it measures must not go on without the workflow that asked.
    die_with_parent()
    write_table(arguments.output, measure[arguments.what](arguments))


if __name__ == "__main__":
    run_program(main)
