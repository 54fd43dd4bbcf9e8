"""The parameters of a study and its cells: one level of each factor (docs/formats.md, 1)."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

from howquick.config import check
from howquick.errors import ConfigError
from howquick.plan import is_selected
from howquick.workload import normalised

LINK_PARAMETERS = ("bandwidth_mbit", "rtt_ms", "loss_percent", "queue_ms", "mtu_bytes")
PAGE_PARAMETERS = ("objects", "object_size")
# Those that a study may leave out, and what they are then. A cell names them only where they differ.
OPTIONAL = {"burst_bytes": 0, "offloads": "off", "moves": 0}
OPTION = "option."
# The level of an option at which every arm keeps what it has by itself; arms without the option have it too.
UNSET = "unset"
UNSHAPED = "unshaped"
Study = dict[str, Any]


def at_scale(path: Path, study: Study, scale: dict[str, Any]) -> Study:
    """The study with what a scale changes: fixed values, levels, further exclusions. Raises ConfigError."""
    factors = {
        name: factor | {"levels": dict(factor["levels"])}
        for name, factor in study["factors"].items()
    }
    for name, levels in scale.get("levels", {}).items():
        for level, value in levels.items():
            if level not in factors.get(name, {}).get("levels", {}):
                raise ConfigError(
                    path, f"scales.levels.{name}.{level}", "is no level of the study",
                    "Change levels that `factors` has",
                )  # fmt: skip
            factors[name]["levels"][level] = value
    fixed = study["fixed"]
    for name, value in scale.get("fixed", {}).items():
        if name not in fixed:
            raise ConfigError(
                path, f"scales.fixed.{name}", "is not fixed in the study",
                "A scale changes values that `fixed` has",
            )  # fmt: skip
        fixed = fixed | {name: value}
    exclude = [*study.get("exclude", []), *scale.get("exclude", [])]
    changed = study | {"factors": factors, "fixed": fixed, "exclude": exclude}
    if "levels" in scale:
        check(changed, "study", path)
    return changed


def check_parameters(path: Path, study: Study) -> None:
    """Every parameter is given exactly once; the optional ones at most once. Raises ConfigError."""
    for name, factor in study["factors"].items():
        for level in factor.get("labels", {}):
            if level not in factor["levels"]:
                raise ConfigError(
                    path, f"factors.{name}.labels.{level}", "is no level of the factor",
                    f"Levels: {', '.join(factor['levels'])}",
                )  # fmt: skip
        labels = list(factor.get("labels", {}).values())
        if double := [label for label in labels if labels.count(label) > 1]:
            raise ConfigError(
                path, f"factors.{name}.labels", f"two levels are called {double[0]!r}",
                "Figures tell levels by their labels: give each its own",
            )  # fmt: skip
    given = [*study["factors"], *study["fixed"]]
    both = "workload" in given
    if both and (double := [name for name in PAGE_PARAMETERS if name in given]):
        raise ConfigError(
            path,
            double[0],
            "is given beside `workload`",
            "Give one of them: `workload` says it all",
        )
    required = (*LINK_PARAMETERS, *(["workload"] if both else PAGE_PARAMETERS))
    for parameter in (*required, *OPTIONAL):
        count = given.count(parameter)
        if count > 1 or (count == 0 and parameter not in OPTIONAL):
            problem = "is given twice" if count else "is not given"
            raise ConfigError(
                path, parameter, problem, "Give each parameter once, in `factors` or in `fixed`"
            )


def level_value(level: str, value: Any) -> Any:
    """What tables hold for a level: its number, or its name where it is something else."""
    return value if isinstance(value, int | float) and not isinstance(value, bool) else level


def factors_of(study: Study) -> list[dict[str, Any]]:
    """The factors as in the resolved study."""
    return [
        {
            "name": name,
            "label": factor["label"],
            "unit": factor["unit"],
            "levels": [
                {"name": level, "value": level_value(level, value)}
                | ({"label": factor["labels"][level]} if level in factor.get("labels", {}) else {})
                for level, value in factor["levels"].items()
            ],
        }
        for name, factor in study["factors"].items()
    ]


def all_cells(study: Study) -> list[dict[str, Any]]:
    """Every combination of levels as a cell: name, levels, values, and its parameters."""
    factors = study["factors"]
    cells = []
    for combination in itertools.product(*(factor["levels"] for factor in factors.values())):
        levels = dict(zip(factors, combination, strict=True))
        parameters = OPTIONAL | study["fixed"]
        parameters |= {name: factors[name]["levels"][level] for name, level in levels.items()}
        values = {name: level_value(level, parameters[name]) for name, level in levels.items()}
        cells.append(
            {"name": "-".join(combination), "levels": levels, "values": values}
            | {"parameters": parameters}
        )
    return cells


def chosen(
    path: Path, key: str, cells: list[dict[str, Any]], wanted: list[Any]
) -> list[dict[str, Any]]:
    """The cells that a list of names and selections asks for, in the study's order."""
    for entry in wanted:
        if not any(is_selected(cell, _as_selection(entry)) for cell in cells):
            raise ConfigError(
                path, key, f"no cell is {entry!r}",
                "Use names of cells, or {factor: value} with levels of the study",
            )  # fmt: skip
    return [c for c in cells if any(is_selected(c, _as_selection(entry)) for entry in wanted)]


