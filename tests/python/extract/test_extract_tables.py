"""From run folders to tables: good runs, failed ones, and folders with damage."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from capture.recordings import PROTOCOLS, Results, extract, rows
from howquick.extract.columns import field
from howquick.extract.tables import join_tables
from howquick.schemas import ROOT, SCHEMAS

CAPTURE_COLUMNS = ["plt_capture_s", "plt_disagreement_s", "packets_up", "packets_down",
                   "wire_bytes_up", "wire_bytes_down", "retransmitted_bytes", "first_flight_bytes",
                   "capture_lost_up", "capture_lost_down"]  # fmt: skip
TABLES = {f"{name}.csv" for name in
          ("runs", "objects", "series", "transport", "window", "frames", "handshake", "packets",
           "flows")}  # fmt: skip


def cli(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, ROOT / "scripts" / "extract.py", *arguments],
        capture_output=True,
        text=True,
    )


def test_good_block(results: Results) -> None:
    table = extract(results)
    assert list(table) == list(PROTOCOLS)
    for order, (arm, row) in enumerate(table.items()):
        timing = json.loads((results.run(arm) / "timing.json").read_text())
        plt = max(entry["end_s"] for entry in timing["objects"])
        assert row["plt_s"] == f"{plt:.6f}"
        assert row["status"] == "ok"
        assert row["extract_note"] == row["reason"] == ""
        assert (row["order"], row["block"], row["repetition"]) == (str(order), "7", "0")
        assert (row["bandwidth_mbit"], row["loss_percent"]) == ("20", "0.5")
        assert row["object_size"] == "large"
        assert (row["link_lost_up"], row["link_lost_down"], row["queue_dropped_down"]) == (
            "3",
            "4",
            "5",
        )
        assert row["loss_seed_down"] == str(2**62)
        assert row["cpu_pressure"] == "0.0123"
        assert row["timeout_s"] == "60"
        # QUIC's packets are 1200 bytes at least, and none is longer than the link bears.
        assert 1200 < int(row["largest_packet_down_bytes"]) <= 1500
        assert row["started"] == "1790000000.500000"
        for column in CAPTURE_COLUMNS:
            assert (row[column] == "") == (arm == "h3" and column == "retransmitted_bytes"), column
    objects = rows(results.folder / "tables" / "objects.csv")
    assert next(row["path"] for row in objects if row["arm"] == "h1") == "/index.html"
    assert len(objects) == 4 + 1 + 1
    assert len(rows(results.folder / "tables" / "series.csv")) == 3 * 10


def test_bytes_of_the_tables(results: Results) -> None:
    extract(results)
    first = {p.name: p.read_bytes() for p in (results.folder / "tables").iterdir()}
    assert set(first) == TABLES
    assert all(b"\r" not in content and content.endswith(b"\n") for content in first.values())
    extract(results)
    assert first == {p.name: p.read_bytes() for p in (results.folder / "tables").iterdir()}


def test_required_columns_come_first(results: Results) -> None:
    extract(results)
    header = (results.folder / "tables" / "runs.csv").read_text().splitlines()[0].split(",")
    assert header[:10] == ["study", "cell", "arm", "block", "repetition", "order", "session", "status",
                           "reason", "plt_s"]  # fmt: skip
    assert len(header) == len(set(header))


def typed(value: str) -> Any:
    if value == "":
        return None
    try:
        number = float(value)
    except ValueError:
        return value
    return int(number) if number.is_integer() else number


def test_objects_follow_their_schema(results: Results) -> None:
    extract(results)
    schema = json.loads((SCHEMAS / "objects.schema.json").read_text())
    validator = Draft202012Validator(schema)
    table = rows(results.folder / "tables" / "objects.csv")
    for row in table:
        validator.validate({name: typed(value) for name, value in row.items()})
    assert list(table[0]) == list(schema["properties"])


def test_runs_follow_their_schema(results: Results) -> None:
    results.edit_meta("h2", lambda meta: meta.update(status="timeout", reason="too slow"))
    damage(results.run("h1") / "client.pcapng", "cut")
    extract(results)
    schema = json.loads((SCHEMAS / "runs.schema.json").read_text())
    validator = Draft202012Validator(schema)
    for row in rows(results.folder / "tables" / "runs.csv"):
        validator.validate({name: typed(value) for name, value in row.items()})


@pytest.mark.parametrize("status", ["failed", "timeout", "invalid"])
def test_failed_runs_are_rows(results: Results, status: str) -> None:
    reason = 'the client said:\n no, "never"'
    results.edit_meta("h2", lambda meta: meta.update(status=status, reason=reason))
    (results.run("h2") / "timing.json").unlink()
    row = extract(results)["h2"]
    assert (row["status"], row["reason"]) == (status, 'the client said: no, "never"')
    assert row["plt_s"] == row["plt_capture_s"] == row["bytes"] == ""
    assert row["timeout_s"] == "60"
    assert not [r for r in rows(results.folder / "tables" / "objects.csv") if r["arm"] == "h2"]


def test_a_failed_run_has_no_page_load_time_even_if_it_left_one(results: Results) -> None:
    results.edit_meta("h2", lambda meta: meta.update(status="failed", reason="killed"))
    assert extract(results)["h2"]["plt_s"] == ""


def test_broken_timing_makes_a_run_failed(results: Results) -> None:
    (results.run("h1") / "timing.json").write_text('{"protocol": "h1", "start": "noon"}')
    table = extract(results)
    assert table["h1"]["status"] == "failed"
    assert "timing.json: objects" in table["h1"]["reason"]
    assert table["h1"]["plt_s"] == ""
    assert table["h2"]["status"] == "ok"


def damage(path: Path, how: str) -> None:
    content = path.read_bytes()
    if how == "missing":
        path.unlink()
    elif how == "empty":
        path.write_bytes(b"")
    elif how == "cut":
        path.write_bytes(content[: len(content) // 2])
    elif how == "foreign":
        path.write_bytes(b"<html>" * 100)
    elif how == "zeroed":
        path.write_bytes(content[:2000] + bytes(len(content) - 2000))
    else:
        raise AssertionError(how)


@pytest.mark.parametrize("end", ["client", "server"])
@pytest.mark.parametrize("how", ["missing", "empty", "cut", "foreign", "zeroed"])
def test_damaged_capture_leaves_its_columns_empty(results: Results, end: str, how: str) -> None:
    damage(results.run("h1") / f"{end}.pcapng", how)
    row = extract(results)["h1"]
    assert row["status"] == "ok"
    assert row["plt_s"]
    assert row["extract_note"].startswith(f"{end}.pcapng")
    assert {row[column] for column in CAPTURE_COLUMNS} == {""}


def test_missing_packets_do_not_shorten_a_number(results: Results) -> None:
    """The last fifth of the packets is not in the client's capture, which is whole otherwise."""
    path = results.run("h1") / "client.pcapng"
    packets = len(subprocess.run(["tshark", "-r", path], capture_output=True, check=True)
                  .stdout.splitlines())  # fmt: skip
    kept = path.with_name("kept.pcapng")
    subprocess.run(["editcap", "-r", path, kept, f"1-{packets * 4 // 5}"], check=True)
    kept.replace(path)
    row = extract(results)["h1"]
    assert row["extract_note"].startswith("client.pcapng: lacks ")
    assert row["plt_capture_s"] == ""


