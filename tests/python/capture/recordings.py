"""What the tests of captures and extraction share: recordings, results folders, and reading them."""

from __future__ import annotations

import csv
import json
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from howquick.extract.run import Options
from howquick.extract.tables import extract_block

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


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream, strict=True))


def extract(results: Results, points: int = 10, detail: int = 1) -> dict[str, dict[str, str]]:
    output = results.folder / "tables"
    extract_block(results.manifest, results.folder, output, Options(points, detail))
    return {row["arm"]: row for row in rows(output / "runs.csv")}


def tshark(path: Path, *arguments: str) -> list[str]:
    done = subprocess.run(
        ["tshark", "-n", "-r", str(path), *arguments], capture_output=True, text=True, check=True
    )
    return done.stdout.splitlines()
