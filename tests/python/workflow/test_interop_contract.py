"""An end point of the QUIC Interop Runner is an arm like any other."""

import pytest

from howquick.manifest import prefix_of
from workflow.blocks import make_plan, measure, meta
from workflow.test_workloads import single, timing

OWN = "quic-go-interop"
ARM = {"congestion_control": "reno"}


@pytest.fixture(autouse=True)
def _built():
    if prefix_of(OWN) is None:
        pytest.skip(f"{OWN} is not built in this environment")


def test_both_roles_transfer_an_object_side_by_side_with_others(tmp_path, monkeypatch):
    arms = {
        "hq-own": ARM | {"protocol": "hq", "server": OWN, "client": OWN},
        "h3-own": ARM | {"protocol": "h3", "server": OWN, "client": OWN},
        "h3-server": ARM | {"protocol": "h3", "server": OWN, "client": "curl"},
        "h3-client": ARM | {"protocol": "h3", "server": "nginx", "client": OWN},
    }
    change = single({"object": 300_000})
    plan = make_plan(tmp_path, monkeypatch, arms, change=change, cell=None)
    status, output, manifest = measure(tmp_path, plan["cells"][0]["name"])
    assert status == 0, output
    assert manifest["statuses"] == {"ok": 4}, manifest["runs"]
    cell = plan["cells"][0]["name"]
    for arm in arms:
        report = timing(tmp_path, cell, arm)
        assert 0.004 < report["objects"][0]["end_s"] < 5
    assert meta(tmp_path, "hq-own", cell=cell)["cpu"]["client_s"] is not None
    qlogs = list((tmp_path / "runs/how-quick" / cell / "hq-own/0000/qlog").rglob("*qlog"))
    assert {file.parent.name for file in qlogs} == {"client", "server"}


def test_a_page_is_fetched_from_another_server(tmp_path, monkeypatch):
    arms = {"one": ARM | {"protocol": "h3", "server": "nginx", "client": OWN}}
    change = single({"page": {"objects": 3, "bytes": 20_000}})
    plan = make_plan(tmp_path, monkeypatch, arms, change=change, cell=None)
    status, output, manifest = measure(tmp_path, plan["cells"][0]["name"])
    assert status == 0, output
    assert manifest["statuses"] == {"ok": 1}, manifest["runs"]


def test_what_no_test_case_stands_for_is_not_supported(tmp_path, monkeypatch):
    from howquick.errors import ConfigError

    arms = {"one": ARM | {"protocol": "h3", "server": OWN, "client": OWN, "connection": "resumed"}}
    with pytest.raises(ConfigError, match="cannot 'resumed'"):
        make_plan(tmp_path, monkeypatch, arms, change=single({"object": 5}), cell=None)
