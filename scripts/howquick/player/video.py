"""A video in segments and rates, as a study describes it (docs/formats.md, 1), and the names of its files."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

_PATH = re.compile(r"/?segments/(\d+)/(\d+)\.m4s")


@dataclass(frozen=True)
class Video:
    """What is played, and how: `ladder_mbit` are the rates of its rungs, the lowest first.

    segments: how many, of `segment_s` seconds each. buffer_s: seconds of video that a player holds at most.
    algorithm: a name of howquick.player.algorithms. size_variation_percent: how far a segment's size is from
    rate × duration at most, the same for all rungs.
    """

    ladder_mbit: tuple[float, ...]
    segment_s: float
    segments: int
    buffer_s: float
    algorithm: str
    size_variation_percent: float

    @classmethod
    def from_dict(cls, given: dict[str, Any]) -> Video:
        """The `player` of a workload. Raises TypeError or ValueError where that is not one."""
        return cls(**given | {"ladder_mbit": tuple(map(float, given["ladder_mbit"]))})

    @property
    def duration_s(self) -> float:
        """How long the video is, seconds."""
        return self.segments * self.segment_s

    @property
    def least_s(self) -> float:
        """What a load takes at least, seconds: the last segment has room when so much has been played."""
        return max(0.0, self.duration_s - self.buffer_s)


def segment_path(rung: int, number: int) -> str:
    """Where a segment lies below the served folder."""
    return f"segments/{rung}/{number:03}.m4s"


def rung_of(path: str) -> int:
    """The rung of a segment, from its path. Raises ValueError for the path of something else."""
    if found := _PATH.fullmatch(path):
        return int(found[1])
    raise ValueError(f"{path} is no segment of a video")
