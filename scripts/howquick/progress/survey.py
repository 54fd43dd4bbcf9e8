"""How far a start is: its list of blocks and links, what is made of them, and the blocks that run."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

# How many of all of Snakemake's jobs have begun, and what those of each rule took.
JOBS = ".jobs.json"


@dataclass(frozen=True)
class Running:
    """A block under way: what it measures, its loads (`total` with those that it kept), and how they went."""

    study: str
    cell: str
    block: int
    now: str
    done: int
    total: int
    not_ok: int
    disturbed: int
    started: float


@dataclass(frozen=True)
class Piece:
    """A block of this start: `loads` of it and the `seconds` planned for them, and how far it is.

    wall_s: what it has taken so far, of an ended one or one that runs; None of one that has not begun.
    """

    study: str
    alone: bool
    loads: int
    seconds: float
    done: int
    ended: bool
    wall_s: float | None = None

    @property
    def share(self) -> float:
        """How much of it is done, 0 to 1."""
        return self.done / self.loads if self.loads else 1.0


@dataclass(frozen=True)
class Stage:
    """The jobs of one rule: how many, how many of them ended, and the seconds that these took.

    usual_s: what one took in an earlier start, where there was one.
    """

    rule: str
    jobs: int
    ended: int
    seconds: float
    usual_s: float | None = None


@dataclass(frozen=True)
class Survey:
    """All blocks of a start, those that run, how many links are calibrated of how many, jobs begun of all.

    stages: jobs by rule. width: how many that keep a processor busy run at once.
    """

    pieces: list[Piece] = field(default_factory=list)
    running: list[Running] = field(default_factory=list)
    links: int = 0
    calibrated: int = 0
    jobs: tuple[int, int] = (0, 0)
    stages: list[Stage] = field(default_factory=list)
    width: int = 1

    @property
    def loads(self) -> int:
        """Loads that are measured."""
        return sum(piece.done for piece in self.pieces)

    @property
    def total(self) -> int:
        """Loads that this start measures."""
        return sum(piece.loads for piece in self.pieces)

    @property
    def share(self) -> float:
        """How much of the planned time is done, 0 to 1."""
        planned = sum(piece.seconds for piece in self.pieces)
        return sum(p.seconds * p.share for p in self.pieces) / planned if planned else 1.0


def survey(results: Path, file: Path, now: float) -> Survey:
    """Look at the list of what this start does, at what is made of it, and at the running blocks.

    file: the list, as howquick.workflow.start writes it. now: Unix seconds.
    """
    states = [state for path in (results / "progress").glob("*.json") if (state := _read(path))]
    running = {(one.study, one.cell, one.block): one for one in map(_running, states)}
    start = _read(file) or {"links": [], "blocks": []}
    jobs = _read(results / JOBS) or {}
    return Survey(
        [_piece(b, running.get((b["study"], b["cell"], b["block"])), now) for b in start["blocks"]],
        sorted(running.values(), key=lambda one: one.started),
        len(start["links"]),
        sum(map(_is_made, start["links"])),
        (jobs.get("begun", 0), jobs.get("total", 0)),
        [Stage(rule, **counts) for rule, counts in jobs.get("stages", {}).items()],
        jobs.get("width", 1),
    )


def _running(state: dict[str, Any]) -> Running:
    return Running(
        state["study"], state["cell"], state["block"], state.get("running", ""), state["done"],
        state["total"], state["not_ok"], state.get("disturbed", 0), state.get("started", 0.0),
    )  # fmt: skip


def _piece(block: dict[str, Any], state: Running | None, now: float) -> Piece:
    loads, wall_s = block["loads"], None
    ended = state is None and _is_made(block)
    done = loads if ended else 0
    if state is not None:
        # What it kept of an earlier start counts as done in a block, and not here.
        done = min(loads, max(0, loads - (state.total - state.done)))
        wall_s = max(0.0, now - state.started)
    elif ended:
        wall_s = (_read(Path(block["file"])) or {}).get("wall_s")
    return Piece(
        block["study"], block.get("alone", False), loads, block["seconds"], done, ended, wall_s
    )


def _is_made(task: dict[str, Any]) -> bool:
    """Whether a file is there that was not there, or was another, when this start began."""
    try:
        return bool(Path(task["file"]).stat().st_mtime_ns != task["before"])
    except OSError:
        return False


def _read(file: Path) -> dict[str, Any] | None:
    try:
        read: dict[str, Any] = json.loads(file.read_text())
    except (OSError, json.JSONDecodeError):
        return None
    return read
