"""What a program under test is asked to do, and its start (docs/formats.md, 2)."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from howquick import interop
from howquick.content.pages import SERVER_NAME
from howquick.environment.endpoints import Endpoint
from howquick.environment.manifest import folders_of, prefix_of
from howquick.errors import ROOT
from howquick.measure.children import ProgramFailed
from howquick.measure.cpu_time import on_cpus
from howquick.measure.raw import CODE
from howquick.model import Arm
from howquick.testbed.confine import confine
from howquick.testbed.errors import TestbedError
from howquick.testbed.namespace import Namespace

READY_TIMEOUT_S = 30.0
CONFINE = ROOT / "scripts" / "howquick" / "testbed" / "confine.py"
# What cryptographic libraries must not use of the processor (OPENSSL_ia32cap(3)); set in virtual time, where
# its random numbers would be the only thing that no seed decides.
MASKED = "OPENSSL_ia32cap"


@dataclass
class Job:
    """What a program is asked to do: becomes its environment."""

    endpoint: Endpoint
    role: str
    arm: Arm
    address: str
    port: int
    certificates: Path
    state: Path
    log: Path
    qlog: Path | None = None
    keys: Path | None = None
    extra: dict[str, str] = field(default_factory=dict)
    cpus: frozenset[int] = frozenset()  # where it may run; empty: anywhere
    forked: bool = False  # whether a child of this process, which has no threads, confines itself

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
        if MASKED in os.environ:
            variables[MASKED] = os.environ[MASKED]
        # An arm's options are those of its two programs and of the testbed; each program is told its own.
        asked = self.arm["options"] | self.arm.get("own_options", {}).get(self.role, {})
        for name, default in self.endpoint.defaults.items():
            variables[f"OPTION_{name.upper()}"] = str(asked.get(name, default))
        if self.keys:
            variables["SSLKEYLOGFILE"] = str(self.keys)
        if self.qlog and self.endpoint.declaration[self.role].get("qlog"):
            self.qlog.mkdir(parents=True, exist_ok=True)
            variables["QLOGDIR"] = str(self.qlog)
        if self._is_bridged():
            variables[interop.SHOWN] = ":".join(map(str, self._shown()))
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

    @property
    def timing(self) -> Path:
        """Where a client writes what it measured."""
        return Path(self.extra["TIMING"])

    def confined(self) -> tuple[list[str], dict[str, Any]]:
        """The command, in a view of its own and without rights (docs/isolation.md), and how it is started.

        Raises ProgramFailed when the program is missing. The bridge to the Interop Runner's contract is ours
        and confines what it starts; a container is its runtime's to confine.
        """
        words = self.argv()
        if shutil.which(words[0]) is None:
            raise ProgramFailed(
                f"{self.endpoint.name}: cannot start {words[0]}: No such file or directory; is it built? "
                f"See envs/{self.endpoint.name}/"
            )
        if self._is_bridged():
            return words, {}
        (view := self.state.with_name(f"{self.state.name}.view")).mkdir(exist_ok=True)
        paths = [(str(path), False) for path in self._seen()]
        paths += [(str(path), True) for path in self._own()]
        if self.forked:
            return words, {"preexec_fn": partial(confine, str(view), paths)}
        options = [word for path, own in paths for word in ("--write" if own else "--read", path)]
        return [sys.executable, "-I", "-S", str(CONFINE), str(view), *options, "--", *words], {}

    def _seen(self) -> list[Path]:
        """What the program may read, beside the system."""
        return [
            *self._shown(),
            self.certificates,
            *([Path(self.extra["WWW"])] if "WWW" in self.extra else []),
        ]

    def _own(self) -> list[Path]:
        """What the program may write."""
        own = [self.state, *filter(None, (self.qlog,))]
        own += [Path(self.extra["ARTIFACTS"])] if "ARTIFACTS" in self.extra else []
        own += [self.timing.parent] if "TIMING" in self.extra else []
        own += [self.keys] if self.keys and self.keys.parent not in own else []
        return own

    def _shown(self) -> list[Path]:
        """Of the checkout its code alone (results, captures and history lie beside it), and the program.

        What is mounted takes of a guest's randomness, which decides bits: as many folders there in each
        environment, whatever else was built.
        """
        # A guest's is a copy of the code (measure/virtual.py).
        code = [ROOT] if self.forked else [ROOT / part for part in CODE]
        return [*code, self.endpoint.folder, *folders_of(self.endpoint.name)]

    def _is_bridged(self) -> bool:
        return self.endpoint.declaration.get("contract") == interop.CONTRACT

    def start(self, namespace: Namespace, **streams: Any) -> subprocess.Popen[bytes]:
        """Start the program in a namespace, its state empty; raises ProgramFailed when it is missing."""
        # What one that has died left there would be in the way of the next.
        shutil.rmtree(self.state, ignore_errors=True)
        self.state.mkdir(parents=True, exist_ok=True)
        try:
            # A child inherits it from the first instruction on; set later, early threads would not.
            with on_cpus(self.cpus):
                environment = self.environment()
                words, how = self.confined()
                return namespace.popen(words, env=environment, cwd=self.state, **how, **streams)
        except TestbedError as error:
            raise ProgramFailed(
                f"{self.endpoint.name}: {error}; is it built? See envs/{self.endpoint.name}/"
            ) from None
