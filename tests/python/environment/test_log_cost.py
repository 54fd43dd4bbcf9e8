"""What logs cost an arm: measured by bench, kept in the folders of the programs, said by plans."""

import csv
import json
import shutil
import subprocess
import sys

import pytest
import yaml

from howquick.bench.stacks import logged_pairs
from howquick.environment.endpoints import Endpoint, load_endpoints
from howquick.environment.log_cost import FILE, costs_of, of_these_versions
from howquick.errors import ROOT, ConfigError
from howquick.files import folder_hash
from howquick.plan.plan import plan_study
from howquick.study import resolve as study_module
from howquick.study.resolve import Selection, resolve_study


def row(server, client, qlog, captures, protocol="h3", **options):
    return {
        "arm": f"{protocol}-{server}-{client}", "protocol": protocol, "options": options,
        "server": server, "client": client, "server_version": f"{server} 1", "client_version": f"{client} 1",
        "goodput_mbit": 1000.0, "qlog": qlog, "captures": captures, "both": qlog and qlog / 2,
    }  # fmt: skip


@pytest.fixture
def programs(tmp_path):
    """Three programs: a and b were measured with themselves, c as a client of a."""
    kept = {
        "a": [
            row("a", "a", 0.3, 0.8),
            row("a", "a", 0.4, 0.8, gso=True),
            row("a", "a", None, 0.9, "h1"),
        ],
        "b": [row("b", "b", 0.5, 0.6)],
        "c": [row("a", "c", 0.7, 0.7)],
        "d": [],
    }
    for name, rows in kept.items():
        (tmp_path / name).mkdir()
        if rows:
            (tmp_path / name / FILE).write_text(json.dumps(rows))
    return {name: Endpoint(name, tmp_path / name, {}) for name in kept}


def arm(server, client, protocol="h3", **options):
    return {"server": server, "client": client, "protocol": protocol, "options": options}


def cost_of(asked, programs):
    return costs_of([{"name": "it", **asked}], programs).get("it")


@pytest.mark.parametrize(
    ("asked", "qlog", "captures", "measured"),
    [
        (arm("a", "a"), 0.3, 0.8, ["h3-a-a"]),
        (arm("a", "a", gso=True), 0.4, 0.8, ["h3-a-a"]),
        (arm("a", "a", gso=False), 0.3, 0.8, ["h3-a-a"]),  # as neither: the one that loses more
        (arm("a", "c"), 0.7, 0.7, ["h3-a-c"]),  # the very pair, although a alone loses more
        (arm("a", "b"), 0.3, 0.6, ["h3-a-a", "h3-b-b"]),
        (arm("d", "b"), 0.5, 0.6, ["h3-b-b"]),
        (arm("a", "a", "h1"), None, 0.9, ["h1-a-a"]),
    ],
)
def test_an_arm_has_its_own_cost_or_that_of_its_slower_end(
    programs, asked, qlog, captures, measured
):
    cost = cost_of(asked, programs)
    assert (cost["qlog"], cost["captures"], cost["measured"]) == (qlog, captures, measured)


def test_a_file_of_another_form_is_named(programs):
    broken = programs["d"].folder / FILE
    broken.write_text(json.dumps([{**row("d", "d", 0.5, 0.5), "captures": "half"}]))
    with pytest.raises(ConfigError) as caught:
        cost_of(arm("d", "d"), programs)
    message = str(caught.value)
    assert str(broken) in message and "captures" in message and "\n" not in message


@pytest.mark.parametrize("asked", [arm("d", "d"), arm("b", "b", "h2"), arm("c", "d")])
def test_nothing_is_said_of_what_was_not_measured(programs, asked):
    assert cost_of(asked, programs) is None


def test_the_slower_end_decides_and_not_the_one_that_loses_more(programs):
    kept = [{**row("b", "b", 0.1, 0.1), "goodput_mbit": 8000.0}]
    (programs["b"].folder / FILE).write_text(json.dumps(kept))
    cost = cost_of(arm("b", "c"), programs)
    assert (cost["qlog"], cost["captures"]) == (0.7, 0.7)
    kept[0]["goodput_mbit"] = 2000.0
    (programs["b"].folder / FILE).write_text(json.dumps(kept))
    assert cost_of(arm("b", "c"), programs)["qlog"] == 0.2


