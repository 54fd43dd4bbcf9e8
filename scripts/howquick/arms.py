"""The arms of a study: those it names and those of its matrix, checked against their programs."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from howquick.endpoints import Endpoint, kernel_options, known_options
from howquick.errors import ConfigError
from howquick.manifest import prefix_of
from howquick.plan import is_selected
from howquick.workload import kind_of

Endpoints = dict[str, Endpoint]
# How the group of an arm of the matrix is called.
GROUPS = {
    "h1": "HTTP/1.1", "h2": "HTTP/2", "h3": "QUIC", "hq": "QUIC", "spdy": "SPDY", "tls": "TCP/TLS",
    "sctp": "SCTP",
}  # fmt: skip
CONTAINERS = ("podman", "apptainer")


@dataclass
class Matrix:
    """The arms that a matrix stands for, and the pairs that cannot be."""

    arms: dict[str, dict[str, Any]] = field(default_factory=dict)
    unsupported: list[dict[str, Any]] = field(default_factory=list)


def expand_matrix(path: Path, matrix: dict[str, Any] | None, endpoints: Endpoints) -> Matrix:
    """An arm for every pair of programs that can talk; for the others the reason why not.

    Raises ConfigError for a program that does not exist or has not the role.
    """
    found = Matrix()
    if matrix is None:
        return found
    sides = {role: _programs(path, matrix, role, endpoints) for role in ("server", "client")}
    for protocol in matrix["protocols"]:
        for server in sides["server"]:
            for client in sides["client"]:
                for connection in matrix["connection"]:
                    _add_pair(found, matrix, endpoints, protocol, server, client, connection)
    return found


def _add_pair(
    found: Matrix,
    matrix: dict[str, Any],
    endpoints: Endpoints,
    protocol: str,
    server: str,
    client: str,
    connection: str,
) -> None:
    pair = {"protocol": protocol, "server": server, "client": client, "connection": connection}
    why, control = _why_not(endpoints, pair, matrix["congestion_control"])
    if why:
        found.unsupported.append(pair | {"why": why})
        return
    name = f"{protocol}-{server}-{client}" + ("" if connection == "cold" else f"-{connection}")
    asked = matrix.get("options", {}) | matrix.get("server_options", {}).get(server, {})
    known = endpoints[server].defaults | endpoints[client].defaults
    found.arms[name] = (
        pair
        | {
            "label": name,
            "group": GROUPS[protocol],
            "congestion_control": control,
            "options": {name: value for name, value in asked.items() if name in known},
        }
        | {key: matrix[key] for key in ("cells",) if key in matrix}
    )


def _why_not(endpoints: Endpoints, pair: dict[str, Any], controls: list[str]) -> tuple[str, str]:
    """Why a pair cannot talk (empty if it can), and its congestion control."""
    for role in ("server", "client"):
        program = endpoints[pair[role]]
        if missing := _absent(program):
            return missing, ""
        ability = program.declaration[role]["protocols"].get(pair["protocol"])
        if ability is None:
            return f"{program.name} does not speak {pair['protocol']} as {role}", ""
        if pair["connection"] not in ability["connection"]:
            return f"{program.name} has no {pair['connection']} connection as {role}", ""
    server = endpoints[pair["server"]].declaration["server"]["protocols"][pair["protocol"]]
    able = [control for control in controls if control in server["congestion_control"]]
    if not able:
        return f"{pair['server']} has none of {', '.join(controls)} as congestion control", ""
    return "", able[0]


def _absent(program: Endpoint) -> str:
    """Why a program is not there: not built here, or nothing that runs its image."""
    declaration = program.declaration
    if (program.folder / "build.sh").exists() and prefix_of(program.name) is None:
        return f"{program.name} is not built in this environment"
    images = [declaration.get(role, {}).get("image") for role in ("server", "client")]
    if any([declaration.get("image"), *images]) and not any(map(shutil.which, CONTAINERS)):
        return f"{program.name} is an image and there is neither {' nor '.join(CONTAINERS)}"
    return ""


def _programs(path: Path, matrix: dict[str, Any], role: str, endpoints: Endpoints) -> list[str]:
    asked = matrix[f"{role}s"]
    able = [name for name, endpoint in endpoints.items() if role in endpoint.declaration]
    if asked == "all":
        spoken = set(matrix["protocols"])
        return [n for n in able if spoken & set(endpoints[n].declaration[role]["protocols"])]
    for name in asked:
        if name not in able:
            raise ConfigError(
                path, f"arm_matrix.{role}s", f"no {role} is called {name!r}",
                f"Known: {', '.join(able)}",
            )  # fmt: skip
    return list(asked)


def resolve_arm(
    path: Path, name: str, given: dict[str, Any], defaults: dict[str, Any], endpoints: Endpoints
) -> dict[str, Any]:
    """An arm with every default filled in; raises ConfigError for what its programs cannot do."""
    arm = {"name": name, **defaults, "options": {}, **given}
    # Where it is measured is no part of what it is: `excluded` looks at it.
    arm.pop("cells", None)
    for role in ("server", "client"):
        program, key = arm[role], f"arms.{name}.{role}"
        if program not in endpoints:
            raise ConfigError(
                path, key, f"no program {program!r}", f"Did you mean {nearest(program, endpoints)}?"
            )
        endpoints[program].require(role, arm, path, key)
    arm["options"] = known_options(arm, endpoints, path)
    moves = moves_of(arm, endpoints)
    if "on_move" in given.get("options", {}) and arm["options"]["on_move"] not in moves:
        raise ConfigError(
            path, f"arms.{name}.options.on_move",
            f"{arm['client']} cannot {arm['options']['on_move']!r} over {arm['protocol']}"
            f" with {arm['server']}",
            f"It can: {', '.join(moves) or 'nothing of the kind'}",
        )  # fmt: skip
    return arm


def nearest(name: str, known: Any) -> str:
    """The names that look most like `name`."""
    from difflib import get_close_matches

    return " or ".join(get_close_matches(name, list(known), n=2, cutoff=0.0)) or "another"


def transport_of(arm: dict[str, Any], endpoints: Endpoints) -> str:
    """`tcp`, `quic` or `sctp`: what carries an arm."""
    protocols = endpoints[arm["server"]].declaration["server"]["protocols"]
    transport: str = protocols[arm["protocol"]]["transport"]
    return transport


def moves_of(arm: dict[str, Any], endpoints: Endpoints) -> list[str]:
    """What an arm's client can do when its address changes, as far as its server can follow."""
    client, server = (
        endpoints[arm[role]].declaration[role]["protocols"][arm["protocol"]].get("moves")
        for role in ("client", "server")
    )
    return [way for way in client or [] if server is None or way in server]


