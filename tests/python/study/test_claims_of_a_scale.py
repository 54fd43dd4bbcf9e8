"""Claims over the levels and arms that the scale has, and cells that the machine cannot give."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from howquick.errors import ConfigError
from howquick.plan.blocks import partition
from howquick.study import host
from howquick.study.cells import is_selected
from howquick.study.claims import with_arms, with_levels
from howquick.study.resolve import Selection, resolve_study

HERE = Path("a.yaml")


def cell_of(kind: str, moves: int) -> dict[str, Any]:
    return {
        "name": f"{kind}-{moves}", "levels": {"kind": kind, "moves": f"m{moves}"},
        "values": {"kind": kind, "moves": moves},
    }  # fmt: skip


CELLS: Any = [cell_of("a", moves) for moves in (0, 2, 4)]
# The study has two more, which the scale leaves out.
OF_STUDY: Any = [*CELLS, cell_of("b", 0), cell_of("b", 4)]


def claim(**condition: Any) -> Any:
    return [{"id": "c", "test": [condition]}]


@pytest.mark.parametrize(
    ("cells", "named"),
    [
        ({"kind": "a", "moves": "measured"}, ["a-0", "a-2", "a-4"]),
        ({"kind": "a", "moves": "measured > 0"}, ["a-2", "a-4"]),
        ({"kind": "a", "moves": 2}, {"kind": "a", "moves": 2}),
        # Nothing of it is measured: it asks for cells beyond the scale.
        ({"kind": "b", "moves": "measured > 1"}, ["b-4"]),
        (["a-0"], ["a-0"]),
    ],
)
def test_measured_stands_for_the_levels_of_the_scale(cells: Any, named: Any) -> None:
    assert with_levels(claim(cells=cells), CELLS, OF_STUDY)[0]["test"][0]["cells"] == named


def test_matrix_stands_for_its_arms() -> None:
    condition = with_arms(HERE, claim(arm="matrix", against="one"), ["x", "y"])[0]["test"][0]
    assert condition == {"arm": ["x", "y"], "against": "one"}
    with pytest.raises(ConfigError, match=r"claims.c.test.0.arm.*has none"):
        with_arms(HERE, claim(arm="matrix"), [])


@pytest.mark.parametrize("scale", ["smoke", "artifact", "paper"])
def test_web_streaming_claims_what_each_scale_measures(scale: str) -> None:
    study = resolve_study("web-streaming", Selection(scale, 1))
    for claim_id, first in (
        ("1-web", {"workload": "web"}),
        ("2-transmission-delay", {"workload": "file", "moves": 0}),
    ):
        tested = next(c for c in study["claims"] if c["id"] == claim_id)["test"][0]["cells"]
        assert tested == [cell["name"] for cell in study["cells"] if is_selected(cell, first)]


def test_the_spread_of_highway_is_over_every_pair() -> None:
    study = resolve_study("highway", Selection("artifact", 1))
    tested = study["claims"][0]["test"][0]["arm"]
    pairs = {(arm["server"], arm["client"]) for arm in study["arms"] if arm["protocol"] == "h3"}
    assert {
        (arm["server"], arm["client"]) for arm in study["arms"] if arm["name"] in tested
    } == pairs


@pytest.mark.parametrize(("granted", "beyond"), [(212_992, 5), (6_815_744, 0)])
def test_a_buffer_that_the_machine_does_not_grant_is_not_applicable(
    granted: int, beyond: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits = [tmp_path / name for name in ("rmem_max", "wmem_max")]
    for limit, value in zip(limits, (granted, 1 << 30), strict=True):
        limit.write_text(f"{value}\n")
    monkeypatch.setattr(host, "LIMITS", tuple(limits))
    study = resolve_study("highway", Selection("artifact", 1))
    left_out = [
        cell for cell in study["cells"] if len(cell["not_applicable"]) == len(study["arms"])
    ]
    assert len(left_out) == beyond
    assert all(f"grants {granted} bytes" in str(cell["not_applicable"]) for cell in left_out)
    assert {b["cell"] for b in partition(study)} == {c["name"] for c in study["cells"]} - {
        cell["name"] for cell in left_out
    }
