"""Progress on a terminal, at the bottom of the screen: a bar for each study, running blocks, time left."""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Callable
from typing import TextIO

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from howquick.progress.survey import Survey
from howquick.progress.words import clock, duration

EVERY_S = 1.0
# What the screen has no room for is only counted.
MOST_BLOCKS = 12
BAR_WIDTH = 28


def picture(now: Survey, left_s: float | None) -> RenderableType:
    """All that is to be seen of a survey."""
    parts: list[RenderableType] = [_studies(now)]
    if now.running:
        parts.append(_blocks(now))
    parts.append(Text(_state(now, left_s), style="bold", overflow="ellipsis", no_wrap=True))
    return Group(*parts)


def _studies(now: Survey) -> Table:
    table = Table.grid(padding=(0, 2))
    for study in dict.fromkeys(piece.study for piece in now.pieces):
        own = [piece for piece in now.pieces if piece.study == study]
        planned = sum(piece.seconds for piece in own)
        done = sum(piece.seconds * piece.share for piece in own)
        loads = f"{sum(p.done for p in own)} of {sum(p.loads for p in own)} loads"
        table.add_row(
            Text(study),
            ProgressBar(planned or 1.0, done if planned else 1.0, BAR_WIDTH),
            Text(loads),
        )
    return table


def _blocks(now: Survey) -> Table:
    table = Table.grid(padding=(0, 2))
    for one in now.running[:MOST_BLOCKS]:
        notes = [f"{one.not_ok} not ok"] if one.not_ok else []
        notes += [f"{one.disturbed} disturbed, measured again"] if one.disturbed else []
        table.add_row(
            Text(f"  {one.cell}", style="cyan", overflow="ellipsis", no_wrap=True),
            Text(one.now, no_wrap=True), Text(f"{min(one.done + 1, one.total)} of {one.total}", no_wrap=True),
            Text(", ".join(notes), style="yellow"),
        )  # fmt: skip
    if len(now.running) > MOST_BLOCKS:
        table.add_row(Text(f"  and {len(now.running) - MOST_BLOCKS} more"))
    return table


def _state(now: Survey, left_s: float | None) -> str:
    done, total = now.jobs
    jobs = f"job {done} of {total}" if total else ""
    ends = "" if left_s is None else f"{duration(left_s)} left, done about {clock(left_s)}"
    if now.calibrated < now.links and not now.loads:
        parts = [f"calibrated {now.calibrated} of {now.links} links", jobs]
    elif now.loads >= now.total:
        said = "measured; tables, statistics, figures" if now.total else ""
        parts = [said, ends, jobs]
    else:
        parts = [f"{len(now.running)} blocks running", ends, jobs]
    return ", ".join(filter(None, parts))


def show(
    look: Callable[[], tuple[Survey, float | None]], messages: TextIO, lives: Callable[[], bool]
) -> None:
    """Draw until the messages end or nobody lives who could write them.

    messages: what others write meanwhile, for the screen above the bars; its end ends the display.
    """
    console = Console(file=sys.stderr, highlight=False)
    with Live(picture(*look()), console=console, auto_refresh=False, transient=True) as live:
        os.set_blocking(messages.fileno(), False)
        kept = b""
        while True:
            part, over = _read(messages.fileno())
            kept += part
            whole, _, kept = kept.rpartition(b"\n")
            if whole:
                console.print(Text.from_ansi(whole.decode(errors="replace")), soft_wrap=True)
            if over or not lives():
                break
            live.update(picture(*look()), refresh=True)
            _wait(messages.fileno(), EVERY_S)
    if kept:
        console.print(Text.from_ansi(kept.decode(errors="replace")), soft_wrap=True)


def _read(descriptor: int) -> tuple[bytes, bool]:
    """What is there, and whether nothing will follow."""
    try:
        part = os.read(descriptor, 1 << 16)
    except BlockingIOError:
        return b"", False
    return part, not part


def _wait(descriptor: int, seconds: float) -> None:
    select.select([descriptor], [], [], seconds)
