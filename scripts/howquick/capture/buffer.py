"""Whole files as arrays, without copying them."""

from __future__ import annotations

import mmap
from pathlib import Path

import numpy as np

from howquick.capture.errors import CaptureError

Bytes = mmap.mmap | bytes


def load(path: Path) -> Bytes:
    """The file's bytes, mapped; an empty file gives b"". Raises CaptureError if it cannot be read.

    Mapping in one go costs a fraction of reading: no second copy and no page fault per page.
    """
    try:
        if path.exists() and not path.is_file():
            raise CaptureError(f"{path}: cannot be read: it is no regular file")
        with path.open("rb") as file:
            if path.stat().st_size == 0:
                return b""
            flags = mmap.MAP_PRIVATE | mmap.MAP_POPULATE
            return mmap.mmap(file.fileno(), 0, flags=flags, prot=mmap.PROT_READ)
    except FileNotFoundError:
        raise CaptureError(f"{path}: no such capture") from None
    except OSError as error:
        raise CaptureError(f"{path}: cannot be read: {error.strerror}") from None


def pick(data: Bytes, offsets: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """The records of `dtype` that start at the byte `offsets` (any alignment), shape as `offsets`.

    Bytes behind the end of `data` read as zero.
    """
    width, size = dtype.itemsize, len(data)
    if size < width:
        data = bytes(data).ljust(width, b"\0")
    # An array of overlapping records, one starting at every byte: picking copies only those asked.
    every = np.ndarray((max(size, width) - width + 1,), dtype, data, 0, (1,))
    last = len(every) - 1
    picked: np.ndarray = every[np.minimum(offsets, last)]
    beyond = np.flatnonzero(offsets > last)
    if len(beyond):
        tail = bytes(data[last:]) + bytes(width)
        shifted = np.minimum(offsets[beyond] - last, width)
        picked[beyond] = np.ndarray((width + 1,), dtype, tail, 0, (1,))[shifted]
    return picked
