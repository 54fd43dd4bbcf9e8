"""The arms of a study: those it names and those of its matrix, checked against their programs."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from howquick.environment.endpoints import (
    KERNEL_CONTROLS,
    Endpoint,
    kernel_options,
    known_options,
)
from howquick.environment.manifest import prefix_of
from howquick.errors import ConfigError
from howquick.model import ROLES, Arm, Cell, ResolvedStudy
from howquick.study.cells import is_selected
from howquick.study.host import beyond_host, lacks
from howquick.study.player import cannot_be_steered
from howquick.study.workload import kind_of

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
    sides = {role: _programs(path, matrix, role, endpoints) for role in ROLES}
    for protocol in matrix["protocols"]:
        for server in sides["server"]:
            for client in sides["client"]:
                for connection in matrix["connection"]:
                    pair = {"protocol": protocol, "server": server, "client": client}
                    _add_pair(found, matrix, endpoints, pair | {"connection": connection})
    return found


def _add_pair(
    found: Matrix, matrix: dict[str, Any], endpoints: Endpoints, pair: dict[str, str]
) -> None:
    protocol, server, client, connection = pair.values()
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
    for role in ROLES:
        program = endpoints[pair[role]]
        if missing := not_there(program):
            return missing, ""
        ability = program.declaration[role]["protocols"].get(pair["protocol"])
        if ability is None:
            return f"{program.name} does not speak {pair['protocol']} as {role}", ""
        if pair["connection"] not in ability["connection"]:
            return f"{program.name} has no {pair['connection']} connection as {role}", ""
    if apart := carried_apart(pair, endpoints):
        return apart, ""
    server = endpoints[pair["server"]].declaration["server"]["protocols"][pair["protocol"]]
    able = [control for control in controls if control in server["congestion_control"]]
    if not able:
        return f"{pair['server']} has none of {', '.join(controls)} as congestion control", ""
    return "", able[0]


def not_there(program: Endpoint) -> str:
    """Why a program is not there: not built here, or nothing that runs its image."""
    declaration = program.declaration
    if (program.folder / "build.sh").exists() and prefix_of(program.name) is None:
        return f"{program.name} is not built in this environment"
    images = [declaration.get(role, {}).get("image") for role in ROLES]
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
) -> Arm:
    """An arm with every default filled in; raises ConfigError for what its programs cannot do."""
    # Where it is measured is no part of what it is: `excluded` looks at it.
    asked = {key: value for key, value in given.items() if key != "cells"}
    arm = cast(Arm, {"name": name, **defaults, "options": {}, **asked})
    for role in ROLES:
        program, key = arm[role], f"arms.{name}.{role}"
        if program not in endpoints:
            raise ConfigError(
                path, key, f"no program {program!r}", f"Did you mean {nearest(program, endpoints)}?"
            )
        if arm["protocol"] not in protocols_of(endpoints[program], role):
            missing = "protocol" if role in endpoints[program].declaration else role
            raise ConfigError(
                path, f"arms.{name}.{missing}", cannot(endpoints[program], role, arm["protocol"]),
                who_can(role, arm["protocol"], endpoints),
            )  # fmt: skip
        endpoints[program].require(role, arm, path)
    if apart := carried_apart(arm, endpoints):
        raise ConfigError(
            path, f"arms.{name}.client", apart, "Choose two programs of one transport"
        )  # fmt: skip
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


def why_no_pair(name: str, endpoints: Endpoints) -> tuple[str, str] | None:
    """Problem and remedy of a name as in `arm_matrix` whose programs cannot be that pair; None if they can.

    name: `<protocol>-<server>-<client>`, perhaps with the kind of connection at its end.
    """
    for protocol in GROUPS:
        for server in endpoints:
            start = f"{protocol}-{server}-"
            clients = [c for c in endpoints if re.fullmatch(rf"{start}{c}(-resumed|-0rtt)?", name)]
            for role, program in [("server", server), *[("client", client) for client in clients]]:
                if clients and protocol not in protocols_of(endpoints[program], role):
                    why = cannot(endpoints[program], role, protocol)
                    return why, who_can(role, protocol, endpoints)
    return None


def protocols_of(program: Endpoint, role: str) -> list[str]:
    """What a program speaks in a role; nothing where it has not the role."""
    return list(program.declaration.get(role, {}).get("protocols", {}))


def cannot(program: Endpoint, role: str, protocol: str) -> str:
    """Why a program is not the given end of an arm."""
    if role not in program.declaration:
        return f"{program.name} is no {role}"
    return f"{program.name} cannot {protocol} as {role}"


def who_can(role: str, protocol: str, endpoints: Endpoints) -> str:
    """A sentence that names the programs with a role and a protocol."""
    able = [n for n, program in endpoints.items() if protocol in protocols_of(program, role)]
    return f"{role.capitalize()}s of {protocol}: {', '.join(able) or 'none'}"


def nearest(name: str, known: Any) -> str:
    """The names that look most like `name`."""
    from difflib import get_close_matches

    return " or ".join(get_close_matches(name, list(known), n=2, cutoff=0.0)) or "another"


def transport_of(arm: Arm, endpoints: Endpoints) -> str:
    """`tcp`, `quic` or `sctp`: what carries an arm."""
    protocols = endpoints[arm["server"]].declaration["server"]["protocols"]
    transport: str = protocols[arm["protocol"]]["transport"]
    return transport


def carried_apart(pair: Mapping[str, Any], endpoints: Endpoints) -> str:
    """Why the two ends of a pair never meet although both speak its protocol; empty if they do."""
    ways = {
        role: endpoints[pair[role]].declaration[role]["protocols"][pair["protocol"]]["transport"]
        for role in ROLES
    }
    if len(set(ways.values())) == 1:
        return ""
    told = (f"{pair[role]} has {pair['protocol']} over {ways[role]}" for role in ROLES)
    return " and ".join(told)


def moves_of(arm: Arm, endpoints: Endpoints) -> list[str]:
    """What an arm's client can do when its address changes, as far as its server can follow."""
    client, server = (
        endpoints[arm[role]].declaration[role]["protocols"][arm["protocol"]].get("moves")
        for role in ("client", "server")
    )
    return [way for way in client or [] if server is None or way in server]


