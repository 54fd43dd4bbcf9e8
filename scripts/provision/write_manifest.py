"""Writes the manifest of the environment: what is installed, in which version, with which hash.

`write_manifest.py CACHE SUITE PACKAGES PROGRAMS`: PACKAGES is the table that install_packages.sh
left (name, version, architecture, SHA-256), PROGRAMS has one line for each program (name, prefix,
hash, folder of its sources). Prints the manifest's path.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

LOCKS = (
    "Cargo.lock",
    "go.sum",
    "package-lock.json",
    "requirements.lock",
    "build-requirements.lock",
    "source.json",
)


def rows(text: str) -> list[list[str]]:
    """Lines of tab-separated fields."""
    return [line.split("\t") for line in text.splitlines() if line]


def describe_debian(suite: str, table: list[list[str]]) -> dict[str, Any]:
    """Versions and hashes of the Debian packages, by name."""
    return {
        "suite": suite,
        "packages": {name: version for name, version, _, _ in table},
        "sha256": {name: sha256 for name, _, _, sha256 in table if sha256},
    }


def describe_program(folder: Path, prefix: str, digest: str) -> dict[str, Any]:
    """Where a program is, and the hashes of its locks by file name."""
    locks = {
        lock.name: hashlib.sha256(lock.read_bytes()).hexdigest()
        for lock in (folder / known for known in LOCKS)
        if lock.is_file()
    }
    return {"prefix": prefix, "hash": digest, "locks": locks}


def write_whole(path: Path, content: dict[str, Any]) -> None:
    """JSON file that is whole or absent."""
    unfinished = path.with_suffix(f".{os.getpid()}")
    with unfinished.open("w", encoding="utf-8") as stream:
        stream.write(json.dumps(content, indent=1, sort_keys=True) + "\n")
        stream.flush()
        os.fsync(stream.fileno())
    unfinished.rename(path)
    folder = os.open(path.parent, os.O_RDONLY)
    os.fsync(folder)
    os.close(folder)


def main() -> None:
    """Command line."""
    cache, suite, packages, programs = sys.argv[1:]
    content: dict[str, Any] = {
        "way": "enter",
        "debian": describe_debian(suite, rows(Path(packages).read_text(encoding="utf-8"))),
        "programs": {
            name: describe_program(Path(folder), prefix, digest)
            for name, prefix, digest, folder in rows(programs)
        },
    }
    # The hash is of what is installed, not of when or where.
    essence = {
        **content,
        "programs": {
            name: {key: value for key, value in program.items() if key != "prefix"}
            for name, program in content["programs"].items()
        },
    }
    digest = hashlib.sha256(json.dumps(essence, sort_keys=True).encode()).hexdigest()[:16]
    path = Path(cache) / f"manifest-{digest}.json"
    if not path.exists():
        built = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        write_whole(path, {**content, "hash": digest, "built": built})
    print(path)


if __name__ == "__main__":
    main()
