"""Flows on one link in one load, for real: what each gets, what is kept of them, and the same bytes twice."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from loads import SEED, measured, run

from howquick.content.pages import make_page
from howquick.errors import ROOT
from howquick.extract.run import Options
from howquick.extract.tables import extract_block
from howquick.files import read_json, write_json
from howquick.plan.plan import plan_study, write_plan
from howquick.study import resolve as study_module
from howquick.study.beside import workloads_of
from howquick.study.resolve import Selection
from howquick.study.workload import page_name

NAME = "company"
BYTES = 600_000
TCP = {"label": "x", "group": "TCP", "protocol": "h2", "server": "nginx", "client": "curl"}
STUDY: dict[str, Any] = {
    "study": NAME,
    "title": NAME,
    "defaults": {"congestion_control": "cubic", "connection": "cold"},
    "arms": {
        "cubic": TCP,
        "bbr": TCP | {"congestion_control": "bbr"},
        "quinn": TCP | {"protocol": "h3", "server": "quinn", "client": "quinn"},
    },
    "exclude": [{"arms": ["bbr", "quinn"], "why": "they are beside the other alone"}],
    "comparison": {
        "metric": {"column": "flow_share", "label": "share", "short": "share", "unit": ""},
        "arms": ["cubic"],
        "pairs": [],
        "rule": {"share": 0.7, "margin": 0.1},
    },
    "factors": {"workload": {"label": "x", "unit": "", "levels": {"some": {"object": BYTES}}}},
    "fixed": {
        "bandwidth_mbit": 5, "rtt_ms": 36, "loss_percent": 0, "queue_ms": 48, "mtu_bytes": 1500,
        "clock": "virtual",
    },
    "scales": {
        "smoke": {"repetitions": 1, "timeout_s": 30, "block_seconds": 60, "full_captures": 1}
    },
    "figures": [],
    "claims": [],
}  # fmt: skip


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As servers of virtual time have them."""
    made = tmp_path_factory.mktemp("certificates")
    run(ROOT, "make_content.py", "certificates", "--clock", "virtual", "--seed", str(SEED),
        "--output", made)  # fmt: skip
    return made


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, certificates: Path) -> Any:
    """Measure CUBIC beside flows: the results folder, and hashes of what the load left."""

    def measure(folder: str, *beside: dict[str, Any], **fixed: Any) -> tuple[Path, dict[str, str]]:
        study = STUDY | {"fixed": STUDY["fixed"] | {"beside": list(beside)} | fixed}
        (tmp_path / f"{NAME}.yaml").write_text(yaml.safe_dump(study, sort_keys=False))
        monkeypatch.setattr(study_module, "STUDIES", tmp_path)
        plan = plan_study(NAME, Selection("smoke", SEED))
        (cell,) = plan["cells"]
        results = tmp_path / folder
        write_plan(plan, results / "plan.json")
        for workload in workloads_of(cell):
            if not (page := results / "content" / page_name(workload)).exists():
                make_page(workload, SEED, page)
        (results / "content/certificates-virtual").symlink_to(certificates)
        write_json(results / "calibration.json", {"verdict": "pass", "delay_offset_ms": 0.0})
        return results, measured(ROOT, results, results / "calibration.json", cell["name"])

    return measure


def tables(results: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The row of the load, and the rows of its flows."""
    (only,) = extract_block(results / "block.json", results, results / "tables", Options())
    return only.row, only.flows


def test_two_flows_of_cubic_share_a_link_and_do_so_again(load: Any) -> None:
    beside = {"arm": "cubic", "start_s": 0.2}
    results, first = load("first", beside)
    row, (own, other) = tables(results)
    assert row["status"] == "ok" and row.get("extract_note") is None, row
    assert (own["bytes"], other["bytes"]) == (BYTES, BYTES)
    assert other["first_s"] == pytest.approx(0.2, abs=0.05)
    # Both at once have the whole link, and none of them has it all.
    assert 4.5 < own["mbit"] + other["mbit"] <= 5.05
    # In so short a load who comes first has more.
    assert 0.5 < row["flow_share"] < 0.9
    assert row["flow_share"] + other["share"] == pytest.approx(1)
    assert row["jain_index"] == pytest.approx(1 / (2 * (own["share"] ** 2 + other["share"] ** 2)))
    # The last is done when the link can have carried everything, and not much later.
    ideal_s = 2 * BYTES * 8 / 5e6
    assert ideal_s < max(own["last_s"], other["last_s"]) < 1.25 * ideal_s
    assert row["server_congestion_control_seen"] == "cubic" and row.get("belief_error_down") is None
    (folder,) = results.glob("runs/*/*/cubic/*")
    assert {file.name for file in (folder / "flows/1-cubic").iterdir()} >= {
        "timing.json",
        "client.log",
    }
    assert [one["address"] for one in read_json(folder / "meta.json")["flows"]] == [
        "10.0.2.1",
        "10.0.2.101",
    ]
    assert load("again/deeper", beside)[1] == first


def test_flows_of_other_controls_and_transports_are_ended_with_the_load(load: Any) -> None:
    large = {"workload": {"object": 20_000_000}, "background": True}
    results, _ = load("mixed", {"arm": "bbr", **large}, {"arm": "quinn", **large}, start_s=1.5)
    row, (own, bbr, quinn) = tables(results)
    assert row["status"] == "ok" and row.get("extract_note") is None, row
    assert [one["status"] for one in (own, bbr, quinn)] == ["ok", "cut", "cut"]
    assert own["first_s"] == pytest.approx(0, abs=0.05) and bbr["first_s"] == pytest.approx(
        -1.5, abs=0.05
    )
    assert sum(one["share"] for one in (own, bbr, quinn)) == pytest.approx(1)
    assert all(one["share"] > 0.02 for one in (own, bbr, quinn))
    (meta,) = (read_json(file) for file in results.glob("runs/*/*/*/*/meta.json"))
    assert json.dumps(meta["settings"]["routes"]).count("bbr") == 0
    assert row["server_congestion_control_seen"] == "cubic"
