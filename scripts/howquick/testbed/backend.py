"""What every way to make a link can do."""

from __future__ import annotations

from typing import Any, Protocol

from howquick.testbed.link import Link
from howquick.testbed.namespace import Namespace

SEEDS = 2**64
# As `tc -s -j qdisc show` tells them.
Qdiscs = list[dict[str, Any]]


class Backend(Protocol):
    """A link between the router's interfaces `to-client` and `to-server`, or none.

    name: as in results (`netem`, `rattan`, `direct`).
    bridged: frames arrive as they are sent; otherwise the router forwards IP.
    serialises: a frame on an idle link takes its length divided by the rate (a bucket of tokens lets a
        first frame pass at once); known once the link is made.
    """

    name: str
    bridged: bool
    serialises: bool

    def start(self, spaces: dict[str, Namespace], link: Link) -> None:
        """Make the link between the namespaces; packets flow on return."""

    def stop(self) -> None:
        """End it; may be called twice."""

    def alive(self) -> bool:
        """Whether packets still flow."""

    def seed(self, up: int, down: int) -> None:
        """Restart the losses of both directions from seeds and zero the counts."""

    def counters(self, qdiscs: Qdiscs | None = None) -> dict[str, Any]:
        """{"up": {"entered", "lost", "queue_dropped", …}, "down": {…}} since the last seed.

        qdiscs: the router's, where they have been read already.
        """

    def drops(self) -> dict[str, list[list[Any]]] | None:
        """Each packet dropped since the last seed, by direction: [index, cause, bytes, time in μs].

        None where the backend does not tell them apart. A long list is cut.
        """

    def version(self) -> str:
        """What runs, in a line."""
