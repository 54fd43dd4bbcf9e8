"""Options that a level leaves alone, arms of some cells only, labels, and profiles of bulk loads."""

import json
import subprocess
import sys

import pytest
import yaml

from howquick.cpu_categories import CATEGORIES, category
from howquick.errors import ROOT, ConfigError
from howquick.extract.run import _profile
from howquick.measure.profiling import Profile
from howquick.study import resolve as study_module
from howquick.study.resolve import Selection, resolve_study
from workflow.blocks import measure, meta
from workflow.one_cell import run, single

BASE = "offloads-ownbuffers-owncipher-aesni"


@pytest.fixture
def resolve(tmp_path, monkeypatch):
    """A function that edits a copy of the study and resolves it."""

    def change(function=lambda data: None, scale="artifact"):
        data = yaml.safe_load((ROOT / "config/studies/highway.yaml").read_text())
        function(data)
        (tmp_path / "highway.yaml").write_text(yaml.safe_dump(data, sort_keys=False))
        monkeypatch.setattr(study_module, "STUDIES", tmp_path)
        return resolve_study("highway", Selection(scale, 1))

    return change


def cell(study, name):
    return next(c for c in study["cells"] if c["name"] == name)


def test_a_level_may_leave_an_option_alone_and_measure_arms_without_it(resolve):
    study = resolve()
    base, chacha = cell(study, BASE), cell(study, "offloads-ownbuffers-chacha20-aesni")
    assert "options" not in base and chacha["options"] == {"cipher": "chacha20"}
    out = {entry["arm"]: entry["why"] for entry in chacha["not_applicable"]}
    assert "has the option cipher" in out["sctp"]
    assert "sctp" not in {entry["arm"] for entry in base["not_applicable"]}
    levels = {level["name"]: level for level in study["factors"][1]["levels"]}
    assert levels["buffers8"] == {"name": "buffers8", "value": 1703936, "label": "8 ×"}


def test_a_client_is_left_out_where_it_cannot_load_the_workload():
    study = resolve_study("arms", Selection("artifact", 1))
    left_out = {
        cell["name"]: {entry["arm"]: entry["why"] for entry in cell["not_applicable"]}
        for cell in study["cells"]
    }
    assert (
        left_out["unshaped-0ms-loss0-bulk"]["h2-nginx-nghttp2"]
        == "nghttp2 cannot load the workload bulk"
    )
    assert "h2-nginx-nghttp2" not in left_out["10mbit-20ms-loss0-page"]


def test_an_arm_may_belong_to_some_cells_only(resolve):
    study = resolve()
    out = {
        e["arm"]: e["why"]
        for e in cell(study, "offloads-buffers1-owncipher-aesni")["not_applicable"]
    }
    for arm in ("tls", "h3-quiche-quinn", "h3-haproxy-curl"):
        assert out[arm] == "the study has this arm in other cells only"
    assert "h3-quiche-quiche" not in out
    # Where it is measured is no part of what an arm is: a new cell must not make its runs invalid.
    assert all("cells" not in arm for arm in study["arms"])


@pytest.mark.parametrize(
    ("change", "key", "remedy"),
    [
        (lambda d: d["arms"]["tls"].update(cells={"offloads": "of"}), "arms.tls.cells.offloads", "Levels"),
        (lambda d: d["factors"]["offloads"]["labels"].update(x="y"), "factors.offloads.labels.x", "udponly"),
        (lambda d: d["profile"]["arms"].append("h9"), "profile.arms", "Did you mean"),
        (lambda d: d["profile"].update(cells=["x"]), "profile.cells", "Did you mean"),
        (lambda d: d["claims"][0]["test"][0].update(quantity="range"), "quantity", "spread"),
    ],
)  # fmt: skip
def test_what_does_not_exist_is_refused(resolve, change, key, remedy):
    with pytest.raises(ConfigError) as caught:
        resolve(change)
    message = str(caught.value)
    assert key in message and remedy in message and "\n" not in message


@pytest.mark.parametrize("scale", ["smoke", "artifact", "paper"])
def test_every_scale_can_be_planned(resolve, scale):
    study = resolve(scale=scale)
    assert all(
        cell["alone"] and cell["link"]["bandwidth_mbit"] == "unshaped" for cell in study["cells"]
    )
    assert cell(study, BASE)["profile"][0] == "tls"


@pytest.mark.parametrize(
    ("library", "symbol", "expected"),
    [
        ("libcrypto.so.3", "0x00000000000c1f20", "crypto"),
        ("server", "aws_lc_0_29_0_aes_gcm_enc_update_vaes_avx512", "crypto"),
        ("client", "quinn_proto::connection::Connection::handle_event", "connection"),
        ("client", "<mio::sys::unix::selector::Selector>::select", "io"),
        ("server", "internal/runtime/syscall.Syscall6", "io"),
        ("server", "runtime.memmove", "memory"),
        ("libc.so.6", "__memcpy_avx512_unaligned_erms", "memory"),
        ("libc.so.6", "sendmsg", "io"),
        ("libngtcp2.so.16", "0x0000000000012345", "connection"),
        ("server", "0x0000000000012345", "unknown"),
        ("[unknown]", "[unknown]", "unknown"),
    ],
)
def test_samples_are_sorted_by_what_they_are_for(library, symbol, expected):
    assert category(library, symbol) == expected


def test_a_program_is_sampled_while_it_runs(tmp_path):
    spin = "import hashlib\nwhile True: hashlib.sha256(bytes(1 << 20))"
    program = subprocess.Popen([sys.executable, "-c", spin], start_new_session=True)
    try:
        profile = Profile(program.pid, tmp_path / "samples")
        with pytest.raises(subprocess.TimeoutExpired):
            program.wait(timeout=1)
        found = profile.finish()
    finally:
        program.kill()
        program.wait()
    assert set(found) == {"samples", "user_s", "kernel_s", "categories"}, found
    assert found["samples"] > 20
    assert found["categories"]["crypto"] > 0.5
    assert sum(found["categories"].values()) == pytest.approx(1, abs=0.01)


def test_without_perf_the_reason_is_kept(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert Profile(1, tmp_path / "samples").finish(0.0) == {"unavailable": "perf is not installed"}


def test_shares_of_a_profile_are_those_of_all_processor_time():
    shares = dict.fromkeys(CATEGORIES, 0.0) | {"crypto": 0.25, "connection": 0.75}
    columns = _profile("server", {"user_s": 0.4, "kernel_s": 0.6, "categories": shares})
    assert columns["profile_server_kernel_percent"] == pytest.approx(60)
    assert columns["profile_server_crypto_percent"] == pytest.approx(10)
    assert sum(columns.values()) == pytest.approx(100)
    assert _profile("server", {"unavailable": "x"}) == {}


def test_the_pilot_of_an_arm_is_sampled_where_the_study_asks(tmp_path, monkeypatch):
    def change(data):
        single({"bulk": {"seconds": 0.4, "at_most_bytes": 1 << 26}}, bandwidth_mbit="unshaped")(
            data
        )
        data["factors"]["rtt_ms"]["levels"] = {"0ms": 0}
        data["observe"] = {"captures": False, "qlog": False}
        data["profile"] = {"arms": ["one"]}

    _, name, manifest = run(tmp_path, monkeypatch, change)
    assert manifest["statuses"], manifest
    profile = meta(tmp_path, "one", cell=name)["bulk"]["profile"]
    assert set(profile) == {"server", "client"}
    assert {"samples", "unavailable"} & set(profile["client"]), json.dumps(profile)
    assert measure(tmp_path, name)[2]["measured"] == 0
