"""Which bytes of a TCP direction are new: against a set of byte numbers."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from howquick.extract.tcp import new_bytes, stream_positions

SEGMENTS = st.lists(st.tuples(st.integers(-5, 60), st.integers(0, 20)), max_size=40)


@given(SEGMENTS)
def test_new_bytes_are_those_not_seen(segments: list[tuple[int, int]]) -> None:
    seen: set[int] = set()
    wanted = []
    for start, length in segments:
        fresh = {byte for byte in range(start, start + length) if byte >= 0} - seen
        wanted.append(len(fresh))
        seen |= fresh
    starts = np.array([start for start, _ in segments], dtype=np.int64)
    lengths = np.array([length for _, length in segments], dtype=np.int64)
    assert new_bytes(starts, lengths).tolist() == wanted


@given(
    st.integers(0, 2**32 - 1),
    st.lists(st.integers(-(2**31) + 1, 2**31 - 1), min_size=1, max_size=30),
)
def test_positions_follow_wrapping_numbers(base: int, steps: list[int]) -> None:
    positions = np.cumsum(np.array(steps, dtype=np.int64))
    wire = ((positions + base) % 2**32).astype(np.uint32)
    assert stream_positions(wire, base).tolist() == positions.tolist()
