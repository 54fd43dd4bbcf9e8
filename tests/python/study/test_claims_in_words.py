"""What the words of claims, captions and reasons say in numbers is what their cells have."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from howquick.model import Cell, ResolvedStudy
from howquick.schemas import load_yaml
from howquick.study.cells import is_selected
from howquick.study.claims import cells_of_claim
from howquick.study.declarations import Declarations, Scaled
from howquick.study.resolve import STUDIES, Selection, known_studies, resolve_study
from study.test_declarations import SCALES, of_plan, quantities

HERE = Path("a.yaml")
BRACES = re.compile(r"\{[^{}]*\}")
# What no cell has: numbers that the papers found, and what follows from a link.
ELSEWHERE: dict[str, set[tuple[float, str]]] = {
    "highway": {(90, "Mbit/s"), (4900, "Mbit/s"), (8000, "Mbit/s"), (64e3, "size")},
    "how-quick": {(20, "%"), (1, "ms")},
    "l4s": {(0.6, "ms"), (0.8, "s")},
    "web-streaming": {(1 << 20, "size"), (105, "s"), (115, "s"), (70, "Mbit/s"), (76, "Mbit/s")},
}


def resolved(study: str, scale: str) -> ResolvedStudy:
    return resolve_study(study, Selection(scale, 1))


def cell(name: str, **values: Any) -> Any:
    return {"name": name, "values": values, "levels": {k: f"{k}{v}" for k, v in values.items()}}


CELLS: Any = [cell(f"{rtt}-{loss}", rtt=rtt, loss=loss) for rtt in (18, 218) for loss in (0, 2, 5)]


@pytest.mark.parametrize(
    ("conditions", "named"),
    [
        ([{"cells": {"rtt": 18, "loss": "measured > 0"}}], ["18-2", "18-5"]),
        ([{"cells": {"rtt": 18, "loss": "loss2"}, "against_cells": {"loss": 0}}], ["18-0", "18-2"]),
        ([{"cells": ["18-5"]}, {"cells": {"rtt": 218}, "counts": False}], ["18-5"]),
        ([{"cells": {"rtt": 18, "loss": 0}}, {"cells": {"rtt": 218, "loss": 5}}], ["18-0", "218-5"]),
        ([{"cells": ["9-9"]}], []),
    ],
)  # fmt: skip
def test_a_claim_is_about_the_cells_of_its_counted_conditions(
    conditions: Any, named: list[str]
) -> None:
    found = cells_of_claim({"id": "c", "test": conditions}, CELLS)
    assert [one["name"] for one in found] == named


@pytest.mark.parametrize(("rtt", "said"), [(18, "0, 2 and 5 %"), (400, "not measured")])
def test_braces_of_a_claim_stand_for_its_own_cells(rtt: int, said: str) -> None:
    factor = {"unit": "%", "levels": {"loss0": 0, "loss2": 2, "loss5": 5, "loss9": 9}}
    further = [*CELLS, cell("218-9", rtt=218, loss=9)]
    own = Scaled({"factors": {"loss": factor}, "fixed": {}}, {}, further)
    claim = {"id": "c", "text": "Here: {loss}.", "test": [{"cells": {"rtt": rtt}}]}
    texts = Declarations(HERE, own, {}.__getitem__)
    assert texts.claims([claim])[0]["text"] == f"Here: {said}."


@pytest.mark.parametrize(
    ("scale", "claim", "loss", "rtt", "moves"),
    [
        ("smoke", "1-web", "0 and 5", None, None),
        ("artifact", "1-web", "0, 5 and 20", None, None),
        ("paper", "1-web", "0, 1, 2, 5, 10, 15 and 20", None, None),
        ("smoke", "2-transmission-delay", "0 and 20", "50 and 150", "0 and 2"),
        ("artifact", "2-transmission-delay", "0, 5, 10 and 20", "50, 150 and 250", "0, 2 and 4"),
        ("paper", "2-transmission-delay", "0, 1, 2, 5, 10, 15 and 20", "50, 100, 150, 200 and 250",
         "0, 1, 2, 4 and 8"),
        ("artifact", "3-loading-delay", "0, 5, 10 and 20", "50, 150 and 250", "0, 2 and 4"),
        ("artifact", "4-sctp-loading-delay", "0, 5, 10 and 20", "50, 150 and 250", None),
    ],
)  # fmt: skip
def test_web_streaming_names_the_levels_of_each_claim(
    scale: str, claim: str, loss: str, rtt: str | None, moves: str | None
) -> None:
    text = next(c["text"] for c in resolved("web-streaming", scale)["claims"] if c["id"] == claim)
    for said in (f"{loss} %", rtt and f"RTT of {rtt} ms", moves and f"reconnections: {moves}"):
        assert not said or said in text, (said, text)


@pytest.mark.parametrize(("scale", "said"), [("smoke", "2 %"), ("artifact", "1, 2 and 5 %")])
def test_where_packets_are_lost_there_is_no_loss_of_0(scale: str, said: str) -> None:
    assert f"(Loss here: {said}.)" in resolved("player", scale)["claims"][0]["text"]


@pytest.mark.parametrize(("study", "scale"), SCALES)
def test_claims_have_the_numbers_of_their_cells(study: str, scale: str) -> None:
    """In braces those of the scale; of the paper's own words those of the cells or bounds that test them."""
    plan, paper = resolved(study, scale), resolved(study, "paper")
    raw = {
        claim["id"]: claim["text"]
        for claim in load_yaml(STUDIES / f"{study}.yaml", "study")["claims"]
    }
    for claim, of_study in zip(plan["claims"], paper["claims"], strict=True):
        words = BRACES.sub("…", raw[claim["id"]])
        there = known(paper, cells_of_claim(of_study, paper["cells"]))
        there["%"] |= of_bounds(claim)
        assert not unknown(study, words, there), claim["id"]
        filled = set(quantities(claim["text"])) - set(quantities(words))
        here = known(plan, cells_of_claim(claim, plan["cells"]))
        assert all(is_of(number, here[unit]) for number, unit in filled), claim["id"]


