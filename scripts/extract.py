"""Extract tidy tables from run folders, join tables, or measure how fast that is."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from howquick.errors import run_program
from howquick.extract.bench import measure_speed
from howquick.extract.tables import extract_block, join_tables, write_table

SERIES_POINTS = 50


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    block = commands.add_parser("block", help="tables of one measured block")
    block.add_argument("manifest", type=Path, help="results/blocks/<study>/<cell>/<block>.json")
    block.add_argument(
        "--results", type=Path, required=True, help="what the manifest's paths are in"
    )
    block.add_argument("--output", type=Path, required=True, help="folder for the tables")
    block.set_defaults(do=_block)
    join = commands.add_parser("join", help="one table out of several")
    join.add_argument("tables", type=Path, nargs="+", help="CSV files")
    join.add_argument("--output", type=Path, required=True, help="CSV file")
    join.set_defaults(do=lambda given: join_tables(given.tables, given.output))
    bench = commands.add_parser("bench", help="megabytes of capture per second of CPU")
    bench.add_argument("runs", type=Path, help="folder with run folders below it")
    bench.add_argument("--output", type=Path, help="CSV file for the numbers")
    bench.set_defaults(do=_bench)
    for command in (block, bench):
        command.add_argument(
            "--series-points", type=_points, default=SERIES_POINTS,
            help="rows per run in series.csv (default: %(default)s; 0: none)",
        )  # fmt: skip
    given = parser.parse_args()
    given.do(given)


def _points(text: str) -> int:
    points = int(text)
    if points != 0 and points < 2:
        raise argparse.ArgumentTypeError("must be 0, or 2 or more")
    return points


def _block(given: argparse.Namespace) -> None:
    runs = extract_block(given.manifest, given.results, given.output, given.series_points)
    for run in runs:
        if note := run.row.get("extract_note"):
            print(f"{run.row['path']}: {note}", file=sys.stderr)


def _bench(given: argparse.Namespace) -> None:
    speed = measure_speed(given.runs, given.series_points)
    print(
        f"{speed.evaluated} of {speed.runs} runs, {speed.capture_bytes / 1e6:.1f} MB of capture "
        f"in {speed.cpu_s:.2f} s of CPU ({speed.wall_s:.2f} s): {speed.mbyte_per_cpu_s:.1f} MB/s per core"
    )
    if given.output:
        row = {
            "runs": speed.runs,
            "evaluated": speed.evaluated,
            "capture_bytes": speed.capture_bytes,
            "cpu_s": speed.cpu_s,
            "wall_s": speed.wall_s,
            "mbyte_per_cpu_second": speed.mbyte_per_cpu_s,
        }
        write_table(given.output, list(row), [row])


if __name__ == "__main__":
    run_program(main)
