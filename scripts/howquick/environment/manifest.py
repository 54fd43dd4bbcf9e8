"""The environment's manifest: what is installed and where (written by `enter` or by the flake)."""

from __future__ import annotations

import os
import sys
from functools import cache
from pathlib import Path
from typing import Any

from howquick.errors import UserError
from howquick.files import read_json


@cache
def load_manifest() -> dict[str, Any]:
    """The manifest named by HOWQUICK_MANIFEST. Raises UserError outside the environment."""
    name = os.environ.get("HOWQUICK_MANIFEST")
    if not name:
        raise UserError(
            "HOWQUICK_MANIFEST is not set: this is not the project's environment. "
            "Start with ./enter (or nix develop) and run the command inside it."
        )
    try:
        manifest: dict[str, Any] = read_json(Path(name))
    except FileNotFoundError:
        raise UserError(
            f"{name}: the environment's manifest is gone. Start ./enter anew."
        ) from None
    return manifest


def prefix_of(program: str) -> Path | None:
    """The folder a program is installed in; None for one that the environment does not have."""
    entry = load_manifest().get("programs", {}).get(program)
    return Path(entry["prefix"]) if entry else None


def folders_of(program: str) -> list[Path]:
    """What a program consists of beside the system: its own folder, if it was built, and this Python."""
    prefix = prefix_of(program)
    built = [prefix] if prefix and prefix != Path("/usr") else []
    return [*built, Path(sys.prefix)]


def environment_hash() -> str:
    """Hash of everything that is installed, stored with every result."""
    installed: str = load_manifest()["hash"]
    return installed
