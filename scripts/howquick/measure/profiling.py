"""Samples of a running program's user code by perf, and the time that the kernel took for it."""

from __future__ import annotations

import contextlib
import os
import re
import select
import shutil
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

from howquick.cpu_categories import CATEGORIES, category
from howquick.guard.processes import members
from howquick.measure.cpu_time import group_cpu_s

# A clock of the kernel's, as virtual machines have no hardware events; user code only, as ordinary
# users may not sample the kernel (perf_event_paranoid 2).
EVENT = "cpu-clock:u"
HERTZ = 1999
PATIENCE_S = 5.0
_LINE = re.compile(r"^\s*(\d+)\s*;\s*([^;]*?)\s*;\s*\[.\]\s*(.+?)\s*$")


class Profile:
    """Samples all processes of a program under test from now until `finish`.

    leader: the leader of their session. file: where perf keeps its samples.
    """

    def __init__(self, leader: int, file: Path) -> None:
        self._leader, self._file = leader, file
        self._problem = ""
        self._cpu_s = 0.0
        if shutil.which("perf") is None:
            self._problem = "perf is not installed"
            return
        told, self._tell = os.pipe()
        self._answers, answer = os.pipe()
        pids = ",".join(str(process.pid) for process in members({leader}))
        # Disabled until it is told: it answers then, so nothing is missed while it attaches.
        argv = ["perf", "record", "-q", "-e", EVENT, "-F", str(HERTZ), "-p", pids, "-D", "-1"]
        argv += [f"--control=fd:{told},{answer}", "-o", str(file)]
        self._process = subprocess.Popen(
            argv, pass_fds=(told, answer), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )  # fmt: skip
        os.close(told)
        os.close(answer)
        self._enable()
        self._cpu_s = group_cpu_s(leader)

    def _enable(self) -> None:
        os.write(self._tell, b"enable\n")
        ready, _, _ = select.select([self._answers], [], [], PATIENCE_S)
        # Without an answer, or with its end of the pipe closed, perf has ended or hangs.
        if not ready or not os.read(self._answers, 16):
            self._give_up()

    def _give_up(self) -> None:
        self._process.kill()
        words = self._process.communicate()[1].decode(errors="replace").split()
        self._problem = "perf cannot sample: " + (" ".join(words)[:200] or "it does not answer")

    def finish(self, spent_s: float | None = None) -> dict[str, Any]:
        """What was found: `{"samples", "user_s", "kernel_s", "categories": {category: share of the user
        time}}`, or `{"unavailable": why}`.

        spent_s: CPU seconds of a program that has ended; None for one that still runs.
        """
        if spent_s is None:
            spent_s = group_cpu_s(self._leader) - self._cpu_s
        if not self._problem:
            # It ends by itself when the program has.
            with contextlib.suppress(BrokenPipeError):
                os.write(self._tell, b"stop\n")
            try:
                self._process.communicate(timeout=PATIENCE_S)
            except subprocess.TimeoutExpired:
                self._give_up()
            # Not earlier: it answers, and leaves half a file if nobody listens.
            os.close(self._tell)
            os.close(self._answers)
        if self._problem:
            return {"unavailable": self._problem}
        return _summary(_samples(self._file), spent_s)


def _samples(file: Path) -> Counter[str]:
    """Samples by category."""
    report = subprocess.run(
        ["perf", "report", "-i", str(file), "--stdio", "-q", "-F", "sample,dso,symbol", "-t", ";"],
        capture_output=True, text=True, check=False, errors="replace", stdin=subprocess.DEVNULL,
    ).stdout  # fmt: skip
    found: Counter[str] = Counter()
    for line in report.splitlines():
        if parts := _LINE.match(line):
            found[category(parts[2], parts[3])] += int(parts[1])
    return found


def _summary(found: Counter[str], spent_s: float) -> dict[str, Any]:
    samples = sum(found.values())
    # A sample stands for one period of the clock; what the program spent beside them it spent in the kernel.
    user_s = samples / HERTZ
    return {
        "samples": samples,
        "user_s": round(user_s, 4),
        "kernel_s": round(max(0.0, spent_s - user_s), 4),
        "categories": {name: round(found[name] / samples, 4) for name in CATEGORIES if samples},
    }
