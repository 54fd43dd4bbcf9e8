"""How long a load takes and what it leaves, for planning only."""

from __future__ import annotations

import math

from howquick.environment.endpoints import load_endpoints
from howquick.model import ROLES, Arm, Cell, ResolvedStudy
from howquick.study.cells import arms_of, clock_of
from howquick.study.workload import (
    UNSHAPED_RATE,
    fetch_mode,
    kind_of,
    load_bytes,
    requests_of,
    video_of,
)

# Start-up, captures, checks and packing around each load, seconds: measured by `snakemake bench`.
OVERHEAD_S = 0.35
# In virtual time it is the processor that a load costs: a copy of a guest, and what it transfers.
GUEST_S = 1.0
GUEST_S_PER_MB = 0.5
# What an end leaves for each byte that comes: whole packets, their headers, a qlog (docs/costs.md).
CAPTURE_PER_BYTE = 1.1
HEADERS_PER_BYTE = 0.2
QLOG_PER_BYTE = 1.9
QUIC = frozenset({"h3", "hq"})


def expected_plt_s(cell: Cell, arm: Arm) -> float:
    """A rough page load time, for planning only, seconds.

    Handshake and slow start in round trips, then the rate.
    """
    workload = cell["workload"]
    rtt = cell["link"]["rtt_ms"] / 1000
    if kind_of(workload) == "bulk":
        return float(workload["bulk"]["seconds"])
    if kind_of(workload) == "player":
        # Its rate follows the link's, so that it comes about as fast as it is played.
        return video_of(workload).duration_s
    size = load_bytes(workload)
    connections = connections_of(arm)
    slow_start = math.log2(1 + size / (connections * 14600))
    # Flows beside it take their part of the rate, and the load waits for them.
    size += bytes_beside(cell)
    one_by_one = arm["protocol"] == "h1" or fetch_mode(workload) == "sequential"
    requests = requests_of(workload) / connections if one_by_one else 1
    return (4 + max(slow_start, requests)) * rtt + size / rate(cell, arm)


def bytes_beside(cell: Cell) -> int:
    """Expected size of what flows beside the arm load, bytes."""
    return sum(load_bytes(flow["workload"]) for flow in cell.get("beside", []))


def connections_of(arm: Arm) -> int:
    """How many connections a browser opens to one host (HTTP/1.1: six)."""
    return 6 if arm["protocol"] == "h1" else 1


def rate(cell: Cell, arm: Arm) -> float:
    """What a load can reach, for planning only, bytes per second.

    The smaller of the link's rate and of what a loss-based sender reaches: MSS/RTT · sqrt(3/2p),
    Mathis et al., CCR 27(3), 1997.
    """
    link = cell["link"]
    loss, rtt = link["loss_percent"] / 100, max(link["rtt_ms"] / 1000, 0.001)
    # A bucket lets pass as much as most loads have.
    if link["bandwidth_mbit"] == "unshaped" or link.get("burst_bytes"):
        return UNSHAPED_RATE
    whole = float(link["bandwidth_mbit"]) * 1e6 / 8
    # Each two packets down are acknowledged by one up, of about a twentieth of their size.
    whole = min(whole, 20 * float(link.get("bandwidth_up_mbit", math.inf)) * 1e6 / 8)
    if not loss:
        return whole
    return min(whole, connections_of(arm) * 1460 / rtt * math.sqrt(1.5 / loss))


def expected_repetition_s(study: ResolvedStudy, cell: Cell) -> float:
    """Expected wall time of one repetition by all arms of a cell, seconds."""
    return sum(
        min(expected_plt_s(cell, arm), study["timeout_s"]) + OVERHEAD_S + start_cost(arm)["wall_s"]
        for arm in arms_of(study, cell)
    )


def expected_wall_s(study: ResolvedStudy, cell: Cell) -> float:
    """What one repetition by all arms of a cell takes of the machine's own time, seconds."""
    if clock_of(cell) == "real":
        return expected_repetition_s(study, cell)
    return sum(
        GUEST_S
        + GUEST_S_PER_MB * (expected_bytes(cell, arm) + bytes_beside(cell)) / 1e6
        + start_cost(arm)["cpu_s"]
        for arm in arms_of(study, cell)
    )


def expected_bytes(cell: Cell, arm: Arm) -> float:
    """What a load brings: of a video what the link carries meanwhile, at most its largest size."""
    whole = load_bytes(cell["workload"])
    if kind_of(cell["workload"]) != "player":
        return whole
    return min(whole, rate(cell, arm) * expected_plt_s(cell, arm))


def start_cost(arm: Arm) -> dict[str, float]:
    """What a load costs an arm's client besides the transfer: `wall_s`, `cpu_s` (seconds), `processors`."""
    client = load_endpoints()[arm["client"]].declaration["client"]
    declared: dict[str, float] = client.get("start", {})
    return {"wall_s": 0.0, "cpu_s": 0.0, "processors": 0.0} | declared


def expected_disk(cell: Cell, arm: Arm, full: int, headers: int) -> float:
    """What loads of an arm leave in captures and qlogs of both ends, bytes.

    `full` of them keep whole packets, `headers` of them headers only.
    """
    observe = cell.get("observe", {"captures": True, "qlog": True})
    each = 0.0
    if observe.get("captures", True):
        each += 2 * (CAPTURE_PER_BYTE * full + HEADERS_PER_BYTE * headers)
    if observe.get("qlog", True) and arm["protocol"] in QUIC:
        each += qlogs_of(arm) * QLOG_PER_BYTE * (full + headers)
    return each * (expected_bytes(cell, arm) + bytes_beside(cell))


def qlogs_of(arm: Arm) -> int:
    """How many ends of an arm can write a qlog."""
    endpoints = load_endpoints()
    declared = (endpoints[arm[role]].declaration[role] for role in ROLES)
    return sum(bool(one.get("qlog")) for one in declared)
