"""Prints where two environments differ: `compare_manifests.py MANIFEST MANIFEST`.

One made by `./enter`, one by Nix ($HOWQUICK_MANIFEST inside either). Locked programs must agree: the exit
status is 1 if a lock is another one. What a distribution chooses may differ and is shown with both versions.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

# Debian's names where nixpkgs has others.
DEBIAN_NAMES = {
    "R": "r-base-core",
    "nghttp2": "nghttp2-server",
    "wireshark-cli": "tshark",
    "xz": "xz-utils",
}


def read(path: str) -> dict[str, Any]:
    """A manifest. Ends the program with one line if there is none."""
    try:
        content: dict[str, Any] = json.loads(Path(path).read_text(encoding="utf-8"))
        content["way"], content["programs"]
    except (OSError, ValueError, KeyError) as error:
        sys.exit(
            f"{path}: not a manifest ({error}); $HOWQUICK_MANIFEST names one in each environment"
        )
    return content


def packages(manifest: dict[str, Any]) -> dict[str, str]:
    """Upstream versions of what a distribution provides, by Debian's names."""
    if manifest["way"] == "nix":
        own = manifest["nixpkgs"]["packages"]
        # R comes in a wrapper that names its packages.
        return {
            DEBIAN_NAMES.get(name, name): version.removesuffix("-wrapper")
            for name, version in own.items()
            if version
        }
    listed = manifest.get("debian", {}).get("packages", {})
    return {name: upstream(version) for name, version in listed.items()}


def upstream(version: str) -> str:
    """A Debian version without epoch, revision and what Debian adds to upstream's."""
    return re.sub(r"[+~](dfsg|ds|really|git|deb).*$", "", version.split(":")[-1].rsplit("-", 1)[0])


def different_locks(one: dict[str, Any], other: dict[str, Any]) -> list[str]:
    """Programs that both have, with a lock that is not the same in both."""
    shared = one["programs"].keys() & other["programs"].keys()
    pairs = {name: (one["programs"][name], other["programs"][name]) for name in shared}
    return sorted(n for n, (a, b) in pairs.items() if a.get("locks", {}) != b.get("locks", {}))


def main() -> None:
    """Command line."""
    if len(sys.argv) != 3:
        sys.exit("usage: compare_manifests.py MANIFEST MANIFEST")
    one, other = read(sys.argv[1]), read(sys.argv[2])
    mine, theirs = packages(one), packages(other)
    print(f"{'package':24} {one['way']:20} {other['way']}")
    for name in sorted(mine.keys() & theirs.keys()):
        if mine[name] != theirs[name]:
            print(f"{name:24} {mine[name]:20} {theirs[name]}")
    locks = different_locks(one, other)
    print(f"programs with different locks: {', '.join(locks) or 'none'}")
    sys.exit(1 if locks else 0)


if __name__ == "__main__":
    main()
