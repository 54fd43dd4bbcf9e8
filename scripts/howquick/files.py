"""Files that are whole or absent, and hashes of folders."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from howquick.errors import DamagedFile

# What flock(2) says on a file system that has no locks.
NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)


@contextmanager
def atomic_text(path: Path) -> Iterator[TextIO]:
    """Open a text file that appears under `path` only when the block ends without an error."""
    with (
        atomic_file(path) as temporary,
        # Half a surrogate pair, which a program's JSON may hold, has no form in UTF-8.
        temporary.open("w", encoding="utf-8", errors="backslashreplace", newline="\n") as stream,
    ):
        yield stream


@contextmanager
def atomic_file(path: Path) -> Iterator[Path]:
    """Yield an empty file that takes the place of `path` when the block ends without an error.

    The data are synced before the rename, so that a power cut leaves the old file or the new one.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)
    os.close(descriptor)
    temporary = Path(name)
    try:
        yield temporary
        _sync(temporary)
        temporary.chmod(0o644)
        temporary.replace(path)
        _sync_one(path.parent)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def write_json(path: Path, value: Any, indent: int | None = 1) -> None:
    """Write `value` as JSON, whole or not at all."""
    with atomic_text(path) as stream:
        json.dump(value, stream, indent=indent, ensure_ascii=False)
        stream.write("\n")


def read_json(path: Path) -> Any:
    """Read a JSON file. Raises DamagedFile for one that is none: all of ours are written whole."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise DamagedFile(
            f"{path}: damaged, it is no JSON ({error}). Remove it; the next start makes it again from what "
            "is finished."
        ) from error


def canonical_hash(value: Any) -> str:
    """SHA-256 of a JSON value, independent of the order of keys."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


# Made from the sources beside them.
GENERATED = {"__pycache__", "node_modules", "target"}
LEFT_OUT = GENERATED | {"endpoint.yaml", "package.nix", "wheels.json", "log_cost.json"}


def file_hash(path: Path) -> str:
    """SHA-256 of a file's content; empty if there is no such file."""
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""


def folder_hash(folder: Path) -> str:
    """SHA-256 over names and contents of the regular files below `folder`, caches left out.

    Links count as what they point to: programs share code by them. What only Nix reads, what was measured of
    a program and what it declares are left out: the first two change no program that is there, and a
    declaration counts as it is understood.
    """
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*", recurse_symlinks=True)):
        parts = path.relative_to(folder).parts
        if path.is_file() and not LEFT_OUT & set(parts):
            digest.update("/".join(parts).encode() + b"\0")
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def file_sizes(folder: Path) -> list[int]:
    """Bytes of every regular file below `folder`."""
    return [file.stat().st_size for file in folder.rglob("*") if file.is_file()]


@contextmanager
def atomic_folder(folder: Path) -> Iterator[Path]:
    """Yield an empty folder that takes the place of `folder` when the block ends without an error.

    Everything in it is synced first. What stood there before goes away; what a killed process left of
    an earlier attempt is removed. Each attempt has a name of its own: should another machine of a shared
    file system still be at it, one of the two fails, and their files never mix.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    for left in folder.parent.glob(f".{folder.name}.*tmp"):
        shutil.rmtree(left, ignore_errors=True)
    temporary = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", suffix=".tmp", dir=folder.parent))
    temporary.chmod(0o755)
    try:
        yield temporary
        _sync(temporary)
        if folder.exists():
            old = folder.with_name(f".{folder.name}.old")
            shutil.rmtree(old, ignore_errors=True)
            folder.rename(old)
            temporary.rename(folder)
            _sync_one(folder.parent)
            shutil.rmtree(old)
        else:
            temporary.rename(folder)
            _sync_one(folder.parent)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise


def try_lock(stream: TextIO) -> bool:
    """Take the kernel's lock of an open file, without waiting; it ends with the process.

    True also where the file system has no locks (some clusters' shared ones): there, whoever starts the
    same work twice loses time but no results.
    """
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in NO_LOCKS:
            raise
    return True


def _sync(whole: Path) -> None:
    """Sync a file, or a folder and everything in it."""
    for path in [*whole.rglob("*"), whole]:
        _sync_one(path)


def _sync_one(path: Path) -> None:
    """Sync a file, or the names in a folder."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
