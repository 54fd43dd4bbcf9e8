"""A load over each link that is not plain leaves the same bytes on each run."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from loads import SEED, measured, run

from howquick.content.pages import make_page
from howquick.errors import ROOT
from howquick.files import read_json, write_json
from howquick.plan.plan import plan_study, write_plan
from howquick.study import resolve as study_module
from howquick.study.resolve import Selection
from howquick.study.workload import page_name
from howquick.testbed.trace import name_of

NAME = "links"
USUAL = {
    "bandwidth_mbit": 10,
    "rtt_ms": 40,
    "loss_percent": 1,
    "queue_ms": 100,
    "mtu_bytes": 1500,
    "workload": {"object": 150_000},
    "clock": "virtual",
}
LINKS: dict[str, dict[str, Any]] = {
    "directions": {"bandwidth_up_mbit": 2, "delay_up_ms": 30},
    "fq_codel": {"aqm": "fq_codel", "ecn": True},
    "dualpi2": {"aqm": "dualpi2-any-ect"},
    "bursts": {"loss_burst_packets": 4},
    "jitter": {"jitter_ms": 2},
    "reorder": {"reorder_percent": 3},
    "path-mtu": {"path_mtu_bytes": 1400},
    "trace": {"bandwidth_mbit": 4, "rate_trace": "cellular-walk"},
}
ARMS = {
    "dctcp": {
        "label": "DCTCP", "group": "TCP", "protocol": "h2", "server": "nginx", "client": "curl",
        "congestion_control": "dctcp",
    },
    "h3": {"label": "quiche", "group": "QUIC", "protocol": "h3", "server": "quiche", "client": "quiche"},
}  # fmt: skip
STUDY = {
    "study": NAME,
    "title": NAME,
    "defaults": {"congestion_control": "cubic", "connection": "cold"},
    "arms": ARMS,
    "comparison": {
        "metric": {"column": "plt_s", "label": "time", "short": "time", "unit": "s"},
        "arms": list(ARMS),
        "pairs": [["dctcp", "h3"]],
        "rule": {"share": 0.7, "margin": 0.1},
    },
    "scales": {
        "smoke": {"repetitions": 1, "timeout_s": 30, "block_seconds": 60, "full_captures": 1}
    },
    "figures": [],
    "claims": [],
}


@pytest.fixture
def plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Any]:
    """The plan of one cell with a link of LINKS."""

    def planned(name: str) -> Any:
        factor = {"label": "x", "unit": "", "levels": {"150kb": USUAL["workload"]}}
        fixed = {key: value for key, value in USUAL.items() if key != "workload"} | LINKS[name]
        study = STUDY | {"factors": {"workload": factor}, "fixed": fixed}
        (tmp_path / f"{NAME}.yaml").write_text(yaml.safe_dump(study, sort_keys=False))
        monkeypatch.setattr(study_module, "STUDIES", tmp_path)
        return plan_study(NAME, Selection("smoke", SEED))

    return planned


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As servers of virtual time have them."""
    made = tmp_path_factory.mktemp("certificates")
    run(ROOT, "make_content.py", "certificates", "--clock", "virtual", "--seed", str(SEED),
        "--output", made)  # fmt: skip
    return made


@pytest.mark.parametrize("name", LINKS)
def test_a_load_is_the_same_twice(name: str, tmp_path: Path, plan: Any, certificates: Path) -> None:
    one = plan(name)
    (cell,) = one["cells"]
    found = []
    for folder in (tmp_path / "first", tmp_path / "again/deeper"):
        write_plan(one, folder / "plan.json")
        make_page(cell["workload"], SEED, folder / "content" / page_name(cell["workload"]))
        shutil.copytree(certificates, folder / "content/certificates-virtual")
        # What a link must be is calibration's to say; a load reads only what is taken off its delay.
        write_json(folder / "calibration.json", {"verdict": "pass", "delay_offset_ms": 0.0})
        found.append(measured(ROOT, folder, folder / "calibration.json", cell["name"]))
    assert found[0] == found[1] and len(found[0]) == 3 * len(ARMS)
    metas = [read_json(file) for file in tmp_path.glob("first/runs/*/*/*/*/meta.json")]
    assert {json.dumps(meta["link"]) for meta in metas} == {json.dumps(cell["link"])}
    told = {key: name_of(str(value)) for key, value in cell["link"].items()}
    assert told.items() >= {key: str(value) for key, value in LINKS[name].items()}.items()
