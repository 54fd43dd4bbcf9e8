"""qlogs: counted in both forms, and compared with the capture of a real connection."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from capture.recordings import Recording, Results, extract, tshark
from howquick.capture.read import read_frames
from howquick.extract.load import Way, split
from howquick.extract.qlog import (
    PacketCounts,
    _disagreements,
    count_bytes,
    count_packets,
    find_qlog,
    original_connection_id,
)
from howquick.extract.qlog_file import QlogError, read_qlog
from howquick.timing import read_timing

HEAD = {"qlog_format": "JSON-SEQ", "qlog_version": "0.3", "trace": {"vantage_point": {}}}


def events(sent: int, received: int) -> list[dict[str, Any]]:
    confusing = {"name": "x:y", "data": {"text": '"name":"transport:packet_sent"'}}
    names = ["transport:packet_sent"] * sent + ["quic:packet_received"] * received
    return [confusing, *({"time": 0, "name": name, "data": {}} for name in names)]


LATER_HEAD = {"file_schema": "urn:ietf:params:qlog:file:sequential", "trace": {}}


def sequence(path: Path, sent: int, received: int, head: dict[str, Any] = HEAD) -> Path:
    records = [head, *events(sent, received)]
    path.write_text("".join(f"\x1e{json.dumps(record)}\n" for record in records))
    return path


def test_sequence(tmp_path: Path) -> None:
    assert count_packets(read_qlog(sequence(tmp_path / "a.sqlog", 3, 2))) == PacketCounts(3, 2)
    later = read_qlog(sequence(tmp_path / "b.sqlog", 3, 2, LATER_HEAD))
    assert (later.version, count_packets(later)) == ("1.0", PacketCounts(3, 2))


@pytest.mark.parametrize("separators", [(",", ":"), (" ,\n", " : ")])
def test_document(tmp_path: Path, separators: tuple[str, str]) -> None:
    document = {"qlog_version": "0.3", "traces": [{"events": events(4, 5)}]}
    path = tmp_path / "a.qlog"
    path.write_text(json.dumps(document, separators=separators))
    assert count_packets(read_qlog(path)) == PacketCounts(4, 5)


def test_no_qlog(tmp_path: Path) -> None:
    whole = sequence(tmp_path / "a.sqlog", 3, 2).read_bytes()
    for content in (b"", b"text", b"{}", b"[1]", whole[:-5], whole[:80]):
        (tmp_path / "b.sqlog").write_bytes(content)
        with pytest.raises(QlogError, match=r"b\.sqlog"):
            read_qlog(tmp_path / "b.sqlog")


def test_the_log_of_the_connection_is_found(tmp_path: Path) -> None:
    assert find_qlog(tmp_path, "c0ffee") is None
    other = sequence(tmp_path / "1.sqlog", 1, 1)
    assert find_qlog(tmp_path, "c0ffee") == other
    sequence(tmp_path / "2.sqlog", 1, 1)
    assert find_qlog(tmp_path, "c0ffee") is None
    named = sequence(tmp_path / "3-c0ffee.sqlog", 1, 1)
    assert find_qlog(tmp_path, "c0ffee") == named
    named.rename(tmp_path / "4.sqlog")
    (tmp_path / "4.sqlog").write_text('{"qlog_version": "0.3", "group_id": "c0ffee"}')
    assert find_qlog(tmp_path, "c0ffee") == tmp_path / "4.sqlog"


def test_connection_id(recorded: Recording) -> None:
    client, server = (read_frames(recorded.pcapng("h3", end)) for end in ("client", "server"))
    ends = split(client, server, read_timing(recorded.timing("h3")))
    shown = tshark(client.path, "-T", "fields", "-e", "quic.dcid", "-Y", "quic.dcid")
    assert original_connection_id(client, ends) == shown[0].split(",")[0]


def client_log(results: Results, sent: int, received: int) -> dict[str, str]:
    """The row of the H3 run after its client has left a log with so many packets."""
    folder = results.run("h3") / "qlog" / "client"
    folder.mkdir(parents=True)
    header = {"packet_type": "1RTT", "packet_number": 1}
    names = ["transport:packet_sent"] * sent + ["transport:packet_received"] * received
    records = [HEAD, *({"time": 0, "name": n, "data": {"header": header}} for n in names)]
    records[0] = {**HEAD, "trace": {"vantage_point": {"type": "client"}}}
    text = "".join(f"\x1e{json.dumps(record)}\n" for record in records)
    (folder / "a.sqlog").write_text(text)
    return extract(results)["h3"]


@pytest.mark.parametrize(("missing", "verdict"), [(0, "agrees"), (40, "differs"), (-40, "differs")])
def test_compared_with_the_capture(results: Results, missing: int, verdict: str) -> None:
    frames = read_frames(results.run("h3") / "client.pcapng")
    timing = read_timing(results.run("h3") / "timing.json")
    ends = split(frames, read_frames(results.run("h3") / "server.pcapng"), timing)
    up, down = len(ends.client_up.rows), len(ends.client_down.rows)
    row = client_log(results, up - missing, down)
    assert row["qlog_client_sent"] == str(up - missing)
    assert row["qlog_client_received"] == str(down)
    assert (row["qlog_client_valid"], row["qlog_client_version"]) == ("true", "0.3")
    assert row["qlog_server_sent"] == row["qlog_server_valid"] == ""
    assert row["qlog_verdict"] == verdict
    assert ("packets sent, but the capture has" in row["extract_note"]) == (verdict == "differs")
    assert row["plt_capture_s"]


@pytest.mark.parametrize(("missing", "verdict"), [(0, "agrees"), (12, "agrees"), (40, "differs")])
def test_what_comes_after_the_close_need_not_be_logged(
    results: Results, missing: int, verdict: str
) -> None:
    """The client's capture has twelve late datagrams, which arrived when it had closed."""
    folder = results.run("h3")
    client, server = (read_frames(folder / f"{end}.pcapng") for end in ("client", "server"))
    ends = split(client, server, read_timing(folder / "timing.json"))
    rows = ends.client_down.rows.copy()
    rows["time_ns"][-12:] += ends.client_up.rows["time_ns"].max() - rows["time_ns"][-12] + 1
    way = Way(rows, ends.client_down.connection, ends.client_down.new)
    counts = PacketCounts(len(ends.client_up.rows), len(rows) - missing)
    found = _disagreements("client", counts, None, replace(ends, client_down=way))
    assert bool(found) is (verdict == "differs")
    # The server closes nothing: what reaches it, it reads.
    counts = PacketCounts(len(ends.server_down.rows), len(ends.server_up.rows) - 12)
    assert _disagreements("server", counts, None, ends)


def test_a_broken_log_is_noted(results: Results) -> None:
    folder = results.run("h3") / "qlog" / "server"
    folder.mkdir(parents=True)
    (folder / "a.qlog").write_text("{")
    row = extract(results)["h3"]
    assert row["extract_note"] == "qlog/server/a.qlog: cut short or no qlog"
    assert row["plt_capture_s"]


def test_bytes_are_compared_too(tmp_path: Path) -> None:
    record = {"header": {"packet_type": "1RTT"}, "raw": {"length": 1200},
              "frames": [{"frame_type": "stream", "length": 7}]}  # fmt: skip
    names = ["quic:packet_sent", "quic:packet_sent", "quic:packet_received"]
    records = [LATER_HEAD, *({"time": 0, "name": name, "data": record} for name in names)]
    path = tmp_path / "a.sqlog"
    path.write_text("".join(f"\x1e{json.dumps(entry)}\n" for entry in records))
    assert count_bytes(read_qlog(path)) == PacketCounts(2400, 1200)
    assert count_bytes(read_qlog(sequence(path, 2, 1))) is None
