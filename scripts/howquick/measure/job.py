"""What a program under test is asked to do, and its start (docs/formats.md, 2)."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from howquick import interop
from howquick.content import SERVER_NAME
from howquick.endpoints import Endpoint
from howquick.manifest import prefix_of
from howquick.measure.cpu import on_cpus
from howquick.measure.process import ProgramFailed
from howquick.testbed.errors import TestbedError
from howquick.testbed.namespace import Namespace

READY_TIMEOUT_S = 30.0


@dataclass
class Job:
    """What a program is asked to do: becomes its environment."""

    endpoint: Endpoint
    role: str
    arm: dict[str, Any]
    address: str
    port: int
    certificates: Path
    state: Path
    log: Path
    qlog: Path | None = None
    keys: Path | None = None
    extra: dict[str, str] = field(default_factory=dict)
    cpus: frozenset[int] = frozenset()  # where it may run; empty: anywhere

    def environment(self) -> dict[str, str]:
        """The documented variables and nothing of the user's own environment but the search path."""
        variables = {
            "PATH": os.environ["PATH"],
            "LC_ALL": "C.UTF-8",
            "HOME": str(self.state),
            "ROLE": self.role,
            "PROTOCOL": self.arm["protocol"],
            "CONGESTION_CONTROL": self._congestion_control(),
            "CONNECTION": self.arm["connection"],
            "HOST": SERVER_NAME,
            "ADDRESS": self.address,
            "PORT": str(self.port),
            "CERTS": str(self.certificates),
            "STATE": str(self.state),
        }
        for name, value in (self.endpoint.defaults | self.arm["options"]).items():
            variables[f"OPTION_{name.upper()}"] = str(value)
        if self.keys:
            variables["SSLKEYLOGFILE"] = str(self.keys)
        if self.qlog and self.endpoint.declaration[self.role].get("qlog"):
            self.qlog.mkdir(parents=True, exist_ok=True)
            variables["QLOGDIR"] = str(self.qlog)
        return variables | self.extra

    def _congestion_control(self) -> str:
        """The arm's, where the program has it in this role.

        It is the server's that decides a download; a client without it uses its first.
        """
        able = self.endpoint.declaration[self.role]["protocols"][self.arm["protocol"]]
        wanted: str = self.arm["congestion_control"]
        return wanted if wanted in able["congestion_control"] else able["congestion_control"][0]

    def argv(self) -> list[str]:
        """The command with `{env}` and `{prefix}` filled in."""
        prefix = prefix_of(self.endpoint.name)
        words = interop.command_for(self.endpoint.declaration, self.role)
        return [
            word.replace("{env}", str(self.endpoint.folder)).replace("{prefix}", str(prefix))
            for word in words
        ]

    def start(self, namespace: Namespace, **streams: Any) -> subprocess.Popen[bytes]:
        """Start the program in a namespace; raises ProgramFailed when it is missing."""
        self.state.mkdir(parents=True, exist_ok=True)
        try:
            # A child inherits it from the first instruction on; set later, early threads would not.
            with on_cpus(self.cpus):
                return namespace.popen(
                    self.argv(), env=self.environment(), cwd=self.state, **streams
                )
        except TestbedError as error:
            raise ProgramFailed(
                f"{self.endpoint.name}: {error}; is it built? See envs/{self.endpoint.name}/"
            ) from None
