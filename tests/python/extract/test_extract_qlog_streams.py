"""Retransmissions by the server's log: as in a whole capture, and known where captures hold headers."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from capture.recordings import Recording, Results, extract, rows
from howquick.capture.pack import pack
from howquick.capture.read import read_frames
from howquick.extract.load import split
from howquick.extract.qlog_streams import retransmissions_differ
from howquick.extract.quic import decrypt
from howquick.timing import read_timing

COLUMNS = ("retransmitted_packets", "first_retransmitted_offset")
HEAD = {
    "qlog_format": "JSON-SEQ", "qlog_version": "0.3", "trace": {"vantage_point": {"type": "server"}},
}  # fmt: skip


def frame(kind: str, stream: int, start: int, length: int) -> dict[str, Any]:
    size = {"length": length} if kind == "plain" else {"raw": {"payload_length": length}}
    given = {"frame_type": "stream", "stream_id": stream, "offset": start}
    return given | ({} if kind == "silent" else size)


def leave_log(results: Results, kind: str, skipped: int = 0) -> None:
    """The log that the server of the recording would have left, without its last so many packets."""
    folder = results.run("h3")
    client, server = (read_frames(folder / f"{end}.pcapng") for end in ("client", "server"))
    ends = split(client, server, read_timing(folder / "timing.json"))
    flow = decrypt(server, ends).flow
    frames: dict[int, list[dict[str, Any]]] = {}
    pieces = zip(
        *(part.tolist() for part in (flow.row, flow.stream, flow.start, flow.length)), strict=True
    )
    for row, stream, start, length in pieces:
        frames.setdefault(row, []).append(frame(kind, stream, start, length))
    header = {"header": {"packet_type": "1RTT", "packet_number": 1}}
    ways = ((ends.server_up, "packet_received"), (ends.server_down, "packet_sent"))
    events = [
        {
            "time": (time_ns - ends.load.first_ns) / 1e6,
            "name": f"transport:{name}",
            "data": header | ({"frames": frames.get(row, [])} if name == "packet_sent" else {}),
        }
        for way, name in ways
        for row, time_ns in enumerate(way.rows["time_ns"].tolist())
    ]
    events.sort(key=lambda event: event["time"])
    records = [HEAD, *events[: len(events) - skipped]]
    (folder / "qlog" / "server").mkdir(parents=True)
    text = "".join(f"\x1e{json.dumps(record)}\n" for record in records)
    (folder / "qlog" / "server" / "a.sqlog").write_text(text)


def keep_headers(results: Results, recorded: Recording, scratch: Path) -> None:
    for end in ("client", "server"):
        cut = scratch / f"{end}.pcap"
        subprocess.run(
            ["editcap", "-F", "nsecpcap", "-s", "128", recorded.pcap("h3", end), cut], check=True
        )
        pack(cut, recorded.keys("h3"), results.run("h3") / f"{end}.pcapng", interface=end)


@pytest.mark.parametrize("kind", ["plain", "raw"])
def test_headers_and_a_log_say_what_whole_packets_do(
    results: Results, recorded: Recording, tmp_path: Path, kind: str
) -> None:
    leave_log(results, kind)
    whole = extract(results)["h3"]
    assert whole["qlog_verdict"] == "agrees"
    assert int(whole["retransmitted_packets"]) > 0
    keep_headers(results, recorded, tmp_path)
    cut = extract(results)["h3"]
    assert cut["decrypts"] == ""
    assert [cut[column] for column in COLUMNS] == [whole[column] for column in COLUMNS]


@pytest.mark.parametrize(("kind", "skipped"), [("silent", 0), ("plain", 60)])
def test_a_log_that_does_not_tell_is_not_believed(
    results: Results, recorded: Recording, tmp_path: Path, kind: str, skipped: int
) -> None:
    """One without lengths, and one that ends too early."""
    leave_log(results, kind, skipped)
    keep_headers(results, recorded, tmp_path)
    row = extract(results)["h3"]
    assert [row[column] for column in COLUMNS] == ["", ""]
    assert row["qlog_verdict"] == ("differs" if skipped else "agrees")


def test_a_log_that_says_something_else_is_told(results: Results) -> None:
    leave_log(results, "plain")
    path = results.run("h3") / "qlog" / "server" / "a.sqlog"
    # Every piece is at the beginning of its stream: all but the first are sent again.
    path.write_text(re.sub(r'"offset": \d+', '"offset": 0', path.read_text()))
    row = extract(results)["h3"]
    assert row["qlog_verdict"] == "differs"
    assert "sent again, but the capture has" in row["extract_note"]


@pytest.mark.parametrize(
    ("log", "capture", "told"),
    [((5, 70), (5, 70), ""), ((6, 70), (5, 70), ""), ((0, None), (1, 900), ""),
     ((9, 70), (5, 70), "9 packets sent again"), ((5, 71), (5, 70), "the first byte sent again is 71")],
)  # fmt: skip
def test_what_counts_as_another_word(
    log: tuple[int, int | None], capture: tuple[int, int | None], told: str
) -> None:
    ours, theirs = (dict(zip(COLUMNS, values, strict=True)) for values in (log, capture))
    found = retransmissions_differ(ours, theirs)
    assert found.startswith(told) if told else not found


def window_rows(results: Results, metrics: list[dict[str, Any]]) -> list[dict[str, str]]:
    """The server's window in the table of details, after its log has had these metrics too."""
    leave_log(results, "plain")
    path = results.run("h3") / "qlog" / "server" / "a.sqlog"
    events = [{"time": 1, "name": "recovery:metrics_updated", "data": data} for data in metrics]
    head, _, rest = path.read_text().partition("\n")
    path.write_text(head + "\n" + "".join(f"\x1e{json.dumps(event)}\n" for event in events) + rest)
    extract(results)
    found = rows(results.folder / "tables" / "window.csv")
    return [row for row in found if row["arm"] == "h3" and row["source"] == "qlog"]


def test_rates_are_in_bits_unless_the_log_is_one_of_bytes(results: Results) -> None:
    drafted = window_rows(results, [{"pacing_rate": 8_000_000}])
    assert [row["pacing_rate_mbit"] for row in drafted] == ["8"]


def test_a_log_with_a_delivery_rate_of_its_own_is_one_of_bytes(results: Results) -> None:
    found = window_rows(
        results, [{"cf_delivery_rate": 1_000_000, "pacing_rate": 2_000_000}, {"cwnd": 9}]
    )
    assert [row["delivery_rate_mbit"] for row in found] == ["8", "8"]
    assert [row["pacing_rate_mbit"] for row in found] == ["16", "16"]