def test_offload_is_reported(results: Results) -> None:
    results.edit_meta("h1", lambda meta: meta["link"].update(mtu_bytes=1400))
    row = extract(results)["h1"]
    assert row["longest_frame_bytes"] == "1514"
    assert "offload" in row["extract_note"]
    assert row["plt_capture_s"] == ""


@pytest.mark.parametrize("text", [None, "{", "[]", "{}", '{"study": "another"}'])
def test_lost_meta_makes_a_run_failed(results: Results, text: str | None) -> None:
    path = results.run("h2") / "meta.json"
    if text is None:
        path.unlink()
    else:
        path.write_text(text)
    row = extract(results)["h2"]
    assert row["status"] == "failed"
    assert row["reason"].startswith("meta.json")
    # The cell's levels are known from its other runs.
    assert row["bandwidth_mbit"] == "20"


def test_swapped_folders_are_noticed(results: Results) -> None:
    results.edit_meta("h2", lambda meta: meta.update(repetition=4))
    row = extract(results)["h2"]
    assert row["status"] == "failed"
    assert row["reason"] == "meta.json: repetition: is 4, but the block says 0"


@pytest.mark.parametrize(
    "key", ["link", "parameters", "network", "guard", "seeds", "arm_definition"]
)
@pytest.mark.parametrize("junk", [None, 3, "x", []])
def test_odd_meta_never_stops_the_block(results: Results, key: str, junk: Any) -> None:
    results.edit_meta("h2", lambda meta: meta.update({key: junk}))
    assert extract(results)["h2"]["status"] == "ok"


