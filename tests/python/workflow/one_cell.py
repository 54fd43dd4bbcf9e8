"""Measuring one cell of a study that has no other, over a load of any kind."""

import json

from workflow.blocks import make_plan, measure

TLS = {"protocol": "tls", "server": "plain-tls", "client": "plain-tls"}


def run(tmp_path, monkeypatch, change, arms=None, **more):
    """Measure one cell of how-quick with other parameters; returns (plan, cell, manifest)."""
    plan = make_plan(tmp_path, monkeypatch, arms or {"one": TLS}, change=change, cell=None, **more)
    cell = plan["cells"][0]["name"]
    status, output, manifest = measure(tmp_path, cell)
    assert status == 0, output
    return plan, cell, manifest


def single(workload, **fixed):
    """A study of one cell: 50 Mbit/s, 4 ms, no loss."""

    def change(data):
        data["factors"] = {
            "rtt_ms": {"label": "RTT", "unit": "ms", "levels": {"4ms": fixed.pop("rtt_ms", 4)}}
        }
        data["fixed"] = {
            "bandwidth_mbit": 50, "loss_percent": 0, "queue_ms": 50, "mtu_bytes": 1500,
            "workload": workload, "clock": "real",
        } | fixed  # fmt: skip

    return change


def timing(tmp_path, cell, arm="one"):
    folder = tmp_path / "runs/how-quick" / cell / arm / "0000"
    return json.loads((folder / "timing.json").read_text())
