"""The ways in which the target `interference` measures the same cells, and their turns."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

# Whose cells are measured in several ways.
INTERFERENCE_STUDY = "aa"


@dataclass(frozen=True)
class Way:
    """A way to measure: so many blocks at once, with tables made beside them or not, logged or not."""

    name: str
    jobs: int = 1
    beside: bool = False
    observe: bool = True


WAYS = (
    Way("jobs1"),
    Way("again"),
    Way("jobs8", jobs=8, beside=True),
    Way("unobserved", observe=False),
)
# The first is what the others are compared with.
REFERENCE, *COMPARED = (way.name for way in WAYS)


def turns(repetitions: int) -> Iterator[tuple[Way, int]]:
    """Which way is measured next, and up to which repetition: as many rounds as there are ways."""
    for number in range(len(WAYS)):
        until = math.ceil(repetitions * (number + 1) / len(WAYS))
        for way in WAYS[number:] + WAYS[:number]:
            yield way, until
