"""From a study file to the resolved study: cells × arms × repetitions (docs/formats.md, 1 and 8)."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from howquick.config import load_yaml
from howquick.endpoints import Endpoint, known_options, load_endpoints
from howquick.errors import ROOT, ConfigError

STUDIES = ROOT / "config" / "studies"
LINK_PARAMETERS = ("bandwidth_mbit", "rtt_ms", "loss_percent", "queue_ms", "mtu_bytes")
WORKLOAD_PARAMETERS = ("objects", "object_size")


@dataclass(frozen=True)
class Selection:
    """What the user asked for on top of the study file."""

    scale: str
    seed: int
    cells: tuple[str, ...] = ()
    arms: tuple[str, ...] = ()


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
    _check_parameters(path, study)
    endpoints = load_endpoints()
    arms = _arms(path, study, scale, selection, endpoints)
    cells = _cells(path, study, scale, selection)
    for cell in cells:
        cell["not_applicable"] = [
            {"arm": arm["name"], "why": why}
            for arm in arms
            if (why := _not_applicable(cell, arm, endpoints))
        ]
    resolved = {
        "study": name,
        "title": study["title"],
        "paper": study["paper"],
        "scale": selection.scale,
        "seed": selection.seed,
        "repetitions": scale["repetitions"],
        "timeout_s": scale["timeout_s"],
        "slow_cells": scale.get("slow_cells"),
        "block_seconds": scale["block_seconds"],
        "full_captures": scale["full_captures"],
        "factors": _factors(study),
        "fixed": study["fixed"],
        "cells": cells,
        "arms": arms,
        "comparison": study["comparison"],
        "figures": study["figures"],
        "claims": study["claims"],
        "differences": study["differences"],
    }
    _check_references(path, resolved, study)
    return resolved


def _scale(path: Path, study: dict[str, Any], name: str) -> dict[str, Any]:
    scales = study["scales"]
    if name not in scales:
        known = ", ".join(scales)
        raise ConfigError(path, "scales", f"no scale {name!r}", f"Known scales: {known}")
    return scales[name]


def _check_parameters(path: Path, study: dict[str, Any]) -> None:
    given = [*study["factors"], *study["fixed"]]
    for parameter in (*LINK_PARAMETERS, *WORKLOAD_PARAMETERS):
        if given.count(parameter) != 1:
            problem = "is given twice" if parameter in given else "is not given"
            raise ConfigError(
                path, parameter, problem, "Give each parameter once, in `factors` or in `fixed`"
            )


def _factors(study: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "label": factor["label"],
            "unit": factor["unit"],
            "levels": [
                {"name": level, "value": level if isinstance(value, dict) else value}
                for level, value in factor["levels"].items()
            ],
        }
        for name, factor in study["factors"].items()
    ]


def _cells(
    path: Path, study: dict[str, Any], scale: dict[str, Any], selection: Selection
) -> list[dict[str, Any]]:
    factors = study["factors"]
    cells: list[dict[str, Any]] = []
    for combination in itertools.product(*(factor["levels"] for factor in factors.values())):
        levels = dict(zip(factors, combination, strict=True))
        parameters = dict(study["fixed"])
        parameters |= {name: factors[name]["levels"][level] for name, level in levels.items()}
        values = {
            name: level if isinstance(parameters[name], dict) else parameters[name]
            for name, level in levels.items()
        }
        cells.append(
            {
                "name": "-".join(combination),
                "levels": levels,
                "values": values,
                "link": {name: parameters[name] for name in LINK_PARAMETERS},
                "workload": {name: parameters[name] for name in WORKLOAD_PARAMETERS},
            }
        )
    known = [cell["name"] for cell in cells]
    wanted = selection.cells or tuple(scale.get("cells", known))
    _check_known(path, "cells", wanted, known)
    return [cell for cell in cells if cell["name"] in wanted]


def _arms(
    path: Path,
    study: dict[str, Any],
    scale: dict[str, Any],
    selection: Selection,
    endpoints: dict[str, Endpoint],
) -> list[dict[str, Any]]:
    known = list(study["arms"])
    wanted = selection.arms or tuple(scale.get("arms", known))
    _check_known(path, "arms", wanted, known)
    arms = []
    for name, given in study["arms"].items():
        if name in wanted:
            arm = {"name": name, **study["defaults"], "options": {}, **given}
            _check_arm(path, arm, endpoints)
            arm["options"] = known_options(arm, endpoints, path)
            arms.append(arm)
    return arms


def _check_known(path: Path, key: str, wanted: tuple[str, ...], known: list[str]) -> None:
    for name in wanted:
        if name not in known:
            near = _nearest(name, known)
            raise ConfigError(
                path, key, f"no {key[:-1]} is called {name!r}", f"Did you mean {near}?"
            )


def _nearest(name: str, known: list[str]) -> str:
    from difflib import get_close_matches

    return " or ".join(get_close_matches(name, known, n=2, cutoff=0.0)) or "another"


def _check_arm(path: Path, arm: dict[str, Any], endpoints: dict[str, Endpoint]) -> None:
    """Refuse an arm whose programs do not exist or cannot do what it asks."""
    for role in ("server", "client"):
        program = arm[role]
        key = f"arms.{arm['name']}.{role}"
        if program not in endpoints:
            raise ConfigError(
                path,
                key,
                f"no program {program!r}",
                f"Did you mean {_nearest(program, list(endpoints))}?",
            )
        endpoints[program].require(role, arm, path, key)


def _not_applicable(
    cell: dict[str, Any], arm: dict[str, Any], endpoints: dict[str, Endpoint]
) -> str | None:
    """Why an arm cannot be measured in a cell: the stack, not the link, would be the limit."""
    for role in ("server", "client"):
        limit = endpoints[arm[role]].max_rate_mbit
        if limit is not None and cell["link"]["bandwidth_mbit"] > limit:
            return f"{arm[role]} itself is the limit above {limit:g} Mbit/s"
    return None


def _check_references(path: Path, resolved: dict[str, Any], study: dict[str, Any]) -> None:
    """Comparison, figures and claims may only name arms that the study file has."""
    known = list(study["arms"])
    _check_known(path, "arms", tuple(resolved["comparison"]["arms"]), known)
    for pair in resolved["comparison"]["pairs"]:
        _check_known(path, "arms", tuple(pair), known)
    for figure in resolved["figures"]:
        _check_known(path, "arms", tuple(figure.get("arms", ())), known)
