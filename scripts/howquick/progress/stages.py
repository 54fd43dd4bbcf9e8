"""How long the stages beside measuring take: by their jobs that have ended, in this start or an earlier one.

Links and processor seconds come before blocks, tables of a block beside those that follow, and the rest after
all of them: stage by stage, as many jobs at once as there are processors for.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from howquick.progress.survey import Stage, Survey

# Seconds of a job on one processor of a usual machine, for a first start. They, or those of an earlier start,
# count as one job beside those that have ended.
PLANNED_S = {
    "content": 2.0, "calibrate": 8.0, "processor": 90.0, "extract__block": 6.0, "extract": 1.5,
    "analyse": 6.0, "publish": 4.0, "bench": 60.0,
}  # fmt: skip
USUAL_S = 2.0
FIRST = ("content", "calibrate", "processor")
# Made beside the blocks, each as soon as its blocks are measured.
TABLES, BESIDE = "extract__block", ("extract__block", "extract__cell")
# The order of what comes after the last block.
AFTER = ("extract", "analyse", "publish", "bench")
# As long as fewer blocks are measured, nobody knows whether tables keep up with them.
LEAST_SHARE = 0.1


def before_s(now: Survey) -> float:
    """Seconds of links and processor seconds that blocks still wait for."""
    return sum(
        _waves_s(stage, _left(stage), now.width) for stage in now.stages if _is(stage, FIRST)
    )


def after_s(now: Survey) -> float:
    """Seconds from the last block to the end of all."""
    later = [stage for stage in now.stages if _is(stage, AFTER)]
    ordered = sorted(later, key=lambda stage: [_is(stage, (name,)) for name in AFTER].index(True))
    return sum(_waves_s(stage, _left_then(stage, now), now.width) for stage in ordered)


def each_s(stage: Stage) -> float:
    """Seconds that a job of the stage takes."""
    planned = PLANNED_S.get(stage.rule) or PLANNED_S.get(stage.rule.split("__")[0], USUAL_S)
    usual = planned if stage.usual_s is None else stage.usual_s
    return (stage.seconds + usual) / (stage.ended + 1)


def _left_then(stage: Stage, now: Survey) -> float:
    """Jobs of a stage that are left when the last block has ended."""
    left = _left(stage)
    return left * _lag(now) if stage.rule in BESIDE else left


def _lag(now: Survey) -> float:
    """Of the tables that are left now, the share that is left when the last block has ended.

    Those that wait for a processor beside the blocks become more; of those that keep up, the last are left.
    """
    left = sum(_left(stage) for stage in now.stages if stage.rule == TABLES)
    blocks = sum(not piece.ended for piece in now.pieces)
    if not left or not blocks:
        return 1.0
    waiting = max(0, left - blocks) / max(now.share, LEAST_SHARE)
    return min(1.0, (now.width + waiting) / left)


def _waves_s(stage: Stage, jobs: float, width: int) -> float:
    return math.ceil(jobs / width) * each_s(stage)


def _left(stage: Stage) -> int:
    return max(0, stage.jobs - stage.ended)


def _is(stage: Stage, names: Iterable[str]) -> bool:
    return stage.rule.split("__")[0] in names
