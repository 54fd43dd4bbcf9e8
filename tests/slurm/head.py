"""The head process of the workflow, started on a cluster's head as a user does."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import ClassVar

from cluster import Cluster

from howquick.errors import ROOT
from patience import HANG_S

# What a site does not need: jobs here are over in seconds.
QUICK = [
    "--slurm-init-seconds-before-status-checks=1",
    "--seconds-between-status-checks=2",
    "--max-status-checks-per-second=1",
    "--latency-wait=5",
]


class Head:
    """One start of the workflow into `results`; its output goes to a file beside it.

    config: what differs from one study at scale smoke. nodes: how nodes get the environment (HOWQUICK_NODES);
    `same`: the daemons live in this root directory.
    """

    started: ClassVar[list[Head]] = []

    def __init__(
        self, cluster: Cluster, results: Path, *arguments: str, config=(), nodes: str = "same"
    ) -> None:
        self.cluster, self.results = cluster, results
        self.log = results.parent / f"{results.name}.log"
        command = cluster.command(
            sys.executable, "-m", "snakemake", "-s", ROOT / "Snakefile",
            "--workflow-profile", ROOT / "profiles" / "slurm", *QUICK, *arguments,
            "--config", f"results={results}", "scale=smoke", "studies=how-quick", "clock=real", *config,
            folder=results.parent,
        )  # fmt: skip
        with self.log.open("a") as output:
            self.process = subprocess.Popen(
                command,
                stdout=output,
                stderr=output,
                env=os.environ | {"HOWQUICK_NODES": nodes},
                start_new_session=True,
            )
        Head.started.append(self)

    def wait(self, seconds: float = HANG_S) -> int:
        """Wait for the end; returns the exit status."""
        try:
            return self.process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            raise

    def kill(self) -> None:
        """Kill the head process and all its children on the head, as a power cut there does."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    @classmethod
    def kill_all(cls) -> None:
        """Kill all that are still there: what a test leaves would take nodes from the next one."""
        while cls.started:
            if (head := cls.started.pop()).process.poll() is None:
                head.kill()

    def output(self) -> str:
        """What all starts into these results have said."""
        return self.log.read_text()

    def running_job(self) -> dict[str, str]:
        """A running job of the latest start; waits for one."""
        found: list[dict[str, str]] = []

        def runs() -> bool:
            # Each time: a start that is not far yet has the note of the one before.
            run = (self.results / ".slurm-run").read_text().split()[0]
            found[:] = [job for job in self.cluster.jobs() if job["name"] == run]
            if not found and self.process.poll() is not None:
                raise RuntimeError(f"the head process has ended\n{self.output()[-4000:]}")
            return bool(found)

        self.cluster.wait_for(runs)
        return found[0]

    def loads(self) -> dict[Path, bytes]:
        """Finished loads: what their meta.json holds, by path."""
        return {p: p.read_bytes() for p in self.results.glob("runs/*/*/*/[0-9]*/meta.json")}

    def wait_for_loads(
        self, count: int, seconds: float = HANG_S, poll_s: float = 0.1
    ) -> dict[Path, bytes]:
        """Wait until so many loads are finished; returns them."""
        deadline = time.monotonic() + seconds
        while len(loads := self.loads()) < count:
            if time.monotonic() > deadline or self.process.poll() is not None:
                raise TimeoutError(f"{len(loads)} of {count} loads\n{self.output()[-4000:]}")
            time.sleep(poll_s)
        return loads
