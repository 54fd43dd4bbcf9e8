"""Cells and the arms that are measured in them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

from howquick.environment.endpoints import kernel_options, load_endpoints
from howquick.model import ROLES, Arm, Cell, CellSelection, Clock, Link, ResolvedStudy
from howquick.testbed.link import OF_CONTENT

# Ends the names of files that are made in virtual time, beside those of real time.
VIRTUAL = "-virtual"
# Loads of a cell without dice, in virtual time, where a scale asks for no other number: what a seed changes
# there are the programs' own dice.
EXACT_REPETITIONS = 3

# How the name of a link says what not every link has.
TAGS = {
    "burst_bytes": "burst", "bandwidth_up_mbit": "up", "delay_up_ms": "updelay", "aqm": "", "ecn": "ecn",
    "loss_burst_packets": "bursts", "loss_in_burst_percent": "of", "jitter_ms": "jitter",
    "jitter_distribution": "", "reorder_percent": "reorder", "path_mtu_bytes": "pathmtu",
    "rate_trace": "trace-", "rate_trace_up": "uptrace-",
}  # fmt: skip


class _Named(Protocol):
    def __getitem__(self, key: Any, /) -> Any: ...


def find[Item: _Named](items: Iterable[Item], name: str) -> Item:
    """The item (cell, arm, …) with this name."""
    return next(item for item in items if item["name"] == name)


def is_selected(cell: Any, selection: CellSelection) -> bool:
    """Whether a cell is in a selection: cell names, or per factor the values or level names wanted."""
    if isinstance(selection, list):
        return cell["name"] in selection
    for factor, wanted in selection.items():
        values = wanted if isinstance(wanted, list) else [wanted]
        if cell["values"][factor] not in values and cell["levels"][factor] not in values:
            return False
    return True


def link_name(link: Link) -> str:
    """The name of a link, for files: `10mbit-18ms-loss2-queue200ms-mtu1500`, `unshaped-mtu1500`."""
    if link["bandwidth_mbit"] == "unshaped":
        offloads = f"-offloads-{link['offloads']}" if "offloads" in link else ""
        return f"unshaped-mtu{link['mtu_bytes']:g}{offloads}"
    more = "".join(
        f"-{tag}{_value(link.get(key))}" for key, tag in TAGS.items() if link.get(key) is not None
    )
    return (
        f"{link['bandwidth_mbit']:g}mbit-{link['rtt_ms']:g}ms-loss{link['loss_percent']:g}"
        f"-queue{link['queue_ms']:g}ms-mtu{link['mtu_bytes']:g}{more}"
    )


def _value(value: object) -> str:
    """A number or a word in the name of a link; of a switch nothing, since its name says it."""
    if isinstance(value, bool):
        return ""
    if isinstance(value, int | float):
        return f"{value:.10g}"
    return str(value).replace("_", "-").replace(OF_CONTENT, "-")


def clock_of(cell: Cell) -> Clock:
    """The clock by which a cell is measured."""
    return cell.get("clock", "real")


def asked_repetitions(asked: Any, cell: Cell) -> int:
    """How often a scale, or a study at one, asks for a cell; slow cells apart (howquick.plan.blocks)."""
    own = asked.get("virtual", asked) if clock_of(cell) == "virtual" else asked
    most: int = own.get("exact_repetitions", EXACT_REPETITIONS)
    repetitions: int = own["repetitions"]
    return min(most, repetitions) if cell.get("exact") else repetitions


def needs_guests(cells: Iterable[Cell]) -> bool:
    """Whether any of these cells is measured in virtual time."""
    return any(clock_of(cell) == "virtual" for cell in cells)


def calibration_name(cell: Cell) -> str:
    """The name of what calibrates a cell's link: the link's, and of virtual time so marked."""
    name = link_name(cell["link"])
    return name if clock_of(cell) == "real" else f"{name}{VIRTUAL}"


def certificates_name(cell: Cell) -> str:
    """The folder of the certificates that a cell's servers have, below `content`."""
    return "certificates" if clock_of(cell) == "real" else f"certificates{VIRTUAL}"


def full_captures_of(study: ResolvedStudy, cell: Cell) -> int:
    """Of how many repetitions of a cell, the first ones, captures hold whole packets."""
    return cell.get("full_captures", study["full_captures"])


def arms_of(study: ResolvedStudy, cell: Cell) -> list[Arm]:
    """The arms that are measured in a cell."""
    excluded = {entry["arm"] for entry in cell["not_applicable"]}
    return [arm for arm in study["arms"] if arm["name"] not in excluded]


def arm_in_cell(cell: Cell, arm: Arm) -> Arm:
    """The arm as it is measured in a cell: with options and congestion control that are factors there."""
    changed = flow_in_cell(cell, arm)
    control = cell.get("congestion_control", arm["congestion_control"])
    if control == arm["congestion_control"]:
        return changed
    changed = changed.copy()
    changed["congestion_control"] = control
    return changed


def flow_in_cell(cell: Cell, arm: Arm) -> Arm:
    """The arm of a flow beside another: it keeps its congestion control, so that two can meet."""
    endpoints = load_endpoints()
    programs = [endpoints[arm[role]] for role in ROLES]
    asked = {
        name: value
        for name, value in cell.get("options", {}).items()
        if name in kernel_options(arm, endpoints) or any(name in p.defaults for p in programs)
    }
    if cell.get("moves") and "on_move" not in arm["options"] | asked:
        client = programs[1].declaration["client"]["protocols"][arm["protocol"]]
        asked["on_move"] = client["moves"][0]
    if not asked:
        return arm
    changed = arm.copy()
    changed["options"] = arm["options"] | asked
    if "own_options" in arm:
        # A factor means both ends, whatever one of them has elsewhere.
        changed["own_options"] = {
            role: {name: value for name, value in own.items() if name not in asked}
            for role, own in arm["own_options"].items()
        }
    return changed
