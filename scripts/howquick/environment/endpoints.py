"""The programs under test: what `envs/<program>/endpoint.yaml` says they can do."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from howquick import interop
from howquick.errors import ROOT, ConfigError
from howquick.files import canonical_hash, folder_hash
from howquick.model import ROLES, Arm

ENVS = ROOT / "envs"
# Of the kernel's TCP, whichever program uses it, where the kernel has it: that of virtual time does.
KERNEL_CONTROLS = ("dctcp",)
# Further folders of programs, separated by colons: an implementation need not live in this repository.
MORE_ENVS = "HOWQUICK_ENVS"
# Whether TCP asks for ECN: an option of the kernel's TCP.
ECN = "ecn"
# Options that say what both ends do.
OF_BOTH = ("on_move",)
_adopted: dict[str, Any] = {}


@dataclass(frozen=True)
class Endpoint:
    """One implementation: its folder and its declaration."""

    name: str
    folder: Path
    declaration: dict[str, Any]

    @property
    def max_rate_mbit(self) -> float | None:
        """The rate above which the stack itself is the limit, Mbit/s."""
        return self.declaration.get("max_rate_mbit")

    @property
    def defaults(self) -> dict[str, Any]:
        """The program's options and their defaults."""
        options = self.declaration.get("options", {})
        return {name: option["default"] for name, option in options.items()}

    def values_of(self, option: str) -> list[Any] | None:
        """The values that an option has, where its declaration lists them; true and false of a switch."""
        declared = self.declaration.get("options", {}).get(option, {})
        switch = [True, False] if isinstance(declared.get("default"), bool) else None
        values: list[Any] | None = declared.get("values", switch)
        return values

    def require(self, role: str, arm: Arm, path: Path) -> None:
        """Raise ConfigError unless the program can do in `role` what `arm` asks over its protocol."""
        file = Path("envs") / self.name / "endpoint.yaml"
        ability = self.declaration[role]["protocols"][arm["protocol"]]
        asked = {"connection": arm["connection"]}
        if role == "server":
            asked["congestion_control"] = arm["congestion_control"]
        for what, wanted in asked.items():
            by_kernel = what == "congestion_control" and ability["transport"] == "tcp"
            if wanted not in (*ability[what], *(KERNEL_CONTROLS if by_kernel else ())):
                raise ConfigError(
                    path,
                    f"arms.{arm['name']}.{what}",
                    f"{self.name} cannot {wanted!r} as {role} over {arm['protocol']}",
                    f"It can: {', '.join(ability[what])} ({file})",
                )

    def program_hash(self, manifest: dict[str, Any]) -> str:
        """Hash of everything that decides how the program behaves.

        What its folder holds and declares, what was built from its lock, and the versions of the
        distribution's packages: any of them may be a library that it runs on.
        """
        return canonical_hash(
            [
                folder_hash(self.folder),
                self._deciding(),
                manifest.get("programs", {}).get(self.name, {}).get("hash"),
                manifest.get("debian", {}).get("packages"),
            ]
        )

    def _deciding(self) -> dict[str, Any]:
        """The declaration without what is said to readers."""
        kept = {k: v for k, v in self.declaration.items() if k not in ("summary", "licence")}
        return kept | {"options": self.defaults}


def declared_endpoints() -> dict[str, Any]:
    """What load_endpoints() found, by folder (seen from the checkout), for `adopt_endpoints`."""
    return {
        os.fspath(one.folder.relative_to(ROOT) if one.folder.is_relative_to(ROOT) else one.folder):
        one.declaration
        for one in load_endpoints().values()
    }  # fmt: skip


def adopt_endpoints(declared: Mapping[str, Any]) -> None:
    """Take the declarations as another process has read and checked them, in place of reading them here."""
    _adopted.update(declared)
    load_endpoints.cache_clear()


@cache
def load_endpoints() -> dict[str, Endpoint]:
    """All programs that have an `endpoint.yaml`, by name."""
    if _adopted:
        return {Path(f).name: Endpoint(Path(f).name, ROOT / f, d) for f, d in _adopted.items()}
    # Only now: whoever adopts them reads nothing, and a guest pays for each import.
    from howquick.schemas import load_yaml

    endpoints = {}
    more = [Path(folder) for folder in os.environ.get(MORE_ENVS, "").split(":") if folder]
    for file in sorted(file for folder in (ENVS, *more) for file in folder.glob("*/endpoint.yaml")):
        declaration = load_yaml(file, "endpoint")
        if declaration["name"] != file.parent.name:
            raise ConfigError(file, "name", f"is {declaration['name']!r}", "Use the folder's name")
        _check_start(file, declaration)
        _check_options(file, declaration)
        endpoints[file.parent.name] = Endpoint(file.parent.name, file.parent, declaration)
    return endpoints


