"""Links of a study: what is asked for is in the cell and its fingerprint, what is as usual is not."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from howquick.errors import ROOT, ConfigError
from howquick.model import Cell, Plan, ResolvedStudy
from howquick.plan import impossible
from howquick.plan.fingerprint import fingerprint
from howquick.plan.plan import complete
from howquick.study import resolve as study_module
from howquick.study.cells import arms_of, calibration_name, find, link_name
from howquick.study.parameters import OF_CELL, OPTIONAL
from howquick.study.resolve import Selection, resolve_study
from howquick.testbed import trace
from howquick.testbed.link import Link
from howquick.workflow.questions import Workflow
from testbed.link_features import ASKED as OF_LINKS

PROGRAMS = ("nginx", "curl", "quiche", "emulator", "guest")
HASHES = {name: name for name in PROGRAMS}
ASKED = OF_LINKS | {"bandwidth_up_mbit": 2}
RATTAN = {"backend": "rattan", "aqms": []}
TRACE = "cellular-walk"
TRACED = {"bandwidth_mbit": 4, "loss_percent": 0, "rate_trace": TRACE}


@pytest.fixture
def resolve(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., ResolvedStudy]:
    """Resolve initial-window, in real time, with further fixed parameters."""

    def changed(scale: str = "artifact", **fixed: Any) -> ResolvedStudy:
        data = yaml.safe_load((ROOT / "config/studies/initial-window.yaml").read_text())
        for name in set(fixed) & set(data["factors"]):
            del data["factors"][name]
        data["figures"], data["claims"] = [], []
        data["fixed"] |= {"clock": "real"} | fixed
        (tmp_path / "initial-window.yaml").write_text(yaml.safe_dump(data, sort_keys=False))
        monkeypatch.setattr(study_module, "STUDIES", tmp_path)
        return resolve_study("initial-window", Selection(scale, 1))

    return changed


def long_cell(study: ResolvedStudy) -> Cell:
    """One with delay and loss, which each of the properties fits."""
    return next(
        c for c in study["cells"] if c["link"]["rtt_ms"] >= 100 and c["link"]["loss_percent"]
    )


def seal(study: ResolvedStudy, name: str) -> str:
    """The fingerprint of a load in a cell."""
    plan: Plan = complete(study, HASHES)
    cell = find(plan["cells"], name)
    return fingerprint(plan, cell, arms_of(plan, cell)[0], 0)


@pytest.mark.parametrize(("key", "value"), ASKED.items())
def test_what_a_link_is_is_in_its_cell_its_name_and_its_fingerprint(
    resolve: Any, key: str, value: Any
) -> None:
    usual = resolve(rtt_ms=100, loss_percent=2)
    name = long_cell(usual)["name"]
    asked = resolve(rtt_ms=100, loss_percent=2, **{key: value})
    before, after = find(usual["cells"], name), find(asked["cells"], name)
    assert after["link"] == before["link"] | {key: value}
    assert Link.from_dict(after["link"]).to_dict()[key] == value
    assert link_name(after["link"]) != link_name(before["link"])
    assert "_" not in calibration_name(after)
    assert seal(usual, name) != seal(asked, name)


def test_what_is_as_usual_leaves_no_trace(resolve: Any) -> None:
    usual = resolve()
    said = {k: v for k, v in OPTIONAL.items() if k not in OF_CELL and v is not None} | {
        "ecn": False
    }
    again = resolve(**said)
    assert again["cells"] == usual["cells"]
    # What says the same in other words is no other link.
    fixed = resolve(rtt_ms=100)
    same = resolve(rtt_ms=100, delay_up_ms=50, path_mtu_bytes=1500)
    assert same["cells"] == fixed["cells"]
    name = fixed["cells"][0]["name"]
    assert seal(same, name) == seal(fixed, name)


@pytest.mark.parametrize(
    ("fixed", "words"),
    [
        ({"ecn": True}, ("ecn is true without an aqm", "Add aqm")),
        ({"rtt_ms": 20, "delay_up_ms": 30}, ("delay_up_ms is 30", "no more than that")),
        ({"rtt_ms": 20, "jitter_ms": 9}, ("jitter_ms is 9", "2.5 at most")),
        ({"path_mtu_bytes": 2000}, ("path_mtu_bytes is 2000", "no more than mtu_bytes")),
        ({"bandwidth_up_mbit": 0.1, "queue_ms": 200}, ("at 0.1 Mbit/s the shortest", "Ask for")),
        ({"aqm": "red"}, ("aqm", "fq_codel")),
        ({"reorder_percent": 30}, ("reorder_percent", "25")),
        ({"rate_trace": "../how-quick"}, ("rate_trace", "the name of a file in config/traces")),
        ({"rate_trace": "nowhere"}, ("rate_trace is 'nowhere'", "cellular-walk")),
        ({"rate_trace": TRACE}, ("bandwidth_mbit is 10", "Give the mean, 4")),
    ],
)
def test_what_cannot_be_is_one_sentence_with_file_key_and_remedy(
    resolve: Any, fixed: dict[str, Any], words: tuple[str, ...]
) -> None:
    with pytest.raises(ConfigError) as caught:
        resolve(**fixed)
    text = str(caught.value)
    assert "initial-window.yaml" in text and len(text.splitlines()) == 1
    for word in words:
        assert word in text


@pytest.mark.parametrize(
    ("fixed", "exact"),
    [({}, True), ({"aqm": "codel"}, True), ({"aqm": "pie"}, False), ({"jitter_ms": 1}, False)],
)
def test_what_is_drawn_is_not_known_exactly(
    resolve: Any, fixed: dict[str, Any], exact: bool
) -> None:
    study = resolve(clock="virtual", rtt_ms=100, loss_percent=0, **fixed)
    assert {bool(cell.get("exact")) for cell in study["cells"]} == {exact}


def mixed(data: ResolvedStudy) -> ResolvedStudy:
    """One cell with a plain link and one with another."""
    first, second = data["cells"][:2]
    other = second | {"link": second["link"] | {"aqm": "codel"}}
    return data | {"cells": [first, other]}  # type: ignore[return-value,typeddict-item]


def test_where_no_machine_makes_a_link_its_cell_is_not_applicable(
    resolve: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(impossible, "probed", lambda: RATTAN)
    study = mixed(resolve())
    impossible.mark_impossible(study)
    plain, other = study["cells"]
    assert plain["not_applicable"] == resolve()["cells"][0]["not_applicable"]
    assert arms_of(study, other) == []
    assert "active queue management" in other["not_applicable"][0]["why"]
    plan = complete(study, HASHES)
    assert {block["cell"] for block in plan["blocks"]} == {plain["name"]}
    hq = Workflow("results", Selection("artifact", 1), {"initial-window": plan})
    assert hq.cells("initial-window") == [plain["name"]]
    assert hq.links("initial-window") == [calibration_name(plain)]


def test_a_kernel_that_has_it_measures_it_and_an_unknown_one_tries(
    resolve: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for found in ({"backend": "netem", "aqms": ["codel"]}, {}):
        monkeypatch.setattr(impossible, "probed", lambda found=found: found)
        study = mixed(resolve())
        impossible.mark_impossible(study)
        assert arms_of(study, study["cells"][1])
    monkeypatch.setattr(impossible, "probed", lambda: {"backend": "netem", "aqms": ["pie"]})
    study = mixed(resolve())
    impossible.mark_impossible(study)
    assert "no codel" in study["cells"][1]["not_applicable"][0]["why"]


def test_a_study_of_which_nothing_is_left_is_refused(
    resolve: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(impossible, "probed", lambda: RATTAN)
    with pytest.raises(ConfigError, match="clock=virtual"):
        impossible.mark_impossible(resolve(aqm="codel"))


def test_plain_links_and_virtual_time_ask_no_machine(
    resolve: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(impossible, "probed", lambda: pytest.fail("it was asked"))
    for study in (resolve(), resolve(clock="virtual", aqm="codel")):
        impossible.mark_impossible(study)


def test_a_congestion_control_that_the_kernel_lacks_is_not_applicable(
    resolve: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = resolve()
    arm = next(arm for arm in study["arms"] if arm["protocol"] == "h2")
    arm["congestion_control"] = "dctcp"
    monkeypatch.setattr(impossible, "available_congestion_controls", lambda: "reno cubic dctcp")
    impossible.mark_impossible(study)
    assert arm in arms_of(study, study["cells"][0])
    monkeypatch.setattr(impossible, "available_congestion_controls", lambda: "reno cubic")
    impossible.mark_impossible(study)
    assert arm not in arms_of(study, study["cells"][0])


def test_of_a_trace_the_link_has_the_hash_and_decides_nothing_by_chance(resolve: Any) -> None:
    study = resolve(clock="virtual", **TRACED)
    for cell in study["cells"]:
        assert cell["link"]["rate_trace"] == trace.load(TRACE).reference
        assert f"-trace-{TRACE}-{trace.load(TRACE).digest}" in calibration_name(cell)
        assert re.fullmatch("[a-z0-9.-]+", calibration_name(cell))
        assert cell["exact"]
    plain = resolve(**(TRACED | {"rate_trace": "none"}))
    assert all("rate_trace" not in cell["link"] for cell in plain["cells"])


def test_the_content_of_a_trace_decides_and_not_its_name(
    resolve: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = trace.file_of(TRACE).read_text()
    monkeypatch.setattr(trace, "FOLDER", tmp_path)
    lines = text.split()
    # Without a last line break, as somebody else may write it; one time moved by a millisecond.
    contents = {"first": text, "second": text.rstrip(), "third": "\n".join(["0", *lines[1:]])}
    assert lines[0] != "0"
    seals = {}
    for name, content in contents.items():
        trace.file_of(name).write_text(content)
        study = resolve(clock="virtual", **(TRACED | {"rate_trace": name}))
        seals[name] = seal(study, study["cells"][0]["name"])
    assert seals["first"] == seals["second"] != seals["third"]


@pytest.mark.parametrize("found", [RATTAN, {"backend": "netem", "aqms": ["codel"]}])
def test_by_the_machines_own_clock_no_rate_follows_a_trace(
    resolve: Any, monkeypatch: pytest.MonkeyPatch, found: dict[str, Any]
) -> None:
    monkeypatch.setattr(impossible, "probed", lambda: found)
    with pytest.raises(ConfigError, match=r"rate that follows a trace.*clock=virtual"):
        impossible.mark_impossible(resolve(**TRACED))


def test_a_trace_that_is_none_is_refused_by_its_file_and_line(
    resolve: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trace, "FOLDER", tmp_path)
    trace.file_of(TRACE).write_text("7\n3\n")
    with pytest.raises(ConfigError, match=f"{TRACE}.trace: line 2: 3 after 7") as refused:
        resolve(**TRACED)
    assert len(str(refused.value).splitlines()) == 1
