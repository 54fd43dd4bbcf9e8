"""Files that programs under test leave behind: read and copied without believing anything of them."""

from __future__ import annotations

import json
import os
import shutil
import stat
from pathlib import Path
from typing import Any, BinaryIO


class NotReadable(Exception):
    """A file cannot be used; the message says why and does not name it."""


def open_regular(path: Path) -> BinaryIO:
    """Open a regular file for reading. Raises NotReadable for anything else.

    A link may lead out of the folder, a pipe would keep the reader waiting, and a device has no end.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        reason = "is a link" if path.is_symlink() else f"cannot be read: {error.strerror}"
        raise NotReadable(reason) from None
    except ValueError:
        raise NotReadable("has a name that no file can have") from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise NotReadable("is no regular file")
    return os.fdopen(descriptor, "rb")


def read_bytes(path: Path, at_most: int) -> bytes:
    """The content of a regular file of at most so many bytes. Raises NotReadable."""
    with open_regular(path) as stream:
        content = stream.read(at_most + 1)
    if len(content) > at_most:
        raise NotReadable(f"is longer than {at_most} bytes")
    return content


def parse_json(text: bytes | str) -> Any:
    """A JSON value. Raises ValueError also where it is nested too deeply to be read."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def shown(value: Any, at_most: int = 80) -> str:
    """A JSON value as a message shows it, cut where it is long."""
    try:
        text = json.dumps(value)
    except RecursionError:
        return "nested too deeply"
    return text if len(text) <= at_most else f"{text[:at_most]}…"


def copy_file(source: Path, target: Path) -> str:
    """Copy a regular file; the reason why not, empty if it was copied."""
    try:
        with open_regular(source) as stream, target.open("wb") as copy:
            shutil.copyfileobj(stream, copy)
    except NotReadable as reason:
        return str(reason)
    return ""


def copy_tree(source: Path, target: Path) -> dict[str, str]:
    """Copy the regular files of a folder, where it is one; what was left out, and why.

    Keys are paths below `source`, empty for itself. Folders without a file are not made.
    """
    if source.is_symlink() or not source.is_dir():
        return {"": "is no folder"} if os.path.lexists(source) else {}
    left_out = {}
    # Links to folders are among the folders here, and are not gone into.
    for folder, folders, files in os.walk(source):
        below = Path(folder).relative_to(source)
        for name in sorted(files + [n for n in folders if (Path(folder) / n).is_symlink()]):
            (target / below).mkdir(parents=True, exist_ok=True)
            if reason := copy_file(Path(folder) / name, target / below / name):
                left_out[str(below / name)] = reason
    return left_out
