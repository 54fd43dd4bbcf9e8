"""Damaged copies of real files: bits, lengths and counts, and in texts also numbers and values."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence

# Where counts and lengths go wrong: nothing, the signs' ends, and what QUIC's variable integers reach.
_NUMBERS = (0, 1, 2, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 2**31 - 1, 2**31, 2**32 - 1, 2**62 - 1, 2**62,
            2**63 - 1, 2**64 - 1)  # fmt: skip
_VALUES = (b"null", b"true", b"[]", b"{}", b'""', b'"0.5"', b"-1", b"NaN", b"Infinity", b"1e999", b"9" * 400,
           b"9" * 5000, b"4611686018427387904", b"0x10", b'"\\ud800"',
           b'"\\u0000"', b"[" * 5000, b"-0.0")  # fmt: skip
_TOKEN = re.compile(rb'-?\d+(?:\.\d+)?|"[^"\\]{0,40}"|true|false|null')
_MOST_CHANGES = 4


def mutate(rng: random.Random, seeds: Sequence[bytes], text: bool) -> bytes:
    """One of the seeds with one to four changes; the same generator gives the same copy."""
    content = bytearray(rng.choice(seeds))
    kinds: Sequence[Callable[[random.Random, bytearray], None]]
    kinds = (*_ANY, *_TEXT * 2) if text else (*_ANY, _number, _number)
    for _ in range(rng.randint(1, _MOST_CHANGES)):
        rng.choice(kinds)(rng, content)
    if rng.random() < 0.05:
        other = rng.choice(seeds)
        content[rng.randint(0, len(content)) :] = other[rng.randint(0, len(other)) :]
    return bytes(content)


def _bit(rng: random.Random, content: bytearray) -> None:
    if content:
        content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)


def _byte(rng: random.Random, content: bytearray) -> None:
    if content:
        content[rng.randrange(len(content))] = rng.choice((0, 0xFF, 0x7F, 0x80, rng.randrange(256)))


def _number(rng: random.Random, content: bytearray) -> None:
    """A number of one to eight bytes, in either order."""
    size = rng.choice((1, 2, 4, 8))
    if len(content) >= size:
        at = rng.randrange(len(content) - size + 1)
        value = rng.choice(_NUMBERS) & ((1 << (8 * size)) - 1)
        content[at : at + size] = value.to_bytes(size, rng.choice(("big", "little")))


def _cut(rng: random.Random, content: bytearray) -> None:
    del content[rng.randint(0, len(content)) :]


def _remove(rng: random.Random, content: bytearray) -> None:
    at = rng.randint(0, len(content))
    del content[at : at + rng.choice((1, 4, 16, 200))]


def _repeat(rng: random.Random, content: bytearray) -> None:
    at = rng.randint(0, len(content))
    part = content[at : at + rng.choice((1, 4, 16, 200))]
    content[at:at] = part * rng.choice((1, 2, 20))


def _insert(rng: random.Random, content: bytearray) -> None:
    at = rng.randint(0, len(content))
    content[at:at] = rng.randbytes(rng.choice((1, 2, 8, 64)))


def _value(rng: random.Random, content: bytearray) -> None:
    """Another value where a number or a text is."""
    start = rng.randint(0, len(content))
    found = _TOKEN.search(content, start) or _TOKEN.search(content)
    if found:
        content[found.start() : found.end()] = rng.choice(_VALUES)


def _digits(rng: random.Random, content: bytearray) -> None:
    """A number at an edge of what is counted."""
    start = rng.randint(0, len(content))
    found = re.compile(rb"\d+").search(content, start)
    if found:
        content[found.start() : found.end()] = str(rng.choice(_NUMBERS)).encode()


_ANY = (_bit, _byte, _number, _cut, _remove, _repeat, _insert)
_TEXT = (_value, _digits)
