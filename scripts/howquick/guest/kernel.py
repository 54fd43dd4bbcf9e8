"""The kernel of virtual time, as the environment has it."""

from __future__ import annotations

from typing import Any

from howquick.environment.manifest import load_manifest
from howquick.errors import UserError


def kernel_entry() -> dict[str, Any]:
    """The manifest's entry of the kernel (`prefix`, `hash`). Raises UserError if there is none."""
    entry: dict[str, Any] | None = load_manifest().get("programs", {}).get("kernel")
    if entry is None:
        raise UserError(
            "the environment has no kernel for virtual time. Start ./enter anew, which builds it; on other "
            "processors than x86-64 there is none, and the clock is real."
        )
    return entry
