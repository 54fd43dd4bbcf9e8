"""One block, measured for real: what it leaves, what it keeps, and how failures show."""

import pytest

from workflow.blocks import make_plan, measure, meta


def test_a_run_folder_is_complete_and_clocks_agree(tmp_path, monkeypatch):
    make_plan(tmp_path, monkeypatch, {"one": {}}, repetitions=2)
    status, output, manifest = measure(tmp_path)
    assert status == 0, output
    assert manifest["statuses"] == {"ok": 2} and manifest["kept"] == 0
    run = tmp_path / manifest["runs"][0]["path"]
    assert {
        "client.pcapng",
        "server.pcapng",
        "timing.json",
        "meta.json",
        "client.log",
        "server.log",
    } <= {path.name for path in run.iterdir()}
    data = meta(tmp_path, "one")
    assert data["network_s"] > 0.07  # four round trips of 18 ms at least
    assert data["captures"]["client"]["longest_frame_bytes"] <= 1514
    assert data["settings"]["offloads"]["client/eth0"]["tcp-segmentation-offload"] is False
    assert data["network"]["after"]["emulator"]["down"]["lost"] == 0
    assert not list(tmp_path.rglob(".*.tmp*"))


def test_what_is_measured_is_kept_and_a_new_arm_is_measured_alone(tmp_path, monkeypatch):
    make_plan(tmp_path, monkeypatch, {"one": {}})
    assert measure(tmp_path)[0] == 0
    started = meta(tmp_path, "one")["started"]
    status, _, manifest = measure(tmp_path)
    assert status == 0 and (manifest["measured"], manifest["kept"]) == (0, 1)
    make_plan(tmp_path, monkeypatch, {"one": {"label": "renamed"}, "two": {"protocol": "h2"}})
    status, _, manifest = measure(tmp_path)
    assert status == 0 and (manifest["measured"], manifest["kept"]) == (1, 1)
    assert meta(tmp_path, "one")["started"] == started
    make_plan(tmp_path, monkeypatch, {"one": {"options": {"connections": 2}}})
    assert measure(tmp_path)[2]["measured"] == 1
    assert meta(tmp_path, "one")["started"] > started


def test_arms_of_one_repetition_lose_by_the_same_seed(tmp_path, monkeypatch):
    cell = "10mbit-18ms-loss2-5obj-large"
    make_plan(
        tmp_path, monkeypatch, {"one": {}, "two": {"protocol": "h2"}}, cell=cell, repetitions=2
    )
    assert measure(tmp_path, cell)[0] == 0
    seeds = {
        (arm, repetition): tuple(meta(tmp_path, arm, repetition, cell)["seeds"].values())
        for arm in ("one", "two")
        for repetition in (0, 1)
    }
    assert seeds["one", 0] == seeds["two", 0] != seeds["one", 1] == seeds["two", 1]
    lost = [
        meta(tmp_path, arm, 0, cell)["network"]["after"]["emulator"]["down"]["lost"]
        for arm in ("one", "two")
    ]
    assert all(lost)


@pytest.mark.parametrize(
    ("arm", "status", "reason"),
    [
        ({"server": "dies"}, "failed", "no such configuration"),
        ({"server": "wrong-bytes"}, "failed", "/objects/001.jpg: other bytes than served"),
        ({"client": "hangs"}, "timeout", "not loaded within 3 s"),
        ({"client": "lies"}, "failed", "wrote no timing"),
        ({"client": "refuses"}, "failed", "not supported: not on this machine"),
        ({"client": "absent"}, "failed", "is it built? See envs/absent/"),
    ],
)
def test_a_failure_is_a_result_with_its_reason(tmp_path, monkeypatch, arm, status, reason):
    make_plan(tmp_path, monkeypatch, {"bad": arm, "good": {}}, timeout_s=3)
    code, output, manifest = measure(tmp_path)
    assert code == 0, output
    runs = {run["arm"]: run for run in manifest["runs"]}
    assert runs["good"]["status"] == "ok"
    assert runs["bad"]["status"] == status
    assert reason in runs["bad"]["reason"]
    # Without a server there was nothing to capture.
    assert (tmp_path / runs["bad"]["path"] / "client.pcapng").exists() == (
        arm != {"server": "dies"}
    )
    assert meta(tmp_path, "bad")["status"] == status


def test_a_failed_calibration_stops_the_block_with_a_sentence(tmp_path, monkeypatch):
    make_plan(tmp_path, monkeypatch, {"one": {}})
    (tmp_path / "calibration.json").write_text(
        '{"verdict": "fail", "checks": [{"quantity": "rtt_ms", "direction": "both", "asked": 18,'
        ' "measured": 25, "verdict": "fail"}]}'
    )
    status, output, manifest = measure(tmp_path)
    assert status == 1 and manifest is None
    assert "asked 18, measured 25" in output and "Traceback" not in output
