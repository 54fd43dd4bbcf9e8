"""A player in virtual time: what it saw follows from the link by arithmetic."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from loads import SEED, run

from howquick.errors import ROOT
from howquick.extract.run import Options, extract_run
from howquick.files import read_json
from howquick.guest.guest import WAKEUP_NS
from workflow.blocks import make_plan, measure

TCP = {"protocol": "h2", "server": "nginx", "client": "quic-go"}
ARMS = {
    "tcp": TCP,
    "quic": TCP | {"protocol": "h3", "server": "quic-go", "congestion_control": "reno"},
}
# Frames of 1514 bytes with 1448 bytes of TCP payload, or at least 1200 of QUIC; then HTTP's own and TLS'.
LEAST, MOST = 1514 / 1460, 1.12
MBIT = 1e6 / 8
WAKE_UPS = 8


def watched(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    player: dict[str, Any],
    rate_mbit: float,
    rtt_ms: float,
) -> dict[str, tuple[dict[str, Any], list[dict[str, Any]]]]:
    """Measure one load of each arm; by arm the row of the table and the objects in their order."""

    def change(data: dict[str, Any]) -> None:
        data["factors"] = {"rtt_ms": {"label": "RTT", "unit": "ms", "levels": {"rtt": rtt_ms}}}
        data["fixed"] = {
            "bandwidth_mbit": rate_mbit, "loss_percent": 0, "queue_ms": 500, "mtu_bytes": 1500,
            "clock": "virtual", "workload": {"segments": {"player": player}},
        }  # fmt: skip

    plan = make_plan(tmp_path, monkeypatch, ARMS, cell=None, timeout_s=60, change=change)
    run(ROOT, "make_content.py", "certificates", "--clock", "virtual", "--seed", str(SEED),
        "--output", tmp_path / "content/certificates-virtual")  # fmt: skip
    status, output, block = measure(tmp_path, plan["cells"][0]["name"])
    assert status == 0 and block, output
    assert block["statuses"] == {"ok": len(ARMS)}, block["runs"]
    return {
        one["arm"]: (
            extract_run(block, one, tmp_path / one["path"], Options()).row,
            read_json(tmp_path / one["path"] / "timing.json")["objects"],
        )
        for one in block["runs"]
    }


def test_a_link_below_the_lowest_rate_stalls_for_the_difference(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each segment takes a round trip and its bytes at the link's rate, longer than it is played for."""
    rate, rtt, lowest, count = 1.0, 0.02, 1.5, 5
    player = {"ladder_mbit": [lowest, 3], "segment_s": 1, "segments": count, "buffer_s": 4,
              "algorithm": "bola", "size_variation_percent": 0}  # fmt: skip
    seen = watched(tmp_path, monkeypatch, player, rate, 1000 * rtt)
    for arm, (row, objects) in seen.items():
        assert [one["bytes"] for one in objects] == [round(lowest * MBIT)] * count
        low, high = (rtt + share * lowest / rate for share in (LEAST, MOST))
        # The first one has the handshakes before it, whose round trips and certificates are bytes too.
        assert low + rtt < row["startup_s"] < high + 2 * rtt + 10_000 / MBIT, arm
        assert row["stalls"] == count - 1 and row["mean_bitrate_mbit"] == lowest, arm
        assert (count - 1) * (low - 1) < row["stalled_s"] < (count - 1) * (high - 1), arm
        # What is not played is stalled.
        watching = row["startup_s"] + (count - 1) * player["segment_s"] + row["stalled_s"]
        assert watching == pytest.approx(row["plt_s"], abs=1e-6), arm


def test_a_full_buffer_is_waited_for_no_longer_than_waking_takes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There is room for one more segment whenever one has been played, and then it is asked for at once."""
    rtt, player = 0.04, {"ladder_mbit": [0.4, 0.8], "segment_s": 2, "segments": 8, "buffer_s": 6,
                         "algorithm": "throughput", "size_variation_percent": 0}  # fmt: skip
    seen = watched(tmp_path, monkeypatch, player, 10.0, 1000 * rtt)
    for arm, (row, objects) in seen.items():
        assert (row["stalls"], row["stalled_s"]) == (0, 0), arm
        # The first of the lowest rate; one of it suffices to go up.
        assert [one["path"].split("/")[2] for one in objects] == ["0"] + 7 * ["1"], arm
        assert row["mean_bitrate_mbit"] == pytest.approx((0.4 + 7 * 0.8) / 8), arm
        # Three segments fill the buffer; from then on one is asked for whenever one has been played. Until
        # it is, programs wake each other some times, and each of them runs WAKEUP_NS later.
        for number, one in enumerate(objects[3:], 1):
            asked = row["startup_s"] + number * player["segment_s"]
            assert one["start_s"] == pytest.approx(asked, abs=2e-3 + WAKE_UPS * WAKEUP_NS / 1e9)
        assert row["plt_s"] == objects[-1]["end_s"]
