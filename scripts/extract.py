"""Extract tidy tables from run folders, join tables, check qlogs, or measure how fast that is."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from howquick.errors import UserError, run_program
from howquick.extract.packing import pack_block
from howquick.extract.qlog_file import QlogError, read_qlog
from howquick.extract.qlog_schema import Report, validate_qlog
from howquick.extract.qvis import write_for_qvis
from howquick.extract.run import Options, Run
from howquick.extract.speed import measure_speed
from howquick.extract.tables import extract_block, join_tables, write_table
from howquick.files import read_json


def main() -> int | None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    block = commands.add_parser("block", help="tables of one measured block")
    block.add_argument("manifest", type=Path, help="results/blocks/<study>/<cell>/<block>.json")
    block.add_argument(
        "--results", type=Path, required=True, help="what the manifest's paths are in"
    )
    block.add_argument("--output", type=Path, required=True, help="folder for the tables")
    block.add_argument(
        "--pack", action="store_true", help="then put the run folders into one archive"
    )
    block.set_defaults(do=_block)
    join = commands.add_parser("join", help="one table out of several")
    join.add_argument("tables", type=Path, nargs="+", help="CSV files")
    join.add_argument("--output", type=Path, required=True, help="CSV file")
    join.set_defaults(do=_join)
    qlog = commands.add_parser("qlog", help="check every event of qlogs against their schema")
    qlog.add_argument("files", type=Path, nargs="+", help=".qlog or .sqlog files")
    qlog.add_argument(
        "--for-qvis", type=Path, metavar="FOLDER", help="write forms there that qvis can load"
    )
    qlog.set_defaults(do=_qlog)
    bench = commands.add_parser("bench", help="megabytes of capture per second of CPU")
    bench.add_argument("runs", type=Path, help="folder with run folders below it")
    bench.add_argument("--output", type=Path, help="CSV file for the numbers")
    bench.set_defaults(do=_bench)
    for command in (block, bench):
        command.add_argument(
            "--series-points", type=_points, default=Options.series_points,
            help="rows per run in series.csv (default: %(default)s; 0: none)",
        )  # fmt: skip
        command.add_argument(
            "--detail", type=_count, default=Options.detail_repetitions, metavar="N",
            help="first N repetitions of a cell in the detail tables (default: %(default)s)",
        )  # fmt: skip
    given = parser.parse_args()
    status: int | None = given.do(given)
    return status


def _points(text: str) -> int:
    points = int(text)
    if points != 0 and points < 2:
        raise argparse.ArgumentTypeError("must be 0, or 2 or more")
    return points


def _count(text: str) -> int:
    count = int(text)
    if count < 0:
        raise argparse.ArgumentTypeError("must be 0 or more")
    return count


def _options(given: argparse.Namespace) -> Options:
    return Options(given.series_points, given.detail)


def _block(given: argparse.Namespace) -> None:
    runs = extract_block(given.manifest, given.results, given.output, _options(given))
    for run in runs:
        if note := run.row.get("extract_note"):
            print(f"{run.row['path']}: {note}", file=sys.stderr)
    for line in _summary(runs):
        print(line)
    if given.pack:
        pack_block(read_json(given.manifest), given.results)


def _join(given: argparse.Namespace) -> None:
    join_tables(given.tables, given.output)


def _summary(runs: Sequence[Run]) -> list[str]:
    """One line per check: how many runs have which verdict."""
    lines = []
    for column in (
        "qlog_client_valid", "qlog_server_valid", "qlog_verdict", "decrypts",
        "congestion_control_verdict",
    ):  # fmt: skip
        values = [str(run.row[column]) for run in runs if run.row.get(column) is not None]
        counts = ", ".join(f"{values.count(value)} {value}" for value in sorted(set(values)))
        if counts:
            lines.append(f"{column}: {counts}")
    return lines


def _qlog(given: argparse.Namespace) -> int:
    failed = 0
    for path in given.files:
        try:
            report = validate_qlog(path)
            if given.for_qvis:
                write_for_qvis(read_qlog(path), given.for_qvis)
        except QlogError as error:
            raise UserError(f"{path.parent}/{error}. Name .qlog or .sqlog files.") from None
        failed += not report.valid
        print(_described(report))
    return 1 if failed else 0


def _described(report: Report) -> str:
    verdict = "valid" if report.valid else f"NOT VALID: {report.violation}"
    qvis = "loads in qvis" if report.qvis is None else f"not for qvis: {report.qvis}"
    return f"{report.path}: qlog {report.version}, {report.events} events, {verdict}; {qvis}"


def _bench(given: argparse.Namespace) -> None:
    speed = measure_speed(given.runs, _options(given))
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
