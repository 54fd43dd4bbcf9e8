"""The tables of docs/implementations.md that follow from the folders of the programs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from howquick.documents.markdown import table
from howquick.environment.endpoints import Endpoint
from howquick.environment.log_cost import LOGS, rows_of
from howquick.model import ROLES


def abilities(endpoints: Mapping[str, Endpoint]) -> str:
    """One row per program: its licence, what it serves and loads, whether it writes qlogs, its rate limit."""
    return table(
        ("program", "licence", "server of", "client of", "qlog", "`max_rate_mbit`"),
        [
            (
                f"`{name}`",
                endpoint.declaration["licence"],
                *(", ".join(_protocols(endpoint, role)) or "—" for role in ROLES),
                ", ".join(role for role in ROLES if endpoint.declaration.get(role, {}).get("qlog"))
                or "—",
                endpoint.max_rate_mbit or "—",
            )
            for name, endpoint in endpoints.items()
        ],
    )


def congestion_control(endpoints: Mapping[str, Endpoint]) -> str:
    """One row per program and what it can be told to use; roles and protocols with the same are one row."""
    rows = []
    for name, endpoint in endpoints.items():
        groups: dict[tuple[str, ...], dict[str, list[str]]] = {}
        for role in ROLES:
            for protocol, ability in _protocols(endpoint, role).items():
                by_kernel = ability["transport"] == "tcp"
                key = ("the kernel's" if by_kernel else "its own", *ability["congestion_control"])
                groups.setdefault(key, {}).setdefault(role, []).append(protocol)
        for (whose, *controls), served in groups.items():
            does = "; ".join(
                f"{role}: {', '.join(protocols)}" for role, protocols in served.items()
            )
            rows.append((f"`{name}`", does, ", ".join(controls), whose))
    return table(("program", "protocols", "congestion control", "whose"), rows)


def log_costs(endpoints: Mapping[str, Endpoint]) -> str:
    """What logs leave of the goodput of each pair that was measured."""
    seen: dict[tuple[Any, ...], tuple[Any, ...]] = {}
    for endpoint in endpoints.values():
        for row in rows_of(endpoint):
            shares = ("—" if row[log] is None else f"{row[log]:.2f}" for log in LOGS)
            pair = f"{row['protocol']} {row['server']}, {row['client']}"
            goodput = f"{row['goodput_mbit']:.0f}"
            seen[row["protocol"], row["server"], row["client"], row["goodput_mbit"]] = (
                pair, goodput, *shares,
            )  # fmt: skip
    return table(("pair", "without logs, Mbit/s", *LOGS), [seen[key] for key in sorted(seen)])


def _protocols(endpoint: Endpoint, role: str) -> dict[str, Any]:
    protocols: dict[str, Any] = endpoint.declaration.get(role, {}).get("protocols", {})
    return protocols


PARTS = {
    "abilities": abilities,
    "congestion control": congestion_control,
    "costs of logs": log_costs,
}
