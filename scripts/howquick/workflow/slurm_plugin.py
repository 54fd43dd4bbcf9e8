"""Snakemake's plugin for SLURM, mended where it waits for ever or gives up although SLURM will answer."""

from __future__ import annotations

import importlib
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

from howquick.errors import UserError

# A controller that was killed forgets what it was told in its last seconds. A job that it does not know for
# so long is gone.
FORGOTTEN_S = 30.0
# How long a job waits for a controller that does not answer before it is sent all the same.
AWAY_S = 600.0
POLL_S = 2.0


def mend(executor: Any, known: Callable[[], list[str]]) -> None:
    """Mend how `executor`, the plugin's, asks for the states of its jobs and sends new ones.

    known: IDs of all jobs of this start that the controller knows; raises UserError while it does not answer.
    """
    _mend_states(executor, known)
    _mend_pace(executor)
    _mend_sending(executor, known)


def _mend_states(executor: Any, known: Callable[[], list[str]]) -> None:
    """States as the plugin knows them, and one for jobs that SLURM has forgotten: it waits for them for ever.

    It takes sacct's `CANCELLED by 1000` for a running job: it knows the word alone, as squeue has it. And
    while the controller does not say how long it remembers jobs, it changes to sacct, which may not be
    there: that is asked once, now that the controller answers.
    """
    plugin: Any = importlib.import_module("snakemake_executor_plugin_slurm")
    query, remembered = plugin.query_job_status, plugin.get_min_job_age()
    check = executor.check_active_jobs
    missing = Missing(known)

    async def states(command: str, logger: Any) -> tuple[dict[str, str] | None, float | None]:
        found, duration = await query(command, logger)
        if found is None:
            return found, duration
        words = {job: state.partition(" ")[0] for job, state in found.items()}
        # As the plugin calls a job that failed for a reason of SLURM's own.
        return words | dict.fromkeys(missing.for_good(set(words)), "ERROR"), duration

    async def check_known(active_jobs: list[Any]) -> AsyncIterator[Any]:
        missing.sent = {str(job.external_jobid) for job in active_jobs}
        async for job in check(active_jobs):
            yield job

    plugin.query_job_status = states
    plugin.get_min_job_age = lambda: remembered
    executor.check_active_jobs = check_known


def _mend_pace(executor: Any) -> None:
    """Ask at a steady pace: the plugin waits ten seconds longer after each answer without a finished job."""
    check = executor.check_active_jobs

    async def check_steadily(active_jobs: list[Any]) -> AsyncIterator[Any]:
        async for job in check(active_jobs):
            yield job
        executor.next_seconds_between_status_checks = None

    executor.check_active_jobs = check_steadily


def _mend_sending(executor: Any, known: Callable[[], list[str]]) -> None:
    """Send jobs when the controller answers: sent before, each would count as failed."""
    send = executor.run_job

    def send_when_answered(job: Any) -> None:
        deadline = time.monotonic() + AWAY_S
        while time.monotonic() < deadline:
            try:
                known()
                break
            except UserError:
                time.sleep(POLL_S)
        send(job)

    executor.run_job = send_when_answered


class Missing:
    """Jobs that were sent and that SLURM does not name.

    sent: IDs of jobs whose end is not known. known: as of `mend`.
    """

    def __init__(self, known: Callable[[], list[str]]) -> None:
        self.sent: set[str] = set()
        self._known = known
        self._since: dict[str, float] = {}

    def for_good(self, named: set[str]) -> set[str]:
        """Those that neither an answer (`named`) nor the controller knows, for FORGOTTEN_S seconds now."""
        now = time.monotonic()
        self._since = {job: self._since.get(job, now) for job in self.sent - named}
        long = {job for job, since in self._since.items() if now - since >= FORGOTTEN_S}
        if not long:
            return set()
        try:
            return long - set(self._known())
        except UserError:
            return set()
