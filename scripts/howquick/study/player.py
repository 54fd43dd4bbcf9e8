"""What a workload with a player asks for, and cannot be."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

from howquick.environment.endpoints import Endpoint
from howquick.errors import ConfigError
from howquick.model import Cell
from howquick.player.video import Video
from howquick.study.workload import kind_of, video_of


def check_player(path: Path, cell: Cell, timeout_s: float) -> None:
    """Raise ConfigError where a cell has a player that cannot play its video, or not within the limit."""
    if kind_of(cell["workload"]) == "player":
        key = f"cell {cell['name']}: workload.segments.player"
        _check_video(path, key, video_of(cell["workload"]), timeout_s)
        if "moves" in cell:
            raise ConfigError(
                path, f"cell {cell['name']}", "has moves and a player",
                "Moves come at shares of all bytes, which a player decides as it goes: set moves to 0",
            )  # fmt: skip


def _check_video(path: Path, key: str, video: Video, timeout_s: float) -> None:
    for lower, higher in pairwise(video.ladder_mbit):
        if higher <= lower:
            raise ConfigError(
                path, f"{key}.ladder_mbit", f"{higher:g} follows {lower:g}",
                "List the rates from the lowest to the highest, each once",
            )  # fmt: skip
    if video.buffer_s < 2 * video.segment_s:
        raise ConfigError(
            path, f"{key}.buffer_s",
            f"{video.buffer_s:g} s hold less than two segments of {video.segment_s:g} s",
            f"While one is played another one comes: ask for {2 * video.segment_s:g} or more",
        )  # fmt: skip
    if timeout_s <= video.least_s:
        raise ConfigError(
            path, f"{key}.segments",
            f"a video of {video.duration_s:g} s with a buffer of {video.buffer_s:g} s takes at least "
            f"{video.least_s:g} s, and the scale's timeout_s is {timeout_s:g}",
            "Ask for fewer segments, or for a longer timeout_s",
        )  # fmt: skip


def cannot_be_steered(client: Endpoint) -> str | None:
    """Why a client cannot be told during a load what to fetch next; None if it can."""
    declared = client.declaration["client"]
    if declared.get("steered") and declared["gate"]:
        return None
    return f"{client.name} cannot be told during a load what to fetch next, as a player needs"
