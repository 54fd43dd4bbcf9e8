"""The order of the arms in a repetition, and the seeds of its losses."""

from __future__ import annotations

import random

from howquick.model import Cell, ResolvedStudy
from howquick.seeds import derive_seed
from howquick.study.cells import arms_of


def order_of(study: ResolvedStudy, cell: Cell, repetition: int) -> list[str]:
    """The arms of one repetition in seeded order."""
    names = sorted(arm["name"] for arm in arms_of(study, cell))
    seed = derive_seed(study["seed"], study["study"], cell["name"], repetition, "order")
    random.Random(seed).shuffle(names)
    return names


def loss_seeds(study: ResolvedStudy, cell: Cell, repetition: int) -> dict[str, int]:
    """Seeds of the random loss: one per direction and repetition, the same for all arms."""
    return {
        direction: derive_seed(study["seed"], study["study"], cell["name"], repetition, direction)
        for direction in ("up", "down")
    }
