"""A start that is told to end does so, whatever it is just doing."""

import os
import subprocess
import sys

from howquick.errors import ROOT
from patience import HANG_S

# Snakemake's own scheduler, but for all that it schedules: told to end while it holds its lock.
PROGRAM = """
import os
import signal
import threading
from types import MethodType, SimpleNamespace

from howquick.workflow.signals import end_gently_when_told
from snakemake.scheduling.job_scheduler import JobScheduler

scheduler = SimpleNamespace(_lock=threading.Lock(), _open_jobs=threading.Semaphore(0), _user_kill=None)
scheduler.exit_gracefully = MethodType(JobScheduler.exit_gracefully, scheduler)
end_gently_when_told(scheduler)
for _ in range(2):
    with scheduler._lock:
        os.kill(os.getpid(), signal.SIGTERM)
        print("told", flush=True)
    scheduler._open_jobs.acquire()
print(scheduler._user_kill)
"""


def test_it_may_be_told_while_the_scheduler_holds_its_lock():
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, "PYTHONPATH": str(ROOT / "scripts")},
        capture_output=True,
        text=True,
        timeout=HANG_S,
        check=False,
    )
    assert ended.stdout.split() == ["told", "told", "graceful"], ended.stderr
