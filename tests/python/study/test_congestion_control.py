"""Congestion control as a factor: who has it, what is asked for, and what stays as it is without it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from howquick.errors import ROOT, ConfigError
from howquick.model import ResolvedStudy
from howquick.plan import impossible
from howquick.plan.fingerprint import conditions, fingerprint
from howquick.plan.plan import complete
from howquick.processor.samples import sample_name
from howquick.study import resolve as study_module
from howquick.study.cells import arm_in_cell, arms_of, find
from howquick.study.resolve import Selection, resolve_study

HASHES = dict.fromkeys(
    ("nginx", "curl", "nghttp2", "node-spdy", "quiche", "aioquic", "quic-go", "emulator", "guest"),
    "x",
)
Change = Callable[[Callable[[dict[str, Any]], object]], ResolvedStudy]


@pytest.fixture
def resolve(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Change:
    """A function that edits a copy of initial-window and resolves it at scale paper."""

    def change(function: Callable[[dict[str, Any]], object]) -> ResolvedStudy:
        data = yaml.safe_load((ROOT / "config/studies/initial-window.yaml").read_text())
        data["factors"] = {"loss_percent": data["factors"]["loss_percent"]}
        data["fixed"] |= {"workload": {"object": 10_000}}
        data |= {"figures": [], "claims": []}
        for scale in data["scales"].values():
            scale.pop("cells", None)
        function(data)
        (tmp_path / "initial-window.yaml").write_text(yaml.safe_dump(data, sort_keys=False))
        monkeypatch.setattr(study_module, "STUDIES", tmp_path)
        return resolve_study("initial-window", Selection("paper", 1))

    return change


def controls(*names: str, **levels: str) -> Callable[[dict[str, Any]], object]:
    factor = {"label": "Congestion control", "unit": "", "levels": levels or {n: n for n in names}}
    return lambda data: data["factors"].update(congestion_control=factor)


def test_every_arm_has_the_cells(resolve: Change) -> None:
    study = resolve(controls("cubic", "reno"))
    for cell in study["cells"]:
        wanted = cell["values"]["congestion_control"]
        assert cell["congestion_control"] == wanted and not cell["not_applicable"]
        for arm in arms_of(study, cell):
            assert arm_in_cell(cell, arm)["congestion_control"] == wanted
            assert arm["congestion_control"] == "cubic"
    assert len({sample_name(cell) for cell in study["cells"]}) == 2


def test_it_is_part_of_what_is_measured_and_nothing_else_changes(resolve: Change) -> None:
    plain = complete(resolve(lambda data: None), HASHES)
    varied = complete(resolve(controls("cubic", "reno")), HASHES)
    arm = plain["arms"][0]
    here = conditions(plain, plain["cells"][0], arm)
    cubic, reno = (find(varied["cells"], f"loss0-{name}") for name in ("cubic", "reno"))
    assert conditions(varied, cubic, arm) == here | {"cell": "loss0-cubic"}
    assert conditions(varied, reno, arm) == here | {
        "cell": "loss0-reno", "arm": here["arm"] | {"congestion_control": "reno"},
    }  # fmt: skip
    assert fingerprint(varied, cubic, arm, 0) != fingerprint(varied, reno, arm, 0)
    assert not any("congestion_control" in cell for cell in plain["cells"])


def test_an_arm_whose_server_lacks_it_is_not_applicable(resolve: Change) -> None:
    def change(data: dict[str, Any]) -> None:
        controls("cubic", "reno")(data)
        h3 = data["arms"]["h3"] | {"server": "quic-go", "client": "quic-go"}
        data["arms"]["h3"] = h3 | {"congestion_control": "reno"}

    study = resolve(change)
    for cell in study["cells"]:
        out = [entry["why"] for entry in cell["not_applicable"]]
        lacking = cell["congestion_control"] == "cubic"
        assert out == ["quic-go has no congestion control cubic over h3"] * lacking


def test_a_kernel_without_it_is_asked_for_what_the_cell_has(
    resolve: Change, monkeypatch: pytest.MonkeyPatch
) -> None:
    def change(data: dict[str, Any]) -> None:
        controls("cubic", "dctcp")(data)
        data["fixed"]["clock"] = "real"

    study = resolve(change)
    monkeypatch.setattr(impossible, "available_congestion_controls", lambda: "reno cubic")
    impossible.mark_impossible(study)
    why = {cell["congestion_control"]: str(cell["not_applicable"]) for cell in study["cells"]}
    assert why["cubic"] == "[]"
    assert "no dctcp" in why["dctcp"] and "quiche has no congestion control dctcp" in why["dctcp"]


def test_flows_beside_keep_theirs(resolve: Change) -> None:
    def change(data: dict[str, Any]) -> None:
        controls("cubic", "bbr")(data)
        data["fixed"]["beside"] = [{"arm": "h2"}]

    plan = complete(resolve(change), HASHES)
    cell = next(cell for cell in plan["cells"] if cell["congestion_control"] == "bbr")
    asked = conditions(plan, cell, find(plan["arms"], "h2"))
    assert asked["arm"]["congestion_control"] == "bbr"
    assert asked["beside"][0]["arm"]["congestion_control"] == "cubic"


@pytest.mark.parametrize(
    ("levels", "problem"),
    [
        ({"a": "cubic"}, r"levels.a: is 'cubic'.*\{cubic: cubic\}"),
        ({"vegas": "vegas"}, "no arm can be measured"),
        ({"cubic": 3}, "congestion_control.levels.cubic"),
    ],
)
def test_what_cannot_be_is_refused(resolve: Change, levels: dict[str, Any], problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        resolve(controls(**levels))
