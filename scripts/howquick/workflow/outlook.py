"""What a start is going to do, in words."""

from __future__ import annotations

from howquick.study.cells import needs_guests
from howquick.workflow.capacity import cpu_percent, side_by_side_s
from howquick.workflow.manifests import is_measured, manifest_path
from howquick.workflow.questions import Workflow


def outlook(workflow: Workflow, jobs: int) -> str:
    """What is to come, in one line per study: blocks, repetitions, minutes, megabytes."""
    if workflow.rebuild:
        return f"{', '.join(workflow.plans)}: from the tables in {workflow.results}; nothing is measured"
    if workflow.runs:
        return f"{', '.join(workflow.plans)}: analysed from the loads in {workflow.runs}"
    lines = []
    for study, plan in workflow.plans.items():
        blocks = plan["blocks"]
        paths = [(b, manifest_path(workflow.results, study, b)) for b in blocks]
        left = [b for b, path in paths if not is_measured(plan, b, path)]
        wall = side_by_side_s(((b["seconds"], cpu_percent(b)) for b in left), max(1, jobs))
        loads = sum(len(b["repetitions"]) * b["arms"] for b in left)
        size = sum(b["bytes"] for b in left) / 1e6
        how = f"{plan['scale']}, virtual time" if needs_guests(plan["cells"]) else plan["scale"]
        lines.append(
            f"{study} ({how}): {len(plan['cells'])} cells, {len(plan['arms'])} arms, "
            f"{plan['repetitions']} repetitions; to measure: {len(left)} of {len(blocks)} blocks, "
            f"{loads} loads, about {wall / 60:.0f} min, {size:.0f} MB"
        )
        if out := plan.get("left_out"):
            lines.append(f"{study}: scale {plan['scale']} leaves out {', '.join(out)} (its `arms`)")
    return "\n".join(lines)
