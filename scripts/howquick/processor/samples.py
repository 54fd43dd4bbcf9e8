"""The loads that stand for those in virtual time: the same programs, page and options without a link.

What a load computes follows from what is transferred far more than from the link, so that cells which differ
only in rate, delay, queue, loss or moves share a sample.
"""

from __future__ import annotations

from typing import Any, cast

from howquick.files import canonical_hash
from howquick.model import Cell, Plan, PlannedBlock, ResolvedStudy
from howquick.plan.fingerprint import block_fingerprint
from howquick.study.cells import arms_of, clock_of
from howquick.study.workload import UNSHAPED, kind_of, page_name

# The least of them counts: whoever else uses the machine only adds.
LOADS = 3
# Without a link a page takes seconds at most, a browser's start included.
TIMEOUT_S = 60.0


def virtual_cells(study: ResolvedStudy) -> list[Cell]:
    """The cells in virtual time whose loads have a size of their own and at least one arm."""
    return [
        cell
        for cell in study["cells"]
        if clock_of(cell) == "virtual"
        and kind_of(cell["workload"]) != "bulk"
        and arms_of(study, cell)
    ]


def sample_name(cell: Cell) -> str:
    """The name of a cell's sample: its page, and a short hash of what decides it (also options, MTU)."""
    decides = [cell["workload"], cell.get("options", {}), cell["link"]["mtu_bytes"]]
    if "congestion_control" in cell:
        decides.append(cell["congestion_control"])
    return f"{page_name(cell['workload'])}-{canonical_hash(decides)[:8]}"


def sample_plan(plan: Plan) -> Plan:
    """The plan of all samples of a study: a cell and a block each, by the real clock, unobserved."""
    samples: dict[str, Cell] = {}
    measured: dict[str, set[str]] = {}
    for cell in virtual_cells(plan):
        name = sample_name(cell)
        samples.setdefault(name, _sample(cell, name))
        measured.setdefault(name, set()).update(arm["name"] for arm in arms_of(plan, cell))
    for name, sample in samples.items():
        sample["not_applicable"] = [
            {"arm": arm["name"], "why": "in no cell of this sample"}
            for arm in plan["arms"]
            if arm["name"] not in measured[name]
        ]
    changed = plan.copy()
    changed["cells"] = list(samples.values())
    changed["blocks"] = [_block(plan["study"], name, len(measured[name])) for name in samples]
    changed["timeout_s"] = min(TIMEOUT_S, plan["timeout_s"])
    return changed


def samples_fingerprint(plan: Plan) -> str:
    """Changes when a sample must be measured anew, or stands for other cells."""
    sampled = sample_plan(plan)
    stands_for = [
        [cell["name"], sample_name(cell), [arm["name"] for arm in arms_of(plan, cell)]]
        for cell in virtual_cells(plan)
    ]
    return canonical_hash(
        [stands_for, [block_fingerprint(sampled, block) for block in sampled["blocks"]]]
    )


def _sample(cell: Cell, name: str) -> Cell:
    sample: dict[str, Any] = {
        "name": name,
        "values": {},
        "levels": {},
        "link": {
            "bandwidth_mbit": UNSHAPED,
            "rtt_ms": 0,
            "loss_percent": 0,
            "queue_ms": 0,
            "mtu_bytes": cell["link"]["mtu_bytes"],
        },
        "workload": cell["workload"],
        "not_applicable": [],
        "observe": {"captures": False, "qlog": False},
        # Delays by others make a load longer, and its processor time hardly.
        "tolerate_delays": True,
    }
    sample |= {
        key: value for key, value in cell.items() if key in ("options", "congestion_control")
    }
    return cast(Cell, sample)


def _block(study: str, name: str, arms: int) -> PlannedBlock:
    return PlannedBlock(
        study=study, cell=name, block=0, repetitions=list(range(LOADS)), seconds=float(LOADS * arms),
        bytes=0, peak_mbit=0.0, arms=arms, alone=False, cpu_s=0.0, processors=1.0,
    )  # fmt: skip
