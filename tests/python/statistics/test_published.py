"""Published data: the examples give the published numbers; the converter refuses what it cannot read."""

import csv
import json
import subprocess
import sys

import jsonschema
import pytest

from howquick.errors import ROOT

EXAMPLES = ROOT / "examples" / "published"
RUNNER = EXAMPLES / "interop-runner"


def statistics(example, folder):
    """Tables that the analysis makes of an example, by name."""
    given = ["--study", example / "plan.json", "--runs", example / "runs.csv", "--output", folder]
    subprocess.run(["Rscript", ROOT / "R" / "run_statistics.R", *given], check=True)
    return {path.stem: list(csv.DictReader(path.open())) for path in folder.glob("*.csv")}


def convert(source, folder):
    program = RUNNER / "convert.py"
    command = [sys.executable, program, source, folder]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("name", ["highway", "interop-runner"])
def test_plan_is_a_plan(name):
    schema = json.loads((ROOT / "config/schemas/resolved_study.schema.json").read_text())
    jsonschema.validate(json.loads((EXAMPLES / name / "plan.json").read_text()), schema)


def test_the_printed_numbers_come_out(tmp_path):
    tables = statistics(EXAMPLES / "highway", tmp_path)
    medians = {row["arm"]: float(row["median"]) for row in tables["summary"]}
    assert medians == {"quic-slowest": 90, "quic-fastest": 4900, "tcp-tls": 8000}
    (claim,) = tables["claims"]
    assert float(claim["value"]) == pytest.approx(4900 / 90)
    # One number each says nothing of its spread: no interval, no verdict.
    assert (claim["low"], claim["claim_verdict"]) == ("", "too few loads")
    assert (claim["n"], claim["enough"]) == ("1", "3")


def test_the_converter_makes_the_files_that_are_here(tmp_path):
    done = convert(RUNNER / "result.json", tmp_path)
    assert done.returncode == 0, done.stderr
    for name in ("plan.json", "runs.csv"):
        assert (tmp_path / name).read_bytes() == (RUNNER / name).read_bytes()


def test_every_published_fact_carries_over(tmp_path):
    tables = statistics(RUNNER, tmp_path)
    goodput = {(row["cell"], row["arm"]): row for row in tables["summary"]}
    published = json.loads((RUNNER / "result.json").read_text())
    pairs = [(s, c) for c in published["clients"] for s in published["servers"]]
    for (server, client), entries in zip(pairs, published["measurements"], strict=True):
        for entry in entries:
            key = (entry["name"], f"hq-{server}-{client}")
            if entry["result"] == "succeeded":
                assert float(goodput[key]["median"]) == int(entry["details"].split()[0]) / 1000
            elif entry["result"] == "failed":
                assert (goodput[key]["failed"], goodput[key]["median"]) == ("1", "0")
            else:
                assert key not in goodput
    (missing,) = tables["missing"]
    assert (missing["arm"], missing["state"]) == ("hq-beta-beta", "not applicable")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda result: result.pop("servers"), "has no 'servers'"),
        (lambda result: result["measurements"].pop(), "shorter than"),
        (lambda result: result["measurements"][0][0].update(details="fast"), "cannot read 'fast'"),
        (lambda result: result["measurements"][0][0].update(result="great"), "unknown result"),
    ],
)
def test_what_cannot_be_read_is_one_line(tmp_path, change, message):
    result = json.loads((RUNNER / "result.json").read_text())
    change(result)
    (tmp_path / "result.json").write_text(json.dumps(result))
    done = convert(tmp_path / "result.json", tmp_path / "out")
    assert done.returncode == 1
    assert message in done.stderr and done.stderr.count("\n") == 1
    assert not (tmp_path / "out").exists()
