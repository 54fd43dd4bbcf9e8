"""From a study file to the resolved study: cells × arms × repetitions (docs/formats.md, 1 and 8)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from howquick.arms import (
    Endpoints,
    check_applicable,
    excluded,
    expand_matrix,
    metrics_of,
    not_applicable,
    resolve_arm,
)
from howquick.config import load_yaml
from howquick.endpoints import load_endpoints
from howquick.errors import ROOT, ConfigError
from howquick.parameters import (
    all_cells,
    at_scale,
    check_parameters,
    chosen,
    factors_of,
    finish_cell,
)
from howquick.references import References, check_known

STUDIES = ROOT / "config" / "studies"


@dataclass(frozen=True)
class Selection:
    """What the user asked for on top of the study file."""

    scale: str
    seed: int
    cells: tuple[str, ...] = ()
    arms: tuple[str, ...] = ()
    observe: bool = True  # False: no captures and no qlogs, whatever the study says
    repetitions: int | None = None  # the first so many of each cell, and no more for precision


def resolve_study(name: str, selection: Selection) -> dict[str, Any]:
    """Fill in a study: every default, all cells and arms of the scale, and what is not applicable.

    Returns the resolved study of docs/formats.md section 8. Raises ConfigError when the study asks
    for something that does not exist or that a program cannot do.
    """
    path = STUDIES / f"{name}.yaml"
    study = load_yaml(path, "study")
    if study["study"] != name:
        raise ConfigError(path, "study", f"is {study['study']!r}", f"Use the file's name, {name!r}")
    scale = _scale(path, study, selection.scale)
    study = at_scale(path, study, scale)
    check_parameters(path, study)
    endpoints = load_endpoints()
    matrix = expand_matrix(path, study.get("arm_matrix"), endpoints)
    named = matrix.arms | study.get("arms", {})
    every_cell = all_cells(study)
    factors = factors_of(study)
    whole = study | {"arms": named}
    arms = _arms(path, whole, scale, selection, endpoints)
    References(path, list(named), every_cell, factors, metrics_of(named, endpoints)).check(whole)
    cells = _cells(path, study, scale, selection, every_cell)
    if not selection.observe:
        cells = [cell | {"observe": {"captures": False, "qlog": False}} for cell in cells]
    repetitions, precision = scale["repetitions"], scale.get("precision")
    if selection.repetitions:
        repetitions, precision = min(repetitions, selection.repetitions), None
    for cell in cells:
        cell["not_applicable"] = [
            {"arm": arm["name"], "why": why}
            for arm in arms
            if (why := not_applicable(cell, arm, endpoints) or excluded(cell, arm, whole))
        ]
    resolved = {
        "study": name,
        "title": study["title"],
        "paper": study["paper"],
        "scale": selection.scale,
        "seed": selection.seed,
        "repetitions": repetitions,
        "timeout_s": scale["timeout_s"],
        "slow_cells": scale.get("slow_cells"),
        "precision": precision,
        "block_seconds": scale["block_seconds"],
        "full_captures": scale["full_captures"],
        "factors": factors,
        "fixed": study["fixed"],
        "cells": cells,
        "arms": arms,
        "unsupported": matrix.unsupported,
        "comparison": study["comparison"],
        "figures": study["figures"],
        "claims": study["claims"],
        "differences": study["differences"],
    }
    check_applicable(path, resolved, cells)
    return resolved


def _scale(path: Path, study: dict[str, Any], name: str) -> dict[str, Any]:
    scales = study["scales"]
    if name not in scales:
        known = ", ".join(scales)
        raise ConfigError(path, "scales", f"no scale {name!r}", f"Known scales: {known}")
    scale: dict[str, Any] = scales[name]
    return scale


def _cells(
    path: Path,
    study: dict[str, Any],
    scale: dict[str, Any],
    selection: Selection,
    cells: list[dict[str, Any]],
) -> list[dict[str, Any]]:
    """The cells that study, scale and user want, with link and workload."""
    for key, wanted in (("cells", study.get("cells")), ("scales.cells", scale.get("cells"))):
        if wanted and not (key == "scales.cells" and selection.cells):
            cells = chosen(path, key, cells, wanted)
    if selection.cells:
        check_known(path, "cells", "cell", selection.cells, [cell["name"] for cell in cells])
        cells = [cell for cell in cells if cell["name"] in selection.cells]
    for cell in cells:
        finish_cell(path, cell, study, scale)
    return cells


def _arms(
    path: Path,
    study: dict[str, Any],
    scale: dict[str, Any],
    selection: Selection,
    endpoints: Endpoints,
) -> list[dict[str, Any]]:
    known = list(study["arms"])
    wanted = selection.arms or tuple(scale.get("arms", known))
    check_known(path, "arms", "arm", wanted, known)
    return [
        resolve_arm(path, name, given, study["defaults"], endpoints)
        for name, given in study["arms"].items()
        if name in wanted
    ]
