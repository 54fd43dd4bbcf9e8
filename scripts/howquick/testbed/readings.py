"""Counters and settings as the kernel tells them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from howquick.testbed import congestion_control as congestion
from howquick.testbed import network
from howquick.testbed.namespace import Namespace

SYSCTLS = [
    "net/core/rmem_max",
    "net/core/wmem_max",
    "net/core/rmem_default",
    "net/core/wmem_default",
    "net/core/default_qdisc",
    "net/core/netdev_max_backlog",
    "net/ipv4/ip_forward",
    "net/ipv4/tcp_adv_win_scale",
    "net/ipv4/tcp_congestion_control",
    "net/ipv4/tcp_ecn",
    "net/ipv4/tcp_fastopen",
    "net/ipv4/tcp_mtu_probing",
    "net/ipv4/tcp_no_metrics_save",
    "net/ipv4/tcp_rmem",
    "net/ipv4/tcp_sack",
    "net/ipv4/tcp_slow_start_after_idle",
    "net/ipv4/tcp_timestamps",
    "net/ipv4/tcp_window_scaling",
    "net/ipv4/tcp_wmem",
    "net/ipv6/conf/all/disable_ipv6",
]
COUNTED = ("bytes", "packets", "errors", "dropped")
# What tc writes in place of options that it cannot read.
NOT_JSON = re.compile(r"\{\s*\[Unknown qdisc, optlen=\d+\]\s*\}")
OFFLOAD_NAMES = {
    "tcp-segmentation-offload",
    "generic-segmentation-offload",
    "generic-receive-offload",
    "tx-udp-segmentation",
    "tx-checksumming",
    "rx-checksumming",
    "scatter-gather",
}


def interface_counters(space: Namespace) -> dict[str, dict[str, int]]:
    """`client/eth0`: {rx_bytes, rx_packets, rx_errors, rx_dropped, tx_…} of every interface but lo.

    From /proc/net/dev, whose columns are proc(5)'s.
    """
    with space.entered():
        lines = Path("/proc/thread-self/net/dev").read_text(encoding="ascii").splitlines()
    counters = {}
    for name, _, values in (line.partition(":") for line in lines[2:]):
        numbers = list(map(int, values.split()))
        ways = {"rx": numbers[:4], "tx": numbers[8:12]}
        counters[f"{space.name}/{name.strip()}"] = {
            f"{way}_{what}": number
            for way, of_way in ways.items()
            for what, number in zip(COUNTED, of_way, strict=True)
        }
    counters.pop(f"{space.name}/lo", None)
    return counters


def qdisc_counters(space: Namespace) -> list[dict[str, Any]]:
    """`tc -s -j qdisc show`; of one that tc does not know, what all have."""
    text = space.run(["tc", "-s", "-j", "qdisc", "show"]).stdout or "[]"
    answer: list[dict[str, Any]] = json.loads(NOT_JSON.sub("{}", text))
    return answer


def protocol_counters(space: Namespace, protocol: str) -> dict[str, int]:
    """The counters of /proc/net/snmp for `Udp`, `Tcp` or `Ip` in the namespace."""
    with space.entered():
        text = Path("/proc/thread-self/net/snmp").read_text(encoding="ascii")
    rows = [line.split()[1:] for line in text.splitlines() if line.startswith(f"{protocol}:")]
    return {name: int(value) for name, value in zip(*rows, strict=True)}


def backlog_drops() -> int:
    """Packets that full per-processor backlogs dropped, in the whole machine, since its start."""
    text = Path("/proc/net/softnet_stat").read_text(encoding="ascii")
    return sum(int(line.split()[1], 16) for line in text.splitlines())


def offloads(space: Namespace, interface: str) -> dict[str, bool]:
    """Which of the offloads that change what a packet is are on."""
    text = space.run(["ethtool", "-k", interface]).stdout
    found = {}
    for line in text.splitlines():
        name, _, state = line.strip().partition(": ")
        if name in OFFLOAD_NAMES:
            found[name] = state.startswith("on")
    return found


def settings(spaces: dict[str, Namespace]) -> dict[str, Any]:
    """Offloads, sysctls, qdiscs and routes of all namespaces."""
    interfaces = [(end.name, "eth0") for end in network.ENDS]
    if "router" in spaces:
        interfaces += [("router", end.router_interface) for end in network.ENDS]
    return {
        "offloads": {f"{name}/{port}": offloads(spaces[name], port) for name, port in interfaces},
        "sysctls": {n: network.read_sysctls(space, SYSCTLS) for n, space in spaces.items()},
        "qdiscs": {n: qdisc_counters(space) for n, space in spaces.items()},
        "routes": {n: congestion.read_routes(space) for n, space in spaces.items()},
    }
