"""Flows beside an arm: what a study may ask, what its plan says, and which fingerprints it changes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from howquick.errors import ROOT, ConfigError
from howquick.model import Cell, Plan, ResolvedStudy
from howquick.plan.fingerprint import fingerprint, program_hashes
from howquick.plan.plan import complete
from howquick.study import resolve as study_module
from howquick.study.beside import latest_start_s, workloads_of
from howquick.study.cells import arms_of, find
from howquick.study.resolve import Selection, resolve_study
from howquick.workflow.questions import Workflow

STUDY = "initial-window"
PROGRAMS = ("nginx", "curl", "quiche", "quinn", "emulator", "guest")
HASHES = {name: name for name in PROGRAMS}
OTHER = {"label": "x", "group": "QUIC", "protocol": "h3", "server": "quinn", "client": "quinn"}
NOBODY = {"exclude": [{"arms": ["other"], "why": "it is beside the others alone"}]}
Change = Callable[[dict[str, Any]], None]


@pytest.fixture
def resolve(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., ResolvedStudy]:
    """Resolve initial-window with a further arm, which is not measured, and fixed parameters."""

    def changed(more: Change | None = None, **fixed: Any) -> ResolvedStudy:
        data = yaml.safe_load((ROOT / f"config/studies/{STUDY}.yaml").read_text())
        data |= {"figures": [], "claims": []} | NOBODY
        data["arms"]["other"] = OTHER
        for name in set(fixed) & set(data["factors"]):
            del data["factors"][name]
        data["fixed"] |= fixed
        if more:
            more(data)
        (tmp_path / f"{STUDY}.yaml").write_text(yaml.safe_dump(data, sort_keys=False))
        monkeypatch.setattr(study_module, "STUDIES", tmp_path)
        return resolve_study(STUDY, Selection("artifact", 1))

    return changed


def seal(study: ResolvedStudy, hashes: dict[str, str] = HASHES) -> str:
    """The fingerprint of a load."""
    plan: Plan = complete(study, hashes)
    cell = plan["cells"][0]
    return fingerprint(plan, cell, arms_of(plan, cell)[0], 0)


def test_a_cell_has_its_flows_resolved(resolve: Any) -> None:
    flow = {"arm": "other", "start_s": [1, 2], "workload": {"page": {"objects": 2, "bytes": 9}}}
    study = resolve(beside=[flow, {"arm": "h2", "background": True}])
    cell: Cell = study["cells"][0]
    drawn, plain = cell["beside"]
    assert (drawn["arm"]["server"], drawn["arm"]["congestion_control"]) == ("quinn", "cubic")
    assert (drawn["start_s"], latest_start_s(drawn), drawn["background"]) == ([1, 2], 2, False)
    assert drawn["workload"] == {"objects": 2, "object_size": {"bytes": 9}}
    assert (plain["start_s"], plain["background"]) == (0, True)
    assert plain["workload"] == cell["workload"] and len(workloads_of(cell)) == 3
    plan = complete(study, program_hashes(study, {}) | HASHES)
    assert "quinn" in program_hashes(study, {}) and plan["licences"]["quinn"]
    pages = Workflow("results", Selection("artifact", 1), {STUDY: plan}).pages
    assert "results/content/2x9/page.json" in pages


def test_a_factor_may_say_who_is_beside(resolve: Any) -> None:
    def varied(data: dict[str, Any]) -> None:
        levels = {"alone": [], "other": [{"arm": "other"}]}
        data["factors"]["beside"] = {"label": "Beside it", "unit": "", "levels": levels}

    cells = resolve(varied)["cells"]
    assert {c["values"]["beside"]: len(c.get("beside", [])) for c in cells} == {
        "alone": 0,
        "other": 1,
    }
    alone = next(c for c in cells if c["values"]["beside"] == "alone")
    assert "beside" not in alone and "start_s" not in alone


def test_dice_are_where_a_start_is_drawn(resolve: Any) -> None:
    def exact(start: Any) -> set[bool]:
        beside = [{"arm": "other", "start_s": start}]
        cells = resolve(clock="virtual", loss_percent=0, beside=beside)["cells"]
        return {bool(cell.get("exact")) for cell in cells}

    assert exact(1) == {True} and exact([0, 1]) == {False}


def test_who_is_beside_is_in_the_fingerprint(resolve: Any) -> None:
    usual = resolve()
    assert seal(resolve(beside=[], start_s=0)) == seal(usual)
    said: list[dict[str, Any]] = [
        {"arm": "other"},
        {"arm": "h2"},
        {"arm": "other", "start_s": 1},
        {"arm": "other", "background": True},
        {"arm": "other", "workload": {"object": 77}},
    ]
    seals = [seal(resolve(beside=[flow])) for flow in said]
    seals += [seal(usual), seal(resolve(beside=said[:1], start_s=1))]
    assert len(set(seals)) == len(seals)
    beside = resolve(beside=said[:1])
    assert seal(beside) != seal(beside, HASHES | {"quinn": "another"})
    relabelled = resolve(
        lambda data: data["arms"]["other"].update(label="y", group="z"), beside=said[:1]
    )
    assert seal(relabelled) == seal(beside)
    assert seal(usual) == seal(usual, HASHES | {"quinn": "another"})


def fixed(**parameters: Any) -> Change:
    return lambda data: data["fixed"].update(parameters)


def flow(**keys: Any) -> Change:
    return fixed(beside=[{"arm": "other"} | keys])


def unshaped(data: dict[str, Any]) -> None:
    data["factors"].pop("loss_percent")
    link = {"bandwidth_mbit": "unshaped", "rtt_ms": 0, "queue_ms": 0.1, "loss_percent": 0}
    fixed(**link, beside=[{"arm": "other"}])(data)


def moving(data: dict[str, Any]) -> None:
    fixed(moves=1, beside=[{"arm": "other"}])(data)


def loading(**workload: Any) -> Change:
    def change(data: dict[str, Any]) -> None:
        data["factors"].pop("workload")
        fixed(workload=workload, beside=[{"arm": "other"}])(data)

    return change


@pytest.mark.parametrize(
    ("change", "key", "remedy"),
    [
        (flow(arm="othr"), "fixed.beside.0.arm", "Did you mean other"),
        (flow(start_s=-1), "fixed.beside.0.start_s", "0 to 3600"),
        (flow(start_s=30), "fixed.beside.0.start_s", "Start earlier, or raise timeout_s"),
        (flow(start_s=[0, 30]), "fixed.beside.0.start_s", "Start earlier"),
        (flow(start_s=[2, 1]), "fixed.beside.0.start_s", "the earlier bound first"),
        (flow(port=1), "fixed.beside.0", "port"),
        (flow(workload={"bulk": {"seconds": 1}}), "cell ", "page, object, site"),
        (fixed(beside=[{"arm": "other"}] * 9), "fixed.beside", "up to 8 flows"),
        (fixed(start_s=1), "cell ", "Give flows by `beside`"),
        (fixed(start_s=30, beside=[{"arm": "other"}]), "fixed.start_s", "Start earlier"),
        (unshaped, "cell ", "Give the link a bandwidth_mbit"),
        (moving, "cell ", "one of `beside` and `moves`"),
        (loading(bulk={"seconds": 1}), "cell ", "an object of fixed size"),
        (loading(segments={"seeks": 2, "bytes": 9}), "cell ", "a workload of its own"),
    ],
)
def test_what_cannot_be_beside_is_refused(
    resolve: Any, change: Change, key: str, remedy: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        resolve(change)
    message = str(caught.value)
    assert f"{STUDY}.yaml" in message and key in message and remedy in message
    assert "\n" not in message


def test_an_arm_that_cannot_have_the_company_is_left_out(resolve: Any) -> None:
    def ecn(data: dict[str, Any]) -> None:
        data["arms"]["marked"] = data["arms"]["h2"] | {"options": {"ecn": True}}
        fixed(beside=[{"arm": "h2"}])(data)

    study = resolve(ecn)
    whys = {one["arm"]: one["why"] for one in study["cells"][0]["not_applicable"]}
    assert whys.keys() == {"marked", "other"}
    assert whys["marked"].endswith("asks for ECN and the other does not")
    names = [arm["name"] for arm in arms_of(study, find(study["cells"], study["cells"][0]["name"]))]
    assert names == ["h2", "h3"]
