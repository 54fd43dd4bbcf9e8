"""Addresses of further flows on the same link: each has one at either end, and its own settings of TCP.

The kernel takes congestion control and initial window of a connection from its route. What flows share are
the interfaces, the link and its queues.
"""

from __future__ import annotations

from howquick.testbed.congestion_control import set_on_route
from howquick.testbed.namespace import Namespace
from howquick.testbed.network import CLIENT, ENDS, SERVER, End

# The last byte of the addresses of the first path; the ends' own and a moved client's are below.
FIRST_HOST = 101


def path_address(end: End, number: int) -> str:
    """The IPv4 address of one end of a path; paths count from 1."""
    return f"10.0.{end.subnet}.{FIRST_HOST + number - 1}"


def add_path(spaces: dict[str, Namespace], bridged: bool, number: int) -> None:
    """Give both ends their addresses of a path. No packet is sent for it."""
    for end in ENDS:
        address = path_address(end, number)
        spaces[end.name].run(["ip", "addr", "add", f"{address}/32", "dev", "eth0"])
        if not bridged:
            spaces["router"].run(
                ["ip", "neigh", "replace", address, "lladdr", end.hardware, "nud", "permanent",
                 "dev", end.router_interface]
            )  # fmt: skip


def set_path(
    spaces: dict[str, Namespace], number: int, control: str, initial_window: int | None
) -> None:
    """Make TCP of a path use `control` and a window (packets), at both ends, and read it back.

    What is sent to the path's far address leaves from its near one. Raises TestbedError as `set_on_route`.
    """
    for end, far in ((CLIENT, SERVER), (SERVER, CLIENT)):
        route = f"{path_address(far, number)}/32 via {end.gateway} dev eth0"
        source = f"src {path_address(end, number)}"
        set_on_route(spaces[end.name], f"{route} {source}", control, initial_window)