def not_applicable(cell: dict[str, Any], arm: dict[str, Any], endpoints: Endpoints) -> str | None:
    """Why an arm cannot be measured in a cell; None if it can."""
    rate = cell["link"]["bandwidth_mbit"]
    for role in ("server", "client"):
        limit = endpoints[arm[role]].max_rate_mbit
        # Without shaping the stack's own rate is what is asked for.
        if limit is not None and isinstance(rate, int | float) and rate > limit:
            return f"{arm[role]} itself is the limit above {limit:g} Mbit/s"
    kind = kind_of(cell["workload"])
    if kind not in endpoints[arm["client"]].declaration["client"].get("workloads", [kind]):
        return f"{arm['client']} cannot load the workload {kind}"
    for option in cell.get("options", {}):
        if not takes(option, arm, endpoints):
            return f"neither {arm['server']} nor {arm['client']} has the option {option}"
    if cell.get("moves"):
        able = moves_of(arm, endpoints)
        if not able or not endpoints[arm["client"]].declaration["client"]["gate"]:
            return f"{arm['client']} cannot follow a change of its address over {arm['protocol']}"
        asked = cell.get("options", {}).get("on_move")
        if asked is not None and asked not in able:
            return f"{arm['client']} cannot {asked} over {arm['protocol']} with {arm['server']}"
    return None


def excluded(cell: dict[str, Any], arm: dict[str, Any], study: dict[str, Any]) -> str | None:
    """Why the study itself leaves an arm out of a cell; None if it does not."""
    if not is_selected(cell, study["arms"][arm["name"]].get("cells", {})):
        return "the study has this arm in other cells only"
    for entry in study.get("exclude", []):
        named = arm["name"] in entry.get("arms", [arm["name"]])
        kind = arm["connection"] in entry.get("connection", [arm["connection"]])
        if named and kind and is_selected(cell, entry.get("cells", {})):
            return str(entry["why"])
    return None


def takes(option: str, arm: dict[str, Any], endpoints: Endpoints) -> bool:
    """Whether a program of the arm, or the kernel under it, has the option."""
    own = [endpoints[arm[role]].defaults for role in ("server", "client")]
    return option in kernel_options(arm, endpoints) or any(option in options for options in own)


def check_applicable(path: Path, study: dict[str, Any], cells: list[dict[str, Any]]) -> None:
    """Refuse a cell in which no arm can be measured: its factors ask what no arm can do."""
    arms = {arm["name"] for arm in study["arms"]}
    for cell in cells:
        if arms and arms <= {entry["arm"] for entry in cell["not_applicable"]}:
            reasons = sorted({entry["why"] for entry in cell["not_applicable"]})
            raise ConfigError(
                path, f"cell {cell['name']}", f"no arm can be measured there ({reasons[0]})",
                "Leave the level out, or add an arm whose programs can do it",
            )  # fmt: skip


def metrics_of(arms: dict[str, dict[str, Any]], endpoints: Endpoints) -> dict[str, set[str]]:
    """By arm, the names of the further numbers that its client reports."""
    return {
        name: set(endpoints[arm["client"]].declaration.get("client", {}).get("metrics", []))
        for name, arm in arms.items()
        if arm["client"] in endpoints
    }