def test_a_cost_of_another_version_is_not_said(programs):
    costs = {"one": cost_of(arm("a", "b"), programs)}
    assert of_these_versions(costs, {"a": "a 1", "b": "b 1"}) == costs
    assert of_these_versions(costs, {"a": "a 1", "b": "b 2"}) == {}
    # A partner of the measurement that takes no part in the study.
    assert of_these_versions(costs, {"b": "b 1"}) == costs


def test_what_was_measured_of_a_program_is_no_part_of_it(programs):
    folder = programs["a"].folder
    before = folder_hash(folder)
    (folder / FILE).unlink()
    assert folder_hash(folder) == before


def test_every_program_that_can_be_measured_says_it(monkeypatch):
    # Other tests have programs of their own.
    monkeypatch.delenv("HOWQUICK_ENVS", raising=False)
    load_endpoints.cache_clear()
    wanted = {name for _, programs in logged_pairs() for name in programs}
    kept = {name for name, program in load_endpoints().items() if (program.folder / FILE).exists()}
    assert kept == wanted and "quiche" in kept


def test_plans_say_it_of_their_arms():
    plan = plan_study("highway", Selection("artifact", 1))
    cost = plan["log_costs"]["h3-quiche-quiche"]
    assert 0 < cost["qlog"] < 1 and cost["measured"] == ["h3-quiche-quiche"]
    assert plan["log_costs"]["h1-nginx-curl"]["qlog"] is None


@pytest.mark.parametrize(
    ("observe", "expected"),
    [
        ({}, {"captures": False, "qlog": False}),
        ({"captures": True}, {"captures": True, "qlog": False}),
        ({"captures": True, "qlog": True}, None),
        ({"qlog": True, "cells": {"offloads": "udponly"}}, {"captures": False, "qlog": False}),
    ],
)
def test_what_nothing_shapes_is_logged_only_when_asked(tmp_path, monkeypatch, observe, expected):
    data = yaml.safe_load((ROOT / "config/studies/highway.yaml").read_text())
    data |= {"observe": observe} if observe else {}
    (tmp_path / "highway.yaml").write_text(yaml.safe_dump(data, sort_keys=False))
    monkeypatch.setattr(study_module, "STUDIES", tmp_path)
    study = resolve_study("highway", Selection("artifact", 1))
    cell = next(c for c in study["cells"] if c["levels"]["offloads"] == "offloads")
    assert cell.get("observe") == expected


def run(*words):
    argv = [sys.executable, *map(str, words)]
    return subprocess.run(argv, capture_output=True, text=True, check=False, cwd=ROOT)


@pytest.mark.workflow
def test_bench_measures_a_program_and_the_table_is_kept(tmp_path):
    table = tmp_path / "log_cost.csv"
    asked = ["--programs", "tls", "--results", tmp_path, "--output", table]
    done = run("scripts/bench.py", "log_cost", *asked)
    assert done.returncode == 0, done.stderr
    (measured,) = csv.DictReader(table.open())
    assert (measured["arm"], measured["programs"]) == ("tls-tls-tls", "tls")
    assert measured["qlog_share"] == "" and float(measured["captures_share"]) > 0
    copy = tmp_path / "checkout"
    for part in ("scripts", "envs/tls", "config"):
        shutil.copytree(ROOT / part, copy / part, symlinks=True)
    kept = copy / "envs/tls" / FILE
    kept.unlink(missing_ok=True)
    done = run(copy / "scripts/record_log_cost.py", table)
    assert done.returncode == 0, done.stderr
    (entry,) = json.loads(kept.read_text())
    assert entry["goodput_mbit"] == float(measured["unseen_mbit"])
    assert entry["captures"] == float(measured["captures_share"]) and entry["qlog"] is None


@pytest.mark.parametrize(
    ("content", "words"),
    [(None, "No such file"), ("a,b\n1,2\n", "no column 'arm'"), ("", "no column 'arm'")],
)
def test_another_table_is_refused(tmp_path, content, words):
    table = tmp_path / "table.csv"
    if content is not None:
        table.write_text(content)
    done = run("scripts/record_log_cost.py", table)
    assert done.returncode == 1
    assert words in done.stderr and done.stderr.count("\n") == 1
