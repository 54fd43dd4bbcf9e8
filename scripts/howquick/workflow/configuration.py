"""The validated configuration, with what the command line changed in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from howquick.errors import ConfigError
from howquick.plan.plan import measured_plan, plan_study
from howquick.schemas import CONFIG_FILE, check
from howquick.study.resolve import Selection, known_studies
from howquick.workflow.interference import INTERFERENCE_STUDY
from howquick.workflow.questions import Workflow


def read_workflow(config: Mapping[str, Any], targets: Iterable[str] = ()) -> Workflow:
    """Validate the configuration (with what the command line changed in it) and plan its studies.

    Where targets name studies, those are planned and no others. Raises ConfigError; file, key and
    remedy are in its text.
    """
    values = {key: _typed(key, value) for key, value in config.items()}
    # A target is a study's own (`production_quic`) or a file of one (`…/highway/a.pdf`, `…/highway.csv`).
    words = [target for target in targets if "=" not in target]
    asked = {part.split(".")[0] for word in words for part in word.replace("_", "-").split("/")}
    if own := [study for study in known_studies() if study in asked]:
        values["studies"] = own
    elif "interference" in asked:
        values["studies"] = [INTERFERENCE_STUDY]
    check(values, "config", CONFIG_FILE)
    if values.get("runs") and not Path(values["runs"]).is_file():
        raise ConfigError(CONFIG_FILE, "runs", f"no file {values['runs']}", "Name a CSV table")
    if values.get("runs") and len(values["studies"]) > 1:
        raise ConfigError(
            CONFIG_FILE, "runs", "is the table of one study, and several are selected",
            f"Add studies=NAME, one of {', '.join(known_studies())}",
        )  # fmt: skip
    selection = Selection(
        values["scale"],
        values["seed"],
        tuple(values.get("cells", ())),
        tuple(values.get("arms", ())),
        observe=values.get("observe", True),
        clock=values.get("clock"),
        repetitions=values.get("repetitions"),
    )
    results = values.get("results", "results")
    rebuild = values.get("rebuild", False)
    plans = {
        study: measured_plan(study, results) if rebuild else plan_study(study, selection, results)
        for study in values["studies"]
    }
    return Workflow(
        results, selection, plans, values.get("runs"), rebuild, values.get("pack", False)
    )


def _typed(key: str, value: Any) -> Any:
    """`--config cells=a,b` means a list, a single word a list of one; `observe=false` is no text."""
    if key in ("studies", "cells", "arms") and isinstance(value, str):
        return [word for word in value.split(",") if word]
    if key in ("observe", "pack", "rebuild"):
        return {"true": True, "false": False}.get(value, value)
    return value
