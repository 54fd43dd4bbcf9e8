"""Client, router and server: namespaces, interfaces, addresses, routes, offloads, sysctls.

    client eth0 10.0.1.1  <-->  to-client [router] to-server  <-->  eth0 10.0.2.1 server

All neighbours are fixed entries, so that no ARP ever crosses the link. An emulator that copies
frames between the router's interfaces gets frames that already bear the far end's hardware
address; a router that forwards IP gets frames addressed to itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from howquick.testbed import system
from howquick.testbed.errors import TestbedError
from howquick.testbed.namespace import Namespace

NAMES = ("client", "router", "server")
# By the names of `ethtool -K`. With `udp` a datagram that a program sends in one piece stays whole up to a
# receiver that asks for that; merging by GRO is off, since it would merge TCP's segments too.
OFFLOADS = {
    "off": dict.fromkeys(("tso", "gso", "gro", "tx", "rx", "sg"), "off"),
    "udp": {"tx": "on", "rx": "on", "sg": "on", "tx-udp-segmentation": "on"}
    | dict.fromkeys(("tso", "gso", "gro"), "off"),
}

# The kernel's own defaults, set so that they are the same on every host.
END_SYSCTLS = {
    "net/ipv4/tcp_no_metrics_save": "1",
    "net/ipv4/tcp_rmem": "4096 131072 6291456",
    "net/ipv4/tcp_wmem": "4096 16384 4194304",
    "net/ipv4/ping_group_range": "0 0",
}
NO_IPV6 = {"net/ipv6/conf/all/disable_ipv6": "1", "net/ipv6/conf/default/disable_ipv6": "1"}
FORWARDING = {"net/ipv4/ip_forward": "1", "net/ipv4/conf/all/rp_filter": "0"}


@dataclass(frozen=True)
class End:
    """One end of the link: its name, subnet (third byte of the addresses) and its far end."""

    name: str
    subnet: int
    far_subnet: int

    @property
    def address(self) -> str:
        """IPv4 address of the end."""
        return f"10.0.{self.subnet}.1"

    @property
    def gateway(self) -> str:
        """IPv4 address of its next hop."""
        return f"10.0.{self.subnet}.254"

    @property
    def hardware(self) -> str:
        """Hardware address of the end's interface."""
        return hardware_address(self.subnet, 1)

    @property
    def router_interface(self) -> str:
        """The other end of its veth pair."""
        return f"to-{self.name}"

    @property
    def route(self) -> str:
        """The route to the far end, as `ip route` takes and prints it."""
        return f"10.0.{self.far_subnet}.0/24 via {self.gateway} dev eth0"


CLIENT = End("client", 1, 2)
SERVER = End("server", 2, 1)
ENDS = (CLIENT, SERVER)


def hardware_address(subnet: int, host: int) -> str:
    """A locally administered MAC address."""
    return f"02:00:0a:00:{subnet:02x}:{host:02x}"


def make_direct_namespaces(mtu: int) -> dict[str, Namespace]:
    """Make client and server and one veth pair between them, still down: no router, no link."""
    lines = [f"netns add {end.name}" for end in ENDS]
    lines.append(
        f"link add eth0 netns client mtu {mtu} address {CLIENT.hardware} type veth"
        f" peer name eth0 netns server mtu {mtu} address {SERVER.hardware}"
    )
    system.run(["ip", "-batch", "-"], "\n".join(lines))
    return {end.name: Namespace(end.name, "eth0", end.address) for end in ENDS}


def make_namespaces(mtu: int) -> dict[str, Namespace]:
    """Make the three namespaces and the veth pairs between them, all still down."""
    lines = [f"netns add {name}" for name in NAMES]
    for end in ENDS:
        lines.append(
            f"link add eth0 netns {end.name} mtu {mtu} address {end.hardware} type veth"
            f" peer name {end.router_interface} netns router mtu {mtu}"
            f" address {hardware_address(end.subnet, 254)}"
        )
    system.run(["ip", "-batch", "-"], "\n".join(lines))
    spaces = {end.name: Namespace(end.name, "eth0", end.address) for end in ENDS}
    return spaces | {"router": Namespace("router")}


def remove_namespaces() -> None:
    """Remove what make_namespaces made (interfaces go with them); what is missing is no error."""
    system.run(["ip", "-force", "-batch", "-"], "\n".join(f"netns del {n}" for n in NAMES), False)


