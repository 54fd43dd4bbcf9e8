"""A gated client driven line by line: with the variables FETCH, BODY and MOVES, and changes of address."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from patience import HANG_S
from programs.endpoint_runner import HOST, Endpoint, Load, end_group, environment


def drive(
    endpoint: Endpoint,
    load: Load,
    paths: list[str],
    state: Path,
    moves: Sequence[Callable[[], str]] = (),
    start: Callable[..., subprocess.Popen[str]] = subprocess.Popen,
    **variables: str,
) -> tuple[int, dict[str, Any] | None, str]:
    """Run a client that says ``move`` for each of ``moves``, which makes it and returns the address.

    ``start`` starts the process, as subprocess.Popen does.
    Returns exit status, TIMING (None if there is none) and standard error.
    """
    state.mkdir(parents=True)
    timing = state.with_name(f"{state.name}.timing.json")
    values = environment(endpoint, "client", load, state) | {
        "REQUESTS": " ".join(f"https://{HOST}:{load.port}{path}" for path in paths),
        "TIMING": str(timing), "MOVES": str(len(moves)), **variables,
    }  # fmt: skip
    with start(
        endpoint.argv("client"), env=values, cwd=state, stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, process_group=0, text=True,
    ) as process:  # fmt: skip
        assert process.stdin and process.stdout and process.stderr
        try:
            for heard, act in [("ready", None), *(("move", move) for move in moves)]:
                if process.stdout.readline() != f"{heard}\n":
                    break
                process.stdin.write(f"moved {act()}\n" if act else "go\n")
                process.stdin.flush()
            _, errors = process.communicate(timeout=HANG_S)
        finally:
            end_group(process.pid)
    report = json.loads(timing.read_text()) if timing.exists() else None
    return process.returncode, report, errors


def hashes(timing: dict[str, Any]) -> dict[str, str]:
    """SHA-256 of each body in a TIMING, by path."""
    return {item["path"]: item["sha256"] for item in timing["objects"]}
