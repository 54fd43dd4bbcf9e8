"""A block of one load whose ends look around (programs/looks), and what they must find wherever it runs."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from howquick import interop
from howquick.errors import ROOT
from workflow import blocks
from workflow.blocks import CELL, make_plan

ROLES = ("server", "client")
DEVICES = {
    "fd",
    "full",
    "null",
    "random",
    "shm",
    "stderr",
    "stdin",
    "stdout",
    "tty",
    "urandom",
    "zero",
}
SECRET = "the host's"
LIMIT_S = 600


@dataclass(frozen=True)
class Look:
    """The planned block, and what lies on the host and is none of its programs' business.

    secrets: files that everything else of this user can read. results: their folder; the only one that
    measuring needs to write.
    """

    results: Path
    secrets: Sequence[Path]

    def measured_in(self, place: Sequence[str | Path]) -> dict[str, dict[str, Any]]:
        """Measure the block; returns what its programs found, by role.

        place: words before a command that run it where the look is to be taken.
        """
        # Only what can be read there is hidden by being confined.
        assert _run([*place, "cat", *self.secrets]) == SECRET * len(self.secrets)
        programs = f"HOWQUICK_ENVS={self.results / 'programs'}"
        _run([*place, "env", programs, sys.executable, ROOT / "scripts/measure.py",
              "--plan", self.results / "plan/how-quick.json", "--cell", CELL, "--block", "0",
              "--calibration", self.results / "calibration.json", "--results", self.results,
              "--output", self.results / "blocks/0.json"])  # fmt: skip
        assert all(secret.read_text() == SECRET for secret in self.secrets)
        run = self.results / "runs/how-quick" / CELL / "one/0000"
        found = {file.stem: json.loads(file.read_text()) for file in run.glob("qlog/*/*.json")}
        assert set(found) == set(ROLES), (run / "meta.json").read_text()
        return found


def _run(argv: Sequence[str | Path]) -> str:
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=LIMIT_S)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@contextlib.contextmanager
def planned_look(results: Path, bridged: bool = False) -> Iterator[Look]:
    """Plan the block, with secrets and the sockets of agents on the host for as long as this lasts.

    bridged: its programs are driven through the Interop Runner's contract.
    """
    programs = results / "programs"
    shutil.copytree(blocks.PROGRAMS, programs)
    secrets = [
        Path(folder, f"howquick-secret-{os.getpid()}")
        for folder in (os.environ["HOME"], "/tmp", "/var/tmp")
    ]
    agents = [results / "agent"]
    if os.access("/run", os.W_OK):
        agents.append(Path(f"/run/howquick-agent-{os.getpid()}"))
    with contextlib.ExitStack() as stack, pytest.MonkeyPatch.context() as patch:
        for agent in agents:
            listening = stack.enter_context(socket.socket(socket.AF_UNIX))
            listening.bind(str(agent))
            stack.callback(agent.unlink)
            listening.listen()
        host = {
            "secrets": [str(secret) for secret in secrets],
            "sockets": [str(agent) for agent in agents],
            "repository": str(ROOT),
        }
        (programs / "looks" / "host.json").write_text(json.dumps(host))
        if bridged:
            _to_the_runner(programs / "looks" / "endpoint.yaml")
        patch.setattr(blocks, "PROGRAMS", programs)
        arm = {"server": "looks", "client": "looks"} | ({"protocol": "hq"} if bridged else {})
        make_plan(results, patch, {"one": arm}, timeout_s=10)
        try:
            for secret in secrets:
                secret.write_text(SECRET)
            yield Look(results, secrets)
        finally:
            for secret in secrets:
                secret.unlink(missing_ok=True)


def _to_the_runner(declaration: Path) -> None:
    """Make an end point one of the Interop Runner's."""
    data = yaml.safe_load(declaration.read_text())
    able = {"hq": {"congestion_control": ["cubic"], "connection": ["cold"], "transport": "quic"}}
    data["contract"] = interop.CONTRACT
    data["server"]["protocols"] = data["client"]["protocols"] = able
    declaration.write_text(yaml.safe_dump(data))


def has_no_rights(found: dict[str, Any]) -> None:
    """Assert that a program had no rights and no way to any."""
    assert (found["capabilities"], found["no_new_privs"]) == (0, "1")
    assert not found["mounted"] and not found["mounted_in_own_namespace"]
    assert found["others_roots"] == 0


def saw_its_own_and_the_system_alone(found: dict[str, Any]) -> None:
    """Assert that a program reached nothing of the host's, and could write its own state."""
    assert (found["secrets_read"], found["sockets_reached"]) == ([], [])
    assert (found["written"], found["settings"]) == ([], [])
    assert set(found["devices"]) == DEVICES
    assert found["state_written"]
