"""One start of the workflow: its configuration, its lock and its progress display."""

from __future__ import annotations

import atexit
import logging
import os
import shutil
import sys
import time
from pathlib import Path
from typing import Any, NoReturn, TextIO

from snakemake_interface_logger_plugins.common import LogEvent

from howquick.errors import UserError
from howquick.files import try_lock
from howquick.plan.plan import write_plan
from howquick.plan.precision import asks_for_more
from howquick.progress.words import last_lines
from howquick.schemas import load_yaml
from howquick.workflow.capacity import processors_percent
from howquick.workflow.cluster import explain, take_over
from howquick.workflow.configuration import read_workflow
from howquick.workflow.display import Display
from howquick.workflow.jobs import Jobs
from howquick.workflow.manifests import block_plan
from howquick.workflow.outlook import outlook
from howquick.workflow.questions import Workflow
from howquick.workflow.signals import end_gently_when_told
from howquick.workflow.start import start_file, where, write_start
from howquick.workflow.targets import check_targets

_lock: TextIO | None = None
_display: Display | None = None
_jobs: Jobs | None = None
RULES_ARE_READ = "Building DAG"
# Said once per scheduling round or in Snakemake's own terms; what matters of it is said by us.
NOISE = (
    "Select jobs to execute", "Execute ", "Assuming unrestricted", RULES_ARE_READ, "Using shell",
    "RuleException:", "Elapsed time", "Exiting because a job execution failed",
    "No SLURM account given", "No account was given", "Unable to guess SLURM account",
    "Cleaning up SLURM log",
)  # fmt: skip
NOTHING_TO_DO = "Nothing to be done"
REASON_LINES = 3
# What rules ask for whose jobs keep one processor busy, in percent of it.
ONE_BUSY = 90


class _Words(logging.Filter):
    """Leaves out the noise, and says of a failed job what its log says last.

    workflow: Snakemake's; it calls none of our hooks between reading the rules and using them, nor where
    there is nothing to do.
    """

    def __init__(self, hq: Workflow, workflow: Any) -> None:
        super().__init__()
        self.hq, self.workflow = hq, workflow

    def filter(self, record: logging.LogRecord) -> bool:
        event = getattr(record, "event", None)
        if record.getMessage().startswith(RULES_ARE_READ):
            _check_targets(self.hq, self.workflow)
        if _jobs is not None:
            _jobs.hear(record)
        if event in (LogEvent.JOB_ERROR, LogEvent.GROUP_ERROR):
            told = [_reason(Path(log)) for log in getattr(record, "log", None) or []]
            told.append(explain(record))
            print("\n".join(filter(None, told)), file=sys.stderr, flush=True)
        if record.getMessage().startswith(NOTHING_TO_DO):
            _say_where(self.workflow)
        return not record.getMessage().startswith(NOISE)


def _check_targets(hq: Workflow, workflow: Any) -> None:
    """End with one message if something is asked for that nothing makes."""
    if workflow.is_main_process:
        try:
            check_targets(hq, workflow, map(str, workflow.dag_settings.targets))
        except UserError as error:
            _stop(workflow, error)


def _say_where(workflow: Any) -> None:
    """Name what was asked for and is there."""
    if workflow.is_main_process and (told := where(workflow.dag.targetjobs)):
        print(f"howquick: {told}", file=sys.stderr, flush=True)


def _reason(log: Path) -> str:
    """Why a job failed: the sentence its program ended with, or the last lines of its log."""
    try:
        lines = [line for line in log.read_text(errors="replace").splitlines() if line.strip()]
    except OSError:
        lines = []
    said = [line for line in lines if line.startswith(("howquick: ", "error: "))]
    return "\n".join([*(said[-1:] or lines[-REASON_LINES:]), f"howquick: the whole log is {log}"])


def _stop(workflow: Any, said: object) -> NoReturn:
    """End with one message. Of an exception Snakemake would print where in the Snakefile it was raised."""
    print(f"howquick: {said}", file=sys.stderr, flush=True)
    shutil.rmtree(workflow.snakemake_tmp_dir, ignore_errors=True)
    os._exit(1)


def check_configuration(workflow: Any) -> None:
    """End with one message if the configuration file is wrong, before Snakemake reads it in its own way.

    It would take the last of two equal keys without a word, and show a traceback for a file that is no text.
    """
    try:
        load_yaml(Path(workflow.basedir, "config", "config.yaml"), "config")
    except UserError as error:
        _stop(workflow, error)


