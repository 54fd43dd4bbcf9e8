"""What the programs' endpoint.yaml promise, as lists for parametrised tests."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from howquick.interop import CONTRACT
from howquick.study.host import has_sctp
from programs.endpoint_runner import Endpoint, Load, endpoint_names, free_port, load_endpoint

# What a pair needs beyond the defaults: nghttpd takes no other group, and SCTP has certificates to verify
# with DTLS only.
PAIR_OPTIONS: dict[tuple[str, str], dict[str, Any]] = {
    ("nghttp2", "curl"): {"group": "P-256"},
    ("nghttp2", "quic-go"): {"group": "P-256"},
    ("sctp", "sctp"): {"dtls": True},
}


@dataclass(frozen=True)
class Pair:
    """A server and a client that speak one protocol, and one kind of connection both know."""

    server: str
    client: str
    protocol: str
    connection: str = "cold"

    def __str__(self) -> str:
        return f"{self.server}-{self.client}-{self.protocol}-{self.connection}"


@dataclass(frozen=True)
class Role:
    """One program in one role with one protocol."""

    program: str
    role: str
    protocol: str

    def __str__(self) -> str:
        return f"{self.program}-{self.role}-{self.protocol}"

    @property
    def contract(self) -> str | None:
        """Return the contract that the program follows if it is not ours."""
        return load_endpoint(self.program).definition.get("contract")

    def abilities(self) -> dict[str, Any]:
        """Return the entry of endpoint.yaml."""
        entry: dict[str, Any] = load_endpoint(self.program).definition[self.role]["protocols"]
        return dict(entry[self.protocol])


def roles(wanted: str | None = None) -> list[Role]:
    """Return every program, role and protocol; only of one role if ``wanted`` names it."""
    found = []
    for program in endpoint_names():
        definition = load_endpoint(program).definition
        for role in ("server", "client"):
            if wanted in (None, role):
                found += [
                    Role(program, role, p) for p in definition.get(role, {}).get("protocols", {})
                ]
    return found


def pairs() -> list[Pair]:
    """Return every pair of server and client that this kernel carries, by protocol and kind of connection.

    Programs on the kernel's SCTP are tried in a guest where it has none (guest/test_sctp.py). Without
    programs for the Interop Runner, whose contract knows neither times nor reasons: test_interop.py.
    """
    return [
        Pair(server.program, client.program, server.protocol, kind)
        for server in roles("server")
        for client in roles("client")
        if server.protocol == client.protocol and CONTRACT not in (server.contract, client.contract)
        if server.abilities()["transport"] == client.abilities()["transport"]
        if server.abilities()["transport"] != "sctp-kernel" or has_sctp()
        for kind in server.abilities()["connection"]
        if kind in client.abilities()["connection"]
    ]


def enough_pairs() -> list[Pair]:
    """Return pairs in which every role of every program occurs with each of its protocols and connections.

    A program meets its own other end if it has one. The study `arms` tries all of `pairs`.
    """
    chosen: dict[tuple[str, str, str, str], Pair] = {}
    for pair in sorted(pairs(), key=lambda pair: pair.server != pair.client):
        for role, program in (("server", pair.server), ("client", pair.client)):
            chosen.setdefault((role, program, pair.protocol, pair.connection), pair)
    return list(dict.fromkeys(chosen.values()))


def own_pairs() -> list[Pair]:
    """Return one cold pair for every client and protocol: with its own server if there is one."""
    chosen: dict[tuple[str, str], Pair] = {}
    for pair in enough_pairs():
        if pair.connection == "cold":
            chosen.setdefault((pair.client, pair.protocol), pair)
    return list(chosen.values())


def load_for(pair: Pair, role: str, certs: Path, port: int | None = None, **extra: Any) -> Load:
    """Return what one end of a pair is asked to do: CUBIC where it can."""
    program = pair.server if role == "server" else pair.client
    known = Role(program, role, pair.protocol).abilities()["congestion_control"]
    endpoint: Endpoint = load_endpoint(program)
    options = {
        name: value
        for name, value in PAIR_OPTIONS.get((pair.server, pair.client), {}).items()
        if name in endpoint.options()
    }
    return Load(
        protocol=pair.protocol,
        certs=certs,
        port=port or free_port(),
        congestion_control="cubic" if "cubic" in known else known[0],
        connection=pair.connection,
        options=options,
        **extra,
    )
