"""Trying the loads: measured as those of a study are, on one clean link, some arms at a time."""

from __future__ import annotations

import itertools
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from howquick.analysis_model import Comparison, Metric
from howquick.check.trials import Trial
from howquick.content.pages import make_certificates, make_page
from howquick.environment.endpoints import load_endpoints
from howquick.environment.manifest import load_manifest
from howquick.errors import ROOT, UserError
from howquick.files import read_json, write_json
from howquick.measure.children import last_line
from howquick.model import Arm, Cell, ResolvedStudy, Workload
from howquick.plan.fingerprint import program_hashes
from howquick.plan.plan import complete, write_plan
from howquick.study.workload import page_name

STUDY = "check"
CELL = "clean"
# Their servers run side by side.
ARMS_AT_ONCE = 8
TIMEOUT_S = 20.0
SEED = 1
PAGE: Workload = {"objects": 10, "object_size": {"bytes": [1000, 20000]}}
# Long enough for a change of address on the way.
OBJECT: Workload = {"object": 300_000}


def results_of(found: list[Trial], folder: Path) -> Iterator[tuple[Trial, str, str]]:
    """Try what has a partner; yields (trial, status, reason) with the statuses of docs/formats.md, 4.

    folder: gets the run folders and all else that a results folder has.
    """
    make_certificates(folder / "content" / "certificates")
    write_json(folder / "calibration.json", {"verdict": "pass", "checks": []})
    for workload in (PAGE, OBJECT):
        make_page(workload, SEED, folder / "content" / page_name(workload))
    numbered = [(f"{n:03}", trial, trial.arm) for n, trial in enumerate(found)]
    groups: dict[tuple[bool, bool], list[tuple[str, Trial, Arm]]] = {}
    for name, trial, arm in numbered:
        if arm is not None:
            groups.setdefault((_is_page(arm, trial), trial.moves), []).append((name, trial, arm))
    number = itertools.count()
    for (is_page, moves), group in groups.items():
        for some in itertools.batched(group, ARMS_AT_ONCE, strict=False):
            arms: list[Arm] = [{**arm, "name": name, "label": name} for name, _, arm in some]
            study = _study(arms, PAGE if is_page else OBJECT, moves)
            statuses = _measure(study, folder / f"{STUDY}-{next(number)}.json", folder)
            for name, trial, _ in some:
                yield trial, *statuses[name]


def _is_page(arm: Arm, trial: Trial) -> bool:
    client = load_endpoints()[arm["client"]].declaration["client"]
    return not trial.moves and "page" in client.get("workloads", ["page"])


def _study(arms: list[Arm], workload: Workload, moves: bool) -> ResolvedStudy:
    cell: Cell = {
        "name": CELL, "values": {}, "levels": {}, "workload": workload, "not_applicable": [],
        "link": {
            "bandwidth_mbit": 10, "rtt_ms": 20, "loss_percent": 0, "queue_ms": 200, "mtu_bytes": 1500
        },
        "observe": {"captures": False, "qlog": True},
        # It is asked whether it works, not how long it takes.
        "tolerate_delays": True,
    }  # fmt: skip
    if moves:
        cell["moves"] = 1
    metric: Metric = {"column": "plt_s", "label": "Page load time", "short": "PLT", "unit": "s"}
    nothing: Comparison = {
        "metric": metric, "arms": [], "pairs": [], "rule": {"share": 0, "margin": 0}
    }  # fmt: skip
    return {
        "study": STUDY, "title": STUDY, "scale": STUDY, "seed": SEED, "repetitions": 1,
        "timeout_s": TIMEOUT_S, "slow_cells": None, "precision": None, "block_seconds": 3600.0,
        "full_captures": 0, "factors": [], "fixed": {}, "cells": [cell], "arms": arms,
        "unsupported": [], "comparison": nothing, "figures": [], "claims": [], "differences": [],
    }  # fmt: skip


def _measure(study: ResolvedStudy, file: Path, folder: Path) -> dict[str, tuple[str, str]]:
    """Status and reason of each arm, by name. Raises UserError where the block itself fails."""
    write_plan(complete(study, program_hashes(study, load_manifest())), file)
    manifest, log = file.with_suffix(".manifest.json"), file.with_suffix(".log")
    argv = [sys.executable, str(ROOT / "scripts" / "measure.py"), "--plan", str(file)]
    argv += ["--calibration", str(folder / "calibration.json"), "--cell", CELL, "--block", "0"]
    argv += ["--results", str(folder), "--output", str(manifest)]
    with log.open("wb") as sink:
        done = subprocess.run(argv, stdout=sink, stderr=sink, check=False)
    if done.returncode:
        raise UserError(f"nothing could be tried: {last_line(log)} The whole log is {log}.")
    return {run["arm"]: (run["status"], run["reason"]) for run in read_json(manifest)["runs"]}
