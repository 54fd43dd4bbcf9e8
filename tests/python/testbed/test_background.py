"""Idle work beside programs under test: scripts/background.sh and how the testbed starts programs."""

import os
import subprocess
import sys

import pytest

from howquick.testbed.link import Link
from howquick.testbed.testbed import Testbed
from testbed.sandboxed import SCRIPTS, run_inside

SAY = "import os; print(os.sched_getscheduler(0), os.getsid(0))"


def policies_and_sessions(scratch):
    """Scheduling policy and session of a program in the testbed and of idle work."""
    words = [sys.executable, "-c", SAY]
    with Testbed(Link(20, 10, 0, 100), scratch=scratch) as bed:
        program = bed.server.run(words).stdout
    idle = subprocess.run(
        ["bash", f"{SCRIPTS}/background.sh", *words], capture_output=True, text=True, check=True
    ).stdout
    return [list(map(int, said.split())) for said in (program, idle)]


@pytest.mark.usefixtures("namespaces")
def test_idle_work_gives_way_to_programs_in_the_testbed():
    """Within a session the policy decides; between two, the kernel's autogroups do (sched(7))."""
    if subprocess.run(["chrt", "--idle", "0", "true"], check=False, capture_output=True).returncode:
        pytest.skip("this container forbids the idle policy")
    program, idle = run_inside(policies_and_sessions)
    assert (program[0], idle[0]) == (os.SCHED_OTHER, os.SCHED_IDLE)
    assert program[1] == idle[1]
