"""The table of processor seconds, from loads by the real clock in real namespaces."""

import csv
import json
import subprocess
import sys

import pytest
from jsonschema import Draft202012Validator

from howquick.errors import ROOT
from howquick.files import read_json, write_json
from howquick.processor.samples import LOADS, sample_name
from howquick.report.encode import parse
from howquick.schemas import SCHEMAS
from patience import HANG_S
from workflow.blocks import CELL, make_plan


def virtual(results):
    """Say of the plan's cells that they are in virtual time; its path."""
    path = results / "plan" / "how-quick.json"
    plan = read_json(path)
    for cell in plan["cells"]:
        cell["clock"] = "virtual"
    write_json(path, plan)
    return plan


def measure(results):
    """Make the table; returns (what the program ended with, its rows)."""
    output = results / "processor" / "how-quick.csv"
    argv = [sys.executable, ROOT / "scripts/measure_processor.py", "--results", results]
    argv += ["--plan", results / "plan/how-quick.json", "--output", output]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=HANG_S)
    with output.open(newline="") as stream:
        return done, list(csv.DictReader(stream))


def started(results, plan):
    """When each load was measured."""
    folder = results / "processor/how-quick" / sample_name(plan["cells"][0])
    return {
        str(file.parent.relative_to(folder)): json.loads(file.read_text())["started"]
        for file in folder.glob("*/*/meta.json")
    }


@pytest.fixture
def asked(tmp_path, monkeypatch):
    make_plan(tmp_path, monkeypatch, {"one": {}, "two": {"protocol": "h2"}})
    return tmp_path, virtual(tmp_path)


def test_each_arm_has_the_seconds_of_its_cheapest_load(asked):
    results, _ = asked
    done, rows = measure(results)
    assert done.returncode == 0, done.stderr
    validator = Draft202012Validator(read_json(SCHEMAS / "processor.schema.json"))
    for row in rows:
        validator.validate({name: parse(value) for name, value in row.items()})
    assert [(row["cell"], row["arm"]) for row in rows] == [(CELL, "one"), (CELL, "two")]
    for row in rows:
        assert (row["loads"], row["tried"], row["reason"]) == (str(LOADS), str(LOADS), "")
        assert float(row["cpu_server_s"]) + float(row["cpu_client_s"]) > 0 and row["machine"]
        folder = results / "processor/how-quick" / row["sample"] / row["arm"]
        metas = [read_json(file) for file in folder.glob("*/meta.json")]
        least = min(sum(meta["cpu"].values()) for meta in metas)
        assert float(row["cpu_server_s"]) + float(row["cpu_client_s"]) == pytest.approx(least)
        assert all(not meta["captures"] and meta["clock"] == "real" for meta in metas)
    assert not (results / "runs").exists()


def test_what_is_measured_is_kept_after_a_kill(asked):
    results, plan = asked
    measure(results)
    before = started(results, plan)
    assert len(before) == 2 * LOADS
    lost = results / "processor/how-quick" / sample_name(plan["cells"][0]) / "two/0001/meta.json"
    lost.unlink()
    assert measure(results)[0].returncode == 0
    after = started(results, plan)
    assert {load for load in after if after[load] != before[load]} == {"two/0001"}


def test_a_failing_arm_is_a_row_with_its_reason_and_stops_nobody(tmp_path, monkeypatch):
    make_plan(tmp_path, monkeypatch, {"one": {}, "two": {"protocol": "h2"}})
    plan = virtual(tmp_path)
    page = next((tmp_path / "content").glob("*x*/page.json"))
    index = read_json(page)
    # Served otherwise than said: every load of it has wrong bytes.
    index[0]["bytes"] += 1
    write_json(page, index)
    done, rows = measure(tmp_path)
    assert done.returncode == 0, done.stderr
    assert [(row["loads"], row["cpu_client_s"]) for row in rows] == [("0", "")] * len(plan["arms"])
    assert all("other bytes" in row["reason"] for row in rows)
