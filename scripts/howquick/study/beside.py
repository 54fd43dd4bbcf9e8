"""Flows that share the link with the arm that is measured: what a study may ask, and who they are."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from howquick.environment.endpoints import ECN
from howquick.errors import ConfigError
from howquick.model import Arm, Cell, Combination, FlowBeside, Workload
from howquick.study.arms import (
    Endpoints,
    nearest,
    not_applicable,
    resolve_arm,
    transport_of,
)
from howquick.study.workload import is_shaped, kind_of, normalised

# What an arm loads beside others: of a bulk load pilots without company would choose how much it is.
ALONE = ("bulk",)
# What a flow beside loads: segments come in an order of the arm's own.
KINDS = ("page", "object", "site")


def has_drawn_start(beside: list[dict[str, Any]]) -> bool:
    """Whether any of the flows starts at a time that each repetition draws."""
    return any(isinstance(flow.get("start_s"), list) for flow in beside)


def latest_start_s(flow: FlowBeside) -> float:
    """When a flow starts at the latest, seconds after the beginning of the load."""
    start = flow["start_s"]
    return start[1] if isinstance(start, list) else start


def workloads_of(cell: Cell) -> list[Workload]:
    """All that servers of a cell serve: the arms' own workload first, then that of flows beside them."""
    return [cell["workload"], *(flow["workload"] for flow in cell.get("beside", []))]


def check_beside(path: Path, study: dict[str, Any], timeout_s: float) -> None:
    """What `beside` and `start_s` say, in `fixed` and in factors, can be done.

    study: its arms those of the matrix as well. Raises ConfigError with the key of what cannot.
    """
    for key, start_s in _said(study, "start_s"):
        _check_start(path, key, start_s, timeout_s)
    for key, flows in _said(study, "beside"):
        for number, flow in enumerate(flows):
            at = f"{key}.{number}"
            if flow["arm"] not in study["arms"]:
                raise ConfigError(
                    path, f"{at}.arm", f"no arm is called {flow['arm']!r}",
                    f"Did you mean {nearest(flow['arm'], study['arms'])}?",
                )  # fmt: skip
            start = flow.get("start_s", 0)
            first, last = start if isinstance(start, list) else (start, start)
            if first > last:
                raise ConfigError(
                    path, f"{at}.start_s", f"begins at {first:g} s and ends at {last:g} s",
                    "Give the earlier bound first",
                )  # fmt: skip
            _check_start(path, f"{at}.start_s", last, timeout_s)


def _said(study: dict[str, Any], name: str) -> Iterator[tuple[str, Any]]:
    """Where a parameter is given, and what it is there."""
    if name in study["fixed"]:
        yield f"fixed.{name}", study["fixed"][name]
    for level, value in study["factors"].get(name, {}).get("levels", {}).items():
        yield f"factors.{name}.levels.{level}", value


def _check_start(path: Path, key: str, start_s: float, timeout_s: float) -> None:
    if start_s >= timeout_s:
        raise ConfigError(
            path, key, f"is {start_s:g} s, and a load ends after {timeout_s:g} s (timeout_s)",
            "Start earlier, or raise timeout_s of the scale",
        )  # fmt: skip


def add_flows(
    path: Path, cells: list[Cell], combinations: list[Combination], study: dict[str, Any],
    endpoints: Endpoints,
) -> None:  # fmt: skip
    """Give each cell the flows that its parameters ask for, their arms resolved. Raises ConfigError."""
    parameters = {one["name"]: one["parameters"] for one in combinations}
    for cell in cells:
        asked = parameters[cell["name"]]
        if asked["start_s"]:
            cell["start_s"] = asked["start_s"]
        flows = [
            FlowBeside(
                arm=resolve_arm(
                    path, flow["arm"], study["arms"][flow["arm"]], study["defaults"], endpoints
                ),
                start_s=flow.get("start_s", 0),
                workload=normalised(flow["workload"]) if "workload" in flow else cell["workload"],
                background=flow.get("background", False),
            )
            for flow in asked["beside"]
        ]
        if flows:
            cell["beside"] = flows
        _check_cell(path, cell)


def _check_cell(path: Path, cell: Cell) -> None:
    """The cell is one in which flows can be beside an arm. Raises ConfigError."""
    flows, key = cell.get("beside", []), f"cell {cell['name']}"
    if cell.get("start_s") and not flows:
        raise ConfigError(
            path, key, f"starts its arm after {cell['start_s']:g} s and has no flow beside it",
            "Give flows by `beside`, or leave start_s out",
        )  # fmt: skip
    if not flows:
        return
    if not is_shaped(cell["link"]):
        raise ConfigError(
            path, key, "has flows beside the arm on an unshaped link, where nothing is shared",
            "Give the link a bandwidth_mbit, or leave `beside` out",
        )  # fmt: skip
    if cell.get("moves"):
        raise ConfigError(
            path, key, "has flows beside the arm and changes of the client's address",
            "Leave one of `beside` and `moves` out",
        )  # fmt: skip
    if kind_of(cell["workload"]) in ALONE:
        raise ConfigError(
            path, key, "has flows beside a bulk load, whose size is chosen without company",
            "Load an object of fixed size: `workload: {object: bytes}`",
        )  # fmt: skip
    for flow in flows:
        if kind_of(flow["workload"]) not in KINDS:
            raise ConfigError(
                path, key, f"has a flow of {flow['arm']['name']} that loads {kind_of(flow['workload'])}",
                f"Give the flow a workload of its own: {', '.join(KINDS)}",
            )  # fmt: skip


def no_company(cell: Cell, arm: Arm, endpoints: Endpoints) -> str | None:
    """Why the cell's flows cannot be beside an arm; None if they can."""
    for flow in cell.get("beside", []):
        other = flow["arm"]
        alone = cell.copy()
        alone["workload"] = flow["workload"]
        alone.pop("congestion_control", None)
        if why := not_applicable(alone, other, endpoints):
            return f"the flow of {other['name']} beside it cannot be: {why}"
        over_tcp = [one for one in (arm, other) if transport_of(one, endpoints) == "tcp"]
        # The client's kernel asks for ECN in all connections or in none.
        if len({bool(one["options"].get(ECN)) for one in over_tcp}) > 1:
            return f"one of it and the flow of {other['name']} beside it asks for ECN and the other does not"
    return None
