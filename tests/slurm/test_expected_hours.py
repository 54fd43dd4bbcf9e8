"""The table of expected hours."""

import csv
import io
import subprocess
import sys

from hypothesis import given
from hypothesis import strategies as st

from expected_hours import Experience, makespan_s, row
from howquick.errors import ROOT
from howquick.plan.plan import plan_study
from howquick.study.resolve import Selection

jobs = st.lists(st.integers(1, 10_000), min_size=1, max_size=60)


@given(jobs, st.integers(1, 70))
def test_the_makespan_keeps_its_bounds(seconds, nodes):
    """Never below what the work or the longest job needs; longest-first is within 4/3 (Graham 1969)."""
    bound = max(max(seconds), sum(seconds) / nodes)
    span = makespan_s(seconds, nodes)
    assert bound <= span <= sum(seconds) / nodes + max(seconds)
    assert makespan_s(seconds, 1) == sum(seconds)


def test_the_row_counts_what_the_plan_has():
    plan = plan_study("how-quick", Selection("smoke", 1, (), ()))
    slow = row(plan, Experience(seconds=2.0, bytes=3.0, files=4.0, blocks=1), job_s=5.0)
    plain = row(plan, Experience(), job_s=0.0)
    blocks = plan["blocks"]
    assert slow["jobs"] == len(blocks)
    assert slow["loads"] == sum(len(b["repetitions"]) * b["arms"] for b in blocks)
    expected = sum(2.0 * b["seconds"] + 5.0 for b in blocks) / 3600
    assert abs(slow["hours_1"] - expected) <= 0.006  # two decimals
    assert slow["hours_64"] <= slow["hours_8"] <= slow["hours_1"]
    assert slow["gigabytes"] >= plain["gigabytes"]


def program(*arguments):
    return subprocess.run(
        [sys.executable, ROOT / "scripts/expected_hours.py", *arguments],
        capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_the_program_writes_one_line_per_study():
    done = program("how-quick", "--scale", "smoke", "--dag")
    assert done.returncode == 0, done.stderr
    (line,) = csv.DictReader(io.StringIO(done.stdout))
    assert line["study"] == "how-quick" and float(line["dag_mb"]) > 20


def test_results_without_a_block_are_refused(tmp_path):
    done = program("how-quick", "--scale", "smoke", "--measured", str(tmp_path))
    assert done.returncode == 1
    assert str(tmp_path) in done.stderr and "Traceback" not in done.stderr
