"""The studies web-streaming and initial-window ask for what they say."""

import pytest

from howquick.schemas import load_yaml
from howquick.study import host
from howquick.study.cells import arms_of, is_selected
from howquick.study.resolve import STUDIES, Selection, resolve_study

SCALES = ("smoke", "artifact", "paper")
SEGMENTS = {"qhd": (0, 99), "fhd": (100, 200), "hd": (201, 10_000)}  # ms


@pytest.fixture(params=SCALES)
def streaming(request):
    return resolve_study("web-streaming", Selection(request.param, 1))


def test_segments_follow_the_rendition_rule(streaming):
    seen = set()
    for cell in streaming["cells"]:
        rendition = cell["levels"]["workload"].removeprefix("lossy")
        if rendition in SEGMENTS:
            low, high = SEGMENTS[rendition]
            assert low <= cell["values"]["rtt_ms"] <= high, cell["name"]
            seen.add(rendition)
    assert {"qhd", "fhd"} <= seen


def test_one_factor_is_swept_at_a_time(streaming):
    for cell in streaming["cells"]:
        values = cell["values"]
        assert not (values["loss_percent"] and values["moves"]), cell["name"]
        assert not values["moves"] or values["rtt_ms"] == 150


def test_arms_meet_only_where_they_can_be_compared(streaming):
    for cell in streaming["cells"]:
        names = {arm["name"] for arm in arms_of(streaming, cell)}
        if cell["levels"]["workload"] == "web":
            assert names == {"h2-chromium", "h3-chromium", "h2-go", "h3-go"}
        else:
            assert {"tcp", "sctp", "sctp-kernel", "quic", "quinn"} <= names
            assert ("quic-migrate" in names) == bool(cell.get("moves"))


@pytest.mark.parametrize("scale", ["artifact", "paper"])
def test_every_cell_that_a_claim_needs_is_measured(scale):
    study = resolve_study("web-streaming", Selection(scale, 1))
    known = resolve_study("web-streaming", Selection("paper", 1))["cells"]
    planned = {cell["name"] for cell in study["cells"]}
    for claim in study["claims"]:
        for condition in claim["test"]:
            wanted = {cell["name"] for cell in known if is_selected(cell, condition["cells"])}
            assert wanted and wanted <= planned, (claim["id"], condition["cells"])


def test_every_arm_sends_by_the_same_congestion_control(streaming):
    assert {arm["congestion_control"] for arm in streaming["arms"]} == {"reno"}


@pytest.mark.parametrize("scale", SCALES)
def test_the_example_gives_every_arm_the_window(scale):
    study = resolve_study("initial-window", Selection(scale, 1))
    windows = {cell["options"]["initial_window_packets"] for cell in study["cells"]}
    assert {4, 32} <= windows <= {4, 10, 32}
    assert not any(cell["not_applicable"] for cell in study["cells"])


def test_what_a_merge_key_brings_may_be_overridden(tmp_path):
    text = (STUDIES / "initial-window.yaml").read_text()
    merged = text.replace("  h2: {", "  h2: &arm {").replace(
        "  h3: {label: HTTP/3 (quiche), group: QUIC, protocol: h3, server: quiche, client: quiche}",
        "  h3: {<<: *arm, label: another}",
    )
    assert "<<: *arm" in merged
    (tmp_path / "study.yaml").write_text(merged)
    arms = load_yaml(tmp_path / "study.yaml", "study")["arms"]
    assert arms["h3"] == arms["h2"] | {"label": "another"}


def arms_of_condition(condition):
    """All arms that a condition names."""
    sides = (condition.get(side, []) for side in ("arm", "against"))
    return [arm for side in sides for arm in (side if isinstance(side, list) else [side])]


def test_the_kernels_sctp_is_the_one_of_the_claims(streaming):
    """That in user space over UDP is tested the same way beside it, and counts for nothing."""
    assert streaming["comparison"]["arms"] == ["tcp", "sctp-kernel", "quic"]
    for figure in streaming["figures"]:
        arms = figure.get("arms", [])
        assert "sctp" not in arms or arms.index("sctp") == arms.index("sctp-kernel") + 1
    for claim in streaming["claims"]:
        tested = {"sctp": [], "sctp-kernel": []}
        for condition in claim["test"]:
            arms = arms_of_condition(condition)
            for arm in set(arms) & set(tested):
                tested[arm].append((condition["quantity"], str(condition["cells"])))
            assert "sctp" not in arms or condition["counts"] is False, claim["id"]
        assert sorted(tested["sctp"]) == sorted(tested["sctp-kernel"]), claim["id"]


def test_on_the_real_clock_a_kernel_without_sctp_has_no_claim_on_it(monkeypatch):
    monkeypatch.setattr(host, "has_sctp", lambda: False)
    study = resolve_study("web-streaming", Selection("artifact", 1, clock="real"))
    for cell in study["cells"]:
        if cell["levels"]["workload"] != "web":
            out = {entry["arm"]: entry for entry in cell["not_applicable"]}
            assert "has no SCTP" in out["sctp-kernel"]["why"]
            # No other scale has it either: the verdict is "not applicable".
            assert "left_out" not in out["sctp-kernel"]
