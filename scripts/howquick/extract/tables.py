"""Write the tables of a block, and join tables."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from howquick.errors import UserError
from howquick.extract.columns import (
    DETAIL_COLUMNS,
    FLOW_COLUMNS,
    OBJECT_COLUMNS,
    RUN_KEY,
    SERIES_COLUMNS,
    field,
    run_columns,
)
from howquick.extract.packing import run_folder
from howquick.extract.run import Options, Run, extract_run
from howquick.files import atomic_text, read_json

_MANIFEST_KEYS = ("study", "cell", "block", "runs")
_ENTRY_KEYS = ("arm", "repetition", "path", "status")


def extract_block(manifest: Path, results: Path, output: Path, options: Options) -> list[Run]:
    """Write a block's tables into `output`, each whole or absent: runs, objects, series, flows, details.

    `manifest` is the block's manifest (docs/formats.md, 5), its paths are relative to `results`.
    Returns the runs. Raises UserError when the
    manifest is missing or none; what is wrong with single runs becomes part of their rows.
    """
    block = _read_manifest(manifest)
    runs = []
    for entry in block["runs"]:
        with run_folder(block, results, entry) as folder:
            runs.append(extract_run(block, entry, folder, options))
    if options.detail_repetitions:
        for index in slowest(runs):
            # Whoever asks what made a load slow asks for its packets.
            with run_folder(block, results, block["runs"][index]) as folder:
                wanted = replace(options, packets=True)
                runs[index] = extract_run(block, block["runs"][index], folder, wanted)
    parameters: dict[str, Any] = {}
    for run in runs:
        parameters |= run.parameters
    # All runs of a block are of one cell: a run whose folder is lost has its parameters too.
    rows = [parameters | run.row for run in runs]
    metrics = set().union(*(run.metrics for run in runs))
    write_table(output / "runs.csv", run_columns(set(parameters), metrics), rows)
    write_table(output / "objects.csv", OBJECT_COLUMNS, _object_rows(runs))
    write_table(output / "series.csv", SERIES_COLUMNS, _series_rows(runs))
    write_table(output / "flows.csv", FLOW_COLUMNS, _flow_rows(runs))
    for name, columns in DETAIL_COLUMNS.items():
        write_table(output / f"{name}.csv", columns, _detail_rows(runs, name))
    return runs


def slowest(runs: Sequence[Run]) -> list[int]:
    """Of each arm the index of its slowest load, where that has no packets yet; in order."""
    found: dict[str, int] = {}
    for index, run in enumerate(runs):
        known = found.get(run.row["arm"])
        seconds = run.row.get("plt_s")
        if seconds is not None and (known is None or seconds > runs[known].row["plt_s"]):
            found[run.row["arm"]] = index
    return sorted(index for index in found.values() if "packets" not in runs[index].detail)


def _read_manifest(path: Path) -> dict[str, Any]:
    remedy = "Measure the block again: delete this file and run the workflow"
    try:
        block = read_json(path)
    except OSError as error:
        raise UserError(
            f"{path}: {error.strerror}. Name the manifest of a measured block."
        ) from None
    missing = [key for key in _MANIFEST_KEYS if not isinstance(block, dict) or key not in block]
    if missing:
        raise UserError(f"{path}: no block manifest: {', '.join(missing)} missing. {remedy}.")
    if not isinstance(block["runs"], list):
        raise UserError(f"{path}: runs: must be a list. {remedy}.")
    for index, entry in enumerate(block["runs"]):
        if not isinstance(entry, dict):
            raise UserError(f"{path}: runs[{index}]: must be an object. {remedy}.")
        lacking = [key for key in _ENTRY_KEYS if key not in entry]
        if lacking:
            raise UserError(f"{path}: runs[{index}]: {', '.join(lacking)} missing. {remedy}.")
    return dict(block)


def _object_rows(runs: Iterable[Run]) -> Iterator[dict[str, Any]]:
    for run in runs:
        names = {name: run.row[name] for name in RUN_KEY}
        for entry in run.timing.objects if run.timing else ():
            yield names | {
                "path": entry.path,
                "bytes": entry.size_bytes,
                "start_s": entry.start_s,
                "first_byte_s": entry.first_byte_s,
                "end_s": entry.end_s,
                "protocol": entry.protocol,
            }


def _detail_rows(runs: Iterable[Run], table: str) -> Iterator[dict[str, Any]]:
    for run in runs:
        names = {name: run.row[name] for name in RUN_KEY}
        for row in run.detail.get(table, ()):
            yield names | row


def _flow_rows(runs: Iterable[Run]) -> Iterator[dict[str, Any]]:
    for run in runs:
        names = {name: run.row[name] for name in RUN_KEY}
        for row in run.flows:
            yield names | row


def _series_rows(runs: Iterable[Run]) -> Iterator[dict[str, Any]]:
    for run in runs:
        names = {name: run.row[name] for name in RUN_KEY}
        for time_s, received, acknowledged in run.series:
            yield names | {
                "time_s": time_s,
                "received_bytes": received,
                "acknowledged_bytes": acknowledged,
            }


def write_table(path: Path, columns: Sequence[str], rows: Iterable[dict[str, Any]]) -> None:
    """Write a CSV file (UTF-8, LF) of the given columns; it appears when it is whole."""
    with atomic_text(path) as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(columns)
        for row in rows:
            writer.writerow([field(column, row.get(column)) for column in columns])


def join_tables(tables: Sequence[Path], output: Path) -> int:
    """Concatenate CSV tables; columns that one of them lacks are empty there. Returns the rows.

    The columns are those of the first table, then what the others add. Raises UserError for a
    missing file, one without a header, or a row that does not fit its header.
    """
    headers = [_read_header(path) for path in tables]
    columns = list(dict.fromkeys(name for header in headers for name in header))
    count = 0
    with atomic_text(output) as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(columns)
        for path, header in zip(tables, headers, strict=True):
            for row in _body(path, header, columns):
                writer.writerow(row)
                count += 1
    return count


def _read_header(path: Path) -> list[str]:
    try:
        with path.open(encoding="utf-8", newline="") as stream:
            header = next(csv.reader(stream), [])
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}. Name tables that exist.") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise UserError(f"{path}: not a CSV table ({error}). Make it anew.") from None
    if not header:
        raise UserError(f"{path}: empty, not even a header. Delete it to make it anew.")
    if len(set(header)) != len(header):
        raise UserError(f"{path}: a column appears twice. Each column needs its own name.")
    return header


def _body(path: Path, header: list[str], columns: list[str]) -> Iterator[list[str]]:
    """The rows of a table in the order of `columns`."""
    place = {name: index for index, name in enumerate(header)}
    same = header == columns
    order = [place.get(name, len(header)) for name in columns]
    with path.open(encoding="utf-8", newline="") as stream:
        reader = csv.reader(stream)
        next(reader)
        for row in reader:
            if len(row) != len(header):
                raise UserError(
                    f"{path}: line {reader.line_num}: {len(row)} fields, but the header has "
                    f"{len(header)}. Delete it to make it anew."
                )
            yield row if same else [[*row, ""][index] for index in order]
