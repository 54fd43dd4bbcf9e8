"""Keep what `bench log_cost` measured in the folders of the programs: envs/<program>/log_cost.json."""

from __future__ import annotations

import argparse
import csv
import json
from pathlib import Path
from typing import Any

from howquick.environment.endpoints import load_endpoints
from howquick.environment.log_cost import FILE, LOGS
from howquick.errors import UserError, run_program
from howquick.files import write_json
from howquick.model import ROLES

COLUMNS = {
    "arm",
    "protocol",
    "options",
    "programs",
    "reason",
    "unseen_mbit",
    *(f"{log}_share" for log in LOGS),
} | {f"{role}{what}" for role in ROLES for what in ("", "_version")}


def read_table(path: Path) -> list[dict[str, str]]:
    """The rows that were measured. Raises UserError where the table is another or has none."""
    try:
        with path.open(newline="") as stream:
            rows = list(csv.DictReader(stream))
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}. Give the table of `bench log_cost`.") from None
    if missing := COLUMNS - set(rows[0] if rows else {}):
        raise UserError(
            f"{path}: no column {sorted(missing)[0]!r}. Give the table of `bench log_cost`."
        )
    return [row for row in rows if not row["reason"]]


def as_kept(row: dict[str, str]) -> dict[str, Any]:
    """A row as it is kept: shares as numbers, null for a log that neither end writes."""
    kept: dict[str, Any] = {"arm": row["arm"], "protocol": row["protocol"]}
    kept |= {f"{role}{what}": row[f"{role}{what}"] for role in ROLES for what in ("", "_version")}
    kept["options"] = json.loads(row["options"])
    kept["goodput_mbit"] = float(row["unseen_mbit"])
    return kept | {log: float(share) if (share := row[f"{log}_share"]) else None for log in LOGS}


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("table", type=Path, help="results/bench/log_cost.csv")
    rows = read_table(parser.parse_args().table)
    endpoints = load_endpoints()
    for program in sorted({name for row in rows for name in row["programs"].split()}):
        if program not in endpoints:
            raise UserError(f"envs/{program}: no such program. Correct HOWQUICK_ENVS.")
        mine = [as_kept(row) for row in rows if program in row["programs"].split()]
        write_json(endpoints[program].folder / FILE, mine)
        print(f"{program}: {', '.join(row['arm'] for row in mine)}")


if __name__ == "__main__":
    run_program(main)
