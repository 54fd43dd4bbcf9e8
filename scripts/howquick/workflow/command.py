"""Running the workflow from a program: into another results folder, from any working folder."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from howquick.errors import ROOT, UserError
from howquick.testbed.system import die_with_parent


def workflow_command(
    results: Path, jobs: int, *arguments: str, config: Iterable[str] = ()
) -> list[str]:
    """The command line of the workflow into another results folder, from any working folder."""
    argv = [sys.executable, "-m", "snakemake", "-s", str(ROOT / "Snakefile"), f"-j{jobs}"]
    argv += [*arguments, "--workflow-profile", str(ROOT / "profiles" / "default")]
    return [*argv, "--config", f"results={results}", *config]


def snakemake(
    results: Path, jobs: int, *targets: str, config: Iterable[str] = (), more: Iterable[str] = ()
) -> str:
    """Run the workflow into another results folder; returns its output, raises UserError on failure."""
    argv = workflow_command(results, jobs, *targets, *more, config=config)
    done = subprocess.run(
        argv, capture_output=True, text=True, check=False, preexec_fn=die_with_parent
    )  # fmt: skip
    if done.returncode:
        raise UserError(f"{' '.join(argv)} failed:\n{done.stdout[-2000:]}{done.stderr[-3000:]}")
    return done.stdout + done.stderr
