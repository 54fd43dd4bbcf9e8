"""The parameters of a study and its cells: one level of each factor (docs/formats.md, 1)."""

from __future__ import annotations

import itertools
import math
from pathlib import Path
from typing import Any, cast

from howquick.errors import ConfigError
from howquick.model import Cell, Clock, Combination, Factor, Level, Link
from howquick.schemas import check
from howquick.study.beside import has_drawn_start
from howquick.study.cells import is_selected
from howquick.study.player import check_player
from howquick.study.workload import UNSHAPED, is_shaped, normalised
from howquick.testbed import link as testbed
from howquick.testbed import trace
from howquick.testbed.link_rules import contradiction
from howquick.testbed.trace_rules import trace_contradiction

LINK_PARAMETERS = ("bandwidth_mbit", "rtt_ms", "loss_percent", "queue_ms", "mtu_bytes")
PAGE_PARAMETERS = ("objects", "object_size")
# Those that a study may leave out, and what they are then. A cell names them only where they differ.
OPTIONAL: dict[str, Any] = {
    "burst_bytes": 0, "offloads": "off", "moves": 0, "clock": "virtual", "bandwidth_up_mbit": None,
    "delay_up_ms": None, "aqm": "none", "ecn": None, "loss_burst_packets": 0,
    "loss_in_burst_percent": 100, "jitter_ms": 0, "jitter_distribution": "normal", "reorder_percent": 0,
    "path_mtu_bytes": None, "rate_trace": testbed.NO_TRACE, "rate_trace_up": testbed.NO_TRACE,
    "beside": [], "start_s": 0, "congestion_control": None,
}  # fmt: skip
# Those of a cell's own; the others are of its link.
OF_CELL = ("moves", "clock", "beside", "start_s", "congestion_control")
# Beside the plain queue: those that draw nothing.
WITHOUT_DICE = ("none", "codel")
OPTION = "option."
# The level of an option at which every arm keeps what it has by itself; arms without the option have it too.
UNSET = "unset"
# A minute each would be a week.
MOST_CELLS = 10_000
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


def with_clock(path: Path, study: Study, clock: Clock | None) -> Study:
    """The study by the clock that the user asks for, whatever its own. Raises ConfigError where it varies."""
    if clock is None:
        return study
    if "clock" in study["factors"]:
        raise ConfigError(
            path, "factors.clock", f"varies, and {clock!r} is asked for",
            "Leave `clock` out of the configuration, or choose among the cells by `cells`",
        )  # fmt: skip
    return study | {"fixed": study["fixed"] | {"clock": clock}}


