"""Copies of a guest: each follows from the original and its seed, and from no other copy."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from howquick.errors import ROOT
from patience import HANG_S, wait_until

LAB = Path(__file__).with_name("copies_lab.py")
ENVIRONMENT = os.environ | {"PYTHONPATH": str(ROOT / "scripts")}


def copies(*asked: str) -> list[Any]:
    """How each ended: [status, what it said, its errors], or a sentence."""
    argv = [sys.executable, LAB, *asked]
    done = subprocess.run(
        argv, capture_output=True, text=True, check=False, timeout=HANG_S, env=ENVIRONMENT
    )
    assert done.returncode == 0, done.stderr
    answers: list[Any] = json.loads(done.stdout)
    return answers


def said(answer: list[Any]) -> dict[str, Any]:
    assert answer[0] == 0, answer
    found: dict[str, Any] = json.loads(answer[1])
    return found


def test_copies_are_alike_but_for_their_seeds() -> None:
    first, other, again = map(said, copies("5:a", "6:b", "5:a"))
    assert first == again
    # Nothing that a copy leaves is there for the next, in memory or in temporary folders.
    assert (first["left"], other["left"]) == (False, False)
    assert first["seen"] == other["seen"] != first["drawn"] == other["drawn"]
    assert first["times"] == other["times"] and first["times"][2] - first["times"][1] > 5 * 10**9
    assert first["child"] == other["child"]
    assert first["random"] != other["random"]
    # Which copies come before and after is no part of it.
    (alone,) = map(said, copies("6:b"))
    assert alone == other


def test_a_copy_that_fails_or_never_ends_leaves_the_original() -> None:
    failed, endless, fine = copies("1:fail", "2:loop", "3:a")
    assert failed[0] == 7
    assert "did not end within 20 s" in endless
    assert said(fine)["asked"] == "a"


def test_a_guest_that_is_never_ready_is_no_load_that_takes_too_long() -> None:
    (answer,) = copies("--never", "1:a")
    assert answer == "the guest was not ready to be copied within 3 s of real time."


def test_a_killed_owner_leaves_no_copy() -> None:
    lab = subprocess.Popen([sys.executable, LAB, "1:loop"], env=ENVIRONMENT)
    try:
        assert wait_until(lambda: len(kernels(lab.pid)) >= 2 or lab.poll() is not None)
        assert lab.poll() is None
        running = kernels(lab.pid)
    finally:
        lab.send_signal(signal.SIGKILL)
        lab.wait()
    assert wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in running))


def kernels(ancestor: int) -> list[int]:
    """Processes below one that are kernels of guests: an original, and a copy of it."""
    parents: dict[int, tuple[int, str]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            text = stat.read_text()
        except OSError:
            continue
        name = text[text.index("(") + 1 : text.rindex(")")]
        parents[int(stat.parent.name)] = (int(text.rpartition(")")[2].split()[1]), name)

    def below(pid: int) -> bool:
        while pid in parents and pid != ancestor:
            pid = parents[pid][0]
        return pid == ancestor

    return [pid for pid, (_, name) in parents.items() if name == "linux" and below(pid)]
