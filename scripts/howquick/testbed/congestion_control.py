"""Congestion control of TCP by route, and its read-back from real sockets."""

from __future__ import annotations

import json
import socket
from pathlib import Path

from howquick.testbed.errors import TestbedError
from howquick.testbed.namespace import Namespace
from howquick.testbed.network import CLIENT, SERVER

DISCARD_PORT = 9


def set_on_route(
    space: Namespace, route: str, name: str, initial_window: int | None = None
) -> None:
    """Make TCP that takes a route of a namespace use `name`. Raises TestbedError if that fails.

    route: as `ip route` takes it, made if it is missing. initial_window: in packets; None for the kernel's
    own (10, RFC 6928).

    The route is the one way that also works where `name` is not among
    net.ipv4.tcp_allowed_congestion_control, and without being root.
    """
    # The kernel takes any name for a route and then falls back in silence: hence the read-back.
    window = [] if initial_window is None else ["initcwnd", str(initial_window)]
    words = ["ip", "route", "replace", *route.split(), "congctl", name, *window]
    done = space.run(words, check=False)
    if done.returncode:
        raise TestbedError(f"congestion control {name} cannot be set: {done.stderr.strip()}")
    # One address is told without its length.
    destination = route.split()[0].removesuffix("/32")
    made = [one for one in read_routes(space) if one.get("dst") == destination]
    if name not in json.dumps(made):
        raise TestbedError(
            f"the kernel has no congestion control {name}: choose one of"
            f" {available_congestion_controls()}"
        )


def read_routes(space: Namespace) -> list[dict[str, object]]:
    """The routes of a namespace, as `ip -j route` tells them."""
    routes: list[dict[str, object]] = json.loads(space.run(["ip", "-j", "route", "show"]).stdout)
    return routes


def available_congestion_controls() -> str:
    """What this kernel has loaded."""
    file = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
    return file.read_text(encoding="ascii").strip()


def used_by_socket(space: Namespace, address: str) -> str:
    """The congestion control of a TCP socket that connects from `space` to `address`.

    One SYN is sent; nothing needs to listen there.
    """
    with space.entered():
        probe = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    with probe:
        probe.setblocking(False)
        probe.connect_ex((address, DISCARD_PORT))
        raw = probe.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16)
    return raw.split(b"\0", 1)[0].decode()


def set_on_both_ends(
    spaces: dict[str, Namespace], name: str, probe: bool, initial_window: int | None = None
) -> None:
    """Set the routes of client and server; with `probe`, look at a socket of each as well."""
    for end, far in ((CLIENT, SERVER), (SERVER, CLIENT)):
        space = spaces[end.name]
        set_on_route(space, end.route, name, initial_window)
        if probe and (used := used_by_socket(space, far.address)) != name:
            raise TestbedError(f"TCP in namespace {end.name} uses {used} though {name} was set")
