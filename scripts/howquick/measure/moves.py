"""Changes of the client's address during a load, and when they were."""

from __future__ import annotations

import time
from typing import Any

from howquick.testbed.testbed import Testbed


class Moves:
    """Changes the client's address when it asks, and back after the load."""

    def __init__(self, bed: Testbed) -> None:
        self._bed = bed
        self.made: list[dict[str, Any]] = []

    def make(self) -> str:
        """Change the address now; returns the new one."""
        asked = time.time()
        address = self._bed.move_client()
        # Unix times: comparable with the captures and with the client's `start`.
        self.made.append({"asked": asked, "moved": time.time(), "address": address})
        return address

    def undo(self) -> None:
        """Give the client its first address back."""
        self._bed.reset_client()
