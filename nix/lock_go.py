"""Writes vendorHash into the package.nix beside a go.mod, without Nix.

`lock_go.py FOLDER`: the hash is that of the archive (NAR) that Nix makes of the folder `vendor`, as
`go mod vendor` writes it from the lock. Needs Go and its modules; run it after every change of go.sum.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

HASH = re.compile(r'(vendorHash = ")[^"]*(";)')


def word(content: bytes) -> bytes:
    """One string of an archive: its length, its bytes, padding to eight."""
    return struct.pack("<Q", len(content)) + content + b"\0" * (-len(content) % 8)


def archive(path: Path) -> Iterator[bytes]:
    """The archive of a file or a folder without symbolic links, in pieces."""
    yield from map(word, (b"(", b"type"))
    if path.is_dir():
        yield word(b"directory")
        for entry in sorted(path.iterdir(), key=os.fsencode):
            name = os.fsencode(entry.name)
            yield from map(word, (b"entry", b"(", b"name", name, b"node"))
            yield from archive(entry)
            yield word(b")")
    else:
        yield word(b"regular")
        if path.stat().st_mode & 0o100:
            yield from map(word, (b"executable", b""))
        yield from map(word, (b"contents", path.read_bytes()))
    yield word(b")")


def vendor_hash(folder: Path) -> str:
    """The hash of what `go mod vendor` writes for the module in `folder`. Ends the program if Go cannot."""
    with tempfile.TemporaryDirectory() as scratch:
        # With what links lead to: what is shared between modules is part of each.
        module = shutil.copytree(folder, Path(scratch, "module"))
        done = subprocess.run(
            ["go", "mod", "vendor"], cwd=module, check=False,
            env=os.environ | {"GOFLAGS": "", "GOTOOLCHAIN": "local"},
        )  # fmt: skip
        if done.returncode != 0:
            sys.exit(f"{folder}: go mod vendor failed; see above")
        digest = hashlib.sha256(word(b"nix-archive-1"))
        for piece in archive(module / "vendor"):
            digest.update(piece)
    return f"sha256-{base64.b64encode(digest.digest()).decode()}"


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="folder with go.mod, go.sum and package.nix")
    package = parser.parse_args().folder / "package.nix"
    text = package.read_text(encoding="utf-8")
    if not HASH.search(text):
        sys.exit(f'{package}: has no line vendorHash = "…";')
    found = vendor_hash(package.parent)
    package.write_text(HASH.sub(rf"\g<1>{found}\g<2>", text), encoding="utf-8")


if __name__ == "__main__":
    main()