def prepare(config: dict[str, Any], workflow: Any) -> Workflow:
    """Validate the configuration and say what is to come; ends with one message if it is wrong.

    `workflow` is Snakemake's. It learns how much processor the machine has: the blocks declare what they
    need, so that a high -j does not make them disturb each other.
    """
    asked = workflow.resource_settings
    try:
        hq = read_workflow(config, _targets(workflow))
        if workflow.is_main_process:
            # -j means cores when jobs run here, and nodes in a dry run or on a cluster.
            jobs = max(asked.cores or 1, asked.nodes or 1)
            print(outlook(hq, jobs), file=sys.stderr, flush=True)
    except UserError as error:
        _stop(workflow, error)
    logging.getLogger("snakemake.logging").addFilter(_Words(hq, workflow))
    if "cpu_percent" not in workflow.global_resources:
        workflow.register_resource("cpu_percent", processors_percent())
    # Jobs inherit it: the blocks of one start belong to one session.
    os.environ.setdefault("HOWQUICK_SESSION", time.strftime("%Y%m%dT%H%M%SZ", time.gmtime()))
    return hq


def _targets(workflow: Any) -> list[str]:
    """What the user asked for on the command line: Snakemake itself tells only later.

    Jobs that it starts elsewhere have other targets; they learn the user's from their environment.
    """
    if workflow.is_main_process:
        os.environ["HOWQUICK_TARGETS"] = " ".join(sys.argv[1:])
    return os.environ.get("HOWQUICK_TARGETS", "").split()


def begin(hq: Workflow, workflow: Any) -> None:
    """Take the lock of the results folder for as long as this process lives, and show progress.

    Snakemake's own locks stay behind when it is killed; this one is the kernel's and does not.
    """
    global _lock, _display, _jobs
    folder = Path(hq.results)
    folder.mkdir(parents=True, exist_ok=True)
    _lock = (folder / ".lock").open("a+")
    if not try_lock(_lock):
        _lock.seek(0)
        owner = _lock.read().strip() or "another process"
        _stop(
            workflow,
            f"{folder}: {owner} works here already. Wait for it, end it, or use another folder "
            "(--config results=NAME).",
        )
    _lock.truncate(0)
    _lock.write(f"process {os.getpid()} on {os.uname().nodename}")
    _lock.flush()
    try:
        take_over(workflow, folder)
        _write_plans(hq, workflow)
    except UserError as error:
        _stop(workflow, error)
    end_gently_when_told(workflow.scheduler)
    if workflow.local_exec:
        # A limit on the jobs per second makes Snakemake weigh all waiting jobs every second and after each
        # job more often: it used a third of a processor, and disturbed what was measured.
        workflow.scheduler.job_rate_limiter = None
    # Of a job that ends it tells only so; what shows it on the screen is quiet about it all the same.
    workflow.scheduler.print_progress = True
    _jobs = Jobs(folder, workflow.dag.needrun_jobs(), _width(workflow))
    _display = Display(hq.results, start_file(hq.results))


def _width(workflow: Any) -> int:
    """How many jobs that keep a processor busy run at once: on a cluster as many as were asked for."""
    asked = workflow.resource_settings
    if not workflow.local_exec:
        return max(1, asked.nodes or 1)
    return max(1, min(asked.cores or 1, processors_percent() // ONE_BUSY))


def _write_plans(hq: Workflow, workflow: Any) -> None:
    """Write the plans of the blocks that are about to be measured (see rules/measure.smk), and their list."""
    jobs = list(workflow.dag.needrun_jobs())
    measuring = ("measure__block", "processor__study")
    for study in sorted({job.wildcards.study for job in jobs if job.rule.name in measuring}):
        write_plan(hq.plans[study], block_plan(hq.results, study))
    write_start(hq, jobs)


def finish(hq: Workflow, workflow: Any) -> None:
    """Say where the results are, or go on where a precision is not reached: all asked for is made."""
    if _go_on_for_precision(hq, workflow):
        return
    _say_where(workflow)
    say_how_it_ended(hq)


def say_how_it_ended(hq: Workflow) -> None:
    """Five lines for who watched: what was measured, what failed, which claims held, and where it is."""
    if _display is not None and _display.on_terminal:
        lines = last_lines(Path(hq.results), hq.plans)
        print("\n".join(lines), file=sys.stderr, flush=True)


def _go_on_for_precision(hq: Workflow, workflow: Any) -> bool:
    """Run the same command again where a precision is not reached and its bound is not hit.

    The plan of a start is fixed, and what it measured decides how much more is needed; each further start
    has more repetitions than the one before, so this ends. Returns whether it goes on.
    """
    if not workflow.is_main_process or workflow.dryrun or hq.runs or hq.rebuild:
        return False
    short = [
        Path(hq.results, "tables", study, f"{cell}.csv")
        for study, plan in hq.plans.items()
        if plan["precision"]
        for cell in asks_for_more(hq.results, plan)
    ]
    if short:
        print(
            f"howquick: the precision is not reached in {len(short)} cells: measuring further",
            file=sys.stderr,
            flush=True,
        )
        # Their tables lack what is to come. Snakemake finds that out by what it noted of this start,
        # which it may not have written yet.
        for table in short:
            table.unlink(missing_ok=True)
        # Snakemake has its own end to finish first.
        atexit.register(_again)
    return bool(short)


def _again() -> None:
    if _display is not None:
        _display.close()
    sys.stdout.flush()
    sys.stderr.flush()
    os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])
