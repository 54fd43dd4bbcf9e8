"""Whose processor time it was: what the measurement's own processes used stays its own when they end."""

import contextlib
import os
import signal
import subprocess
import sys

import pytest

from howquick.guard.watch import Watch

BURNT_S = 0.5
# Uses that much of a processor when it is told to, and says so.
BURN = f"""
import time
print("ready", flush=True)
input()
end = time.process_time() + {BURNT_S}
while time.process_time() < end: pass
print("burnt", flush=True)
time.sleep(600)
"""
LEADER = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {BURN!r}])"


@contextlib.contextmanager
def family():
    """A leader and a function that has its child burn; both are killed at once, like a browser."""
    pipe = subprocess.PIPE
    leader = subprocess.Popen(
        [sys.executable, "-c", LEADER], stdin=pipe, stdout=pipe, text=True, start_new_session=True
    )

    def burn():
        leader.stdin.write("now\n")
        leader.stdin.flush()
        assert leader.stdout.readline() == "burnt\n"

    try:
        assert leader.stdout.readline() == "ready\n"
        yield leader, burn
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(leader.pid, signal.SIGKILL)
        leader.communicate()


def own_s(watch):
    """CPU seconds that a watch counts as the measurement's."""
    return sum(role.cpu_s for role in watch._roles.values())


@pytest.mark.parametrize("before", [True, False])
def test_what_a_process_used_counts_once_and_only_within_the_load(before):
    watch = Watch()
    with family() as (leader, burn):
        if before:
            burn()
        watch.load(lambda: {leader.pid: "client"})
        if not before:
            burn()
        watch.look()
        os.killpg(leader.pid, signal.SIGKILL)
        leader.wait()
        found = watch.stop()
    if before:
        assert own_s(watch) < 0.5 * BURNT_S
    else:
        assert 0.9 * BURNT_S < own_s(watch) < 1.5 * BURNT_S
    assert found["foreign_cpu"] is not None