def _as_selection(entry: Any) -> Any:
    return [entry] if isinstance(entry, str) else entry


def finish_cell(path: Path, cell: dict[str, Any], study: Study, scale: dict[str, Any]) -> None:
    """Split a cell's parameters into link, workload and the rest. Raises ConfigError."""
    parameters = cell.pop("parameters")
    cell["link"] = _link(path, cell["name"], parameters)
    workload = parameters.get("workload")
    cell["workload"] = (
        normalised(workload) if workload else {name: parameters[name] for name in PAGE_PARAMETERS}
    )
    if parameters["moves"]:
        cell["moves"] = parameters["moves"]
    options = {
        name.removeprefix(OPTION): value
        for name, value in parameters.items()
        if name.startswith(OPTION) and value != UNSET
    }
    if options:
        cell["options"] = options
    logs = _logs(cell, scale.get("observe") or study.get("observe") or {})
    if not all(logs.values()):
        cell["observe"] = logs
    profile = study.get("profile")
    if profile and is_selected(cell, profile.get("cells", {})):
        cell["profile"] = profile["arms"]
    for circumstance in ("alone", "tolerate_delays"):
        where = scale.get(circumstance, study.get(circumstance, False))
        if where is True or (where and is_selected(cell, where["cells"])):
            cell[circumstance] = True


def _logs(cell: dict[str, Any], observe: dict[str, Any]) -> dict[str, bool]:
    """Which logs a cell has: all; none where nothing shapes, since there they cost goodput; or as is said."""
    logs = dict.fromkeys(("captures", "qlog"), cell["link"]["bandwidth_mbit"] != UNSHAPED)
    if is_selected(cell, observe.get("cells", {})):
        logs |= {name: observe[name] for name in logs if name in observe}
    return logs


def _link(path: Path, name: str, parameters: dict[str, Any]) -> dict[str, Any]:
    link = {key: parameters[key] for key in LINK_PARAMETERS}
    link |= {
        key: parameters[key]
        for key in ("burst_bytes", "offloads")
        if parameters[key] != OPTIONAL[key]
    }
    unshaped = link["bandwidth_mbit"] == UNSHAPED
    if unshaped and (link["rtt_ms"] or link["loss_percent"] or link.get("burst_bytes")):
        raise ConfigError(
            path, f"cell {name}", "is unshaped and yet has a delay, a loss or a burst",
            "Nothing emulates there: set rtt_ms, loss_percent and burst_bytes to 0, or leave the "
            "cell out by `cells`",
        )  # fmt: skip
    if unshaped:
        link["queue_ms"] = 0
    elif "offloads" in link:
        raise ConfigError(
            path, f"cell {name}", f"has offloads {link['offloads']!r} on an emulated link",
            "There merged packets would be delayed and lost whole: use offloads with "
            "bandwidth_mbit: unshaped",
        )  # fmt: skip
    return link
