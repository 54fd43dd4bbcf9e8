"""Traces of a rate: what a file may hold, what rate follows from it, and what is refused."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from howquick.errors import ROOT, ConfigError
from howquick.testbed import trace
from howquick.testbed.abilities import features, why_not
from howquick.testbed.errors import TestbedError
from howquick.testbed.link import Link
from howquick.testbed.replay import describe
from howquick.testbed.wire import changes

SAMPLE = "cellular-walk"
GOOD = Link(4, 40, 0, 250, rate_trace=SAMPLE)
Write = Callable[[str], trace.Trace]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Write a trace `made` as the only one there is, and read it."""
    monkeypatch.setattr(trace, "FOLDER", tmp_path)

    def written(text: str) -> trace.Trace:
        (tmp_path / "made.trace").write_text(text)
        return trace.load("made")

    return written


def test_each_window_has_the_rate_of_its_opportunities(write: Write) -> None:
    # On the border of two windows it is the end of the first; the last window is shorter.
    made = write("0\n50\n100\n101\n450\n450\n")
    assert made.period_ms == 450
    assert made.steps() == [
        (100, pytest.approx(0.36)), (200, pytest.approx(0.12)), (300, 0), (400, 0), (450, pytest.approx(0.48))
    ]  # fmt: skip
    assert made.mean_mbit == pytest.approx(6 * 1500 * 8 / 0.45 / 1e6)
    carried = sum(
        mbit * (end - begin)
        for (end, mbit), begin in zip(made.steps(), (0, 100, 200, 300, 400), strict=True)
    )
    assert carried == pytest.approx(made.mean_mbit * made.period_ms)


def test_a_trace_repeats(write: Write) -> None:
    steps = [(100, 7), (150, 0)]
    came = changes(steps, 10**9)
    assert [next(came) for _ in range(5)] == [
        (10**9, 7), (1_100_000_000, 0), (1_150_000_000, 7), (1_250_000_000, 0), (1_300_000_000, 7)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ("made.trace: is empty", "Write a line")),
        ("1\n2\n\n3\n", ("line 3", "'' is no time", "whole milliseconds")),
        ("1\n2.5\n", ("line 2", "'2.5' is no time")),
        ("-1\n", ("line 1", "'-1' is no time")),
        ("1_0\n", ("line 1", "no time")),
        ("1\n³\n", ("cannot be read",)),
        ("5\n4\n", ("line 2", "4 after 5", "Sort")),
        ("0\n0\n", ("line 2", "the last time is 0", "length")),
        ("1\n20002\n", ("line 2", "from 1 to 20002 ms", "Shorten")),
        ("20001\n", ("line 1", "from 0 to 20001 ms", "Shorten")),
    ],
)
def test_what_is_no_trace_is_refused_by_file_line_and_remedy(
    write: Write, text: str, words: tuple[str, ...]
) -> None:
    with pytest.raises(ConfigError) as refused:
        write(text)
    said = str(refused.value)
    assert "made.trace" in said and len(said.splitlines()) == 1
    for word in words:
        assert word in said


def test_a_trace_without_end_is_refused(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trace, "MOST_OPPORTUNITIES", 2)
    with pytest.raises(ConfigError, match="3 lines, more than 2"):
        write("1\n2\n3\n")


@pytest.mark.parametrize(
    ("change", "key", "remedy"),
    [
        ({"rate_trace": "../schemas/x"}, "rate_trace", "the name of one that is there"),
        ({"rate_trace": "/etc/passwd"}, "rate_trace", "the name of one that is there"),
        ({"rate_trace": "nowhere"}, "rate_trace", SAMPLE),
        ({"rate_trace": 4}, "rate_trace", "the name of one that is there"),
        ({"rate_trace": f"{SAMPLE}@0123456789abcdef"}, "rate_trace", "it plans anew"),
        ({"bandwidth_mbit": 5}, "bandwidth_mbit", "Give the mean, 4"),
        ({"burst_bytes": 100_000}, "burst_bytes", "one of them"),
        ({"rate_trace_up": SAMPLE, "bandwidth_up_mbit": 1}, "bandwidth_up_mbit", "the mean, 4"),
        ({"rate_trace_up": "nowhere"}, "rate_trace_up", "the name of one"),
        ({"bandwidth_mbit": float("inf"), "rtt_ms": 0}, "rate_trace", "give bandwidth_mbit a number"),
    ],
)  # fmt: skip
def test_what_contradicts_a_trace_is_one_sentence_with_key_and_remedy(change, key, remedy):  # type: ignore[no-untyped-def]
    with pytest.raises(TestbedError) as caught:
        replace(GOOD, **change)
    assert f"link: {key} " in str(caught.value) and remedy in str(caught.value)


def test_a_trace_is_part_of_the_link_and_comes_back() -> None:
    assert Link.from_dict(GOOD.to_dict()) == GOOD
    assert GOOD.to_dict()["rate_trace"] == SAMPLE
    # What says the same in other words is no other link.
    assert replace(GOOD, rate_trace_up=SAMPLE, bandwidth_up_mbit=4).to_dict() == GOOD.to_dict()
    assert "rate_trace" not in replace(GOOD, rate_trace="none").to_dict()


def test_a_direction_follows_its_own_trace() -> None:
    assert GOOD.side("up") == GOOD.side("down")
    slower = replace(GOOD, bandwidth_up_mbit=1)
    assert (slower.side("up").rate_trace, slower.side("down").rate_trace) == ("none", SAMPLE)
    faster = replace(GOOD, bandwidth_mbit=8, rate_trace="none")
    only_up = replace(faster, bandwidth_up_mbit=4, rate_trace_up=SAMPLE)
    assert (only_up.side("up").rate_trace, only_up.side("down").rate_trace) == (SAMPLE, "none")
    assert Link.from_dict(only_up.to_dict()) == only_up


def test_only_virtual_time_has_it() -> None:
    for link in (GOOD, replace(GOOD, rate_trace="none", rate_trace_up=SAMPLE)):
        assert features(link)
        assert "a rate that follows a trace" in why_not("rattan", link)
        assert "a rate that follows a trace would change late" in why_not("netem", link, ["codel"])
        assert why_not("netem", link) == ""
    assert why_not("netem", replace(GOOD, rate_trace="none"), []) == ""


def test_the_queue_is_as_long_as_at_the_mean_rate() -> None:
    described = describe("to-client", GOOD.side("down"))
    assert described["limit"] == replace(GOOD, rate_trace="none").queue_bytes == 125_000
    assert described["rate"] == 500_000
    assert described["steps"][19:21] == [(2000, 0), (2100, 0)]


def test_the_sample_is_what_its_program_writes() -> None:
    argv = [sys.executable, ROOT / "scripts/make_trace.py", "--seed", "14"]
    made = subprocess.run(argv, capture_output=True, text=True, check=True).stdout
    assert made == (ROOT / f"config/traces/{SAMPLE}.trace").read_text()
    sample = trace.load(SAMPLE)
    assert (sample.mean_mbit, sample.period_ms) == (4, 60_000)
