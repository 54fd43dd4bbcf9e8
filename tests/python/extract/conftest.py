"""Real recordings, made once per test session, and run folders built of them."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from howquick.capture.pack import pack

LAB = Path(__file__).with_name("lab.py")
PROTOCOLS = ("h1", "h2", "h3")


@dataclass(frozen=True)
class Recording:
    """A folder with pcaps, keys, timings and the kernel's own counts."""

    folder: Path

    def pcap(self, name: str, end: str) -> Path:
        return self.folder / f"{name}.{end}.pcap"

    def pcapng(self, name: str, end: str) -> Path:
        return self.folder / f"{name}.{end}.pcapng"

    def keys(self, name: str) -> bytes:
        return (self.folder / f"{name}.keys").read_bytes()

    def timing(self, name: str) -> Path:
        return self.folder / f"{name}.timing.json"

    def truth(self, name: str) -> dict[str, Any]:
        return json.loads((self.folder / f"{name}.truth.json").read_text())


@pytest.fixture(scope="session")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Recording:
    folder = tmp_path_factory.mktemp("lab")
    # The namespaces' root is this user, so that nginx and tcpdump can write here.
    done = subprocess.run(
        ["unshare", "--user", "--map-root-user", "--net", "--pid", "--fork", "--mount-proc",
         "--kill-child", sys.executable, str(LAB), str(folder)],
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    recording = Recording(folder)
    for name in PROTOCOLS:
        for end in ("client", "server"):
            pack(
                recording.pcap(name, end),
                recording.keys(name),
                recording.pcapng(name, end),
                interface=end,
            )
    return recording


@dataclass
class Results:
    """A results folder with one block that tests may damage."""

    folder: Path
    manifest: Path

    def run(self, arm: str) -> Path:
        return self.folder / "runs" / "a-study" / "a-cell" / arm / "0000"

    def edit_meta(self, arm: str, change: Callable[[dict[str, Any]], None]) -> None:
        path = self.run(arm) / "meta.json"
        meta = json.loads(path.read_text())
        change(meta)
        path.write_text(json.dumps(meta))


def example_meta(arm: str, order: int) -> dict[str, Any]:
    return {
        "study": "a-study", "cell": "a-cell", "arm": arm, "repetition": 0, "block": 7,
        "order": order, "session": "20260101T000000Z", "status": "ok", "reason": "",
        "attempts": 1, "timeout_s": 60, "started": 1790000000.5, "wall_s": 1.25, "network_s": 0.75,
        "parameters": {"bandwidth_mbit": 20, "loss_percent": 0.5, "object_size": "large"},
        "link": {"bandwidth_mbit": 20, "rtt_ms": 0, "loss_percent": 0.5, "queue_ms": 8,
                 "mtu_bytes": 1500},
        "arm_definition": {"name": arm, "protocol": arm, "server": "nginx", "client": "curl",
                           "congestion_control": "cubic", "connection": "cold"},
        "seeds": {"up": 11, "down": 2**62},
        "network": {"before": {}, "after": {"emulator": {
            "up": {"lost": 3, "queue_dropped": 0}, "down": {"lost": 4, "queue_dropped": 5}}}},
        "guard": {"cpu_pressure": 0.0123, "steal": 0.0},
    }  # fmt: skip


@pytest.fixture
def results(recorded: Recording, tmp_path: Path) -> Results:
    folder = tmp_path / "results"
    runs = []
    made = Results(folder, folder / "blocks" / "a-study" / "a-cell" / "7.json")
    for order, arm in enumerate(PROTOCOLS):
        run = made.run(arm)
        run.mkdir(parents=True)
        for end in ("client", "server"):
            shutil.copyfile(recorded.pcapng(arm, end), run / f"{end}.pcapng")
        shutil.copyfile(recorded.timing(arm), run / "timing.json")
        (run / "meta.json").write_text(json.dumps(example_meta(arm, order)))
        runs.append(
            {"arm": arm, "repetition": 0, "path": str(run.relative_to(folder)), "status": "ok",
             "reason": ""}
        )  # fmt: skip
    manifest = {"study": "a-study", "cell": "a-cell", "block": 7, "repetitions": [0], "runs": runs}
    made.manifest.parent.mkdir(parents=True)
    made.manifest.write_text(json.dumps(manifest))
    return made
