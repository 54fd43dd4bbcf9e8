"""Show how far a running workflow is, until it ends: one line now and then, on stderr."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
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
        done, left, running = survey(results)
        first = done if first is None else first
        line = describe(done, left, running, time.monotonic() - begin, done - first)
        if line and line != shown:
            print(f"howquick: {line}", file=sys.stderr, flush=True)
            shown = line
        deadline = time.monotonic() + every
        while _lives(owner) and time.monotonic() < deadline:
            time.sleep(0.5)


def survey(results: Path) -> tuple[float, float, list[dict[str, Any]]]:
    """Expected seconds of what is measured, of what is left, and the states of the running blocks."""
    running = [
        state for file in sorted((results / "progress").glob("*.json")) if (state := _read(file))
    ]
    shares = {
        (state["study"], state["cell"], state["block"]): state["done"] / max(1, state["total"])
        for state in running
    }
    done = left = 0.0
    for file in sorted((results / "plan").glob("*.json")):
        plan = _read(file)
        if plan is None:
            continue
        for block in plan["blocks"]:
            name = (plan["study"], block["cell"], block["block"])
            finished = (results / "blocks" / name[0] / name[1] / f"{name[2]}.json").exists()
            share = shares.get(name, 1.0 if finished else 0.0)
            done += share * block["seconds"]
            left += (1 - share) * block["seconds"]
    return done, left, running


def describe(
    done: float, left: float, running: list[dict[str, Any]], elapsed: float, gained: float
) -> str:
    """The progress as one line; empty while nothing is measured."""
    if not running:
        return ""
    share = done / (done + left) if done + left else 1.0
    text = f"measured {share:.0%}"
    if gained > 0:
        end = time.localtime(time.time() + left * elapsed / gained)
        text += f", done about {time.strftime('%H:%M', end)}"
    now = "; ".join(
        f"{state['cell']} {state['done']}/{state['total']}"
        + (f" ({state['not_ok']} not ok)" if state["not_ok"] else "")
        for state in running
    )
    return f"{text}; running: {now}"


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
