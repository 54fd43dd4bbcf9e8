"""What an endpoint.yaml declares, as loads to try: an arm for each partner, setting, value of an option."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from howquick import interop
from howquick.environment.endpoints import Endpoint
from howquick.errors import ConfigError
from howquick.model import Arm, Role
from howquick.study.arms import Endpoints, moves_of, not_there, protocols_of, resolve_arm

# The words of options that mean the same in every program (docs/formats.md, 2). A program that lists no
# `values` is tried with all of them: it may end with 127.
WORDS: dict[str, list[Any]] = {
    "cipher": ["default", "aes128", "aes256", "chacha20"],
    "group": ["X25519", "P-256", "P-384", "X25519MLKEM768"],
    "scheduling": ["round_robin", "fifo", "client"],
    "urgency": ["none", "order", "reverse", "incremental"],
}
COLD = "cold"


@dataclass(frozen=True)
class Trial:
    """One load that a declaration promises.

    what: the part of the declaration that it tries; declared: it says so itself, so that status 127 breaks
    the promise; moves: the client's address changes; arm: None where no partner can take part.
    """

    role: Role
    protocol: str
    what: str
    declared: bool
    moves: bool
    arm: Arm | None


def trials(name: str, endpoints: Endpoints) -> list[Trial]:
    """Everything to try of a program, in each role each arm once. Raises ConfigError for an unknown one."""
    if name not in endpoints:
        raise ConfigError(
            Path("envs") / name, "", "no such program", f"Known: {', '.join(endpoints)}"
        )
    found: dict[str, Trial] = {}
    for role in ("server", "client"):
        for protocol in protocols_of(endpoints[name], role):
            for trial in _Side(name, role, protocol, endpoints).trials():
                # What is the default was tried with the partners.
                found.setdefault(f"{role} {trial.moves} {trial.arm or trial}", trial)
    return list(found.values())


@dataclass(frozen=True)
class _Side:
    """A program in one role over one protocol."""

    name: str
    role: Role
    protocol: str
    endpoints: Endpoints

    @property
    def other(self) -> Role:
        return "client" if self.role == "server" else "server"

    @property
    def ability(self) -> dict[str, Any]:
        return self._ability(self.endpoints[self.name], self.role)

    def _ability(self, program: Endpoint, role: Role) -> dict[str, Any]:
        ability: dict[str, Any] = program.declaration[role]["protocols"][self.protocol]
        return ability

    @property
    def partners(self) -> list[str]:
        """The other ends that there are, its own first: what they have in common is most."""
        able = [
            name
            for name, program in self.endpoints.items()
            if self.protocol in protocols_of(program, self.other) and not not_there(program)
        ]
        return sorted(able, key=lambda name: (name != self.name, self._is_foreign(name)))

    def _is_foreign(self, name: str) -> bool:
        """Written for the Interop Runner, whose contract has no settings."""
        return self.endpoints[name].declaration.get("contract") == interop.CONTRACT

    def trials(self) -> Iterator[Trial]:
        """Its partners, then congestion controls, kinds of connection, moves, values of options."""
        for partner in self.partners:
            yield self._trial(f"with {partner}", self._arm(partner))
        for control in self.ability["congestion_control"]:
            yield self._trial(f"congestion control {control}", self._first(control=control))
        for kind in self.ability["connection"]:
            if kind != COLD:
                yield self._trial(f"connection {kind}", self._first(connection=kind))
        for way in self.ability.get("moves", []):
            yield self._trial(f"a move, {way}", self._moving(way), moves=True)
        for option, description in self.endpoints[self.name].declaration.get("options", {}).items():
            listed = self.endpoints[self.name].values_of(option)
            for value in listed or WORDS.get(option, [description["default"]]):
                given = {option: value}
                declared = listed is not None or value == description["default"]
                yield self._trial(
                    f"{option} {value}", self._first(options=given), declared=declared
                )

    def _trial(
        self, what: str, arm: Arm | None, *, declared: bool = True, moves: bool = False
    ) -> Trial:
        return Trial(self.role, self.protocol, what, declared, moves, arm)

    def _first(self, **asked: Any) -> Arm | None:
        """An arm with the first partner that can take part in what is asked; None if none can."""
        arms = (self._arm(partner, **asked) for partner in self.partners)
        return next((arm for arm in arms if arm is not None), None)

    def _moving(self, way: str) -> Arm | None:
        for partner in self.partners:
            arm = self._arm(partner, options={"on_move": way})
            if arm and way in moves_of(arm, self.endpoints):
                return arm
        return None

    def _arm(
        self,
        partner: str,
        control: str = "",
        connection: str = COLD,
        options: dict[str, Any] | None = None,
    ) -> Arm | None:
        """The arm with this partner; None where that one cannot take part in it."""
        pair: dict[str, str] = {self.role: self.name, self.other: partner}
        theirs = self._ability(self.endpoints[partner], self.other)
        server = self._ability(self.endpoints[pair["server"]], "server")["congestion_control"]
        # A client is told of it where both have it.
        if control and (control not in server or control not in theirs["congestion_control"]):
            return None
        given: dict[str, Any] = {
            **pair,
            "label": "", "group": "", "protocol": self.protocol, "connection": connection,
            "congestion_control": control or ("cubic" if "cubic" in server else server[0]),
            "options": options or {},
        }  # fmt: skip
        try:
            return resolve_arm(Path(self.name), f"{self.protocol}-x", given, {}, self.endpoints)
        except ConfigError:
            return None
