"""The flake, evaluated and built by the real Nix in a store of its own; nixpkgs is standin/ or a tree."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from howquick.errors import ROOT

STANDIN = Path(__file__).parent / "standin"
SETTINGS = """\
build-users-group =
experimental-features = nix-command flakes
flake-registry =
sandbox = false
substitute = false
"""
PARTS = (
    "flake.nix",
    "flake.lock",
    "nix",
    "environment",
    "envs",
    "R",
    "config",
    "scripts",
    "Snakefile",
)
UNREAD = shutil.ignore_patterns("node_modules", "target", "__pycache__", ".*_cache", ".*.swp")


def copy(source: Path, target: Path) -> None:
    """A folder or a file, links followed as Nix would not."""
    if source.is_dir():
        shutil.copytree(source, target, symlinks=True, ignore=UNREAD)
    else:
        shutil.copy2(source, target)


class Flake:
    """A copy of the project in `folder`, that a test may change, and a store that tests share.

    nixpkgs: a tree to evaluate against, in place of the stand-in.
    """

    def __init__(self, folder: Path, store: Path, nixpkgs: Path | None = None) -> None:
        self.tree, self.standin = folder / "tree", folder / "standin"
        self.tree.mkdir()
        for part in PARTS:
            copy(ROOT / part, self.tree / part)
        copy(STANDIN, self.standin)
        self.nixpkgs = nixpkgs or self.standin
        self.environment = {
            **os.environ,
            "HOME": str(folder),
            "NIX_CONFIG": SETTINGS,
            "NIX_CONF_DIR": str(store / "conf"),
            "NIX_LOG_DIR": str(store / "log"),
            "NIX_STATE_DIR": str(store / "var"),
            "NIX_STORE_DIR": str(store / "store"),
            "XDG_CACHE_HOME": str(store / "cache"),
        }

    def run(
        self, verb: str, *arguments: str, attribute: str = ""
    ) -> subprocess.CompletedProcess[str]:
        """`nix <verb>` of an output, offline but for what is fetched by hash."""
        reference = f"path:{self.tree}" + (f"#{attribute}" if attribute else "")
        command = ["nix", *verb.split(), reference, "--no-write-lock-file"]
        command += ["--override-input", "nixpkgs", f"path:{self.nixpkgs}", *arguments]
        return subprocess.run(
            command, env=self.environment, capture_output=True, text=True, check=False
        )
