"""An end point of the QUIC Interop Runner is an arm like any other."""

import contextlib
import json
import os
import signal
from pathlib import Path

import pytest

from howquick.environment.manifest import prefix_of
from patience import HANG_S, wait_until
from workflow.blocks import make_plan, measure, meta, start_block
from workflow.flow import descendants
from workflow.one_cell import single, timing

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
        assert report["objects"][0]["end_s"] > 0.004  # a round trip
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


def servers_below(pid):
    """PIDs of the processes below one that are a server's: the bridge and the program behind it."""
    found = set()
    for below in descendants(pid):
        with contextlib.suppress(OSError):
            if b"ROLE=server" in Path(f"/proc/{below}/environ").read_bytes().split(b"\0"):
                found.add(below)
    return found


def test_a_server_that_was_killed_is_there_again_for_the_loads_to_come(tmp_path, monkeypatch):
    arms = {"one": ARM | {"protocol": "h3", "server": OWN, "client": "curl"}}
    change, loads = single({"object": 300_000}), 8
    plan = make_plan(tmp_path, monkeypatch, arms, change=change, cell=None, repetitions=loads)
    cell = plan["cells"][0]["name"]
    block = start_block(tmp_path, cell, start_new_session=True)
    runs = tmp_path / "runs/how-quick" / cell
    assert wait_until(lambda: list(runs.glob("one/*/meta.json")) or block.poll() is not None)
    killed = servers_below(block.pid)
    assert killed, block.communicate()[0]
    for pid in killed:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    output, _ = block.communicate(timeout=HANG_S)
    assert block.returncode == 0, output
    manifest = json.loads((tmp_path / "blocks/how-quick" / cell / "0.json").read_text())
    # At most the load that was on its way is a failure; the server of the next one is another.
    assert manifest["statuses"].get("ok", 0) >= loads - 1, manifest["runs"]
    assert manifest["runs"][-1]["status"] == "ok"
