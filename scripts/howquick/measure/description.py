"""What a load was asked to be: the part of its meta.json that is known before it runs."""

from __future__ import annotations

from typing import Any

from howquick.environment.endpoints import load_endpoints
from howquick.environment.manifest import environment_hash
from howquick.measure.block import Block
from howquick.model import ROLES, Arm, Plan
from howquick.plan.fingerprint import GUEST
from howquick.plan.order import loss_seeds
from howquick.study.arms import metrics_of
from howquick.study.cells import clock_of


def programs_of(plan: Plan, arm: Arm) -> dict[str, Any]:
    """Name, version and hash of both programs of an arm, by role."""
    return {
        role: {
            "name": arm[role],
            "version": plan["versions"][arm[role]],
            "hash": plan["programs"][arm[role]],
        }
        for role in ROLES
    }


def describe_load(
    block: Block, arm: Arm, repetition: int, order: int, emulator: str
) -> dict[str, Any]:
    """Which load it is, what was asked for and by what (docs/formats.md, 4).

    arm: as it is measured in the cell. emulator: what makes the link, by name.
    """
    plan, cell = block.plan, block.cell
    link_maker = GUEST if clock_of(cell) == "virtual" else "emulator"
    return {
        "study": plan["study"],
        "cell": cell["name"],
        "arm": arm["name"],
        "repetition": repetition,
        "block": block.block["block"],
        "order": order,
        "session": block.session,
        "fingerprint": block.fingerprint(arm["name"], repetition),
        "clock": clock_of(cell),
        "timeout_s": plan["timeout_s"],
        "parameters": cell["values"],
        "link": cell["link"],
        "workload": cell["workload"],
        "observe": cell.get("observe", {"captures": True, "qlog": True}),
        "arm_definition": arm,
        "metrics": sorted(metrics_of({arm["name"]: arm}, load_endpoints())[arm["name"]]),
        "seeds": loss_seeds(plan, cell, repetition),
        "programs": programs_of(plan, arm)
        | {"emulator": {"name": emulator, "hash": plan["programs"][link_maker]}},
        "environment": environment_hash(),
    }
