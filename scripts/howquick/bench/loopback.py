"""Both ends in one namespace, on its loopback interface: what a program does without a testbed."""

from __future__ import annotations

from typing import Self

from howquick.testbed import network, system
from howquick.testbed.namespace import Namespace

NAME = "loopback"
ADDRESS = "127.0.0.1"


class Loopback:
    """Stands in for a Testbed where programs are only started and left to talk.

    mtu_bytes: of the interface. offloads: as in Link. Segmentation, and thereby the number of packets, is
    the same then as on a bare pair of interfaces.
    """

    def __init__(self, mtu_bytes: int, offloads: str) -> None:
        self._mtu, self._offloads = mtu_bytes, offloads
        self.client = self.server = Namespace(NAME, "lo", ADDRESS)

    def __enter__(self) -> Self:
        system.run(["ip", "netns", "add", NAME])
        network.write_sysctls(self.client, network.END_SYSCTLS)
        network.set_offloads(self.client, "lo", self._offloads)
        self.client.run(["ip", "link", "set", "lo", "mtu", str(self._mtu), "up"])
        return self

    def __exit__(self, *_: object) -> None:
        system.run(["ip", "netns", "del", NAME], check=False)
