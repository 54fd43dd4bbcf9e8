"""No link at all: one bare veth pair between client and server."""

from __future__ import annotations

from typing import Any

from howquick.testbed import readings, system
from howquick.testbed.backend import Qdiscs
from howquick.testbed.errors import TestbedError
from howquick.testbed.link import Link
from howquick.testbed.namespace import Namespace

# The interface whose sent packets enter a direction, and that at which they arrive.
ENDS = {"up": ("client", "server"), "down": ("server", "client")}


class Direct:
    """Backend of an unshaped link: the kernel hands packets over by itself."""

    name = "direct"
    bridged = True
    serialises = False

    def __init__(self) -> None:
        self._spaces: dict[str, Namespace] = {}
        self._before: dict[str, dict[str, int]] = {}

    def start(self, spaces: dict[str, Namespace], link: Link) -> None:
        """Nothing is to be made. Raises TestbedError for a link that asks for more."""
        if not link.unshaped:
            raise TestbedError("without an emulator a link can only be unshaped")
        self._spaces = spaces
        self._before = self._totals()

    def stop(self) -> None:
        """Nothing is to be ended."""
        self._spaces = {}

    def alive(self) -> bool:
        """Whether it was started."""
        return bool(self._spaces)

    def seed(self, up: int, down: int) -> None:
        """Zero the counts: nothing is lost at random, whatever the seeds."""
        del up, down
        self._before = self._totals()

    def counters(self, qdiscs: Qdiscs | None = None) -> dict[str, Any]:
        """Packets that the interfaces counted since the last seed."""
        del qdiscs
        now = self._totals()
        return {
            way: {name: now[way][name] - before[name] for name in before}
            for way, before in self._before.items()
        }

    def drops(self) -> None:
        """Nothing is dropped but by the ends."""

    def version(self) -> str:
        """The kernel whose veth it is."""
        return f"veth of Linux {system.run(['uname', '-r']).strip()}"

    def _totals(self) -> dict[str, dict[str, int]]:
        if not self._spaces:
            raise TestbedError("the link is not set up")
        counts = {
            end: readings.interface_counters(space)[f"{end}/eth0"]
            for end, space in self._spaces.items()
        }
        return {
            way: {
                "entered": counts[source]["tx_packets"],
                "lost": 0,
                "queue_dropped": counts[source]["tx_dropped"] + counts[target]["rx_dropped"],
                "sent": counts[target]["rx_packets"],
            }
            for way, (source, target) in ENDS.items()
        }
