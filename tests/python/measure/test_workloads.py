"""Every kind of load, measured for real: objects, segments, bulk, sites, moves, options, pinning."""

import json

import pytest

from workflow.blocks import meta
from workflow.one_cell import TLS, run, single, timing


def test_one_object_has_no_html(tmp_path, monkeypatch):
    _, cell, manifest = run(tmp_path, monkeypatch, single({"object": 300_000}))
    assert manifest["statuses"] == {"ok": 1}, manifest
    assert [o["path"] for o in timing(tmp_path, cell)["objects"]] == ["/object.bin"]
    record = meta(tmp_path, "one", cell=cell)
    assert record["cpu"]["client_s"] > 0 and record["cpu"]["server_s"] >= 0
    artifacts = tmp_path / "runs/how-quick" / cell / "one/0000/artifacts/note.txt"
    assert artifacts.read_text() == "page"


def test_segments_come_in_another_order_each_time(tmp_path, monkeypatch):
    workload = {"segments": {"bytes": [20_000, 30_000], "seeks": 6}}
    _, cell, manifest = run(tmp_path, monkeypatch, single(workload), repetitions=2)
    assert manifest["statuses"] == {"ok": 2}, manifest
    orders = []
    for repetition in ("0000", "0001"):
        file = tmp_path / "runs/how-quick" / cell / "one" / repetition / "timing.json"
        orders.append([o["path"] for o in json.loads(file.read_text())["objects"]])
    assert orders[0] != orders[1] and sorted(orders[0]) == sorted(orders[1])
    assert len(set(orders[0])) == 6
    folder = tmp_path / "runs/how-quick" / cell / "one/0000/artifacts"
    assert (folder / "note.txt").read_text() == "sequential"


def test_a_moving_client_gets_the_whole_object(tmp_path, monkeypatch):
    change = single({"object": 1_000_000}, moves=2)
    _, cell, manifest = run(tmp_path, monkeypatch, change, repetitions=2)
    assert manifest["statuses"] == {"ok": 2}, manifest
    for repetition in (0, 1):
        record = meta(tmp_path, "one", repetition, cell=cell)
        assert [move["address"] for move in record["moves"]] == ["10.0.1.2", "10.0.1.3"]
        assert all(move["asked"] <= move["moved"] for move in record["moves"])
    report = timing(tmp_path, cell)
    assert report["connections"] == 3 and report["objects"][0]["bytes"] == 1_000_000


def test_bulk_loads_are_as_long_as_asked_and_unseen(tmp_path, monkeypatch):
    def change(data):
        single({"bulk": {"seconds": 0.5, "at_most_bytes": 1 << 26}}, bandwidth_mbit="unshaped")(
            data
        )
        data["factors"]["rtt_ms"]["levels"] = {"0ms": 0}
        data["observe"] = {"captures": False, "qlog": False}
        data["alone"] = True

    plan, cell, manifest = run(tmp_path, monkeypatch, change, repetitions=2)
    assert manifest["statuses"] == {"ok": 2}, manifest
    first, second = (meta(tmp_path, "one", r, cell=cell) for r in (0, 1))
    assert first["bulk"] == second["bulk"] and first["bulk"]["pilots"]
    assert all(
        size > 0 for end in ("server", "client") for size in first["bulk"]["buffers"][end].values()
    )
    report = timing(tmp_path, cell)
    assert [o["bytes"] for o in report["objects"]] == [first["bulk"]["bytes"]]
    assert report["objects"][0]["sha256"] is None
    assert not list((tmp_path / "runs").rglob("*.pcapng"))
    assert set(first["settings"]["cpus"]) == {"server", "client"}
    assert plan["blocks"][0]["alone"]


def test_an_option_as_factor_reaches_the_arms_that_have_it(tmp_path, monkeypatch):
    def change(data):
        single({"object": 50_000})(data)
        data["factors"]["option.read_bytes"] = {
            "label": "Read", "unit": "bytes", "levels": {"read100": 100, "read1000": 1000},
        }  # fmt: skip

    arms = {"one": TLS, "other": {}}
    plan, cell, manifest = run(tmp_path, monkeypatch, change, arms)
    assert cell == "4ms-read100" and manifest["statuses"] == {"ok": 1}
    excluded = {entry["arm"]: entry["why"] for entry in plan["cells"][0]["not_applicable"]}
    assert set(excluded) == {"other"} and "read_bytes" in excluded["other"]
    record = meta(tmp_path, "one", cell=cell)
    assert record["arm_definition"]["options"]["read_bytes"] == 100
    assert record["parameters"]["option.read_bytes"] == 100


def test_the_initial_window_of_tcp_is_set_by_the_route(tmp_path, monkeypatch):
    arms = {"one": TLS | {"options": {"initial_window_packets": 3}}}
    _, cell, manifest = run(tmp_path, monkeypatch, single({"object": 50_000}), arms)
    assert manifest["statuses"] == {"ok": 1}
    routes = json.dumps(meta(tmp_path, "one", cell=cell)["settings"]["routes"]["server"])
    assert '"initcwnd": 3' in routes or "initcwnd 3" in routes, routes


@pytest.mark.parametrize("name", ["small"])
def test_a_site_is_loaded_whole(tmp_path, monkeypatch, name):
    _, cell, manifest = run(tmp_path, monkeypatch, single({"site": name}))
    assert manifest["statuses"] == {"ok": 1}, manifest
    paths = [o["path"] for o in timing(tmp_path, cell)["objects"]]
    assert paths[0] == "/page.html" and len(paths) > 5