def not_applicable(cell: Cell, arm: Arm, endpoints: Endpoints) -> str | None:
    """Why an arm cannot be measured in a cell; None if it can."""
    if why := lacks(transport_of(arm, endpoints), cell):
        return why
    rate = cell["link"]["bandwidth_mbit"]
    for role in ROLES:
        limit = endpoints[arm[role]].max_rate_mbit
        # Without shaping the stack's own rate is what is asked for.
        if limit is not None and isinstance(rate, int | float) and rate > limit:
            return f"{arm[role]} itself is the limit above {limit:g} Mbit/s"
    control = cell.get("congestion_control")
    if control is not None and not has_control(control, arm, endpoints):
        return f"{arm['server']} has no congestion control {control} over {arm['protocol']}"
    kind = kind_of(cell["workload"])
    if kind == "player":
        if why := cannot_be_steered(endpoints[arm["client"]]):
            return why
    elif kind not in endpoints[arm["client"]].declaration["client"].get("workloads", [kind]):
        return f"{arm['client']} cannot load the workload {kind}"
    for option, value in cell.get("options", {}).items():
        if not takes(option, arm, endpoints):
            return f"neither {arm['server']} nor {arm['client']} has the option {option}"
        for role in ROLES:
            values = endpoints[arm[role]].values_of(option)
            if values is not None and value not in values:
                return f"{arm[role]} has no {option} {value}"
    if cell.get("moves"):
        able = moves_of(arm, endpoints)
        if not able or not endpoints[arm["client"]].declaration["client"]["gate"]:
            return f"{arm['client']} cannot follow a change of its address over {arm['protocol']}"
        asked = cell.get("options", {}).get("on_move")
        if asked is not None and asked not in able:
            return f"{arm['client']} cannot {asked} over {arm['protocol']} with {arm['server']}"
    return None


def has_control(control: str, arm: Arm, endpoints: Endpoints) -> bool:
    """Whether the server of an arm, or the kernel under it, has a congestion control."""
    ability = endpoints[arm["server"]].declaration["server"]["protocols"][arm["protocol"]]
    by_kernel = KERNEL_CONTROLS if ability["transport"] == "tcp" else ()
    return control in (*ability["congestion_control"], *by_kernel)


def excluded(cell: Cell, arm: Arm, study: dict[str, Any]) -> str | None:
    """Why the study itself leaves an arm out of a cell; None if it does not."""
    if not is_selected(cell, study["arms"][arm["name"]].get("cells", {})):
        return "the study has this arm in other cells only"
    for entry in study.get("exclude", []):
        named = arm["name"] in entry.get("arms", [arm["name"]])
        kind = arm["connection"] in entry.get("connection", [arm["connection"]])
        if named and kind and is_selected(cell, entry.get("cells", {})):
            return str(entry["why"])
    return None


def takes(option: str, arm: Arm, endpoints: Endpoints) -> bool:
    """Whether a program of the arm, or the kernel under it, has the option."""
    own = [endpoints[arm[role]].defaults for role in ROLES]
    return option in kernel_options(arm, endpoints) or any(option in options for options in own)


def check_applicable(path: Path, study: ResolvedStudy, cells: list[Cell]) -> None:
    """Refuse a cell in which no arm can be measured: its factors ask what no arm can do.

    What this machine alone cannot do is no mistake of the study.
    """
    arms = {arm["name"] for arm in study["arms"]}
    for cell in cells:
        if beyond_host(cell):
            continue
        if arms and arms <= {entry["arm"] for entry in cell["not_applicable"]}:
            reasons = sorted({entry["why"] for entry in cell["not_applicable"]})
            raise ConfigError(
                path, f"cell {cell['name']}", f"no arm can be measured there ({reasons[0]})",
                "Leave the level out, or add an arm whose programs can do it",
            )  # fmt: skip


def metrics_of(arms: Mapping[str, Mapping[str, Any]], endpoints: Endpoints) -> dict[str, set[str]]:
    """By arm, the names of the further numbers that its client reports."""
    return {
        name: set(endpoints[arm["client"]].declaration.get("client", {}).get("metrics", []))
        for name, arm in arms.items()
        if arm["client"] in endpoints
    }
