"""Studies with a player: what is made of them, and what is refused before anything runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import yaml

from howquick.content.pages import make_page, segment_sizes
from howquick.environment.endpoints import load_endpoints
from howquick.errors import ROOT, ConfigError
from howquick.files import read_json
from howquick.model import ResolvedStudy
from howquick.plan.estimate import expected_plt_s, expected_wall_s
from howquick.study import resolve as study_module
from howquick.study.declarations import workload_text
from howquick.study.resolve import Selection, resolve_study
from howquick.study.workload import fetch_mode, kind_of, load_bytes, normalised, page_name, video_of

PLAYER = {
    "ladder_mbit": [0.5, 1, 2],
    "segment_s": 4,
    "segments": 15,
    "buffer_s": 20,
    "algorithm": "bola",
}
GO = {"label": "x", "group": "g", "protocol": "h2", "server": "nginx", "client": "quic-go"}
Resolve = Callable[..., ResolvedStudy]


@pytest.fixture
def resolve(tmp_path, monkeypatch) -> Resolve:
    """A function that resolves how-quick with a player as its load, its arms those given by name."""

    def change(asked: dict[str, Any], arms=("x",), **fixed: Any) -> ResolvedStudy:
        data = yaml.safe_load((ROOT / "config/studies/how-quick.yaml").read_text())
        data["arms"]["x"] = GO
        for page in ("objects", "object_size"):
            del data["factors"][page]
        data["figures"] = data["claims"] = []
        data["comparison"]["pairs"] = []
        data["fixed"] |= {"workload": {"segments": asked}} | fixed
        data["scales"]["smoke"] = {
            "repetitions": 1, "timeout_s": 60, "block_seconds": 60, "full_captures": 1,
        }  # fmt: skip
        (tmp_path / "how-quick.yaml").write_text(yaml.safe_dump(data, sort_keys=False))
        monkeypatch.setattr(study_module, "STUDIES", tmp_path)
        return resolve_study("how-quick", Selection("smoke", 1, arms=arms))

    return change


def test_a_player_is_a_workload_of_its_own(resolve):
    study = resolve({"player": PLAYER}, arms=("x", "h2-nghttp2"), clock="real")
    cell = study["cells"][0]
    workload = cell["workload"]
    assert workload["segments"]["player"]["size_variation_percent"] == 10
    assert kind_of(workload) == "player" and fetch_mode(workload) == "steered"
    assert workload_text(workload) == "60 s of video of 0.5 to 2 Mbit/s"
    assert load_bytes(workload) == 60 * 2 * 125_000
    assert expected_plt_s(cell, study["arms"][0]) == 60
    assert expected_wall_s(study, cell) == pytest.approx(60, abs=2)
    # Only a client that says that it can be steered is.
    why = {entry["arm"]: entry["why"] for entry in cell["not_applicable"]}
    assert why == {
        "h2-nghttp2": "nghttp2 cannot be told during a load what to fetch next, as a player needs"
    }


def without(key: str) -> dict[str, Any]:
    return {name: value for name, value in PLAYER.items() if name != key}


@pytest.mark.parametrize(
    ("asked", "key", "remedy"),
    [
        ({"player": PLAYER | {"ladder_mbit": [1, 2, 2]}}, "player.ladder_mbit: 2 follows 2", "once"),
        ({"player": PLAYER | {"ladder_mbit": [2, 1]}}, "player.ladder_mbit: 1 follows 2", "lowest"),
        ({"player": PLAYER | {"ladder_mbit": [1]}}, "player.ladder_mbit", "2 to 20 rates"),
        ({"player": PLAYER | {"buffer_s": 7}}, "buffer_s: 7 s hold less than two", "8 or more"),
        ({"player": PLAYER | {"segments": 20}}, "takes at least 60 s", "timeout_s"),
        ({"player": PLAYER | {"algorithm": "guess"}}, "player.algorithm", "bola"),
        ({"player": PLAYER | {"colour": 1}}, "player", "Known keys here: algorithm"),
        ({"player": without("buffer_s")}, "`buffer_s` is missing", "seconds of video"),
        ({"player": PLAYER, "seeks": 3}, "segments", "player alone"),
        ({"bytes": 5}, "`seeks` is missing", "a player in place of both"),
    ],
)  # fmt: skip
def test_what_cannot_be_played_is_refused(resolve, asked, key, remedy):
    with pytest.raises(ConfigError) as caught:
        resolve(asked)
    message = str(caught.value)
    assert "how-quick.yaml" in message and key in message and remedy in message
    assert "\n" not in message


def test_moves_and_clients_without_the_ability_are_refused(resolve):
    with pytest.raises(ConfigError, match="has moves and a player"):
        resolve({"player": PLAYER}, moves=1)
    with pytest.raises(ConfigError, match="cannot be told during a load what to fetch next"):
        resolve({"player": PLAYER}, arms=("h2-nghttp2",))


def test_who_is_steered_has_a_gate():
    for endpoint in load_endpoints().values():
        client = endpoint.declaration.get("client", {})
        assert client.get("gate") or not client.get("steered"), endpoint.name


def test_sizes_are_rate_times_duration_with_a_scene_s_share(tmp_path):
    workload = normalised({"segments": {"player": PLAYER}})
    low, middle, high = segment_sizes(video_of(workload), page_name(workload), 7)
    assert len(low) == 15 and len(set(low)) > 10
    nominal = 4 * 125_000 * 0.5
    assert all(0.9 * nominal <= size <= 1.1 * nominal for size in low)
    # As rich in every rate.
    assert all(abs(m - 2 * size) <= 2 for size, m in zip(low, middle, strict=True))
    assert all(abs(h - 4 * size) <= 4 for size, h in zip(low, high, strict=True))
    # Who plays is no part of what is served; the seed is.
    other = normalised(
        {"segments": {"player": PLAYER | {"algorithm": "throughput", "buffer_s": 30}}}
    )
    assert page_name(other) == page_name(workload)
    assert segment_sizes(video_of(workload), page_name(workload), 8)[0] != low


def test_a_file_for_each_segment_in_each_rate(tmp_path):
    short = PLAYER | {"segments": 2, "segment_s": 0.1, "size_variation_percent": 0}
    workload = normalised({"segments": {"player": short}})
    make_page(workload, 7, tmp_path / "page")
    index = read_json(tmp_path / "page/page.json")
    assert [(entry["path"], entry["bytes"]) for entry in index] == [
        (f"/segments/{rung}/00{number}.m4s", size)
        for rung, size in enumerate((6250, 12500, 25000))
        for number in (0, 1)
    ]
    assert len({entry["sha256"] for entry in index}) == 6
    sizes = {p.stat().st_size for p in (tmp_path / "page/www/segments").rglob("*.m4s")}
    assert sizes == {6250, 12500, 25000}
