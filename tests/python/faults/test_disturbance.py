"""What takes the processor away or sets the clock: the number must not count."""

import os
import re
import subprocess
import sys
import time

import pytest

from faults.inject import LONG_CELL, Injected
from howquick.errors import ROOT
from howquick.guard.bounds import (
    LEAST_RUN_DELAY_S,
    MAX_CLOCK_STEP_S,
    MAX_RECORDED_CLOCK_STEP_S,
    MAX_RUN_DELAY_SHARE,
)
from workflow.blocks import make_plan, measure, meta

# Its client and its server need the processor most.
ARM = {"protocol": "spdy", "server": "node-spdy", "client": "node-spdy"}
CELL = "10mbit-18ms-loss0-50obj-small"
HOGS_PER_PROCESSOR = 2
# Takes the place of the system's clock in the measuring program alone: setting the real one would
# hit everything on this machine. The programs under test keep the true time.
CLOCK = """
import os, time
_true = time.time
time.time = lambda: _true() + (0.5 if os.path.exists(os.environ["STEP_CLOCK"]) else 0.0)
"""


def test_a_processor_hog_makes_no_number(tmp_path, monkeypatch, outcome):
    """A load that counts has a wait within the bounds, and a hog pushes its attempts beyond."""
    monkeypatch.delenv("HOWQUICK_GUARD")
    make_plan(tmp_path, monkeypatch, {"one": ARM}, CELL)
    spin = [sys.executable, "-c", "while True: pass"]
    processors = len(os.sched_getaffinity(0))
    hogs = [subprocess.Popen(spin) for _ in range(HOGS_PER_PROCESSOR * processors)]
    try:
        status, output, _ = measure(tmp_path, CELL)
    finally:
        for hog in hogs:
            hog.kill()
            hog.wait()
    assert status == 0, output
    found = meta(tmp_path, "one", cell=CELL)
    waited = max(found["guard"]["run_delay_s"][role] for role in ("server", "client"))
    most = max(LEAST_RUN_DELAY_S, MAX_RUN_DELAY_SHARE * found["network_s"])
    assert found["status"] != "ok" or waited <= most, found["guard"]
    assert len(found["disturbed"]) == found["attempts"] - 1
    assert found["status"] == "ok" or (found["status"], found["attempts"]) == ("invalid", 3)
    caught = (*found["disturbed"], found["reason"] or "")
    reason = next((reason for reason in caught if "for a processor" in reason), None)
    assert reason, found["guard"]
    outcome(
        "processor hog", f"the load's row: {reason}", "all finished loads",
        "measured again; invalid after three attempts",
    )  # fmt: skip


@pytest.mark.parametrize("fault", ["clock set by 0.5 s"])
def test_a_clock_that_is_set_makes_no_number(tmp_path, monkeypatch, outcome, fault):
    step = tmp_path / "step"
    (tmp_path / "sitecustomize.py").write_text(CLOCK)
    make_plan(tmp_path / "r", monkeypatch, {"one": {}}, LONG_CELL, repetitions=2)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("STEP_CLOCK", str(step))
    injected = Injected(tmp_path / "r")
    injected.wait_for_load()
    step.touch()
    status, output = injected.end()
    assert status == 0, output
    injected.assert_kept()
    again = meta(tmp_path / "r", "one", 1, LONG_CELL)
    assert (again["status"], again["attempts"]) == ("ok", 2), again["reason"]
    # Whatever else keeps the machine's clock right does so in small steps.
    step_s = float(re.search(r"the clock stepped by (\S+) s", again["disturbed"][0])[1])
    assert step_s == pytest.approx(0.5, abs=MAX_RECORDED_CLOCK_STEP_S)
    outcome(
        fault,
        f"in meta.json: {again['disturbed'][0]}",
        "all finished loads",
        "invalid, measured again",
    )


@pytest.mark.skipif(
    not os.environ.get("HOWQUICK_SET_CLOCK"), reason="sets the clock of the whole machine"
)
def test_the_real_clock(tmp_path, monkeypatch):
    """For a machine of one's own, as root: HOWQUICK_SET_CLOCK=1."""
    make_plan(tmp_path, monkeypatch, {"one": {}}, LONG_CELL, repetitions=2)
    injected = Injected(tmp_path)
    injected.wait_for_load()
    time.clock_settime(time.CLOCK_REALTIME, time.time() + 0.5)
    status, output = injected.end()
    time.clock_settime(time.CLOCK_REALTIME, time.time() - 0.5)
    assert status == 0, output
    assert "the clock stepped by 0.5" in meta(tmp_path, "one", 1, LONG_CELL)["disturbed"][0]


# The kernel's own clocks part: by 0.5 s, in a time namespace that this process enters between two readings.
PARTING = """
import os
from pathlib import Path
from howquick.guard.machine import describe, read_machine
begin = read_machine()
os.unshare(os.CLONE_NEWTIME)
Path("/proc/self/timens_offsets").write_text("monotonic 0 500000000")
os.setns(os.open("/proc/self/ns/time_for_children", os.O_RDONLY), os.CLONE_NEWTIME)
print(describe(begin, read_machine())["clock_step_s"])
"""


def test_the_guard_reads_the_kernels_clocks():
    """Realtime lags the monotonic clock by 0.5 s, as after a step backwards; no Python stands in."""
    done = subprocess.run(
        ["unshare", "--user", "--map-root-user", sys.executable, "-c", PARTING],
        env=os.environ | {"PYTHONPATH": str(ROOT / "scripts")},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    step = float(done.stdout)
    assert step == pytest.approx(-0.5, abs=MAX_CLOCK_STEP_S)
