"""How long studies take on 1, 8, 64 nodes and what they write: a table from plans and measured blocks."""

from __future__ import annotations

import argparse
import csv
import heapq
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from howquick.errors import UserError, run_program
from howquick.extract.packing import run_sizes
from howquick.files import read_json
from howquick.model import Plan
from howquick.plan.plan import plan_study
from howquick.study.resolve import Selection
from howquick.workflow.command import workflow_command

NODES = (1, 8, 64)
# What a job costs beside its block: start-up of Snakemake in it, three times; seen on SLURM 24.11.
JOB_S = 10.0
# Files of a load where nothing has been measured: two captures, timing, meta, two logs, a qlog of each end.
FILES_PER_LOAD = 8.0
# Of a block: manifest, tables, logs.
FILES_PER_BLOCK = 10


@dataclass(frozen=True)
class Experience:
    """Measured against planned: factors on a block's seconds and bytes, files of a load."""

    seconds: float = 1.0
    bytes: float = 1.0
    files: float = FILES_PER_LOAD
    blocks: int = 0


def experience(results: Path, plan: Plan) -> Experience:
    """What the finished blocks of `results` say about those of a plan of the same study, seed and cells."""
    finished = []
    measured = results / "plan" / f"{plan['study']}.json"
    for block in read_json(measured)["blocks"] if measured.exists() else []:
        file = results / "blocks" / plan["study"] / block["cell"] / f"{block['block']}.json"
        if file.exists() and not (manifest := read_json(file))["kept"]:
            finished.append((block, manifest))
    if not finished:
        raise UserError(
            f"{results}: no block of {plan['study']} was measured there in one go. Name results with "
            "measured blocks, or leave out --measured."
        )
    sizes = [run_sizes(manifest, results) for _, manifest in finished]
    loads = sum(len(manifest["runs"]) for _, manifest in finished)
    return Experience(
        seconds=sum(m["wall_s"] for _, m in finished) / sum(b["seconds"] for b, _ in finished),
        bytes=sum(map(sum, sizes)) / max(1, sum(b["bytes"] for b, _ in finished)),
        files=sum(map(len, sizes)) / loads,
        blocks=len(finished),
    )


def makespan_s(jobs: Iterable[float], nodes: int) -> float:
    """Seconds until all jobs are done on so many nodes, one at a time on each, the longest first.

    jobs: seconds of each. The workflow's priorities send long blocks first, and SLURM keeps that order.
    """
    free = [0.0] * nodes
    for seconds in sorted(jobs, reverse=True):
        heapq.heapreplace(free, free[0] + seconds)
    return max(free)


def dag_cost(studies: list[str], scale: str) -> dict[str, float]:
    """Wall and CPU seconds and peak memory (MB) of a dry run with nothing measured."""
    with tempfile.TemporaryDirectory() as folder:
        config = [f"scale={scale}", f"studies={','.join(studies)}"]
        argv = workflow_command(Path(folder) / "results", 100, "--dry-run", config=config)
        before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        done = subprocess.run(argv, capture_output=True, text=True, check=False, cwd=folder)
        wall, after = time.monotonic() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise UserError(f"the dry run failed:\n{done.stderr[-2000:]}")
    return {
        "dag_s": round(wall, 1),
        "dag_cpu_s": round(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 1),
        "dag_mb": round(after.ru_maxrss / 1024),
    }


def row(plan: Plan, known: Experience, job_s: float) -> dict[str, Any]:
    """One line of the table."""
    blocks = plan["blocks"]
    loads = sum(len(block["repetitions"]) * block["arms"] for block in blocks)
    jobs = [block["seconds"] * known.seconds + job_s for block in blocks]
    folders = [len(block["repetitions"]) for block in blocks]
    return {
        "study": plan["study"],
        "scale": plan["scale"],
        "cells": len(plan["cells"]),
        "arms": len(plan["arms"]),
        "jobs": len(blocks),
        "loads": loads,
        "median_job_min": round(sorted(jobs)[len(jobs) // 2] / 60, 1),
        "gigabytes": round(sum(block["bytes"] for block in blocks) * known.bytes / 1e9, 1),
        "files": round(loads * known.files + len(blocks) * FILES_PER_BLOCK),
        "most_repetitions_in_a_job": max(folders),
        "measured_blocks": known.blocks,
        "measured_to_planned": round(known.seconds, 2),
        **{f"hours_{nodes}": round(makespan_s(jobs, nodes) / 3600, 2) for nodes in NODES},
    }


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("studies", nargs="+", help="names of files in config/studies/")
    parser.add_argument("--scale", default="paper")
    parser.add_argument("--seed", type=int, default=2014)
    parser.add_argument(
        "--measured", type=Path, help="results folder whose blocks correct the plan"
    )
    parser.add_argument("--job-s", type=float, default=JOB_S, help="cost of a job beside its block")
    parser.add_argument("--dag", action="store_true", help="also measure a dry run of all of them")
    arguments = parser.parse_args()
    rows = []
    for study in arguments.studies:
        plan = plan_study(study, Selection(arguments.scale, arguments.seed, (), ()))
        known = experience(arguments.measured, plan) if arguments.measured else Experience()
        rows.append(row(plan, known, arguments.job_s))
    if arguments.dag:
        cost = dag_cost(arguments.studies, arguments.scale)
        rows = [line | cost for line in rows]
    writer = csv.DictWriter(sys.stdout, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)


if __name__ == "__main__":
    run_program(main)
