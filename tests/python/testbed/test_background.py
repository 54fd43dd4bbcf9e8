"""Idle work beside programs under test: scripts/background.sh and how the testbed starts programs."""

import os
import subprocess
import sys
import time

import pytest
from sandboxed import SCRIPTS, run_inside

from howquick.testbed.link import Link
from howquick.testbed.testbed import Testbed

SECONDS = 2.0
HOG = f"import time\nend = time.monotonic() + {SECONDS + 2}\nwhile time.monotonic() < end: pass"
# Wakes every 2 ms and works for 1 ms, as a program between two packets; prints seconds that it waited.
WAKER = f"""
import time
def waited():
    return int(open("/proc/self/schedstat").read().split()[1])
before, end = waited(), time.monotonic() + {SECONDS}
while time.monotonic() < end:
    time.sleep(0.001)
    until = time.perf_counter() + 0.001
    while time.perf_counter() < until: pass
print((waited() - before) / 1e9)
"""


def waited_beside(bed, *prefix):
    """Seconds that a program in the testbed waited for a processor while hogs had one each."""
    words = [*prefix, sys.executable, "-c", HOG]
    hogs = [subprocess.Popen(words) for _ in os.sched_getaffinity(0)]
    try:
        time.sleep(0.5)
        return float(bed.server.run([sys.executable, "-c", WAKER]).stdout)
    finally:
        for hog in hogs:
            hog.kill()
            hog.wait()


def beside_work(scratch):
    """What a program waits beside ordinary work and beside idle work."""
    with Testbed(Link(20, 10, 0, 100), scratch=scratch) as bed:
        return {
            "ordinary": waited_beside(bed),
            "idle": waited_beside(bed, "bash", f"{SCRIPTS}/background.sh"),
        }


@pytest.mark.usefixtures("namespaces")
def test_idle_work_gives_way_to_programs_in_the_testbed():
    if subprocess.run(["chrt", "--idle", "0", "true"], check=False, capture_output=True).returncode:
        pytest.skip("this container forbids the idle policy")
    waited = run_inside(beside_work)
    assert waited["idle"] < waited["ordinary"] / 4, waited
