"""The clock of a cell: by the study, as a factor, by the user; and what it changes in the plan."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from howquick.errors import ROOT, ConfigError
from howquick.model import ResolvedStudy
from howquick.plan.fingerprint import fingerprint
from howquick.plan.plan import complete
from howquick.schemas import check
from howquick.study import resolve as study_module
from howquick.study.cells import calibration_name, certificates_name, clock_of
from howquick.study.resolve import Selection, resolve_study
from howquick.workflow.capacity import GUEST_PERCENT, cpu_percent

PROGRAMS = ("nginx", "curl", "nghttp2", "node-spdy", "quiche", "aioquic", "emulator", "guest")
HASHES = {name: name for name in PROGRAMS}


@pytest.fixture
def resolve(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., ResolvedStudy]:
    """Resolve a study after a change of its file."""

    def changed(
        change: Callable[[dict[str, Any]], None] | None = None,
        study: str = "how-quick",
        **selection: Any,
    ) -> ResolvedStudy:
        data = yaml.safe_load((ROOT / f"config/studies/{study}.yaml").read_text())
        if change:
            change(data)
        (tmp_path / f"{study}.yaml").write_text(yaml.safe_dump(data, sort_keys=False))
        monkeypatch.setattr(study_module, "STUDIES", tmp_path)
        return resolve_study(study, Selection("paper", 1, **selection))

    return changed


def vary(data: dict[str, Any]) -> None:
    """Both clocks, one beside the other."""
    levels = {"real": "real", "virtual": "virtual"}
    data["factors"]["clock"] = {"label": "clock", "unit": "", "levels": levels}
    data["figures"], data["claims"] = [], []


def test_a_study_is_in_virtual_time_unless_it_says_otherwise(resolve: Any) -> None:
    assert {clock_of(cell) for cell in resolve()["cells"]} == {"virtual"}
    fixed = resolve(lambda data: data["fixed"].update(clock="real"))
    assert {clock_of(cell) for cell in fixed["cells"]} == {"real"}
    back = resolve(lambda data: data["fixed"].update(clock="real"), clock="virtual")
    assert back["cells"] == resolve()["cells"]


def test_what_nothing_shapes_stays_in_real_time(resolve: Any) -> None:
    cells = resolve(study="highway")["cells"]
    assert {(c["link"]["bandwidth_mbit"] == "unshaped", clock_of(c)) for c in cells} >= {
        (True, "real")
    }
    assert not any(
        clock_of(c) == "virtual" for c in cells if c["link"]["bandwidth_mbit"] == "unshaped"
    )


def test_both_clocks_are_a_factor_and_then_none_is_forced(resolve: Any) -> None:
    study = resolve(vary)
    by_name = {cell["name"]: clock_of(cell) for cell in study["cells"]}
    assert by_name["10mbit-18ms-loss0-5obj-small-real"] == "real"
    assert by_name["10mbit-18ms-loss0-5obj-small-virtual"] == "virtual"
    with pytest.raises(ConfigError, match=r"factors.clock.*'real' is asked for"):
        resolve(vary, clock="real")


def test_files_of_both_clocks_have_names_of_their_own(resolve: Any) -> None:
    real, virtual = (resolve(clock=clock)["cells"][0] for clock in ("real", "virtual"))
    assert real["link"] == virtual["link"]
    assert calibration_name(real) != calibration_name(virtual)
    assert certificates_name(real) != certificates_name(virtual)


def test_a_clock_is_part_of_what_a_number_is_valid_for(resolve: Any) -> None:
    def print_of(clock: str, **hashes: str) -> str:
        plan = complete(resolve(clock=clock), HASHES | hashes)
        check({**plan}, "resolved_study", "plan")
        return fingerprint(plan, plan["cells"][0], plan["arms"][0], 0)

    assert print_of("real") != print_of("virtual")
    # Each has what makes its link, and not the other's.
    assert print_of("virtual", emulator="another") == print_of("virtual")
    assert print_of("virtual", guest="another") != print_of("virtual")
    assert print_of("real", guest="another") == print_of("real")
    assert print_of("real", emulator="another") != print_of("real")


def test_a_block_in_virtual_time_takes_one_processor(resolve: Any) -> None:
    plan = complete(resolve(clock="virtual"), HASHES)
    assert {cpu_percent(block) for block in plan["blocks"]} == {GUEST_PERCENT}


def repetitions(study: ResolvedStudy) -> dict[str, int]:
    """How often each cell of a study is to be measured."""
    plan = complete(study, HASHES)
    check({**plan}, "resolved_study", "plan")
    counts = dict.fromkeys((cell["name"] for cell in plan["cells"]), 0)
    for block in plan["blocks"]:
        counts[block["cell"]] += len(block["repetitions"])
    return counts


def test_what_has_no_dice_is_measured_few_times(resolve: Any) -> None:
    assert set(repetitions(resolve(clock="real")).values()) == {100}

    def three(data: dict[str, Any]) -> None:
        del data["scales"]["paper"]["virtual"]

    def by_loss(study: ResolvedStudy) -> set[tuple[bool, int]]:
        return {("loss0" in cell, n) for cell, n in repetitions(study).items()}

    assert by_loss(resolve(three, clock="virtual")) == {(True, 3), (False, 100)}
    assert by_loss(resolve(clock="virtual")) == {(True, 12), (False, 100)}
    assert by_loss(resolve(clock="virtual", repetitions=4)) == {(True, 4), (False, 4)}

    def move(data: dict[str, Any]) -> None:
        data["fixed"]["moves"] = 1
        data["figures"], data["claims"] = [], []
        data["arms"] = {"h3-quiche": data["arms"]["h3-quiche"]}
        data["comparison"] |= {"arms": ["h3-quiche"], "pairs": [["h3-quiche", "h3-quiche"]]}
        data["scales"] = {"paper": data["scales"]["paper"]}

    assert not any(cell.get("exact") for cell in resolve(move, clock="virtual")["cells"])


def test_a_scale_can_ask_for_more_in_virtual_time(resolve: Any) -> None:
    def more(data: dict[str, Any]) -> None:
        slow = {"above_s": 30, "repetitions": 6}
        data["scales"]["paper"]["virtual"] = {"repetitions": 10, "slow_cells": slow}

    def lossy(study: ResolvedStudy) -> set[int]:
        return {n for cell, n in repetitions(study).items() if "loss2" in cell}

    assert lossy(resolve(more, clock="virtual")) == {10, 6}
    assert lossy(resolve(more, clock="virtual", repetitions=2)) == {2}
    assert lossy(resolve(more, clock="real")) == {100}


def test_another_word_is_refused(resolve: Any) -> None:
    with pytest.raises(ConfigError, match=r"clock.*real.*virtual"):
        resolve(lambda data: data["fixed"].update(clock="fast"))