def _check_start(file: Path, declaration: dict[str, Any]) -> None:
    """Each role has a command, or an image under the contract that has images. Raises ConfigError."""
    for role in ROLES:
        if role not in declaration:
            continue
        image = declaration[role].get("image") or declaration.get("image")
        if not image and "command" not in declaration[role]:
            raise ConfigError(
                file,
                role,
                "has neither command nor image",
                "Say how it is started: `command: [...]`",
            )
        if image and declaration.get("contract") != interop.CONTRACT:
            raise ConfigError(
                file, "image", "is given without the contract that images are written for",
                f"Add `contract: {interop.CONTRACT}`, or give a command",
            )  # fmt: skip


def _check_options(file: Path, declaration: dict[str, Any]) -> None:
    """The default of an option is among its values, where they are listed. Raises ConfigError."""
    for name, option in declaration.get("options", {}).items():
        if option["default"] not in option.get("values", [option["default"]]):
            raise ConfigError(
                file, f"options.{name}.default", f"is {option['default']!r}, which `values` lacks",
                "Add it there",
            )  # fmt: skip


def known_options(arm: Arm, endpoints: dict[str, Endpoint], path: Path) -> dict[str, Any]:
    """The arm's options with the defaults of both programs; raises ConfigError for an unknown one.

    Where the defaults of the two differ, each program keeps its own and the option is not listed.
    """
    defaults: dict[str, Any] = {}
    known = set(kernel_options(arm, endpoints))
    differing = set()
    for role in ROLES:
        for name, value in endpoints[arm[role]].defaults.items():
            known.add(name)
            if defaults.setdefault(name, value) != value:
                differing.add(name)
    for name in arm["options"]:
        if name not in known:
            raise ConfigError(
                path,
                f"arms.{arm['name']}.options.{name}",
                "neither program has this option",
                f"Known: {', '.join(sorted(known)) or 'none'}",
            )
        for role in ROLES:
            key = f"arms.{arm['name']}.options.{name}"
            _check_value(endpoints[arm[role]], name, arm["options"][name], path, key)
        if name == ECN and not isinstance(arm["options"][name], bool):
            raise ConfigError(
                path, f"arms.{arm['name']}.options.{name}", f"is {arm['options'][name]!r}",
                "Use true or false",
            )  # fmt: skip
    _check_own_options(arm, endpoints, path)
    return {n: v for n, v in defaults.items() if n not in differing} | arm["options"]


def _check_value(program: Endpoint, option: str, value: Any, path: Path, key: str) -> None:
    """A value is one that the program lists, if it lists any. Raises ConfigError."""
    values = program.values_of(option)
    if values is not None and value not in values:
        raise ConfigError(
            path, key, f"{program.name} has no value {value!r}",
            f"It has: {', '.join(map(str, values))}",
        )  # fmt: skip


def _check_own_options(arm: Arm, endpoints: dict[str, Endpoint], path: Path) -> None:
    """Options of one end are that program's. Raises ConfigError."""
    for role in ROLES:
        program = endpoints[arm[role]]
        known = [name for name in program.defaults if name not in OF_BOTH]
        for name, value in arm.get("own_options", {}).get(role, {}).items():
            key = f"arms.{arm['name']}.own_options.{role}.{name}"
            if name not in known:
                raise ConfigError(
                    path, key, f"is no option of {program.name} that one end can have alone",
                    f"Known: {', '.join(sorted(known)) or 'none'}",
                )  # fmt: skip
            _check_value(program, name, value, path, key)


def kernel_options(arm: Arm, endpoints: dict[str, Endpoint]) -> tuple[str, ...]:
    """Options that the testbed itself provides to an arm, whatever its programs are."""
    client = endpoints[arm["client"]].declaration["client"]["protocols"][arm["protocol"]]
    of_tcp = ("initial_window_packets", ECN) if client["transport"] == "tcp" else ()
    return of_tcp + (("on_move",) if client.get("moves") else ())
