"""A copy of the checkout with a finished run of one cell, in which everything may be changed and undone."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from howquick.errors import ROOT
from patience import HANG_S
from workflow.flow import command

CELL = "10mbit-18ms-loss0-5obj-small"
CHOSEN = {"cells": CELL, "arms": "h1-nginx-curl,h2-nghttp2", "repetitions": "1"}
_JOB = re.compile(r"^(\w+__\w+) +(\d+)$", re.MULTILINE)
_LOADS = re.compile(r"to measure: .* blocks, (\d+) loads")

# What Block says of the loads of a plan, by the code of the copy.
_MISSING = """
import json, sys
from collections import Counter
from pathlib import Path
from howquick.measure.block import Block
from howquick.plan.plan import plan_study
from howquick.study.resolve import Selection
asked = json.loads(sys.argv[1])
names = {key: tuple(asked[key].split(",")) for key in ("cells", "arms")}
chosen = Selection(
    "smoke", int(asked["seed"] or 2014), names["cells"], names["arms"], clock=asked["clock"] or "real",
    repetitions=int(asked["repetitions"]),
)
plan = plan_study("how-quick", chosen, sys.argv[2])
blocks = (Block(plan, one["cell"], one["block"], Path(sys.argv[2])) for one in plan["blocks"])
print(json.dumps(Counter(arm for block in blocks for _, _, arm in block.missing())))
"""


class Finished:
    """The copy, and what its configuration has beside CHOSEN."""

    def __init__(self, folder: Path, *targets: str, **chosen: str) -> None:
        self.folder, self._targets = folder, targets
        self.chosen, self._kept = CHOSEN | chosen, dict[Path, tuple[bytes, os.stat_result] | None]()
        self.manifest = os.environ["HOWQUICK_MANIFEST"]
        for name in _listed():
            if (ROOT / name).exists():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, folder / name, follow_symlinks=False)
        # Whether somebody has said it of the code as it stands is another test's.
        self.say_that_no_number_moves()
        status, output = self._run()
        assert status == 0, output[-4000:]

    def say_that_no_number_moves(self) -> None:
        """Declare the measuring code as it stands."""
        program = self.folder / "scripts/record_method.py"
        subprocess.run([sys.executable, "-B", program, "same", "a test"], check=False)

    def _run(self, *arguments: str, **config: str) -> tuple[int, str]:
        chosen = [f"{key}={value}" for key, value in (self.chosen | config).items()]
        words = command(self.folder / "results", *self._targets, *arguments, config=chosen)
        argv = [word.replace(str(ROOT), str(self.folder)) for word in words]
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        done = subprocess.run(
            [sys.executable, "-B", *argv[1:]], cwd=self.folder.parent,
            env=environment | {"HOWQUICK_MANIFEST": self.manifest}, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
            timeout=HANG_S,
        )  # fmt: skip
        return done.returncode, done.stdout

    def jobs(self, **config: str) -> dict[str, int]:
        """How many jobs of each rule a start would run, and as `loads` how many loads it would measure."""
        status, output = self._run("--dry-run", "--quiet", "rules", "host", **config)
        assert status == 0, output[-4000:]
        found = {rule: int(count) for rule, count in _JOB.findall(output)}
        loads = _LOADS.search(output)
        assert loads, output[-4000:]
        return found | {"loads": int(loads[1])}

    def missing(self, **config: str) -> dict[str, int]:
        """How many loads of each arm are not measured, or no longer valid; arms without such are left out."""
        asked = json.dumps(
            {key: config.get(key, self.chosen.get(key)) for key in (*CHOSEN, "seed", "clock")}
        )
        done = subprocess.run(
            [sys.executable, "-B", "-c", _MISSING, asked, self.folder / "results"],
            env=os.environ
            | {"PYTHONPATH": f"{self.folder}/scripts", "HOWQUICK_MANIFEST": self.manifest},
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        found: dict[str, int] = json.loads(done.stdout)
        return found

    def keep(self, name: str) -> None:
        """Have a file as it is again when all is undone."""
        file = self.folder / name
        self._kept.setdefault(file, (file.read_bytes(), file.stat()) if file.exists() else None)

    def edit(self, name: str, old: str, new: str) -> None:
        """Replace a text of a file; `old` is empty for a file that is made."""
        self.keep(name)
        file = self.folder / name
        text = file.read_text() if file.exists() else ""
        assert old in text and old != new, f"{name} no longer has {old!r}"
        file.write_text(text.replace(old, new, 1))

    def edit_manifest(self, change: Callable[[dict[str, Any]], None]) -> None:
        """Have another environment: its manifest has another name, as `enter` writes it."""
        content = json.loads(Path(self.manifest).read_text())
        change(content)
        other = self.folder / "manifest-other.json"
        other.write_text(json.dumps(content))
        self._kept[other] = None
        self.manifest = str(other)

    def undo(self) -> None:
        """Have everything as it was."""
        self.manifest = os.environ["HOWQUICK_MANIFEST"]
        for file, kept in self._kept.items():
            if kept is None:
                file.unlink()
                continue
            file.write_bytes(kept[0])
            os.utime(file, ns=(kept[1].st_atime_ns, kept[1].st_mtime_ns))
        self._kept.clear()


def _listed() -> list[str]:
    listed = subprocess.run(
        ["git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return [name for name in listed.stdout.split("\0") if name]