def check_parameters(path: Path, study: Study) -> None:
    """Every parameter is given exactly once; the optional ones at most once. Raises ConfigError."""
    for name, factor in study["factors"].items():
        for level in factor.get("labels", {}):
            if level not in factor["levels"]:
                raise ConfigError(
                    path, f"factors.{name}.labels.{level}", "is no level of the factor",
                    f"Levels: {', '.join(factor['levels'])}",
                )  # fmt: skip
        values = [level_value(level, value) for level, value in factor["levels"].items()]
        if double := [value for value in values if values.count(value) > 1]:
            raise ConfigError(
                path, f"factors.{name}.levels", f"two levels are {double[0]!r}",
                "Tables and figures tell levels by their values: give each its own",
            )  # fmt: skip
        labels = list(factor.get("labels", {}).values())
        if double := [label for label in labels if labels.count(label) > 1]:
            raise ConfigError(
                path, f"factors.{name}.labels", f"two levels are called {double[0]!r}",
                "Figures tell levels by their labels: give each its own",
            )  # fmt: skip
    # The column of tables with the arms' congestion controls is then the factor's too.
    for level, value in study["factors"].get("congestion_control", {}).get("levels", {}).items():
        if level != value:
            raise ConfigError(
                path, f"factors.congestion_control.levels.{level}", f"is {value!r}",
                f"Name the level as what it is: {{{value}: {value}}}",
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


def factors_of(study: Study) -> list[Factor]:
    """The factors as in the resolved study."""
    return [
        {
            "name": name,
            "label": factor["label"],
            "unit": factor["unit"],
            "levels": [
                _level(level, value, factor.get("labels", {}))
                for level, value in factor["levels"].items()
            ],
        }
        for name, factor in study["factors"].items()
    ]


def _level(name: str, value: Any, labels: dict[str, str]) -> Level:
    level: Level = {"name": name, "value": level_value(name, value)}
    if name in labels:
        level["label"] = labels[name]
    return level


def all_cells(path: Path, study: Study) -> list[Combination]:
    """Every combination of levels as a cell: name, levels, values, and its parameters.

    Raises ConfigError where there are more than anybody would measure.
    """
    factors = study["factors"]
    count = math.prod(len(factor["levels"]) for factor in factors.values())
    if count > MOST_CELLS:
        raise ConfigError(
            path, "factors", f"their levels make {count} cells, and more than {MOST_CELLS} are a mistake",
            "Take levels away, or fix a parameter in `fixed`",
        )  # fmt: skip
    cells: list[Combination] = []
    for combination in itertools.product(*(factor["levels"] for factor in factors.values())):
        levels = dict(zip(factors, combination, strict=True))
        parameters = OPTIONAL | study["fixed"]
        parameters |= {name: factors[name]["levels"][level] for name, level in levels.items()}
        values = {name: level_value(level, parameters[name]) for name, level in levels.items()}
        cells.append(
            {
                "name": "-".join(combination),
                "levels": levels,
                "values": values,
                "parameters": parameters,
            }
        )
    return cells


def chosen(path: Path, key: str, cells: list[Combination], wanted: list[Any]) -> list[Combination]:
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


def finish_cell(path: Path, combination: Combination, study: Study, scale: dict[str, Any]) -> Cell:
    """The cell of a combination: its parameters as link, workload and the rest. Raises ConfigError."""
    parameters = combination["parameters"]
    workload = parameters.get("workload") or {name: parameters[name] for name in PAGE_PARAMETERS}
    cell: Cell = {
        "name": combination["name"],
        "levels": combination["levels"],
        "values": combination["values"],
        "link": _link(path, combination["name"], parameters),
        "workload": normalised(workload),
        "not_applicable": [],
    }
    # Where nothing shapes, what is asked for is what a processor can do.
    if parameters["clock"] == "virtual" and is_shaped(cell["link"]):
        cell["clock"] = "virtual"
        # Nothing is lost by dice, and nothing comes at a drawn time: what is left are the programs' own.
        drawn = parameters["moves"] or has_drawn_start(parameters["beside"])
        if not drawn and not _draws(cell["link"]):
            cell["exact"] = True
    if parameters["moves"]:
        cell["moves"] = parameters["moves"]
    if parameters["congestion_control"]:
        cell["congestion_control"] = parameters["congestion_control"]
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
    _set_full_captures(cell, scale["full_captures"])
    profile = study.get("profile")
    if profile and is_selected(cell, profile.get("cells", {})):
        cell["profile"] = profile["arms"]
    if _holds("alone", cell, study, scale):
        cell["alone"] = True
    if _holds("tolerate_delays", cell, study, scale):
        cell["tolerate_delays"] = True
    check_player(path, cell, scale["timeout_s"])
    return cell


def default_full_captures(scale: dict[str, Any]) -> int:
    """Of how many repetitions whole packets are kept in cells of which nothing else is said."""
    given = scale["full_captures"]
    count: int = given["default"] if isinstance(given, dict) else given
    return count


def _set_full_captures(cell: Cell, given: int | dict[str, Any]) -> None:
    """Give a cell its own number where the scale has one; the first selection with the cell decides."""
    entries = given["cells"] if isinstance(given, dict) else []
    for entry in entries:
        if is_selected(cell, entry["cells"]):
            cell["full_captures"] = entry["count"]
            return


def _holds(circumstance: str, cell: Cell, study: Study, scale: dict[str, Any]) -> bool:
    where = scale.get(circumstance, study.get(circumstance, False))
    return where is True or bool(where and is_selected(cell, where["cells"]))


def _logs(cell: Cell, observe: dict[str, Any]) -> dict[str, bool]:
    """Which logs a cell has: all; none where nothing shapes, since there they cost goodput; or as is said."""
    logs = dict.fromkeys(("captures", "qlog"), cell["link"]["bandwidth_mbit"] != UNSHAPED)
    if is_selected(cell, observe.get("cells", {})):
        logs |= {name: observe[name] for name in logs if name in observe}
    return logs


def _draws(link: Link) -> bool:
    """Whether anything of a load on the link is left to chance."""
    varies = link["loss_percent"] or link.get("jitter_ms") or link.get("reorder_percent")
    return bool(varies) or link.get("aqm", "none") not in WITHOUT_DICE


def _link(path: Path, name: str, parameters: dict[str, Any]) -> Link:
    link: dict[str, Any] = {key: parameters[key] for key in LINK_PARAMETERS}
    link |= {
        key: parameters[key]
        for key in OPTIONAL
        if key not in OF_CELL and parameters[key] != OPTIONAL[key]
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
    _check_contradiction(path, name, parameters)
    if unshaped:
        return cast(Link, link)
    for key in testbed.TRACES:
        if key in link:
            # What it holds decides, and the link says so.
            link[key] = trace.load(link[key]).reference
    made = testbed.Link.from_dict(link)
    _check_queue(path, name, link, made)
    # As it is, whichever way it was said: a rate of the way up that is the other's is none of its own.
    return cast(Link, {key: value for key, value in link.items() if key in made.to_dict()})


def _check_contradiction(path: Path, name: str, parameters: dict[str, Any]) -> None:
    """Nothing of the link makes something else of it impossible. Raises ConfigError."""
    link = OPTIONAL | {key: parameters[key] for key in (*LINK_PARAMETERS, *OPTIONAL)}
    if link["bandwidth_mbit"] == UNSHAPED:
        link["bandwidth_mbit"] = math.inf
    if wrong := contradiction(link) or trace_contradiction(link):
        raise ConfigError(path, f"cell {name}", f"{wrong.key} {wrong.problem}", wrong.remedy)


def _check_queue(path: Path, name: str, link: dict[str, Any], made: testbed.Link) -> None:
    """The queues can be as short as is asked for: none has less than ten packets. Raises ConfigError."""
    for side in map(made.side, testbed.DIRECTIONS):
        # What rounding to whole bytes adds is no other queue.
        if side.queue_delay_ms > link["queue_ms"] * (1 + 1e-3):
            least = math.ceil(side.queue_delay_ms * 10) / 10
            raise ConfigError(
                path, f"cell {name}",
                f"has a queue_ms of {link['queue_ms']:g}, and at {side.bandwidth_mbit:g} Mbit/s the shortest "
                f"queue is {side.queue_delay_ms:.1f} ms ({testbed.MINIMUM_QUEUE_PACKETS} packets of "
                f"{link['mtu_bytes']} bytes)",
                f"Ask for {least:g} or more, or leave the cell out by `cells`; a queue_ms of its own for "
                "each rate is a factor",
            )  # fmt: skip
