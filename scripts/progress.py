"""Show how far a running workflow is, until it ends: one line now and then, on stderr."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

EVERY_S = 20.0
EVERY_ON_TERMINAL_S = 5.0


def main() -> None:
    """Command line: the results folder and the PID whose end is ours."""
    results, owner = Path(sys.argv[1]), int(sys.argv[2])
    # Ctrl-C is the owner's to handle; we end with it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    every = EVERY_ON_TERMINAL_S if sys.stderr.isatty() else EVERY_S
    begin, first = time.monotonic(), None
    shown = ""
    while _lives(owner):
        now = survey(results)
        first = first or now
        line = describe(now, first, time.monotonic() - begin)
        if line and line != shown:
            print(f"howquick: {line}", file=sys.stderr, flush=True)
            shown = line
        deadline = time.monotonic() + every
        while _lives(owner) and time.monotonic() < deadline:
            time.sleep(0.5)


@dataclass
class Survey:
    """How far all blocks are: loads, and the expected seconds that they stand for."""

    loads: int = 0
    total: int = 0
    not_ok: int = 0
    done_s: float = 0.0
    left_s: float = 0.0
    running: int = 0
    links: int = 0
    calibrated: int = 0


def survey(results: Path) -> Survey:
    """Look at the plans, at the manifests that exist and at the running blocks."""
    states = [state for file in (results / "progress").glob("*.json") if (state := _read(file))]
    running = {(state["study"], state["cell"], state["block"]): state for state in states}
    found = Survey(running=len(running), not_ok=sum(state["not_ok"] for state in states))
    links = set()
    for file in (results / "plan" / "blocks").glob("*.json"):
        plan = _read(file)
        if plan is None:
            continue
        links |= {json.dumps(cell["link"], sort_keys=True) for cell in plan["cells"]}
        for block in plan["blocks"]:
            loads = len(block["repetitions"]) * block["arms"]
            name = (plan["study"], block["cell"], block["block"])
            if name in running:
                done = running[name]["done"]
            else:
                manifest = results / "blocks" / name[0] / name[1] / f"{name[2]}.json"
                done = loads if manifest.exists() else 0
            found.total += loads
            found.loads += done
            found.done_s += block["seconds"] * done / loads
            found.left_s += block["seconds"] * (1 - done / loads)
    found.links = len(links)
    found.calibrated = sum(1 for _ in (results / "calibration").glob("*.json"))
    return found


def describe(now: Survey, first: Survey, elapsed: float) -> str:
    """The progress as one line; empty while nothing is calibrated or measured."""
    if not now.running:
        # Links are calibrated before the first block starts.
        begun = now.calibrated < now.links and not now.loads
        return f"calibrated {now.calibrated} of {now.links} links" if begun else ""
    share = now.done_s / (now.done_s + now.left_s)
    text = f"measured {share:.0%}, {now.loads} of {now.total} loads"
    if now.not_ok:
        text += f" ({now.not_ok} not ok in the running blocks)"
    gained = now.done_s - first.done_s
    if gained > 0:
        end = time.localtime(time.time() + now.left_s * elapsed / gained)
        text += f", done about {time.strftime('%H:%M', end)}"
    return f"{text}; {now.running} blocks running"


def _read(file: Path) -> dict[str, Any] | None:
    try:
        return json.loads(file.read_text())
    except (OSError, json.JSONDecodeError):
        return None


def _lives(pid: int) -> bool:
    """Whether a process is there and is not just waiting to be reaped."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


if __name__ == "__main__":
    os.nice(10)
    main()
