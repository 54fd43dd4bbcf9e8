"""`precision:` of a scale: the same command measures until it is reached or the bound is hit."""

import json

import pytest

from workflow.flow import rows, run

CELL = "10mbit-loss2-50obj"
ARMS = ("h1-first", "h1-second")
STATED, AT_MOST = 6, 12  # of the scale smoke of study aa


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """One cell with loss, whose few loads scatter too much for the precision that is asked for."""
    results = tmp_path_factory.mktemp("precision") / "results"
    config = ["studies=aa", f"cells={CELL}", f"arms={','.join(ARMS)}"]
    status, output = run(results, "aa", config=config)
    assert status == 0, output[-3000:]
    return results, output


def test_it_goes_on_until_the_precision_or_the_bound(measured):
    results, output = measured
    assert "the precision is not reached in 1 cells: measuring further" in output
    table = rows(results / "tables/aa.csv")
    loads = {arm: sorted(int(r["repetition"]) for r in table if r["arm"] == arm) for arm in ARMS}
    assert loads[ARMS[0]] == loads[ARMS[1]] == list(range(len(loads[ARMS[0]])))
    had = len(loads[ARMS[0]])
    assert STATED < had <= AT_MOST
    wanted = json.loads((results / "precision/aa.json").read_text())
    assert wanted[CELL] <= had


def test_what_was_measured_stays_in_the_plan(measured):
    results, _ = measured
    before = {p: p.stat().st_mtime_ns for p in results.glob("runs/*/*/*/[0-9]*/meta.json")}
    status, output = run(
        results, "aa", config=["studies=aa", f"cells={CELL}", f"arms={','.join(ARMS)}"]
    )
    assert status == 0, output[-3000:]
    assert before == {p: p.stat().st_mtime_ns for p in results.glob("runs/*/*/*/[0-9]*/meta.json")}
