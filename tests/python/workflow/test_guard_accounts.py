"""Whose processor time it was: what the measurement's own processes used stays its own when they end."""

import contextlib
import os
import signal
import subprocess
import sys
import time

import pytest

from howquick.guard.watch import Watch

BURN = "import time\nwhile time.process_time() < {}: pass\ntime.sleep(60)"


@contextlib.contextmanager
def family(seconds):
    """A leader with a child that uses so many seconds of a processor; killed at once, like a browser."""
    child = [sys.executable, "-c", BURN.format(seconds)]
    code = f"import subprocess, time\nsubprocess.Popen({child!r})\ntime.sleep(60)"
    leader = subprocess.Popen([sys.executable, "-c", code], start_new_session=True)
    try:
        yield leader
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(leader.pid, signal.SIGKILL)
        leader.wait()


def own_s(watch):
    """CPU seconds that a watch counts as the measurement's."""
    return sum(role.cpu_s for role in watch._roles.values())


@pytest.mark.parametrize("before", [True, False])
def test_what_a_process_used_counts_once_and_only_within_the_load(before):
    watch = Watch()
    with family(0.5) as leader:
        if before:
            time.sleep(3)
        watch.load(lambda: {leader.pid: "client"})
        time.sleep(0.5 if before else 3)
        watch.look()
        os.killpg(leader.pid, signal.SIGKILL)
        leader.wait()
        found = watch.stop()
    if before:
        assert own_s(watch) < 0.1
    else:
        assert 0.4 < own_s(watch) < 0.8
    assert found["foreign_cpu"] is not None
