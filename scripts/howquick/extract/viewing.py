"""What a viewer saw of a video, from when its segments were complete."""

from __future__ import annotations

from typing import Any

from howquick.player.playback import played
from howquick.player.video import Video, rung_of
from howquick.timing import Timing


def viewing_columns(player: dict[str, Any], timing: Timing) -> dict[str, Any]:
    """Start of playing, stalls and mean rate of a video (docs/formats.md, section 6).

    player: of the workload. The same model of the buffer tells them that decided what was asked for, by the
    client's own clock. Raises LookupError, TypeError or ValueError where it is no player, or the objects
    are not its video's.
    """
    video = Video.from_dict(player)
    rates = [video.ladder_mbit[rung_of(one.path)] for one in timing.objects]
    playback = played((one.end_s for one in timing.objects), video.segment_s)
    return {
        "startup_s": playback.startup_s,
        "stalls": playback.stalls,
        "stalled_s": playback.stalled_s,
        # Segments are equally long.
        "mean_bitrate_mbit": sum(rates) / len(rates),
    }
