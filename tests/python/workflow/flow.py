"""Running the whole workflow in tests."""

import csv
import os
import signal
import subprocess
from pathlib import Path

from howquick.workflow.command import workflow_command
from patience import HANG_S


def command(results, *arguments, jobs=2, config=()):
    """The command line of a run into `results` at scale smoke; how-quick in real time unless told."""
    for key, value in (("studies", "how-quick"), ("clock", "real")):
        if not any(entry.startswith(f"{key}=") for entry in config):
            config = [f"{key}={value}", *config]
    return workflow_command(results, jobs, *arguments, config=["scale=smoke", *config])


def start(results, *arguments, **options):
    """Start the workflow in a process group of its own; its output goes to a file."""
    results.parent.mkdir(parents=True, exist_ok=True)
    log = (results.parent / f"{results.name}.log").open("w+")
    process = subprocess.Popen(
        command(results, *arguments, **options), cwd=results.parent, stdout=log, stderr=log,
        start_new_session=True,
    )  # fmt: skip
    process.output = Path(log.name)
    return process


def run(results, *arguments, **options):
    """Run the workflow; returns (exit status, output)."""
    process = start(results, *arguments, **options)
    try:
        status = process.wait(HANG_S)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        raise
    return status, process.output.read_text()


def rows(table):
    """The rows of a CSV table."""
    with Path(table).open(newline="") as stream:
        return list(csv.DictReader(stream))


def descendants(pid):
    """PIDs of all living descendants of a process."""
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(stat.parent.name)] = int(stat.read_text().rsplit(")", 1)[1].split()[1])
        except OSError:
            continue
    found, frontier = set(), {pid}
    while frontier:
        frontier = {child for child, parent in parents.items() if parent in frontier} - found
        found |= frontier
    return found
