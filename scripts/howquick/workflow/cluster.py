"""What the head process does when the blocks run on a SLURM cluster."""

from __future__ import annotations

import importlib
import math
import os
import re
import shlex
import subprocess
import time
from collections import defaultdict
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from howquick.errors import ROOT, UserError
from howquick.files import atomic_text
from howquick.model import PlannedBlock
from howquick.workflow.image import pack_image
from howquick.workflow.slurm_plugin import mend

# Where the names of a start's jobs are noted, for the next start.
NOTE = ".slurm-run"
RUN = re.compile(r"([A-Za-z0-9_-]+_)?[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
# Jobs that were told to end are given so long; SLURM kills them itself after KillWait (30 s by default).
END_S = 180.0
POLL_S = 1.0
# Time limit of a block: start-up and extraction, and a multiple of what is expected of the loads.
LIMIT_MIN = 15
LIMIT_PER_EXPECTED = 3
# What to do, by SLURM's state of a job or its reason. What was finished is kept in every case.
REMEDIES = {
    "TIMEOUT": "its time limit of {TimeLimit} was too short; to give more: "
    "--set-resources measure__block:runtime=MINUTES",
    "OUT_OF_MEMORY": "it needed more memory than it asked for; to give more: "
    "--set-resources measure__block:mem_mb=MEGABYTES",
    "BadConstraints": "no node has what it asks for ({NumCPUs} CPUs, memory {MinMemoryNode}, features "
    "{Features}). Ask for less in the profile, or for another partition: "
    "--default-resources slurm_partition=NAME",
    "CANCELLED": "somebody cancelled it; the same command goes on",
    "NODE_FAIL": "its node died; the same command goes on",
}
# What SLURM says of a job that it does not know.
UNKNOWN_JOB = "Invalid job id"
# The system's own commands on a node, before the environment is entered.
NODE_PATH = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"


def take_over(workflow: Any, results: Path) -> None:
    """End jobs that a start before this one left behind, and tell new jobs how to get their environment.

    A head process that is killed leaves its jobs in the queue and on the nodes. What they finished is kept,
    and this start asks for the rest. Does nothing where jobs run on this machine. `workflow` is Snakemake's;
    the lock of `results` must be held. Raises UserError when the controller does not answer or would not
    take what is to be sent.
    """
    executor = workflow.scheduler._executor
    run = getattr(executor, "run_uuid", None)
    if run is None:
        return
    _jobs(run)  # says what is wrong if no controller answers, which the plugin does not
    check_requests(workflow, executor)
    mend(executor, partial(_jobs, run, "--states=all"))
    note = results / NOTE
    if left := noted_run(note):
        end_jobs(left)
    write_note(note, run)
    workflow.remote_execution_settings.precommand = node_command(os.environ, results)
    # The plugin would run the members of a group one after another, each by a Snakemake of its own. As on one
    # machine, those that do not need its processors at the same time run side by side.
    executor.additional_general_args = lambda: "--executor local"


def write_note(note: Path, run: str) -> None:
    """Note the name of this start's jobs, and whose note it is: that of this very folder."""
    with atomic_text(note) as stream:
        stream.write(f"{run}\n{_identity(note.parent)}\n")


def noted_run(note: Path) -> str | None:
    """The name of the jobs that a start into this folder left; None if there is none.

    A note that came here with a copy of another folder names jobs that are still somebody's.
    """
    try:
        run, _, identity = (
            note.read_text(encoding="utf-8", errors="replace").strip().partition("\n")
        )
    except OSError:
        return None
    # squeue and scancel take lists and patterns for names.
    return run if RUN.fullmatch(run) and identity == _identity(note.parent) else None


def _identity(folder: Path) -> str:
    """What a copy of a folder does not have: its number in the file system, and where it is."""
    whole = folder.resolve()
    return f"{whole.stat().st_ino} {whole}"


def check_requests(workflow: Any, executor: Any) -> None:
    """Ask SLURM whether it would ever run jobs like those to come, one of each rule, before any is sent.

    Afterwards it would be too late to say why: Snakemake does not pass on the reason for a group of jobs.
    Raises UserError with SLURM's answer.
    """
    # Only here: the plugin is big, and most starts do without.
    plugin = importlib.import_module("snakemake_executor_plugin_slurm.submit_string")
    samples = {job.rule.name: job for job in workflow.dag.needrun_jobs() if not job.is_local}
    for rule, job in samples.items():
        parameters = {
            "run_uuid": executor.run_uuid,
            "slurm_logfile": os.devnull,
            "comment_str": f"rule_{rule}",
            "account": next(executor.get_account_arg(job)),
            "partition": executor.get_partition_arg(job),
            "workdir": None,
        }
        asked = shlex.split(
            plugin.get_submit_command(job, parameters, executor.workflow.executor_settings)
        )
        try:
            _slurm(*asked, "--test-only", "--wrap=true")
        except UserError as error:
            # A node that is down now may be back when the job's turn comes.
            if "down" in str(error):
                continue
            wanted = " ".join(asked[asked.index("--comment") + 2 :])
            raise UserError(
                f"SLURM would not run {rule}, for which the workflow asks {wanted}: {error}"
            ) from None


def node_command(environment: Mapping[str, str], results: Path) -> str | None:
    """The shell command before a job's Python, or None where nodes have the environment as it is.

    Who came in by `enter` is in a root directory that does not exist for SLURM's daemon on the node, so that
    jobs must enter again. HOWQUICK_NODES=same says that they need not, and `image` that they take it from a
    file in `results`, which is packed here. Raises UserError for another value.
    """
    nodes = environment.get(
        "HOWQUICK_NODES", "enter" if environment.get("HOWQUICK_INSIDE") else "same"
    )
    if nodes not in ("enter", "image", "same"):
        raise UserError(
            f"HOWQUICK_NODES: '{nodes}' is none of 'enter', 'image' and 'same'. See docs/slurm.md."
        )
    if nodes == "same":
        return None
    # Without a variable: it would be expanded here and not on the node.
    exports = {"PATH": f"{ROOT}/scripts/slurm/bin:{NODE_PATH}"}
    if nodes == "image":
        exports["HOWQUICK_IMAGE"] = str(pack_image(environment, results))
    return f"export {' '.join(f'{name}={shlex.quote(value)}' for name, value in exports.items())}"


def end_jobs(name: str) -> None:
    """Cancel all jobs of this name and wait until none of their processes is left.

    Raises UserError when the controller does not answer or the jobs do not end.
    """
    left = _jobs(name)
    if not left:
        return
    _slurm("scancel", f"--name={name}")
    deadline = time.monotonic() + END_S
    while left := _jobs(name):
        if time.monotonic() > deadline:
            raise UserError(
                f"the jobs {', '.join(left)} of an earlier start do not end. See `squeue --name={name}`; "
                "when they are gone, run the same command again."
            )
        time.sleep(POLL_S)


def _jobs(name: str, *options: str) -> list[str]:
    """IDs of jobs of this name that wait, run or are being cleaned up; by options others."""
    return _slurm("squeue", "--noheader", f"--name={name}", "--format=%i", *options).split()


def _slurm(*command: str) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    except (OSError, subprocess.TimeoutExpired) as error:
        said = str(error)
    else:
        if not done.returncode:
            return done.stdout
        said = done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "no message"
    raise UserError(
        f"{said.removeprefix(f'{command[0]}: ')} ({command[0]}). If no controller answers: is this a login "
        "node, and are /etc/slurm and /run/munge visible? See docs/slurm.md."
    )


def explain(record: Any) -> str:
    """What SLURM says of a failed job, and what to do; empty where a job failed by itself.

    `record` is Snakemake's log record of the failure.
    """
    job = (getattr(record, "aux", None) or {}).get("external_jobid") or getattr(
        record, "external_jobid", None
    )
    if job is None:
        said = getattr(record, "rule_msg", None) or ""
        return f"howquick: {said.splitlines()[0]}" if said.startswith("SLURM") else ""
    try:
        shown = _slurm("scontrol", "show", "job", "--oneliner", str(job))
    except UserError as error:
        if UNKNOWN_JOB in str(error):
            return (
                f"howquick: SLURM no longer knows job {job}: its controller was lost before it had saved "
                "it, or keeps jobs too briefly (MinJobAge). What was finished is kept."
            )
        return f"howquick: SLURM job {job} failed; {error}"
    # Which facts there are depends on how SLURM is set up: MinMemoryCPU, say, in place of MinMemoryNode.
    facts: dict[str, str] = defaultdict(lambda: "unknown")
    facts |= dict(word.split("=", 1) for word in shown.split() if "=" in word)
    state, reason = facts.get("JobState", "unknown"), facts.get("Reason", "None")
    for key, remedy in REMEDIES.items():
        if key in (state, reason):
            return f"howquick: SLURM job {job} ({state}, {reason}): {remedy.format_map(facts)}"
    return f"howquick: SLURM job {job}: {state}, {reason}; its output is {facts.get('StdOut', 'unknown')}"


def time_limit(block: PlannedBlock, attempt: int) -> int:
    """Time limit of a block's job, minutes: expectations are rough, and a second attempt gets more."""
    return attempt * math.ceil(LIMIT_MIN + LIMIT_PER_EXPECTED * block["seconds"] / 60)
