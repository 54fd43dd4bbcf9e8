"""The link made by `link-emulator`, our program on rattan's cells (environment/rattan)."""

from __future__ import annotations

import json
import os
import select
import subprocess
import time
from pathlib import Path
from typing import Any

from howquick.testbed import system
from howquick.testbed.backend import Qdiscs
from howquick.testbed.errors import TestbedError
from howquick.testbed.link import Link
from howquick.testbed.namespace import Namespace

ANSWER_WITHIN_S = 10


def find_program() -> Path:
    """The emulator, by the manifest of the environment. Raises TestbedError, saying why not."""
    manifest = os.environ.get("HOWQUICK_MANIFEST")
    if not manifest:
        raise TestbedError("HOWQUICK_MANIFEST is not set: run this by ./enter or nix develop")
    try:
        programs = json.loads(Path(manifest).read_text(encoding="utf-8"))["programs"]
        if "rattan" not in programs:
            raise TestbedError(
                "the emulator of links is not built: start once by ENTER_EMULATOR=yes ./enter"
            )
        program = Path(programs["rattan"]["prefix"], "bin", "link-emulator")
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise TestbedError(f"{manifest} does not tell programs.rattan.prefix: {error!r}") from None
    if not os.access(program, os.X_OK):
        raise TestbedError(f"{program} is not there: build the environment again")
    return program


class Rattan:
    """Backend that copies frames between the router's interfaces in user space."""

    name = "rattan"
    bridged = True
    serialises = True

    def __init__(self, log: Path) -> None:
        """log: file for what the emulator says."""
        self._program = find_program()
        self._log = log
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, spaces: dict[str, Namespace], link: Link) -> None:
        """Start the emulator in the router; packets flow on return."""
        argv = [os.fspath(self._program), *emulator_arguments(link)]
        with self._log.open("ab") as log:
            self._process = spaces["router"].popen(
                argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, bufsize=0
            )
        if self._answer() != "ready":
            self.stop()
            raise TestbedError(f"the emulator did not start: {self._last_words()}")

    def stop(self) -> None:
        """End the emulator, by force if it does not obey within a second."""
        if self._process is None:
            return
        system.end_gently(self._process)
        self._process = None

    def alive(self) -> bool:
        """Whether the emulator runs."""
        return self._process is not None and self._process.poll() is None

    def seed(self, up: int, down: int) -> None:
        """Restart the losses of both directions from seeds and zero the counts."""
        self._ask(f"seed {up} {down}")

    def counters(self, qdiscs: Qdiscs | None = None) -> dict[str, Any]:
        """The emulator's own counts of both directions since the last seed (environment/rattan)."""
        del qdiscs
        return self._ask("stats")

    def drops(self) -> dict[str, list[list[Any]]] | None:
        """Each packet dropped since the last seed."""
        return self._ask("drops")

    def version(self) -> str:
        """What the emulator says it is."""
        return system.run([os.fspath(self._program), "--version"]).strip()

    @property
    def pid(self) -> int:
        """The process that emulates. Raises TestbedError if there is none."""
        if self._process is None:
            raise TestbedError("the emulator does not run")
        return self._process.pid

    def _ask(self, command: str) -> dict[str, Any]:
        if self._process is None or self._process.stdin is None:
            raise TestbedError("the emulator does not run")
        try:
            self._process.stdin.write(f"{command}\n".encode())
            answer: dict[str, Any] = json.loads(self._answer())
        except (OSError, json.JSONDecodeError):
            raise TestbedError(f"the emulator does not answer: {self._last_words()}") from None
        if "error" in answer:
            raise TestbedError(f"the emulator refuses `{command}`: {answer['error']}")
        return answer

    def _answer(self) -> str:
        """One line from the emulator; empty when it ended or is silent for too long."""
        assert self._process is not None and self._process.stdout is not None
        stream = self._process.stdout
        line = b""
        deadline = time.monotonic() + ANSWER_WITHIN_S
        while not line.endswith(b"\n"):
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([stream], [], [], left)[0]:
                return ""
            part = stream.read(65536)
            if not part:
                return ""
            line += part
        return line.decode().strip()

    def _last_words(self) -> str:
        lines = self._log.read_text(encoding="utf-8", errors="replace").splitlines()
        return lines[-1] if lines else f"it said nothing in {self._log}"


def emulator_arguments(link: Link) -> list[str]:
    """The link as arguments of link-emulator."""
    burst = ["--burst-bytes", str(link.burst_bytes)] if link.burst_bytes else []
    return [
        *burst,
        "--to-client",
        "to-client",
        "--to-server",
        "to-server",
        "--rate-bps",
        str(round(link.bandwidth_mbit * 1e6)),
        "--delay-us",
        f"{link.rtt_ms * 500:.3f}",
        "--loss",
        repr(link.loss_percent / 100),
        "--queue-bytes",
        str(link.queue_bytes),
    ]