@pytest.mark.parametrize("study", known_studies())
def test_captions_have_the_numbers_of_their_cells(study: str) -> None:
    plan = resolved(study, "paper")
    for figure in plan["figures"]:
        shown = [c for c in plan["cells"] if is_selected(c, figure.get("cells", {}))]
        assert not unknown(study, figure.get("caption", ""), known(plan, shown)), figure["name"]


@pytest.mark.parametrize("study", known_studies())
def test_reasons_have_the_numbers_of_the_plan(study: str) -> None:
    plan = resolved(study, "paper")
    for difference in plan["differences"]:
        assert not unknown(study, difference["why"], known(plan, plan["cells"])), difference["why"]


def known(plan: ResolvedStudy, cells: list[Cell]) -> dict[str, set[float]]:
    return of_plan(plan | {"cells": cells})  # type: ignore[return-value,typeddict-item,arg-type]


def unknown(study: str, text: str, numbers: dict[str, set[float]]) -> list[tuple[float, str]]:
    """Numbers of a text that none of these are, and that it has not from elsewhere."""
    found = quantities(text)
    return [
        q for q in found if q not in ELSEWHERE.get(study, ()) and not is_of(q[0], numbers[q[1]])
    ]


def is_of(number: float, numbers: set[float]) -> bool:
    return any(number == pytest.approx(one) for one in numbers)


def of_bounds(claim: dict[str, Any]) -> set[float]:
    """Percent that the conditions of a claim stand for: 0.9 to 1.1 is within 10 %; and what the paper had."""
    found: set[float] = set()
    for condition in claim["test"]:
        found |= {number for number, _ in quantities(str(condition.get("paper", "")))}
        for name in ("at_least", "more_than", "at_most", "less_than", "between"):
            given = condition.get(name, [])
            for bound in given if isinstance(given, list) else [given]:
                found |= {bound, 100 * abs(bound - 1), 100 * bound}
    return found
