"""What logs cost an arm: which share of its goodput is left where nothing shapes.

`bench log_cost` measures pairs of programs; scripts/record_log_cost.py keeps the rows in the folders of the
programs that they stand for, `envs/<program>/log_cost.json` (docs/formats.md, 4); plans say it of each arm.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from howquick.analysis_model import LogCost
from howquick.environment.endpoints import Endpoint
from howquick.model import ROLES
from howquick.schemas import load_yaml

FILE = "log_cost.json"
# qlogs of both ends, captures of whole packets at both ends, all of them.
LOGS = ("qlog", "captures", "both")
Row = dict[str, Any]


def rows_of(endpoint: Endpoint) -> list[Row]:
    """What was measured of a program; empty where nothing was. Raises ConfigError for another file."""
    file = endpoint.folder / FILE
    return list(load_yaml(file, "log_cost")) if file.exists() else []


def costs_of(
    arms: Iterable[Mapping[str, Any]], endpoints: Mapping[str, Endpoint]
) -> dict[str, LogCost]:
    """What logs cost each arm of which that is known, by name. Raises ConfigError as `rows_of`."""
    arms = list(arms)
    kept = {
        name: rows_of(endpoints[name]) for name in {arm[role] for arm in arms for role in ROLES}
    }
    return {arm["name"]: cost for arm in arms if (cost := cost_of(arm, kept))}


def cost_of(arm: Mapping[str, Any], kept: Mapping[str, list[Row]]) -> LogCost | None:
    """Shares of an arm's goodput that logs leave, and the pairs by which that is known; None where it is not.

    kept: what was measured of its programs, by name.

    Of a pair that was measured that is what was seen, with the arm's options if it was measured with them:
    the faster a stack is, the more a log takes. Otherwise its ends were measured with others, and it is taken
    to be as fast as the slower of them, logged and not.
    """
    found = {role: _as(role, arm, kept[arm[role]]) for role in ROLES}
    exact = [row for row in found.values() if row and all(row[role] == arm[role] for role in ROLES)]
    rows = exact[:1] or [row for row in found.values() if row]
    if not rows:
        return None
    return {
        "qlog": _share("qlog", rows),
        "captures": _share("captures", rows),
        "both": _share("both", rows),
        "measured": [row["arm"] for row in rows],
        "versions": {row[role]: row[f"{role}_version"] for row in rows for role in ROLES},
    }


def _share(log: str, rows: list[Row]) -> float | None:
    """What the log leaves of the goodput of the slowest; None where none of them writes it."""
    if all(row[log] is None for row in rows):
        return None
    logged = (row["goodput_mbit"] * (1 if row[log] is None else row[log]) for row in rows)
    return round(float(min(logged) / min(row["goodput_mbit"] for row in rows)), 3)


def _as(role: str, arm: Mapping[str, Any], rows: list[Row]) -> Row | None:
    """The row that tells most of the arm's program in this role; of several the one that loses most."""
    mine = [row for row in rows if row["protocol"] == arm["protocol"] and row[role] == arm[role]]
    pair = [row for row in mine if all(row[end] == arm[end] for end in ROLES)]
    same = [row for row in pair if row["options"] == arm["options"]]
    return min(same or pair or mine, key=_left, default=None)


def _left(row: Row) -> float:
    share: float = row["captures"] if row["both"] is None else row["both"]
    return share


def of_these_versions(
    costs: Mapping[str, LogCost], versions: Mapping[str, str]
) -> dict[str, LogCost]:
    """The costs that were measured of the programs as they are: another version may log otherwise.

    Partners that take no part in the study are not asked.
    """
    return {
        arm: cost
        for arm, cost in costs.items()
        if all(versions.get(program, seen) == seen for program, seen in cost["versions"].items())
    }
