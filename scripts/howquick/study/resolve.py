"""From a study file to the resolved study: cells × arms × repetitions (docs/formats.md, 1 and 8)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from howquick.analysis_model import Claim, Difference, Unsupported
from howquick.environment.endpoints import load_endpoints
from howquick.errors import ROOT, ConfigError
from howquick.model import Arm, Cell, Clock, Combination, ResolvedStudy
from howquick.schemas import load_yaml
from howquick.study.arms import (
    Endpoints,
    check_applicable,
    excluded,
    expand_matrix,
    metrics_of,
    not_applicable,
    resolve_arm,
    why_no_pair,
)
from howquick.study.beside import add_flows, check_beside, no_company
from howquick.study.claims import with_arms, with_levels
from howquick.study.declarations import Declarations, Scaled
from howquick.study.host import beyond_host
from howquick.study.parameters import (
    all_cells,
    at_scale,
    check_parameters,
    chosen,
    default_full_captures,
    factors_of,
    finish_cell,
    with_clock,
)
from howquick.study.references import References, check_known

STUDIES = ROOT / "config" / "studies"


def known_studies() -> list[str]:
    """The names of all study files."""
    return sorted(file.stem for file in STUDIES.glob("*.yaml"))


@dataclass(frozen=True)
class Selection:
    """What the user asked for on top of the study file."""

    scale: str
    seed: int
    cells: tuple[str, ...] = ()
    arms: tuple[str, ...] = ()
    observe: bool = True  # False: no captures and no qlogs, whatever the study says
    clock: Clock | None = None  # in place of the study's own, where links are shaped
    repetitions: int | None = None  # the first so many of each cell, and no more for precision


def resolve_study(name: str, selection: Selection) -> ResolvedStudy:
    """Fill in a study: every default, all cells and arms of the scale, and what is not applicable.

    Returns the resolved study of docs/formats.md section 8. Raises ConfigError when the study asks
    for something that does not exist or that a program cannot do.
    """
    path = STUDIES / f"{name}.yaml"
    study = load_yaml(path, "study")
    if study["study"] != name:
        raise ConfigError(path, "study", f"is {study['study']!r}", f"Use the file's name, {name!r}")
    scale = _scale(path, study, selection.scale)
    at_every_scale = study.get("exclude", [])
    study = with_clock(path, at_scale(path, study, scale), selection.clock)
    check_parameters(path, study)
    endpoints = load_endpoints()
    matrix = expand_matrix(path, study.get("arm_matrix"), endpoints)
    named = matrix.arms | study.get("arms", {})
    every_cell = all_cells(path, study)
    factors = factors_of(study)
    claims = with_arms(path, study["claims"], list(matrix.arms))
    whole = study | {"arms": named, "claims": claims}
    check_beside(path, whole, scale["timeout_s"])
    arms = _arms(path, whole, scale, selection, endpoints)
    of_study = chosen(path, "cells", every_cell, study["cells"]) if "cells" in study else every_cell
    metrics = metrics_of(named, endpoints)
    references = References(
        path, list(named), every_cell, factors, metrics,
        {cell["name"] for cell in of_study},
    )  # fmt: skip
    references.check(whole)
    references.check_scale(selection.scale, scale)
    cells = _cells(path, study, scale, selection, every_cell)
    add_flows(path, cells, every_cell, whole, endpoints)
    if not selection.observe:
        for cell in cells:
            cell["observe"] = {"captures": False, "qlog": False}
    repetitions, precision = scale["repetitions"], scale.get("precision")
    if selection.repetitions:
        repetitions, precision = min(repetitions, selection.repetitions), None
    for cell in cells:
        for arm in arms:
            if why := _why_not(cell, arm, endpoints, whole | {"exclude": at_every_scale}):
                cell["not_applicable"].append({"arm": arm["name"], "why": why})
            elif why := excluded(cell, arm, whole):
                cell["not_applicable"].append({"arm": arm["name"], "why": why, "left_out": True})
    texts = Declarations(path, Scaled(study, scale, cells), lambda name: _at(path, name, selection))
    resolved: ResolvedStudy = {
        "study": name,
        "title": study["title"],
        "scale": selection.scale,
        "seed": selection.seed,
        "repetitions": repetitions,
        "timeout_s": scale["timeout_s"],
        "slow_cells": scale.get("slow_cells"),
        "precision": precision,
        "block_seconds": scale["block_seconds"],
        "full_captures": default_full_captures(scale),
        "factors": factors,
        "fixed": study["fixed"],
        "cells": cells,
        "arms": arms,
        "left_out": _left_out(study, scale, selection),
        "client_metrics": sorted(set().union(*metrics.values())),
        "unsupported": cast(list[Unsupported], matrix.unsupported),
        "comparison": study["comparison"],
        "figures": study["figures"],
        "claims": cast(list[Claim], with_levels(texts.claims(claims), cells, of_study)),
        "differences": cast(list[Difference], texts.differences(study.get("differences", []))),
    }
    if "question" in study:
        resolved["question"] = study["question"]
    if "paper" in study:
        resolved["paper"] = study["paper"]
    if "virtual" in scale:
        asked = scale["virtual"]["repetitions"]
        resolved["virtual"] = scale["virtual"] | {
            "repetitions": min(asked, selection.repetitions or asked)
        }
    check_applicable(path, resolved, cells)
    return resolved


def _why_not(cell: Cell, arm: Arm, endpoints: Endpoints, study: dict[str, Any]) -> str | None:
    """Why no scale of the study measures an arm in a cell; None if one may."""
    own = not_applicable(cell, arm, endpoints) or excluded(cell, arm, study)
    return own or no_company(cell, arm, endpoints) or beyond_host(cell)


def _at(path: Path, name: str, selection: Selection) -> Scaled:
    """The study at another of its scales. Raises KeyError where it has no such scale."""
    given = load_yaml(path, "study")
    scale = given["scales"][name]
    study = with_clock(path, at_scale(path, given, scale), selection.clock)
    cells = _cells(path, study, scale, Selection(name, selection.seed), all_cells(path, study))
    return Scaled(study, scale, cells)


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
    cells: list[Combination],
) -> list[Cell]:
    """The cells that study, scale and user want, with link and workload."""
    for key, wanted in (("cells", study.get("cells")), ("scales.cells", scale.get("cells"))):
        if wanted and not (key == "scales.cells" and selection.cells):
            cells = chosen(path, key, cells, wanted)
    if selection.cells:
        check_known(path, "cells", "cell", selection.cells, [cell["name"] for cell in cells])
        cells = [cell for cell in cells if cell["name"] in selection.cells]
    return [finish_cell(path, cell, study, scale) for cell in cells]


def _left_out(study: dict[str, Any], scale: dict[str, Any], selection: Selection) -> list[str]:
    """The arms that the study file names and the scale's own list leaves out, unless the user chose."""
    if selection.arms or "arms" not in scale:
        return []
    return [name for name in study.get("arms", {}) if name not in scale["arms"]]


def _arms(
    path: Path,
    study: dict[str, Any],
    scale: dict[str, Any],
    selection: Selection,
    endpoints: Endpoints,
) -> list[Arm]:
    known = list(study["arms"])
    wanted = selection.arms or tuple(scale.get("arms", known))
    for name in wanted:
        if name not in known and (why := why_no_pair(name, endpoints)):
            raise ConfigError(path, "arms", f"no arm is called {name!r}: {why[0]}", why[1])
    check_known(path, "arms", "arm", wanted, known)
    return [
        resolve_arm(path, name, given, study["defaults"], endpoints)
        for name, given in study["arms"].items()
        if name in wanted
    ]
