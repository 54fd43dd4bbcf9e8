"""How long the rest takes, by the blocks that are measured and not by what was planned for them.

A plan errs by another factor for each study: one waits for processors, another for guests. Each study's
factor is learned from its own blocks, and as long as there are few of them, from all. Blocks that have the
machine to themselves come one after another; of the others as many run at once as have done so far. Stages
beside measuring: stages.py.
"""

from __future__ import annotations

from collections.abc import Iterable

from howquick.progress.stages import after_s, before_s
from howquick.progress.survey import Piece, Survey

# What all studies' factor counts for beside a study's own blocks, planned seconds.
PRIOR_S = 120.0


def left_s(now: Survey, elapsed_s: float) -> float | None:
    """Seconds until all is made that was asked for; None as long as nothing tells.

    elapsed_s: since the first block began.
    """
    measuring = _measuring_s(now, elapsed_s)
    if measuring is None:
        return None
    return measuring + after_s(now) + (before_s(now) if measuring else 0.0)


def _measuring_s(now: Survey, elapsed_s: float) -> float | None:
    """Seconds until the last block is measured."""
    begun = [piece for piece in now.pieces if piece.wall_s is not None and piece.done]
    overall = _factor(begun, 1.0, 0.0)
    if overall is None:
        return None
    together = [piece for piece in begun if not piece.alone]
    alone_s = sum(piece.wall_s or 0.0 for piece in begun if piece.alone)
    width = max(1.0, _spent_s(together) / max(1.0, elapsed_s - alone_s)) if together else 1.0
    left = 0.0
    for study in {piece.study for piece in now.pieces}:
        own = [piece for piece in begun if piece.study == study]
        factor = _factor(own, overall, PRIOR_S) or overall
        for piece in (p for p in now.pieces if p.study == study):
            rest = piece.seconds * (1 - piece.share) * factor
            left += rest if piece.alone else rest / width
    return left


def _factor(pieces: Iterable[Piece], prior: float, weight_s: float) -> float | None:
    """Seconds taken for each planned one; None where none is planned."""
    pieces = list(pieces)
    planned = sum(piece.seconds * piece.share for piece in pieces) + weight_s
    return (_spent_s(pieces) + prior * weight_s) / planned if planned > 0 else None


def _spent_s(pieces: Iterable[Piece]) -> float:
    return sum(piece.wall_s or 0.0 for piece in pieces)
