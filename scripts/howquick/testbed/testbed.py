"""Client, router and server in namespaces of their own, joined by one described link."""

from __future__ import annotations

import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from howquick.testbed import congestion_control as congestion
from howquick.testbed import network, paths, probe, readings
from howquick.testbed.abilities import why_not
from howquick.testbed.backend import SEEDS, Backend, Qdiscs
from howquick.testbed.direct import Direct
from howquick.testbed.errors import TestbedError
from howquick.testbed.link import Link
from howquick.testbed.namespace import Namespace
from howquick.testbed.netem import Netem
from howquick.testbed.rattan import Rattan
from howquick.testbed.sandbox import current_sandbox, in_guest

PROBE_MARGIN_S = 0.02
# Of 1 the kernel's TCP asks for ECN; of 2, its default, it agrees when it is asked.
TCP_ECN, ASK_FOR_ECN = "net/ipv4/tcp_ecn", "1"


class Testbed:
    """The three namespaces and the link between them; a context manager.

        sandbox = enter_sandbox()
        with Testbed(Link(10, 18, 2, 200), scratch=sandbox.scratch) as bed:
            bed.set_congestion_control("cubic")
            bed.seed(up=1, down=2)
            server = bed.server.popen(["nginx", …])

    link: what is asked for; its mtu_bytes is the MTU of every interface.
    backend: `netem`, `rattan`, or None for what the capability probe chooses.
    scratch: folder for the emulator's log, made if it is missing.
    delay_offset_ms: taken off the round-trip delay that is set, to make up for the backend's own
        latency as calibration measured it (`delay_offset_ms` in its output).

    Must be used inside the sandbox (howquick.testbed.sandbox.enter_sandbox); one at a time.

    client, server: Namespace with `.popen`, `.run`, `.entered`, `.interface`, `.address`.
    router: Namespace in which the link is made.
    backend: the Backend that makes it.
    """

    # pytest collects classes whose name starts with "Test"; this one is not a test.
    __test__ = False

    def __init__(
        self,
        link: Link,
        backend: str | None = None,
        *,
        scratch: Path,
        delay_offset_ms: float = 0.0,
    ) -> None:
        if current_sandbox() is None:
            raise TestbedError("a testbed is made inside the sandbox: call enter_sandbox() first")
        self.link = link
        self.delay_offset_ms = delay_offset_ms
        kind = "direct" if link.unshaped else backend or probe.choose_backend().name
        if why := why_not(kind, link):
            raise TestbedError(f"this link cannot be made here: {why}")
        self.backend = make_backend(kind, scratch)
        self._spaces: dict[str, Namespace] = {}
        self._congestion_control: tuple[str, int | None] | None = None
        self._asks_for_ecn = False
        self._usual_ecn: str | None = None
        self._moves = 0
        self._probed: set[str] = set()
        self._paths: dict[int, tuple[str, int | None]] = {}

    def __enter__(self) -> Self:
        """Make namespaces, interfaces and link; packets flow on return."""
        try:
            make = network.make_direct_namespaces if self.link.unshaped else network.make_namespaces
            self._spaces = make(self.link.mtu_bytes)
            network.configure(self._spaces, self.backend.bridged, self.link.offloads)
            self.backend.start(self._spaces, self.link.sooner(self.delay_offset_ms))
        except BaseException:
            self._close()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop the emulator and remove the namespaces."""
        self._close()

    def _close(self) -> None:
        self.backend.stop()
        if not in_guest():
            network.remove_namespaces()

    @property
    def client(self) -> Namespace:
        """Where clients run; 10.0.1.1."""
        return self._spaces["client"]

    @property
    def server(self) -> Namespace:
        """Where servers run; 10.0.2.1."""
        return self._spaces["server"]

    @property
    def router(self) -> Namespace:
        """Between the two; the link is made here. An unshaped link has none."""
        return self._spaces["router"]

    @property
    def emulator_pid(self) -> int | None:
        """The process that makes the link; None where the kernel does."""
        return self.backend.pid if isinstance(self.backend, Rattan) else None

    def move_client(self) -> str:
        """Change the client's address on the link; returns the new one. The old one is gone."""
        self._moves += 1
        return self._move_to(f"10.0.{network.CLIENT.subnet}.{1 + self._moves}")

    def reset_client(self) -> None:
        """Give the client its first address back, if it was moved."""
        if self._moves:
            self._moves = 0
            self._move_to(network.CLIENT.address)

    def _move_to(self, address: str) -> str:
        network.move_client(self._spaces, self.backend.bridged, address)
        # Set anew: what it was set for has gone with the old address.
        if self._congestion_control:
            control, window = self._congestion_control
            congestion.set_on_route(self.client, network.CLIENT.route, control, window)
        else:
            self.client.run(["ip", "route", "replace", *network.CLIENT.route.split()])
        return address

    def set_ecn(self, asked: bool) -> None:
        """Whether TCP of the client asks for ECN (RFC 3168); the server's agrees to it as it is.

        Where nobody asks, it stays as the kernel has it.
        """
        if asked == self._asks_for_ecn:
            return
        if self._usual_ecn is None:
            self._usual_ecn = str(network.read_sysctls(self.client, [TCP_ECN])[TCP_ECN])
        value = ASK_FOR_ECN if asked else self._usual_ecn
        network.write_sysctls(self.client, {TCP_ECN: value})
        self._asks_for_ecn = asked

    def set_congestion_control(self, name: str, initial_window: int | None = None) -> None:
        """Make TCP of both ends use `name` (cubic, bbr, reno), by the routes, and read it back.

        initial_window: of TCP, in packets; None for the kernel's own.

        Cheap when nothing changes. The first use of a name sends one SYN each way to find out
        what a socket really uses, and returns when the answers have left the link (an RTT). Raises
        TestbedError if the kernel does not have it or does not obey.
        """
        if (name, initial_window) == self._congestion_control:
            return
        is_new = name not in self._probed
        congestion.set_on_both_ends(self._spaces, name, is_new, initial_window)
        if is_new:
            # A late answer would take a draw of the losses that belong to the next load.
            time.sleep(self.link.rtt_ms / 1e3 + PROBE_MARGIN_S)
            self._probed.add(name)
        self._congestion_control = (name, initial_window)

    def set_path(self, number: int, control: str, initial_window: int | None = None) -> str:
        """Addresses of a further flow (1, 2, …) with its own settings of TCP; returns the server's.

        Cheap when nothing changes. Raises TestbedError if the kernel does not have the control.
        """
        if number not in self._paths:
            paths.add_path(self._spaces, self.backend.bridged, number)
        if self._paths.get(number) != (control, initial_window):
            paths.set_path(self._spaces, number, control, initial_window)
            self._paths[number] = (control, initial_window)
        return paths.path_address(network.SERVER, number)

    def seed(self, up: int, down: int) -> None:
        """Restart the loss of each direction from a seed (0 … 2^64-1) and zero the loss counts.

        up is client to server. Equal seeds lose the packets of equal index. Call it while the
        link is quiet.
        """
        for seed in (up, down):
            if not 0 <= seed < SEEDS:
                raise TestbedError(f"seed {seed} does not lie in 0 … 2^64-1")
        self.backend.seed(up, down)

    def replay(self) -> int | None:
        """Let the rates follow their traces from the next full second on, nanoseconds since 1970.

        Before, and after the next `seed`, the link has its mean rate. None for a link without a trace.
        """
        return self.backend.replay() if isinstance(self.backend, Netem) else None

    def counters(self) -> dict[str, Any]:
        """Counters now; take them before and after and compare.

        {"emulator": {"up": {"entered", "lost", "queue_dropped", "sent", …}, "down": {…}, …},
         "interfaces": {"client/eth0": {"rx_packets", "tx_bytes", …}, "router/to-client": …},
         "qdiscs": {"router": [as tc -s -j qdisc]},
         "udp": {"client": {"RcvbufErrors", …}, "server": …},
         "tcp": {"client": {"RetransSegs", …}, "server": …},
         "backlog_drops": of the whole machine}
        Those of `emulator` count since the last `seed` (packets that entered the link; lost at
        random; dropped by the full queue; with rattan also `late`: sent more than 1 ms after
        their time, `late_max_us`, `socket_dropped`: AF_PACKET drops), the others since the start.
        emulator["socket_dropped"] is the sum of both directions (0 with netem): above 0 the link
        lost what it should not have lost.
        """
        ends = (self.client, self.server)
        interfaces: dict[str, dict[str, int]] = {}
        for space in self._spaces.values():
            interfaces |= readings.interface_counters(space)
        qdiscs = {
            space.name: readings.qdisc_counters(space)
            for space in self._spaces.values()
            if space.name == "router"
        }
        return {
            "emulator": self._emulator_counters(qdiscs.get("router")),
            "interfaces": interfaces,
            "qdiscs": qdiscs,
            "udp": {space.name: readings.protocol_counters(space, "Udp") for space in ends},
            "tcp": {space.name: readings.protocol_counters(space, "Tcp") for space in ends},
            "backlog_drops": readings.backlog_drops(),
        }

    def drops(self) -> dict[str, list[list[Any]]] | None:
        """Each packet that the link dropped since the last `seed`; None where that is not known.

        {"up": [[index among those that entered, "loss" or "queue", bytes, time in microseconds
        since 1970], …], "down": […]}, the first 20,000 of each.
        """
        return self.backend.drops()

    def _emulator_counters(self, qdiscs: Qdiscs | None) -> dict[str, Any]:
        counters = self.backend.counters(qdiscs)
        dropped = sum(counters[way].get("socket_dropped", 0) for way in ("up", "down"))
        return counters | {"socket_dropped": dropped}

    def settings(self) -> dict[str, Any]:
        """What was made, read back from the kernel.

        {"link", "queue_bytes", "backend", "backend_version", "delay_offset_ms",
         "congestion_control", "offloads": {"client/eth0": {name: on?}}, "sysctls": {namespace:
         {name: value}}, "qdiscs": {namespace: […]}, "routes": {namespace: […]}}
        """
        return {
            "link": self.link.to_dict(),
            "queue_bytes": self.link.queue_bytes,
            "backend": self.backend.name,
            "backend_version": self.backend.version(),
            "delay_offset_ms": self.delay_offset_ms,
            "congestion_control": self._congestion_control and self._congestion_control[0],
            "initial_window_packets": self._congestion_control and self._congestion_control[1],
            **readings.settings(self._spaces),
        }

    def alive(self) -> bool:
        """Whether the link still works: the emulator runs (netem cannot die)."""
        return self.backend.alive()


def make_backend(name: str, scratch: Path) -> Backend:
    """The backend of this name. Raises TestbedError if there is none."""
    if name == "netem":
        return Netem()
    if name == "direct":
        return Direct()
    if name == "rattan":
        scratch.mkdir(parents=True, exist_ok=True)
        return Rattan(scratch / "link-emulator.log")
    raise TestbedError(f"there is no backend {name}: choose netem or rattan (or direct, unshaped)")
