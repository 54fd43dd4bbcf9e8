"""What a user asks for by name, before Snakemake looks for a way to make it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from howquick.errors import UserError
from howquick.study.arms import nearest
from howquick.study.references import check_known
from howquick.workflow.questions import Workflow

RESULTS = "results"


def check_targets(hq: Workflow, workflow: Any, targets: Iterable[str]) -> None:
    """Refuse what nothing makes; Snakemake would name a rule's line, or no reason.

    workflow: Snakemake's, with all rules. Raises UserError: target, what is wrong with it, and what there is.
    """
    for target in targets:
        if workflow.is_rule(target):
            continue
        makers = [rule for rule in workflow.rules if rule.is_producer(target)]
        if not makers:
            raise UserError(f"{target}: {_nothing_makes(hq, workflow, target)}")
        for rule in makers:
            _check_names(hq, target, rule.get_wildcards(target))


def _nothing_makes(hq: Workflow, workflow: Any, target: str) -> str:
    parts = Path(target).parts
    if len(parts) > 1 and parts[0] == RESULTS and Path(hq.results) != Path(RESULTS):
        there = Path(hq.results, *parts[1:])
        return f"results are in {hq.results} here (results=…). Ask for {there}"
    # What is for users has a word of its own; a stage's rules are `stage__what`.
    words = [rule.name for rule in workflow.rules if "__" not in rule.name]
    if "/" not in target and "." not in target:
        return f"no target is called so. Did you mean {nearest(target.replace('-', '_'), words)}?"
    return f"nothing makes it. Ask for a file that docs/formats.md names, or for one of {', '.join(words)}"


def _check_names(hq: Workflow, target: str, names: dict[str, str]) -> None:
    study = names.get("study")
    if study is None:
        return
    file = Path(target)
    check_known(file, "", "study", [study], list(hq.plans))
    if "figure" in names:
        check_known(file, "", f"figure of {study}", [names["figure"]], hq.figures(study))
    if "cell" in names:
        check_known(file, "", f"selected cell of {study}", [names["cell"]], hq.cells(study))
    if "block" in names:
        blocks = [str(number) for number in hq.block_numbers(study, names["cell"])]
        check_known(file, "", f"block of {study}, {names['cell']},", [names["block"]], blocks)
