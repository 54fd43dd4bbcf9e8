"""The table of processor seconds: a row per cell in virtual time and arm (docs/formats.md, section 11)."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from howquick.environment.endpoints import load_endpoints
from howquick.files import atomic_text
from howquick.model import Plan
from howquick.processor.measured import SampleBlock
from howquick.processor.samples import sample_name, virtual_cells
from howquick.study.cells import arms_of

COLUMNS = (
    "study", "cell", "arm", "sample", "cpu_server_s", "cpu_client_s", "loads", "tried", "reason", "machine",
)  # fmt: skip
Row = dict[str, Any]
# Why a client's seconds are left out though its loads are there.
NO_GATE = "the client has no gate: its start would count too"


def table_rows(
    plan: Plan, blocks: list[SampleBlock], failed: Mapping[tuple[str, str], str]
) -> Iterator[Row]:
    """The rows of a study's table; cells that share a sample share its numbers.

    failed: why there are no loads, as from `measure_samples`.
    """
    by_name = {block.cell["name"]: block for block in blocks}
    for cell in virtual_cells(plan):
        name = sample_name(cell)
        for arm in arms_of(plan, cell):
            known = _of_arm(by_name[name], arm["name"], failed.get((name, arm["name"]), ""))
            if known["loads"] and not load_endpoints()[arm["client"]].declaration["client"].get(
                "gate"
            ):
                known |= {"cpu_client_s": None, "reason": NO_GATE}
            yield {
                "study": plan["study"],
                "cell": cell["name"],
                "arm": arm["name"],
                "sample": name,
                **known,
            }


def _of_arm(block: SampleBlock, arm: str, failed: str) -> Row:
    """The load of an arm that cost least, client and server together."""
    metas = list(block.metas(arm))
    counted = [meta for meta in metas if meta["status"] == "ok" and _cost(meta) is not None]
    reasons = [meta["reason"] for meta in metas if meta["reason"]]
    row: Row = {
        "cpu_server_s": None, "cpu_client_s": None, "loads": len(counted), "tried": len(metas),
        "reason": failed or next(iter(reasons), ""), "machine": "",
    }  # fmt: skip
    if counted:
        least = min(counted, key=lambda meta: _cost(meta) or 0.0)
        row |= {f"cpu_{role}_s": least["cpu"][f"{role}_s"] for role in ("server", "client")}
        row["machine"] = least["host"]["cpu"]
    return row


def _cost(meta: Mapping[str, Any]) -> float | None:
    server, client = meta["cpu"]["server_s"], meta["cpu"]["client_s"]
    return None if server is None or client is None else float(server) + float(client)


def write_rows(rows: Iterator[Row], path: Path) -> None:
    """Write the table."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_text(path) as stream:
        writer = csv.DictWriter(stream, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
