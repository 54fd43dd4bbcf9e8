"""Programs under test that leave behind what nobody expects: each is a row with its reason."""

import json
import shutil
import subprocess
from types import SimpleNamespace

import pytest

from faults.damage import extract
from howquick.interop.request import translate
from howquick.measure.children import LONGEST_LINE, read_line
from howquick.measure.job import Job
from workflow.blocks import CELL, make_plan, measure, meta

# What a client does, and what its row says.
HARMS = {
    "text": r'end_s: must be a number of seconds, zero or more, is "0.5"',
    "digits": "end_s: must be a number of seconds, zero or more, is 9999",
    "deep": "is not JSON: nested too deeply",
    "folder": "timing.json is no regular file",
    "device": "timing.json is a link",
    "pipe": "timing.json is no regular file",
    "links": "wrote no timing",
    "no-folders": "wrote no timing",
}


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """A block in which every load but one is by a careless client."""
    results = tmp_path_factory.mktemp("careless")
    bad = {harm: {"client": "careless", "options": {"harm": harm}} for harm in HARMS}
    quic = {"protocol": "h3", "server": "quiche", "client": "quiche"}
    with pytest.MonkeyPatch.context() as patch:
        make_plan(results, patch, bad | {"good": quic}, timeout_s=20)
        status, output, manifest = measure(results)
    assert status == 0, output
    return results, {run["arm"]: run for run in manifest["runs"]}


@pytest.mark.parametrize("harm", HARMS)
def test_what_a_client_leaves_is_a_row_with_its_reason(measured, tmp_path, harm):
    results, runs = measured
    assert runs[harm]["status"] == "failed" and HARMS[harm] in runs[harm]["reason"], runs[harm]
    assert runs["good"]["status"] == "ok"
    row = extract(results, tmp_path)[harm]
    assert row["status"] == "failed" and HARMS[harm] in row["reason"]


def test_links_are_neither_kept_nor_followed(measured, tmp_path):
    results, runs = measured
    assert meta(results, "links")["left_out"] == {
        "keys.log": "is no regular file",
        "artifacts/etc": "is a link",
        "qlog/client/gone.qlog": "is a link",
        "qlog/client/latest.qlog": "is a link",
    }
    run = results / runs["links"]["path"]
    assert not any(path.is_symlink() or path.name == "passwd" for path in run.rglob("*"))
    assert "latest.qlog is a link: not kept" in extract(results, tmp_path)["links"]["extract_note"]


def spoil(results, change):
    """Call `change` with the server's qlog of the good load, its place and its text."""
    folder = results / "runs/how-quick" / CELL / "good" / "0000/qlog/server"
    (log,) = folder.iterdir()
    kept = log.read_bytes()
    change(log)
    return folder, log, kept


def changed(log, document=False, **change):
    """Change every event of a log in the same way; `document`: and write it as one JSON text."""
    records = [json.loads(record) for record in log.read_text().split("\x1e")[1:]]
    events = [record | change for record in records[1:]]
    if document:
        log.write_text(json.dumps({"qlog_version": "0.3", "traces": [{"events": events}]}))
    else:
        log.write_text("".join(f"\x1e{json.dumps(record)}\n" for record in (records[0], *events)))


HUGE = 10**400
DEEP = '\x1e{"name":"quic:packet_sent","data":' + "[" * 200_000 + "\n"


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda log: changed(log, data={"raw": None, "header": None}), "qlog/server/"),
        (lambda log: changed(log, data={"congestion_window": HUGE, "raw": {"length": HUGE}}), ""),
        (lambda log: changed(log, True, data={"congestion_window": HUGE}, time=HUGE), ""),
        (lambda log: changed(log, data={"cf_lost_packets": {"total": HUGE}}), ""),
        (lambda log: log.write_text(log.read_text() + DEEP), "qlog/server/"),
        (lambda log: log.with_name("latest.qlog").symlink_to(log.name), "is no regular file"),
        (lambda log: (log.unlink(), log.mkdir()), "is no regular file"),
    ],
)  # fmt: skip
def test_a_qlog_that_is_none_costs_its_own_columns_alone(measured, tmp_path, change, told):
    results, _ = measured
    whole = extract(results, tmp_path / "whole")["good"]
    folder, log, kept = spoil(results, change)
    try:
        row = extract(results, tmp_path / "spoiled")["good"]
    finally:
        shutil.rmtree(folder)
        folder.mkdir()
        log.write_bytes(kept)
    assert (row["status"], row["plt_s"]) == ("ok", whole["plt_s"])
    assert told in row["extract_note"], row["extract_note"]


@pytest.mark.parametrize(
    ("harm", "status", "reason"),
    [
        ("flood", "timeout", "not loaded within 2 s"),
        ("lines", "failed", "wanted to move more often than it was asked to"),
    ],
)
def test_a_client_that_never_stops_talking_has_no_more_time(
    tmp_path, monkeypatch, harm, status, reason
):
    def moving(data):
        data["fixed"]["moves"] = 1

    bad = {"client": "careless", "options": {"harm": harm}}
    make_plan(tmp_path, monkeypatch, {"bad": bad}, timeout_s=2, change=moving)
    code, output, manifest = measure(tmp_path)
    assert code == 0, output
    (run,) = manifest["runs"]
    assert (run["status"], reason in run["reason"]) == (status, True), run["reason"]


def test_a_child_that_a_client_leaves_does_not_live_on(tmp_path, monkeypatch):
    """It would be there in the next load; its process group and its session are its own."""
    make_plan(tmp_path, monkeypatch, {
        "bad": {"client": "careless", "options": {"harm": "child"}},
        "looks": {"client": "careless", "options": {"harm": "look"}},
    }, repetitions=4)  # fmt: skip
    code, output, manifest = measure(tmp_path)
    assert code == 0, output
    looks = [run for run in manifest["runs"] if run["arm"] == "looks"]
    assert len(looks) == 4
    for run in looks:
        assert (tmp_path / run["path"] / "artifacts/sleepers").read_text() == "0"


def test_a_line_without_an_end_is_over_in_time():
    with subprocess.Popen(["cat", "/dev/zero"], stdout=subprocess.PIPE) as endless:
        line = read_line(endless, 30)
        endless.kill()
    assert line is not None and len(line) <= LONGEST_LINE


def test_state_is_empty_at_every_start(tmp_path, monkeypatch):
    """An end point of the Interop Runner that died finds no folders of the one before."""

    class Space:
        def popen(self, argv, **options):
            return argv

    able = {"hq": {"congestion_control": ["cubic"], "connection": ["cold"]}}
    endpoint = SimpleNamespace(
        name="x", folder=tmp_path, defaults={}, declaration={"server": {"protocols": able}}
    )
    arm = {"protocol": "hq", "connection": "cold", "congestion_control": "cubic", "options": {}}
    (tmp_path / "www").mkdir()
    job = Job(endpoint, "server", arm, "10.0.2.1", 14433, tmp_path, tmp_path / "state", tmp_path / "log",
              extra={"WWW": str(tmp_path / "www")})  # fmt: skip
    monkeypatch.setattr(Job, "argv", lambda self: ["true"])
    for _ in range(2):
        job.start(Space())
        request = translate(job.environment(), able)
        (request.state / "room").mkdir()
