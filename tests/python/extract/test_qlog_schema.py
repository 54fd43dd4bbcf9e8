"""qlogs against the schemas of their versions, against qvis, and rewritten for it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from howquick.extract.qlog_file import read_qlog
from howquick.extract.qlog_schema import VERSIONS, validate_log, validate_qlog
from howquick.extract.qvis import write_for_qvis
from howquick.schemas import ROOT, SCHEMAS

OLD = {"qlog_format": "JSON-SEQ", "qlog_version": "0.3",
       "trace": {"vantage_point": {"type": "server"}}}  # fmt: skip
NEW = {"file_schema": "urn:ietf:params:qlog:file:sequential",
       "serialization_format": "application/qlog+json-seq",
       "trace": {"vantage_point": {"type": "client"},
                 "event_schemas": ["urn:ietf:params:qlog:events:quic-12"]}}  # fmt: skip
STREAM = {"frame_type": "stream", "stream_id": 0, "offset": 0, "length": 5}
LATER_STREAM = {"frame_type": "stream", "stream_id": 0, "raw": {"payload_length": 5}}


def packet(name: str, frame: dict[str, Any], number: int | None = 1) -> dict[str, Any]:
    header: dict[str, Any] = {"packet_type": "1RTT"} | ({"packet_number": number} if number else {})
    return {"time": 1.5, "name": name, "data": {"header": header, "frames": [frame]}}


def write(path: Path, *records: dict[str, Any]) -> Path:
    path.write_text("".join(f"\x1e{json.dumps(record)}\n" for record in records))
    return path


GOOD_OLD = packet("transport:packet_sent", STREAM)
GOOD_NEW = packet("quic:packet_sent", LATER_STREAM)


@pytest.mark.parametrize("name", ["common", *VERSIONS])
def test_schemas_are_schemas(name: str) -> None:
    Draft202012Validator.check_schema(
        json.loads((SCHEMAS / f"qlog-{name}.schema.json").read_text())
    )


@pytest.mark.parametrize(
    ("head", "event", "version"),
    [
        (OLD, GOOD_OLD, "0.3"),
        (OLD | {"qlog_version": "0.4"}, packet("quic:packet_sent", STREAM), "0.4"),
        (NEW, GOOD_NEW, "1.0"),
    ],
)
def test_good_logs(
    tmp_path: Path, head: dict[str, Any], event: dict[str, Any], version: str
) -> None:
    unknown = {"time": 2, "name": "vendor:own_event", "data": {"anything": [1]}}
    report = validate_qlog(write(tmp_path / "a.sqlog", head, event, unknown))
    assert (report.valid, report.violation) == (True, None)
    assert (report.version, report.events, report.checked) == (version, 2, 2)


@pytest.mark.parametrize(
    ("records", "violation"),
    [
        ([{"qlog_format": "JSON", "qlog_version": "0.3", "trace": {}}], "head: qlog_format"),
        ([{k: v for k, v in OLD.items() if k != "trace"}, GOOD_OLD], "head: 'trace' is a required"),
        ([OLD, {"time": "noon", **{k: v for k, v in GOOD_OLD.items() if k != "time"}}],
         "record 2 (transport:packet_sent): time: 'noon'"),
        ([OLD, {"time": 1, "name": "transport:packet_sent"}], "'data' is a required property"),
        ([OLD, packet("transport:packet_sent", STREAM, None)], "data: 'packet_number'"),
        ([OLD, packet("transport:packet_sent", LATER_STREAM)], "'offset' is a required"),
        ([OLD, packet("transport:packet_sent", {"frame_type": "ack", "acked_ranges": [[1, 2, 3]]})],
         "frames.0.acked_ranges.0"),
        ([NEW, packet("quic:packet_sent", {"frame_type": "crypto", "offset": 0})], "'raw'"),
        ([NEW, {"time": 1, "name": "quic:congestion_state_updated", "data": {}}], "'new'"),
        ([{k: v for k, v in NEW.items() if k != "trace"} | {"trace": {}}], "'event_schemas'"),
    ],
)  # fmt: skip
def test_violations(tmp_path: Path, records: list[dict[str, Any]], violation: str) -> None:
    report = validate_qlog(write(tmp_path / "a.sqlog", *records))
    assert report.valid is False
    assert report.violation is not None
    # Messages of the events' data name the place within the data.
    assert violation.replace("data: ", "") in report.violation.replace("header: ", "")


def test_a_sample_has_the_first_and_the_last(tmp_path: Path) -> None:
    bad = packet("transport:packet_sent", LATER_STREAM)
    path = write(tmp_path / "a.sqlog", OLD, *[GOOD_OLD] * 999, bad)
    report = validate_log(read_qlog(path), 5)
    assert (report.valid, report.checked) == (False, 5)
    assert validate_log(read_qlog(write(path, OLD, bad, *[GOOD_OLD] * 999)), 5).checked == 1


def test_a_version_that_is_not_known(tmp_path: Path) -> None:
    report = validate_qlog(write(tmp_path / "a.sqlog", OLD | {"qlog_version": "0.9"}, GOOD_OLD))
    assert report.valid is None
    assert "'0.9'" in str(report.violation)


def test_a_document(tmp_path: Path) -> None:
    path = tmp_path / "a.qlog"
    trace = {"vantage_point": {"type": "server"}, "events": [GOOD_OLD]}
    path.write_text(json.dumps({"qlog_version": "0.3", "qlog_format": "JSON", "traces": [trace]}))
    report = validate_qlog(path)
    assert (report.valid, report.events, report.qvis) == (True, 1, None)
    trace["events"] = [packet("transport:packet_sent", LATER_STREAM)]
    path.write_text(json.dumps({"qlog_version": "0.3", "traces": [trace]}))
    assert "event 0" in str(validate_qlog(path).violation)


@pytest.mark.parametrize(
    ("name", "head", "reason"),
    [
        ("a.sqlog", OLD, None),
        ("a.sqlog", NEW, "no qlog_version"),
        ("a.sqlog", OLD | {"qlog_version": "0.4"}, "'0.4'"),
        ("a.sqlog", OLD | {"qlog_format": "NDJSON"}, "JSON-SEQ"),
        ("a.qlog", OLD, ".sqlog"),
    ],
)
def test_what_qvis_loads(
    tmp_path: Path, name: str, head: dict[str, Any], reason: str | None
) -> None:
    found = validate_qlog(write(tmp_path / name, head, GOOD_OLD)).qvis
    assert (found is None) == (reason is None)
    assert reason is None or reason in str(found)


def test_rewritten_for_qvis(tmp_path: Path) -> None:
    metrics = {"time": 0.5, "name": "quic:recovery_metrics_updated", "data": {"smoothed_rtt": 3.0}}
    settings = {"time": 9, "name": "http3:stream_type_set",
                "data": {"initiator": "local", "stream_id": 2, "stream_type": "control"}}  # fmt: skip
    log = read_qlog(write(tmp_path / "a.sqlog", NEW, GOOD_NEW, metrics, settings))
    made = write_for_qvis(log, tmp_path / "out")
    report = validate_qlog(made)
    assert (report.version, report.valid, report.qvis, report.events) == ("0.3", True, None, 3)
    again = read_qlog(made)
    # In the order of time, from zero.
    assert again.names == ["recovery:metrics_updated", "transport:packet_sent",
                           "http:stream_type_set"]  # fmt: skip
    assert [again.event(index)["time"] for index in range(3)] == [0, 1, 8.5]
    assert again.event(1)["data"]["frames"] == [
        {"frame_type": "stream", "stream_id": 0, "offset": 0, "length": 5}
    ]
    assert again.event(2)["data"]["owner"] == "local"
    assert again.trace["vantage_point"] == {"type": "client"}


def test_times_that_are_steps(tmp_path: Path) -> None:
    fields = {"trace": {"common_fields": {"time_format": "delta"}}}
    log = read_qlog(write(tmp_path / "a.sqlog", OLD | fields, GOOD_OLD, GOOD_OLD))
    assert log.milliseconds() == [1.5, 3.0]


def cli(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, ROOT / "scripts" / "extract.py", "qlog", *arguments]
    return subprocess.run(argv, capture_output=True, text=True)


def test_command_line(tmp_path: Path) -> None:
    good = write(tmp_path / "a.sqlog", NEW, GOOD_NEW)
    done = cli(good, "--for-qvis", tmp_path / "out")
    assert done.returncode == 0
    assert "a.sqlog: qlog 1.0, 1 events, valid; not for qvis: no qlog_version" in done.stdout
    assert (tmp_path / "out" / "a-client.sqlog").exists()
    bad = write(tmp_path / "b.sqlog", OLD, packet("transport:packet_sent", LATER_STREAM))
    done = cli(good, bad)
    assert done.returncode == 1
    assert "b.sqlog: qlog 0.3, 1 events, NOT VALID: record 2 (transport:packet_sent)" in done.stdout
    (tmp_path / "c.sqlog").write_text("no log")
    done = cli(tmp_path / "c.sqlog")
    assert (done.returncode, done.stdout) == (1, "")
    assert len(done.stderr.splitlines()) == 1
    assert "c.sqlog: cut short or no qlog" in done.stderr