def configure(spaces: dict[str, Namespace], bridged: bool, offloads: str = "off") -> None:
    """Offloads set, addresses, routes and neighbours on, sysctls set, everything up.

    bridged: frames reach the far end as they are (an emulator copies them, or there is no router);
    otherwise the router forwards IP. offloads: of the ends' interfaces, as in Link.
    """
    for end, far in ((CLIENT, SERVER), (SERVER, CLIENT)):
        space = spaces[end.name]
        write_sysctls(space, NO_IPV6, optional=True)
        write_sysctls(space, END_SYSCTLS)
        set_offloads(space, "eth0", offloads)
        next_hop = far.hardware if bridged else hardware_address(end.subnet, 254)
        lines = (
            "link set lo up",
            "link set eth0 up",
            f"addr add {end.address}/24 dev eth0",
            f"neigh replace {end.gateway} lladdr {next_hop} nud permanent dev eth0",
            f"route add {end.route}",
        )
        space.run(["ip", "-batch", "-"], input="\n".join(lines))
    if "router" in spaces:
        _configure_router(spaces["router"], bridged)


def _configure_router(router: Namespace, bridged: bool) -> None:
    write_sysctls(router, NO_IPV6, optional=True)
    lines = ["link set lo up"]
    for end in ENDS:
        set_offloads(router, end.router_interface, "off")
        lines.append(f"link set {end.router_interface} up")
        if not bridged:
            lines += [
                f"addr add {end.gateway}/24 dev {end.router_interface}",
                f"neigh replace {end.address} lladdr {end.hardware} nud permanent"
                f" dev {end.router_interface}",
            ]
    if not bridged:
        write_sysctls(router, FORWARDING)
    router.run(["ip", "-batch", "-"], input="\n".join(lines))


def limit_path_mtu(router: Namespace, mtu: int) -> None:
    """Make the router forward no longer IP packets, and say so to whoever sends them (RFC 1191).

    By its routes: interfaces of such an MTU would drop what comes in and is longer, in silence.
    """
    for end in ENDS:
        words = ["ip", "route", "replace", f"10.0.{end.subnet}.0/24", "dev", end.router_interface]
        router.run(
            [*words, "proto", "kernel", "scope", "link", "src", end.gateway, "mtu", f"{mtu}"]
        )


def set_offloads(space: Namespace, interface: str, which: str) -> None:
    """`off`: packets as on a wire, no merging, no missing checksums; `udp`, `default` as in Link."""
    if which != "default":
        words = [word for pair in OFFLOADS[which].items() for word in pair]
        space.run(["ethtool", "-K", interface, *words])


def move_client(spaces: dict[str, Namespace], bridged: bool, address: str) -> None:
    """Give the client another address of its subnet; the old one is gone on return.

    The interface, its hardware address and the connected route stay; the route to the server is
    taken along with the old address by some kernels, so it is the caller's to set again.
    """
    space, old = spaces[CLIENT.name], spaces[CLIENT.name].address
    # Otherwise the kernel removes the new address with the old, whose secondary it is.
    write_sysctls(space, {"net/ipv4/conf/all/promote_secondaries": "1"})
    if not bridged:
        spaces["router"].run(
            [
                "ip",
                "neigh",
                "replace",
                address,
                "lladdr",
                CLIENT.hardware,
                "nud",
                "permanent",
                "dev",
                CLIENT.router_interface,
            ],
        )
    lines = (f"addr add {address}/24 dev eth0", f"addr del {old}/24 dev eth0")
    space.run(["ip", "-batch", "-"], input="\n".join(lines))
    space.address = address


def write_sysctls(space: Namespace, values: dict[str, str], optional: bool = False) -> None:
    """Write sysctls (path under /proc/sys: value) in a namespace.

    optional: skip those that the kernel does not have. Raises TestbedError otherwise.
    """
    with space.entered():
        for name, value in values.items():
            path = Path("/proc/sys", name)
            if optional and not path.exists():
                continue
            try:
                path.write_text(value, encoding="ascii")
            except OSError as error:
                raise TestbedError(
                    f"sysctl {name} cannot be set to {value} in namespace {space.name}:"
                    f" {error.strerror}"
                ) from None


def read_sysctls(space: Namespace, names: list[str]) -> dict[str, str | None]:
    """Read sysctls in a namespace; None for those that are not there."""
    values: dict[str, str | None] = {}
    with space.entered():
        for name in names:
            try:
                text = Path("/proc/sys", name).read_text(encoding="ascii")
                values[name] = " ".join(text.split())
            except OSError:
                values[name] = None
    return values
