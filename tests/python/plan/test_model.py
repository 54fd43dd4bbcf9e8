"""The forms that the type checker knows are those of the schemas: their keys, and which must be there."""

from __future__ import annotations

import json
from typing import Any, NotRequired, get_origin, get_type_hints

import pytest

from howquick import analysis_model, model
from howquick.errors import ROOT

KNOWN = {**vars(model), **vars(analysis_model)}
# Of a plan that others published: who measures nothing has none of these.
OF_MEASURING = {
    "ResolvedStudy": {
        "block_seconds", "full_captures", "precision", "slow_cells", "unsupported"
    },
    "Plan": {"blocks", "licences", "log_costs", "programs"},
    "Cell": {"link", "workload"},
    "Arm": {"server", "client", "protocol", "connection", "congestion_control", "options"},
}  # fmt: skip
# What the plan takes over as it stands is checked by the study file's schema.
PLAN, STUDY = (
    json.loads((ROOT / f"config/schemas/{name}.schema.json").read_text(encoding="utf-8"))
    for name in ("resolved_study", "study")
)
TOP = PLAN["properties"]
BLOCKS = {"blocks", "programs", "licences", "log_costs", "versions"}
FORMS: dict[str, dict[str, Any]] = {
    "Plan": PLAN,
    "ResolvedStudy": {
        **PLAN, "properties": {key: form for key, form in TOP.items() if key not in BLOCKS}
    },
    "Paper": TOP["paper"],
    "Text": STUDY["properties"]["paper"]["properties"]["also"],
    "SlowCells": TOP["slow_cells"],
    "VirtualScale": TOP["virtual"],
    "Precision": TOP["precision"],
    "Factor": TOP["factors"]["items"],
    "Level": TOP["factors"]["items"]["properties"]["levels"]["items"],
    "Cell": TOP["cells"]["items"],
    "FlowBeside": TOP["cells"]["items"]["properties"]["beside"]["items"],
    "NotApplicable": TOP["cells"]["items"]["properties"]["not_applicable"]["items"],
    "Arm": TOP["arms"]["items"],
    "Unsupported": TOP["unsupported"]["items"],
    "LogCost": TOP["log_costs"]["additionalProperties"],
    "Metric": STUDY["$defs"]["metric"],
    "Comparison": STUDY["properties"]["comparison"],
    "Rule": STUDY["properties"]["comparison"]["properties"]["rule"],
    "Figure": STUDY["$defs"]["figure"],
    "Claim": STUDY["properties"]["claims"]["items"],
    "Condition": STUDY["$defs"]["condition"],
    "Difference": STUDY["properties"]["differences"]["items"],
}  # fmt: skip


def required(form: Any) -> set[str]:
    """The keys that must be there; a form itself does not know them where annotations are texts."""
    hints = get_type_hints(form, localns=KNOWN, include_extras=True)
    return {key for key, hint in hints.items() if get_origin(hint) is not NotRequired}


@pytest.mark.parametrize("name", FORMS)
def test_a_form_has_the_keys_of_its_schema(name: str) -> None:
    schema, form = FORMS[name], KNOWN[name]
    keys, known = set(schema["properties"]), set(get_type_hints(form, localns=KNOWN))
    assert known == keys if schema.get("additionalProperties") is False else keys <= known
    ours = OF_MEASURING.get(name, set())
    if name == "Plan":
        ours = ours | OF_MEASURING["ResolvedStudy"]
    assert required(form) == set(schema.get("required", [])) | ours
    assert not ours & set(schema.get("required", []))


def test_what_a_plan_takes_over_must_have_what_the_schema_of_plans_asks_for() -> None:
    for key, name in (("figures", "Figure"), ("claims", "Claim"), ("differences", "Difference")):
        assert set(TOP[key]["items"]["required"]) <= required(KNOWN[name])
    assert set(TOP["comparison"]["required"]) == required(KNOWN["Comparison"])
