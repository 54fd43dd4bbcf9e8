"""Pictures as cameras take them: a landscape under grain, which does not compress, as a PNG file."""

from __future__ import annotations

import random
import struct
import zlib
from math import isqrt

import numpy as np
from numpy.typing import NDArray

Pixels = NDArray[np.int32]

# Red, green and blue, a byte each.
CHANNELS = 3
# Six random bits in each byte: strong grain, but hardly anything that could be compressed.
GRAIN = 64
# Of the longest block that deflate can store, RFC 1951, section 3.2.4.
STORED_BLOCK = 65535
# Signature, header, frame of the data and end of the file, bytes.
OVERHEAD = 63


def size_for(wanted_bytes: int) -> tuple[int, int]:
    """Width and height in pixels of a 3:2 picture whose file has about `wanted_bytes`."""
    pixels = max(600, (wanted_bytes - OVERHEAD) // CHANNELS)
    height = max(20, isqrt(pixels * 2 // 3))
    return max(30, pixels // height), height


def draw(width: int, height: int, seed: int) -> bytes:
    """A PNG file of a seeded landscape.

    Everything is computed in whole numbers and the pixels are stored, not compressed: the bytes depend on
    the arguments alone, not on the machine or its version of zlib.
    """
    generator = random.Random(seed)
    scene = _landscape(width, height, generator)
    noise = np.frombuffer(generator.randbytes(scene.size), dtype=np.uint8).reshape(scene.shape)
    pixels = scene * (256 - GRAIN) // 256 + noise % GRAIN
    return _png(pixels.astype(np.uint8))


def _landscape(width: int, height: int, generator: random.Random) -> Pixels:
    """Sky, sun and three ranges of hills; `height` x `width` x 3, each 0 to 255."""
    top, horizon = _colour(generator, 30, 160), _colour(generator, 150, 255)
    rows = np.arange(height, dtype=np.int32).reshape(-1, 1, 1)
    columns = np.arange(width, dtype=np.int32).reshape(1, -1, 1)
    scene = np.broadcast_to(top + (horizon - top) * rows // height, (height, width, 3)).copy()
    x, y = generator.randrange(width), generator.randrange(height // 4, height // 2)
    radius = height // generator.randint(8, 14)
    sun = ((columns - x) ** 2 + (rows - y) ** 2 < radius**2)[..., 0]
    scene[sun] = (255, 240, 190)
    for number in range(3):
        edge = _ridge(width, height * (4 + 2 * number) // 10, height // 6, generator)
        below = rows[..., 0] >= edge
        scene[below] = _colour(generator, 20, 150 - 35 * number)
    return scene


def _colour(generator: random.Random, low: int, high: int) -> Pixels:
    return np.array([generator.randint(low, high) for _ in range(3)], dtype=np.int32)


def _ridge(width: int, level: int, amplitude: int, generator: random.Random) -> Pixels:
    """Row of a range's edge in every column: straight lines between seeded peaks and valleys."""
    span = max(8, width // 7)
    knots = [
        level + generator.randint(-amplitude, amplitude) for _ in range(0, width + 2 * span, span)
    ]
    column = np.arange(width, dtype=np.int32)
    left, within = column // span, column % span
    heights = np.array(knots, dtype=np.int32)
    return heights[left] + (heights[left + 1] - heights[left]) * within // span


def _png(pixels: NDArray[np.uint8]) -> bytes:
    """A PNG file (ISO/IEC 15948) of `height` x `width` x 3 bytes."""
    height, width, _ = pixels.shape
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    unfiltered = np.zeros((height, 1), dtype=np.uint8)
    data = _stored(np.hstack([unfiltered, pixels.reshape(height, -1)]).tobytes())
    chunks = [(b"IHDR", header), (b"IDAT", data), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, body) for kind, body in chunks)


def _chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def _stored(data: bytes) -> bytes:
    """A zlib stream (RFC 1950) of stored blocks."""
    blocks = [data[begin : begin + STORED_BLOCK] for begin in range(0, len(data), STORED_BLOCK)]
    parts = [b"\x78\x01"]
    for number, block in enumerate(blocks):
        last = number == len(blocks) - 1
        parts.append(struct.pack("<BHH", last, len(block), len(block) ^ 0xFFFF) + block)
    return b"".join([*parts, struct.pack(">I", zlib.adler32(data))])
