"""Repetitions beyond the stated ones, until the precision that a scale asks for is reached."""

from __future__ import annotations

from pathlib import Path

from howquick.errors import DamagedFile
from howquick.files import read_json
from howquick.model import Plan, ResolvedStudy


def precision_file(results: str, study: str) -> Path:
    """What the analysis makes of the loads so far: {cell: repetitions to have}."""
    return Path(results, "precision", f"{study}.json")


def further_repetitions(results: str, study: ResolvedStudy) -> dict[str, int]:
    """Repetitions that cells are to have for the precision of their study, where that is more than stated.

    What was measured beyond the stated ones stays in the plan, whatever the last analysis wants.
    """
    wanted = {
        cell["name"]: _measured(results, study["study"], cell["name"]) for cell in study["cells"]
    }
    for cell, repetitions in _asked(results, study["study"]).items():
        if cell in wanted:
            wanted[cell] = max(wanted[cell], repetitions)
    assert study["precision"], "asked for a study with a precision only"
    most = study["precision"]["at_most"]
    return {cell: min(repetitions, most) for cell, repetitions in wanted.items() if repetitions}


def asks_for_more(results: str, plan: Plan) -> list[str]:
    """The cells for which the last analysis wants more repetitions than the plan has."""
    planned = {
        cell["name"]: sum(
            len(block["repetitions"]) for block in plan["blocks"] if block["cell"] == cell["name"]
        )
        for cell in plan["cells"]
    }
    wanted = further_repetitions(results, plan)
    return [cell for cell in planned if wanted.get(cell, 0) > planned[cell]]


def _asked(results: str, study: str) -> dict[str, int]:
    try:
        asked: dict[str, int] = read_json(precision_file(results, study))
    except (OSError, DamagedFile):
        return {}  # not analysed yet
    return asked


def _measured(results: str, study: str, cell: str) -> int:
    """The number of repetitions that finished blocks of a cell have."""
    manifests = Path(results, "blocks", study, cell).glob("*.json")
    return max((max(read_json(file)["repetitions"]) + 1 for file in manifests), default=0)
