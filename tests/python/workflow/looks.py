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
from howquick.environment.manifest import load_manifest
from howquick.errors import ROOT
from howquick.guest.guest import place
from howquick.measure.raw import CHECKOUT, CODE
from patience import HANG_S
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
# In the checkout, beside its own.
PROGRAMS = "programs"
SECRET = "the host's"
# What a program found of these is none of its business.
REACHED = ("secrets_read", "sockets_reached", "written", "settings", "strangers")


@dataclass(frozen=True)
class Look:
    """The planned block, and what lies on the host and is none of its programs' business.

    checkout: measured from, with results in it, as they are unless somebody says otherwise. secrets: files
    that everything else of this user can read. traces: files that programs try to leave.
    """

    checkout: Path
    secrets: Sequence[Path]
    traces: Sequence[Path]

    @property
    def results(self) -> Path:
        """The only folder that measuring needs to write."""
        return self.checkout / "results"

    @property
    def run(self) -> Path:
        """The run folder of the load."""
        return self.results / "runs/how-quick" / CELL / "one/0000"

    def measured_in(self, place: Sequence[str | Path]) -> dict[str, dict[str, Any]]:
        """Measure the block; returns what its programs found, by role.

        place: words before a command that run it where the look is to be taken.
        """
        # Only what can be read there is hidden by being confined.
        assert _run([*place, "cat", *self.secrets]) == SECRET * len(self.secrets)
        programs = f"HOWQUICK_ENVS={self.checkout / PROGRAMS}"
        _run([*place, "env", programs, sys.executable, self.checkout / "scripts/measure.py",
              "--plan", self.results / "plan/how-quick.json", "--cell", CELL, "--block", "0",
              "--calibration", self.results / "calibration.json", "--results", self.results,
              "--output", self.results / "blocks/0.json"])  # fmt: skip
        assert all(secret.read_text() == SECRET for secret in self.secrets)
        assert [trace for trace in self.traces if trace.exists()] == []
        found = {f.stem: json.loads(f.read_text()) for f in self.run.glob("qlog/*/*.json")}
        assert set(found) == set(ROLES), (self.run / "meta.json").read_text()
        return found


def _run(argv: Sequence[str | Path]) -> str:
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=HANG_S)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@contextlib.contextmanager
def planned_look(folder: Path, bridged: bool = False, clock: str = "real") -> Iterator[Look]:
    """Plan the block, with secrets and the sockets of agents on the host for as long as this lasts.

    bridged: its programs are driven through the Interop Runner's contract.
    """
    checkout = _checkout(folder / "checkout")
    programs, results = checkout / PROGRAMS, checkout / "results"
    shutil.copytree(blocks.PROGRAMS, programs)
    homes = (os.environ["HOME"], "/tmp", "/var/tmp")
    aside = [*map(Path, homes), checkout / ".git", results / "tables"]
    secrets = [path / f"howquick-secret-{os.getpid()}" for path in aside]
    cache = Path(os.environ.get("HOWQUICK_CACHE", os.environ["HOME"]))
    reached = (*aside, cache, checkout, checkout / "envs", Path(sys.prefix))
    traces = [path / f"howquick-trace-{os.getpid()}" for path in reached]
    agents = [folder / "agent"]
    if os.access("/run", os.W_OK):
        agents.append(Path(f"/run/howquick-agent-{os.getpid()}"))
    with contextlib.ExitStack() as stack, pytest.MonkeyPatch.context() as patch:
        for agent in agents:
            listening = stack.enter_context(socket.socket(socket.AF_UNIX))
            listening.bind(str(agent))
            stack.callback(agent.unlink)
            listening.listen()
        code = [checkout / part for part in (*CODE, f"{PROGRAMS}/looks")]
        # In a guest a copy is shown, with all programs that are declared.
        code += [place(CHECKOUT) / part for part in (*CODE, PROGRAMS)]
        host = {
            "secrets": [str(secret) for secret in secrets],
            "others": [str(file) for file in _files_of_programs()],
            "sockets": [str(agent) for agent in agents],
            "shown": [str(path) for path in (*code, sys.prefix)],
            "traces": [str(trace) for trace in traces],
        }
        (programs / "looks" / "host.json").write_text(json.dumps(host))
        if bridged:
            _to_the_runner(programs / "looks" / "endpoint.yaml")
        patch.setattr(blocks, "PROGRAMS", programs)
        arm = {"server": "looks", "client": "looks"} | ({"protocol": "hq"} if bridged else {})
        make_plan(results, patch, {"one": arm}, timeout_s=10, clock=clock)
        try:
            for secret in secrets:
                secret.parent.mkdir(parents=True, exist_ok=True)
                secret.write_text(SECRET)
            yield Look(checkout, secrets, traces)
        finally:
            for left in (*secrets, *traces):
                left.unlink(missing_ok=True)


def _checkout(root: Path) -> Path:
    """A copy of what measuring needs of this checkout."""
    for part in CODE:
        left_out = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / part, root / part, symlinks=True, ignore=left_out)
    return root


def _files_of_programs() -> list[Path]:
    """One of each program that was built: what else there is decides nothing."""
    programs = load_manifest()["programs"].values()
    folders = {Path(program["prefix"]) for program in programs} - {Path("/usr"), Path(sys.prefix)}
    files = [next(file for file in folder.rglob("*") if file.is_file()) for folder in folders]
    assert files
    return files


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
    reached = {name: found[name] for name in REACHED}
    assert not any(reached.values()), reached
    assert set(found["devices"]) == DEVICES
    assert found["state_written"]
