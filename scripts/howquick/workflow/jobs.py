"""Snakemake's jobs of one start, as its events tell of them: how many began, and what each rule took."""

from __future__ import annotations

import json
import logging
import time
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from snakemake_interface_logger_plugins.common import LogEvent

from howquick.files import write_json
from howquick.progress.survey import JOBS


class Jobs:
    """Counts jobs, and notes it for the display after each that begins or ends.

    planned: Snakemake's jobs that are to run. width: how many run at once.
    """

    def __init__(self, results: str | Path, planned: Iterable[Any], width: int) -> None:
        self._file = Path(results, JOBS)
        self._planned = Counter(job.rule.name for job in planned)
        self._width, self._begun = width, 0
        self._running: dict[Any, tuple[str, float]] = {}
        self._ended: Counter[str] = Counter()
        self._seconds: dict[str, float] = defaultdict(float)
        self._usual = _usual(self._file)
        self._note()

    def hear(self, record: logging.LogRecord) -> None:
        """Take notice of an event of a job; of anything else do nothing."""
        told = record.__dict__
        if told.get("event") == LogEvent.JOB_INFO:
            self._begun += 1
            self._running[told.get("jobid")] = told.get("rule_name", ""), time.monotonic()
        elif told.get("event") == LogEvent.JOB_FINISHED:
            name, since = self._running.pop(told.get("job_id"), ("", 0.0))
            if name:
                self._ended[name] += 1
                self._seconds[name] += time.monotonic() - since
        else:
            return
        self._note()

    def _note(self) -> None:
        stages = {
            name: {
                "jobs": jobs,
                "ended": self._ended[name],
                "seconds": self._seconds[name],
                "usual_s": self._usual.get(name),
            }
            for name, jobs in self._planned.items()
        }
        total = self._planned.total()
        write_json(
            self._file,
            {
                "begun": self._begun, "total": total, "width": self._width, "stages": stages,
                "usual_s": self._usual,
            },
        )  # fmt: skip


def _usual(file: Path) -> dict[str, float]:
    """What jobs took in the starts before, by rule, as the last of them left it."""
    try:
        before = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    stages = before.get("stages", {}).items()
    took = {name: one["seconds"] / one["ended"] for name, one in stages if one["ended"]}
    usual: dict[str, float] = before.get("usual_s", {})
    return usual | took
