"""Columns that come from meta.json and from what the client reports besides its objects."""

from __future__ import annotations

import json
from typing import Any

import pytest

from capture.recordings import Results, extract, rows


def edit_timing(results: Results, arm: str, **changes: Any) -> None:
    path = results.run(arm) / "timing.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def test_goodput_and_processors(results: Results) -> None:
    cpu = {"server_s": 0.5, "client_s": 0.25}
    results.edit_meta("h2", lambda meta: meta.update(cpu=cpu))
    results.edit_meta("h3", lambda meta: meta.update(cpu={"server_s": 0.5, "client_s": None}))
    table = extract(results)
    row = table["h2"]
    assert float(row["goodput_mbit"]) == pytest.approx(
        400_000 * 8 / float(row["plt_s"]) / 1e6, rel=1e-3
    )
    assert (row["cpu_server_s"], row["cpu_client_s"]) == ("0.500000", "0.250000")
    assert float(row["cpu_s_per_gb"]) == pytest.approx(0.75 / 400_000 * 1e9)
    assert (table["h3"]["cpu_server_s"], table["h3"]["cpu_s_per_gb"]) == ("0.500000", "")
    assert table["h1"]["cpu_server_s"] == ""


def test_receive_errors_are_those_of_the_load(results: Results) -> None:
    def change(meta: dict[str, Any]) -> None:
        for when, count in (("before", 3), ("after", 10)):
            ends = {end: {"RcvbufErrors": count} for end in ("client", "server")}
            meta["network"].setdefault(when, {})["udp"] = ends

    results.edit_meta("h3", change)
    table = extract(results)
    assert table["h3"]["udp_receive_errors"] == "14"
    assert table["h2"]["udp_receive_errors"] == ""


def test_loading_delay_of_segments_only(results: Results) -> None:
    objects = [{"path": f"/{n}", "status": 200, "bytes": 10, "start_s": n, "end_s": n + 0.5 * n}
               for n in (1, 2)]  # fmt: skip
    for arm in ("h1", "h2"):
        edit_timing(results, arm, objects=objects)
    workload = {"segments": {"bytes": [4, 5], "seeks": 2}}
    results.edit_meta("h2", lambda meta: meta.update(workload=workload))
    table = extract(results)
    assert table["h2"]["loading_delay_s"] == "0.750000"
    assert table["h1"]["loading_delay_s"] == ""


def test_a_run_that_was_not_captured(results: Results) -> None:
    observe = {"captures": False, "qlog": False}
    results.edit_meta("h2", lambda meta: meta.update(observe=observe))
    for end in ("client", "server"):
        (results.run("h2") / f"{end}.pcapng").unlink()
    row = extract(results)["h2"]
    assert (row["status"], row["extract_note"], row["plt_capture_s"]) == ("ok", "", "")
    assert row["goodput_mbit"]
    assert row["ttlb_s"] == row["decrypts"] == row["retransmitted_packets"] == ""


def test_the_clients_metrics_are_columns(results: Results) -> None:
    metrics = {"speed_index_s": 1.25, "fcp_s": 0.5, "requests": 7, "onload_s": None}
    edit_timing(results, "h2", metrics=metrics | {"plt_s": 9})
    table = extract(results)
    assert (table["h2"]["speed_index_s"], table["h2"]["fcp_s"]) == ("1.250000", "0.500000")
    assert table["h2"]["requests"] == "7"
    assert table["h1"]["speed_index_s"] == ""
    assert "onload_s" not in table["h2"]
    assert table["h2"]["plt_s"] != "9"
    assert "plt_s: is the name of another column" in table["h2"]["extract_note"]


def test_what_the_client_negotiated_comes_first(results: Results) -> None:
    edit_timing(results, "h2", negotiated={"cipher": "AES-128", "group": None})
    table = extract(results)
    assert table["h2"]["negotiated_cipher"] == "AES-128"
    assert table["h2"]["negotiated_group"] == table["h1"]["negotiated_group"] != ""


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"metrics": 5}, "metrics: must be an object"),
        ({"metrics": {"fcp_s": "soon"}}, 'metrics: fcp_s: must be a number, is "soon"'),
        ({"negotiated": ["x"]}, "negotiated: must be an object"),
    ],
)
def test_bad_reports_fail_the_run(results: Results, changes: dict[str, Any], reason: str) -> None:
    edit_timing(results, "h2", **changes)
    row = extract(results)["h2"]
    assert row["status"] == "failed"
    assert reason in row["reason"]


def test_protocol_of_every_object(results: Results) -> None:
    objects = [{"path": "/a", "bytes": 10, "end_s": 1, "protocol": "h3"},
               {"path": "/b", "bytes": 10, "end_s": 2}]  # fmt: skip
    edit_timing(results, "h2", objects=objects)
    extract(results)
    table = [row for row in rows(results.folder / "tables" / "objects.csv") if row["arm"] == "h2"]
    assert [row["protocol"] for row in table] == ["h3", ""]


@pytest.mark.parametrize(("kernel", "verdict"), [("cubic", "agrees"), ("bbr", "differs")])
def test_congestion_control_of_tcp_is_the_kernels(
    results: Results, kernel: str, verdict: str
) -> None:
    routes = {"server": [{"dst": "10.0.0.0/8"}, {"metrics": [{"congestion": kernel}]}]}
    for arm in ("h2", "h3"):
        results.edit_meta(arm, lambda meta: meta.update(settings={"routes": routes}))
    table = extract(results)
    assert table["h2"]["server_congestion_control_seen"] == kernel
    assert table["h2"]["congestion_control_verdict"] == verdict
    assert table["h3"]["congestion_control_verdict"] == "unknown"


def test_parameters_that_are_no_value_are_no_column(results: Results) -> None:
    workload = {"object": 5}
    results.edit_meta("h2", lambda meta: meta["parameters"].update(workload=workload))
    assert "workload" not in extract(results)["h2"]
