"""A load over each link that is not plain, and one by each program, leaves the same bytes each time."""

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
# What the arms of how-quick do not have, each by a server and a client: some draw random numbers by
# libraries of their own, the browser also reads the time stamps of the processor.
PROGRAMS = {
    f"{server}-{client}": {
        "label": server, "group": protocol, "protocol": protocol, "server": server, "client": client,
        "congestion_control": control,
    }
    for protocol, server, client, control in (
        ("h3", "quinn", "quinn", "cubic"), ("h3", "s2n-quic", "s2n-quic", "cubic"),
        ("h3", "tquic", "tquic", "cubic"), ("h3", "ngtcp2", "ngtcp2", "cubic"),
        ("h3", "quic-go", "quic-go", "reno"), ("h3", "aioquic", "aioquic", "cubic"),
        ("h3", "caddy", "curl", "reno"), ("h3", "haproxy", "curl", "cubic"),
        ("h3", "nginx", "chromium", "reno"), ("hq", "go-x-net", "go-x-net", "reno"),
        ("tls", "tls", "tls", "cubic"), ("sctp", "sctp", "sctp", "reno"),
        ("sctp", "sctp-kernel", "sctp-kernel", "reno"),
    )
}  # fmt: skip
STUDY: dict[str, Any] = {
    "study": NAME,
    "title": NAME,
    "defaults": {"congestion_control": "cubic", "connection": "cold"},
    "scales": {
        "smoke": {"repetitions": 1, "timeout_s": 30, "block_seconds": 60, "full_captures": 1}
    },
    "figures": [],
    "claims": [],
}


@pytest.fixture
def plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """The plan of one cell: arms, and what its link is other than usual."""

    def planned(arms: dict[str, Any], link: dict[str, Any]) -> Any:
        factor = {"label": "x", "unit": "", "levels": {"150kb": USUAL["workload"]}}
        fixed = {key: value for key, value in USUAL.items() if key != "workload"} | link
        comparison = {
            "metric": {"column": "plt_s", "label": "time", "short": "time", "unit": "s"},
            "arms": list(arms),
            "pairs": [list(arms)[:2]],
            "rule": {"share": 0.7, "margin": 0.1},
        }
        study = STUDY | {"factors": {"workload": factor}, "fixed": fixed}
        study |= {"arms": arms, "comparison": comparison}
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


def measured_twice(one: Any, folder: Path, certificates: Path) -> tuple[dict[str, str], ...]:
    """Hashes of what a plan's cell leaves in `folder`/first and in a second place."""
    (cell,) = one["cells"]
    found = []
    for place in (folder / "first", folder / "again/deeper"):
        write_plan(one, place / "plan.json")
        make_page(cell["workload"], SEED, place / "content" / page_name(cell["workload"]))
        shutil.copytree(certificates, place / "content/certificates-virtual")
        # What a link must be is calibration's to say; a load reads only what is taken off its delay.
        write_json(place / "calibration.json", {"verdict": "pass", "delay_offset_ms": 0.0})
        found.append(measured(ROOT, place, place / "calibration.json", cell["name"]))
    return tuple(found)


@pytest.mark.parametrize("name", LINKS)
def test_a_load_is_the_same_twice(name: str, tmp_path: Path, plan: Any, certificates: Path) -> None:
    one = plan(ARMS, LINKS[name])
    first, again = measured_twice(one, tmp_path, certificates)
    assert first == again and len(first) == 3 * len(ARMS)
    link = one["cells"][0]["link"]
    metas = [read_json(file) for file in tmp_path.glob("first/runs/*/*/*/*/meta.json")]
    assert {json.dumps(meta["link"]) for meta in metas} == {json.dumps(link)}
    told = {key: name_of(str(value)) for key, value in link.items()}
    assert told.items() >= {key: str(value) for key, value in LINKS[name].items()}.items()


def test_a_load_by_each_program_is_the_same_twice(
    tmp_path: Path, plan: Any, certificates: Path
) -> None:
    first, again = measured_twice(plan(PROGRAMS, {}), tmp_path, certificates)
    assert first == again and len(first) == 3 * len(PROGRAMS)