def test_command_line(results: Results, tmp_path: Path) -> None:
    output = tmp_path / "tables"
    (results.run("h3") / "server.pcapng").unlink()
    done = cli("block", results.manifest, "--results", results.folder, "--output", output)
    assert done.returncode == 0
    assert done.stdout == "decrypts: 2 True\n"
    assert done.stderr == "runs/a-study/a-cell/h3/0000: server.pcapng: no such capture\n"
    assert len(rows(output / "runs.csv")) == 3
    bench = cli("bench", results.folder / "runs", "--output", tmp_path / "bench.csv")
    assert "2 of 3 runs" in bench.stdout
    assert "MB/s per core" in bench.stdout
    assert float(rows(tmp_path / "bench.csv")[0]["mbyte_per_cpu_second"]) > 0


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "No such file"),
        ("{", "damaged"),
        ("[]", "no block manifest"),
        ('{"study": "s", "cell": "c", "block": 1, "runs": [{"arm": "a"}]}', r"runs[0]: repetition"),
        ('{"study": "s", "cell": "c", "block": 1, "runs": 5}', "runs: must be a list"),
        ('{"study": "s", "cell": "c", "block": 1, "runs": [5]}', r"runs[0]: must be an object"),
    ],
)
def test_bad_manifest(tmp_path: Path, content: str | None, message: str) -> None:
    manifest = tmp_path / "7.json"
    if content is not None:
        manifest.write_text(content)
    done = cli("block", manifest, "--results", tmp_path, "--output", tmp_path / "out")
    assert done.returncode == 1
    assert message in done.stderr
    assert str(manifest) in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "out").exists()


def test_bench_without_runs(tmp_path: Path) -> None:
    done = cli("bench", tmp_path)
    assert done.returncode == 1
    assert "no run folders" in done.stderr


def test_join(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('x,y\n1,"one, two"\n')
    (tmp_path / "b.csv").write_text("y,z\n3,4\n")
    (tmp_path / "c.csv").write_text("x,y\n5,6\n")
    names = [tmp_path / f"{name}.csv" for name in "abc"]
    assert join_tables(names, tmp_path / "out.csv") == 3
    assert (tmp_path / "out.csv").read_text() == 'x,y,z\n1,"one, two",\n,3,4\n5,6,\n'


def test_join_is_the_rows_of_both(results: Results, tmp_path: Path) -> None:
    extract(results)
    runs = results.folder / "tables" / "runs.csv"
    assert cli("join", runs, runs, "--output", tmp_path / "out.csv").returncode == 0
    head, *body = runs.read_text().splitlines()
    assert (tmp_path / "out.csv").read_text().splitlines() == [head, *body, *body]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "No such file"),
        ("", "empty"),
        ("x,x\n", "twice"),
        ("x,y\n1,2\n1\n", "line 3: 1 fields"),
    ],
)
def test_join_refuses(tmp_path: Path, content: str | None, message: str) -> None:
    good, bad, out = tmp_path / "a.csv", tmp_path / "b.csv", tmp_path / "out.csv"
    good.write_text("x,y\n1,2\n")
    out.write_text("as it was\n")
    if content is not None:
        bad.write_text(content)
    done = cli("join", good, bad, "--output", out)
    assert done.returncode == 1
    assert message in done.stderr
    assert str(bad) in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert out.read_text() == "as it was\n"
    assert {path.name for path in tmp_path.iterdir()} <= {"a.csv", "b.csv", "out.csv"}


def test_a_full_disk_leaves_the_old_table(results: Results, tmp_path: Path) -> None:
    extract(results)
    table = results.folder / "tables" / "runs.csv"
    before = table.read_bytes()
    results.edit_meta("h1", lambda meta: meta.update(attempts=2))
    arguments = ["block", results.manifest, "--results", results.folder,
                 "--output", table.parent]  # fmt: skip
    script = (
        "import resource, runpy, signal, sys\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))\n"
        "sys.argv = sys.argv[1:]\n"
        "runpy.run_path(sys.argv[0], run_name='__main__')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, ROOT / "scripts" / "extract.py", *arguments],
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode != 0
    assert table.read_bytes() == before
    assert {path.name for path in table.parent.iterdir()} == TABLES


@pytest.mark.parametrize(
    ("column", "value", "text"),
    [
        ("plt_s", 0.1234567, "0.123457"),
        ("plt_s", 1e-7, "0.000000"),
        ("timeout_s", 60, "60"),
        ("loss_percent", 0.1, "0.1"),
        ("loss_percent", 2.0, "2"),
        ("loss_seed_up", 2**63 - 1, "9223372036854775807"),
        ("resumed", False, "false"),
        ("reason", "two\nlines", "two lines"),
        ("reason", None, ""),
    ],
)
def test_fields(column: str, value: Any, text: str) -> None:
    assert field(column, value) == text
