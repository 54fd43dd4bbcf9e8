"""What a player showed, from when the client says that its segments were complete."""

from __future__ import annotations

import json
from typing import Any

from capture.recordings import Results, extract
from howquick.player.video import segment_path

COLUMNS = ("startup_s", "stalls", "stalled_s", "mean_bitrate_mbit")
PLAYER = {"ladder_mbit": [1, 2.5], "segment_s": 4, "segments": 4, "buffer_s": 20,
          "algorithm": "bola", "size_variation_percent": 10}  # fmt: skip
# Played until 5 and 9; the third comes at 10 and is played until 14, the fourth comes at 20.
ENDS, RUNGS = (1, 3, 10, 20), (0, 0, 1, 0)


def watched(results: Results, arm: str, **changes: Any) -> None:
    """Make a run one of a player that fetched these segments."""
    objects = [
        {"path": f"/{segment_path(rung, n)}", "status": 200, "bytes": 10, "start_s": end - 1, "end_s": end}
        for n, (rung, end) in enumerate(zip(RUNGS, ENDS, strict=True))
    ]  # fmt: skip
    path = results.run(arm) / "timing.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"objects": objects}))
    workload = {"segments": {"player": PLAYER | changes}}
    results.edit_meta(arm, lambda meta: meta.update(workload=workload))


def test_start_stalls_and_rate_follow_from_the_times_of_the_segments(results: Results) -> None:
    watched(results, "h2")
    table = extract(results)
    assert table["h2"]["status"] == "ok", table["h2"]["reason"]
    assert [table["h2"][name] for name in COLUMNS] == ["1.000000", "2", "7.000000", "1.375"]
    # Each of them took a second.
    assert table["h2"]["loading_delay_s"] == "1.000000"
    assert [table["h1"][name] for name in COLUMNS] == [""] * 4


def test_a_player_that_is_none_leaves_its_columns_empty(results: Results) -> None:
    watched(results, "h1", ladder_mbit=[1])
    watched(results, "h2", ladder_mbit="fast")
    watched(results, "h3", colour="blue")
    table = extract(results)
    for arm in ("h1", "h2", "h3"):
        assert table[arm]["status"] == "ok"
        assert [table[arm][name] for name in COLUMNS] == [""] * 4
        assert "workload.segments.player" in table[arm]["extract_note"]
