"""Run folders packed into one archive per block: the same tables, the same files, nothing measured again."""

import hashlib
import subprocess
import sys

import pytest

from faults.damage import extract
from howquick.errors import ROOT
from workflow.blocks import CELL, make_plan, measure
from workflow.flow import rows, run


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """Two loads of one block."""
    results = tmp_path_factory.mktemp("packing")
    quic = {"protocol": "h3", "server": "quiche", "client": "quiche"}
    with pytest.MonkeyPatch.context() as patch:
        make_plan(results, patch, {"tcp": {}, "quic": quic}, CELL)
        status, output, _ = measure(results, CELL)
        assert status == 0, output
    return results


def pack(results, what):
    manifest = results / "blocks/how-quick" / CELL / "0.json"
    return subprocess.run(
        [sys.executable, ROOT / "scripts/pack.py", what, manifest, "--results", results],
        capture_output=True, text=True, check=False,
    )  # fmt: skip


def contents(results):
    files = sorted(p for p in (results / "runs").rglob("*") if p.is_file())
    return {str(f.relative_to(results)): hashlib.sha256(f.read_bytes()).digest() for f in files}


@pytest.fixture
def packed(measured):
    before = contents(measured)
    done = pack(measured, "pack")
    assert done.returncode == 0, done.stderr
    yield measured, before
    if pack(measured, "unpack").returncode == 0:
        assert contents(measured) == before


def test_tables_are_the_same(measured, tmp_path):
    whole = extract(measured, tmp_path / "whole")
    assert pack(measured, "pack").returncode == 0
    left = contents(measured)
    names = sorted(name.rpartition("/")[2] for name in left)
    assert names == [".processor", "0.zip", "meta.json", "meta.json"]
    assert extract(measured, tmp_path / "packed") == whole
    assert pack(measured, "unpack").returncode == 0


def test_what_is_packed_counts_as_measured_and_comes_back(packed, monkeypatch):
    results, before = packed
    status, output, manifest = measure(results, CELL)
    assert status == 0, output
    assert (manifest["measured"], manifest["kept"]) == (0, 2)
    assert pack(results, "unpack").returncode == 0
    assert contents(results) == before


def test_killed_while_files_were_removed(packed):
    results, before = packed
    # As after the archive was written and some of the files were gone.
    assert pack(results, "unpack").returncode == 0
    archive = results / "runs/how-quick" / CELL / "0.zip"
    assert pack(results, "pack").returncode == 0
    whole = archive.read_bytes()
    assert pack(results, "unpack").returncode == 0
    archive.write_bytes(whole)
    for file in (results / "runs").rglob("client.pcapng"):
        file.unlink()
    assert pack(results, "pack").returncode == 0
    assert pack(results, "unpack").returncode == 0
    assert contents(results) == before


def test_an_archive_of_loads_measured_before_is_not_used(packed, tmp_path):
    results, _ = packed
    meta = results / "runs/how-quick" / CELL / "tcp/0000/meta.json"
    was = meta.read_bytes()
    meta.write_bytes(was + b" ")
    try:
        assert extract(results, tmp_path / "other")["tcp"]["plt_s"] == ""
    finally:
        meta.write_bytes(was)


def test_a_damaged_archive_is_one_message(packed):
    results, _ = packed
    archive = results / "runs/how-quick" / CELL / "0.zip"
    whole = archive.read_bytes()
    archive.write_bytes(whole[: len(whole) // 2])
    try:
        done = pack(results, "unpack")
    finally:
        archive.write_bytes(whole)
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert f"{archive}: damaged" in done.stderr and "measure them again" in done.stderr


def test_the_workflow_packs_what_it_extracted(tmp_path):
    results, cell = tmp_path / "results", "10mbit-18ms-loss0-5obj-small"
    config = ["pack=true", "arms=h1-nginx-curl", f"cells={cell}"]
    table = str(results / "tables/how-quick.csv")
    status, output = run(results, table, config=config)
    assert status == 0, output
    assert {p.name for p in (results / "runs").rglob("*") if p.is_file()} - {".processor"} == {
        "meta.json",
        "0.zip",
    }
    assert [row["status"] for row in rows(table)] == ["ok", "ok"]
    status, output = run(results, table, config=config)
    assert status == 0 and "Nothing to be done" in output
