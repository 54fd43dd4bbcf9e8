"""The workflow in virtual time: measured, analysed, killed and gone on, and reproduced."""

import json
import os
import signal
import subprocess
import sys

import pytest

from howquick.environment.manifest import prefix_of
from howquick.errors import ROOT
from howquick.files import file_hash
from patience import HANG_S, wait_until
from workflow.flow import rows, run, start

CELL = "10mbit-18ms-loss2-50obj-small"
CONFIG = [f"cells={CELL}", "arms=h1-nginx-curl,h3-quiche", "repetitions=2", "clock=virtual"]


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """The results of four loads."""
    if prefix_of("kernel") is None:
        pytest.skip("this environment has no kernel for virtual time")
    results = tmp_path_factory.mktemp("virtual") / "results"
    wanted = [f"{results}/plan/how-quick.json", f"{results}/tables/how-quick.csv"]
    status, output = run(results, *wanted, config=CONFIG)
    assert status == 0, output[-4000:]
    return results


def reproduce(results, folder):
    """Measure the loads again by themselves; returns how it ended, and the table of what is the same."""
    done = subprocess.run(
        [sys.executable, ROOT / "scripts/reproduce.py", "how-quick", "--results", results, "--cells", "1",
         "--jobs", "2", "--folder", folder / "again", "--output", folder / "reproduced.csv"],
        capture_output=True, text=True, check=False, timeout=HANG_S,
    )  # fmt: skip
    table = folder / "reproduced.csv"
    return done, rows(table) if table.exists() else []


def test_every_load_is_there_and_says_its_clock(measured):
    table = rows(measured / "tables/how-quick.csv")
    assert len(table) == 4
    assert {(row["status"], row["clock"], row["session"]) for row in table} == {
        ("ok", "virtual", "virtual")
    }
    # Of a processor that takes no time nothing is said.
    assert {row["cpu_server_s"] + row["wall_s"] for row in table} == {""}
    names = {path.name for path in (measured / "calibration").iterdir()}
    assert len(names) == 1 and names.pop().endswith("-virtual.json")
    assert not (measured / "content/certificates").exists()
    assert json.loads((measured / "plan/how-quick.json").read_text())["programs"]["guest"]


def test_a_killed_start_goes_on_to_the_same_table(measured, tmp_path):
    results = tmp_path / "results"
    process = start(results, f"{results}/tables/how-quick.csv", config=CONFIG)
    assert wait_until(lambda: len(list(results.glob("runs/*/*/*/0*/meta.json"))) >= 1)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    status, output = run(results, f"{results}/tables/how-quick.csv", config=CONFIG)
    assert status == 0, output[-4000:]
    first, second = (folder / "tables/how-quick.csv" for folder in (measured, results))
    assert file_hash(first) == file_hash(second)


def test_the_other_clock_is_another_measurement(measured):
    real = [word for word in CONFIG if not word.startswith("clock")]
    status, output = run(measured, "measure", "--dry-run", config=real)
    assert status == 0 and "to measure: 1 of 1 blocks, 4 loads" in output, output[-2000:]
    status, output = run(measured, "measure", "--dry-run", config=CONFIG)
    assert status == 0 and "to measure: 0 of 1 blocks" in output, output[-2000:]


def test_the_analysis_asks_for_what_the_processor_would_add(measured):
    wanted = f"{measured}/statistics/how-quick"
    status, output = run(measured, wanted, config=CONFIG)
    assert status == 0, output[-4000:]
    assert {row["arm"] for row in rows(measured / "processor/how-quick.csv")} == {
        "h1-nginx-curl", "h3-quiche",
    }  # fmt: skip
    summary = rows(measured / "statistics/how-quick/summary.csv")
    assert all(float(row["processor_s"]) > 0 for row in summary)
    status, output = run(measured, wanted, "--dry-run", config=CONFIG)
    assert status == 0 and "processor__study" not in output, output[-2000:]
    real = [word for word in CONFIG if not word.startswith("clock")]
    status, output = run(measured, wanted, "--dry-run", config=[*real, "clock=real"])
    assert status == 0 and "processor__study" not in output, output[-2000:]


def test_a_sample_is_the_same_and_a_changed_row_is_named(measured, tmp_path):
    done, compared = reproduce(measured, tmp_path)
    assert done.returncode == 0, done.stderr
    assert "2 of 2 loads are the same in every column" in done.stderr
    assert {row["same"] for row in compared} == {"true"}
    # As somebody's archive would have it whose number is another.
    other = tmp_path / "other"
    (other / "plan").mkdir(parents=True)
    (other / "tables").mkdir()
    (other / "plan/how-quick.json").write_bytes((measured / "plan/how-quick.json").read_bytes())
    text = (measured / "tables/how-quick.csv").read_text()
    plt = next(
        row["plt_s"] for row in rows(measured / "tables/how-quick.csv") if row["repetition"] == "0"
    )
    (other / "tables/how-quick.csv").write_text(text.replace(plt, "0.100000"))
    done, compared = reproduce(other, tmp_path)
    assert done.returncode == 1
    assert [row["differs"] for row in compared if row["same"] == "false"] != []
    assert "plt_s" in done.stderr


def test_a_study_in_real_time_cannot_be_reproduced_so(measured, tmp_path):
    plan = json.loads((measured / "plan/how-quick.json").read_text())
    for cell in plan["cells"]:
        cell.pop("clock")
    (tmp_path / "plan").mkdir()
    (tmp_path / "plan/how-quick.json").write_text(json.dumps(plan))
    done, _ = reproduce(tmp_path, tmp_path / "out")
    assert done.returncode == 1
    assert "all of its cells are in real time" in done.stderr and "Traceback" not in done.stderr
