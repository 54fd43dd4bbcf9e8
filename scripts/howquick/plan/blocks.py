"""The jobs of a measurement: consecutive repetitions of one cell with all its arms."""

from __future__ import annotations

from howquick.model import Cell, PlannedBlock, ResolvedStudy
from howquick.plan.estimate import (
    expected_disk,
    expected_repetition_s,
    expected_wall_s,
    rate,
    start_cost,
)
from howquick.study.cells import arms_of, asked_repetitions, clock_of, full_captures_of

BLOCK_SETUP_S = 2.0


def repetitions_of(study: ResolvedStudy, cell: Cell) -> int:
    """How often a cell is measured: a scale may spare cells that take long, and those without dice."""
    if clock_of(cell) == "virtual" and "virtual" in study:
        slow, seconds = study["virtual"].get("slow_cells"), expected_wall_s(study, cell)
    else:
        slow, seconds = study["slow_cells"], expected_repetition_s(study, cell)
    asked = asked_repetitions(study, cell)
    return min(slow["repetitions"], asked) if slow and seconds > slow["above_s"] else asked


def _cut(study: ResolvedStudy, cell: Cell, one: float) -> list[list[int]]:
    """The repetitions of each block of a cell; `one` is the expected wall time of one.

    Those that precision asks for beyond the stated ones (`further`) come in blocks of the same length, up
    to its bound: the blocks before them stay as they were.
    """
    total = repetitions_of(study, cell)
    size = max(1, min(total, int(study["block_seconds"] / one)))
    cuts = [(first, min(first + size, total)) for first in range(0, total, size)]
    wanted = study.get("further", {}).get(cell["name"], 0)
    if wanted > total and study["precision"]:
        most = study["precision"]["at_most"]
        cuts += [(first, min(first + size, most)) for first in range(total, wanted, size)]
    return [list(range(first, last)) for first, last in cuts]


def partition(study: ResolvedStudy) -> list[PlannedBlock]:
    """Cut every cell's repetitions into blocks of about `block_seconds`; a cell without arms has none."""
    blocks = []
    for cell in study["cells"]:
        if not (arms := arms_of(study, cell)):
            continue
        one = expected_wall_s(study, cell)
        for number, repetitions in enumerate(_cut(study, cell, one)):
            full = sum(
                1 for repetition in repetitions if repetition < full_captures_of(study, cell)
            )
            headers = len(repetitions) - full
            planned = PlannedBlock(
                study=study["study"],
                cell=cell["name"],
                block=number,
                repetitions=repetitions,
                seconds=round(BLOCK_SETUP_S + one * len(repetitions), 1),
                bytes=round(sum(expected_disk(cell, arm, full, headers) for arm in arms)),
                peak_mbit=round(max(rate(cell, arm) for arm in arms) * 8e-6, 1),
                arms=len(arms),
                alone=bool(cell.get("alone")),
                cpu_s=len(repetitions) * sum(start_cost(arm)["cpu_s"] for arm in arms),
                processors=max(start_cost(arm)["processors"] for arm in arms),
            )
            if "clock" in cell:
                planned["clock"] = cell["clock"]
            blocks.append(planned)
    return blocks
