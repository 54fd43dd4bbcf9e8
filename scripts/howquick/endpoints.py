"""The programs under test: what `envs/<program>/endpoint.yaml` says they can do."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from howquick import interop
from howquick.config import load_yaml
from howquick.errors import ROOT, ConfigError
from howquick.files import canonical_hash, folder_hash

ENVS = ROOT / "envs"
# Further folders of programs, separated by colons: an implementation need not live in this repository.
MORE_ENVS = "HOWQUICK_ENVS"


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

    def require(self, role: str, arm: dict[str, Any], path: Path, key: str) -> None:
        """Raise ConfigError unless the program can do in `role` what `arm` asks."""
        file = Path("envs") / self.name / "endpoint.yaml"
        if role not in self.declaration:
            raise ConfigError(path, key, f"{self.name} is no {role}", f"See {file}")
        protocols = self.declaration[role]["protocols"]
        if arm["protocol"] not in protocols:
            raise ConfigError(
                path,
                f"arms.{arm['name']}.protocol",
                f"{self.name} cannot {arm['protocol']} as {role}",
                f"It can: {', '.join(protocols)} ({file})",
            )
        ability = protocols[arm["protocol"]]
        asked = ["connection"] if role == "client" else ["connection", "congestion_control"]
        for what in asked:
            if arm[what] not in ability[what]:
                raise ConfigError(
                    path,
                    f"arms.{arm['name']}.{what}",
                    f"{self.name} cannot {arm[what]!r} as {role} over {arm['protocol']}",
                    f"It can: {', '.join(ability[what])} ({file})",
                )

    def program_hash(self, manifest: dict[str, Any]) -> str:
        """Hash of everything that decides how the program behaves.

        Its folder, what was built from its lock, and the versions of the distribution's packages: any
        of them may be a library that it runs on.
        """
        return canonical_hash(
            [
                folder_hash(self.folder),
                manifest.get("programs", {}).get(self.name, {}).get("hash"),
                manifest.get("debian", {}).get("packages"),
            ]
        )


@cache
def load_endpoints() -> dict[str, Endpoint]:
    """All programs that have an `endpoint.yaml`, by name."""
    endpoints = {}
    more = [Path(folder) for folder in os.environ.get(MORE_ENVS, "").split(":") if folder]
    for file in sorted(file for folder in (ENVS, *more) for file in folder.glob("*/endpoint.yaml")):
        declaration = load_yaml(file, "endpoint")
        if declaration["name"] != file.parent.name:
            raise ConfigError(file, "name", f"is {declaration['name']!r}", "Use the folder's name")
        _check_start(file, declaration)
        endpoints[file.parent.name] = Endpoint(file.parent.name, file.parent, declaration)
    return endpoints


def _check_start(file: Path, declaration: dict[str, Any]) -> None:
    """Each role has a command, or an image under the contract that has images. Raises ConfigError."""
    for role in ("server", "client"):
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


def known_options(
    arm: dict[str, Any], endpoints: dict[str, Endpoint], path: Path
) -> dict[str, Any]:
    """The arm's options with the defaults of both programs; raises ConfigError for an unknown one.

    Where the defaults of the two differ, each program keeps its own and the option is not listed.
    """
    defaults: dict[str, Any] = {}
    known = set(kernel_options(arm, endpoints))
    differing = set()
    for role in ("server", "client"):
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
    return {n: v for n, v in defaults.items() if n not in differing} | arm["options"]


def kernel_options(arm: dict[str, Any], endpoints: dict[str, Endpoint]) -> tuple[str, ...]:
    """Options that the testbed itself provides to an arm, whatever its programs are."""
    client = endpoints[arm["client"]].declaration["client"]["protocols"][arm["protocol"]]
    by_route = ("initial_window_packets",) if client["transport"] == "tcp" else ()
    return by_route + (("on_move",) if client.get("moves") else ())
