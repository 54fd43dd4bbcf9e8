"""Links that are not symmetric, plain and quiet: what is refused, what tc is told, who cannot make them."""

from __future__ import annotations

import struct
from dataclasses import replace
from pathlib import Path

import pytest

from howquick.testbed.abilities import FEATURES, features, why_not
from howquick.testbed.aqm import aqm_arguments, dualpi2_message
from howquick.testbed.errors import TestbedError
from howquick.testbed.link import Link
from howquick.testbed.link_rules import AQMS, DISTRIBUTIONS
from howquick.testbed.netem import NO_DELAY, gilbert_percents, netem_arguments, reorder_table
from testbed.link_features import ASKED

LINK = Link(10, 40, 2, 200)
GOOD = LINK.to_dict()


@pytest.mark.parametrize(("key", "value"), ASKED.items())
def test_each_is_part_of_the_link_and_comes_back(key, value):
    link = Link.from_dict(GOOD | {key: value})
    assert link.to_dict() == GOOD | {key: value}
    assert features(link) == [key]
    assert Link.from_dict(link.to_dict()) == link


@pytest.mark.parametrize(
    "usual",
    [
        {"bandwidth_up_mbit": 10},
        {"delay_up_ms": 20},
        {"path_mtu_bytes": 1500},
        {"aqm": "none", "ecn": False},
        {"ecn": None},
        {"jitter_distribution": "pareto"},
        {"loss_in_burst_percent": 50},
    ],
)
def test_what_is_as_usual_leaves_no_trace(usual):
    assert Link.from_dict(GOOD | usual).to_dict() == GOOD


@pytest.mark.parametrize(
    ("change", "key", "remedy"),
    [
        ({"aqm": "red"}, "aqm", "fq_codel"),
        ({"ecn": True}, "ecn", "Add aqm"),
        ({"ecn": "yes"}, "ecn", "true or false"),
        ({"aqm": "cake", "ecn": False}, "ecn", "Set ecn to true"),
        ({"aqm": "pie", "burst_bytes": 100_000}, "burst_bytes", "one of them"),
        ({"delay_up_ms": 50}, "delay_up_ms", "no more than that"),
        ({"jitter_ms": 6}, "jitter_ms", "5 at most"),
        ({"jitter_ms": 3, "delay_up_ms": 35}, "jitter_ms", "1.25 at most"),
        ({"jitter_distribution": "poisson"}, "jitter_distribution", "pareto"),
        ({"jitter_ms": 1, "reorder_percent": 1}, "reorder_percent", "one of them"),
        ({"rtt_ms": 0, "reorder_percent": 1}, "reorder_percent", "Give each direction a delay"),
        ({"loss_burst_packets": 0.5}, "loss_burst_packets", "1 or more"),
        ({"loss_percent": 0, "loss_burst_packets": 3}, "loss_burst_packets", "Set loss_percent"),
        (
            {"loss_percent": 40, "loss_burst_packets": 2, "loss_in_burst_percent": 30},
            "loss_percent",
            "less loss",
        ),
        ({"loss_percent": 80, "loss_burst_packets": 1}, "loss_percent", "longer bursts"),
        ({"path_mtu_bytes": 1600}, "path_mtu_bytes", "no more than mtu_bytes"),
        ({"bandwidth_up_mbit": 0.01}, "bandwidth_up_mbit", "0.1"),
    ],
)
def test_a_contradiction_is_one_sentence_with_key_and_remedy(change, key, remedy):
    with pytest.raises(TestbedError) as caught:
        Link.from_dict(GOOD | change)
    assert f"link: {key} " in str(caught.value)
    assert remedy in str(caught.value)


@pytest.mark.parametrize("key", ["aqm", "delay_up_ms", "path_mtu_bytes", "bandwidth_up_mbit"])
def test_nothing_emulates_an_unshaped_link(key):
    bare = GOOD | {"bandwidth_mbit": "unshaped", "rtt_ms": 0, "loss_percent": 0}
    with pytest.raises(TestbedError, match=key):
        Link.from_dict(bare | {key: ASKED[key]})


def test_each_direction_is_a_symmetric_link_of_its_own():
    link = replace(LINK, bandwidth_up_mbit=1, delay_up_ms=30)
    up, down = link.side("up"), link.side("down")
    assert (up.bandwidth_mbit, up.rtt_ms, up.queue_bytes) == (1, 60, 25_000)
    assert (down.bandwidth_mbit, down.rtt_ms, down.queue_bytes) == (10, 20, 250_000)
    assert "delay 30000us" in " ".join(netem_arguments("to-server", up, 1))
    assert "delay 10000us" in " ".join(netem_arguments("to-client", down, 1))
    assert LINK.side("up") == LINK.side("down") == LINK


def test_a_correction_is_shared_by_both_directions():
    sooner = replace(LINK, delay_up_ms=30).sooner(0.4)
    assert sooner.rtt_ms == pytest.approx(39.6)
    assert sooner.delay_up_ms == pytest.approx(29.8)
    assert LINK.sooner(0.4) == replace(LINK, rtt_ms=39.6)
    assert replace(LINK, rtt_ms=0.2, delay_up_ms=0.2).sooner(0.4).rtt_ms == 0


def test_bursts_have_the_mean_that_was_asked_for():
    link = replace(LINK, loss_percent=3, loss_burst_packets=5, loss_in_burst_percent=60)
    enter, leave, inside = gilbert_percents(link)
    assert leave == 20 and inside == 60
    assert 100 * enter / (enter + leave) * inside / 100 == pytest.approx(3)
    words = " ".join(netem_arguments("to-server", link, 7))
    assert words.endswith("loss gemodel 1.052632% 20.000000% 60.000000% seed 7")


def test_jitter_is_netems_and_restarts_from_the_seed():
    words = " ".join(netem_arguments("to-server", replace(LINK, loss_percent=0, jitter_ms=2), 7))
    assert words.endswith("delay 20000us 2000us distribution normal seed 7")
    even = replace(LINK, loss_percent=0, jitter_ms=2, jitter_distribution="uniform")
    assert "distribution" not in netem_arguments("to-server", even, 7)


def test_a_packet_that_overtakes_is_one_without_delay():
    link = replace(LINK, loss_percent=0, reorder_percent=2.5)
    values = [int(word) for word in reorder_table(link).split()]
    assert values.count(NO_DELAY) / len(values) == 0.025 and values.count(0) == 9750
    words = " ".join(netem_arguments("to-server", link, 7))
    # 20 ms and the lowest number of the table, in units of 1/8192 of 5 ms, are nothing.
    assert words.endswith("delay 20000us 5000.000us distribution howquick-reorder seed 7")
    assert 20_000 + 5_000 * NO_DELAY / 8192 == 0


@pytest.mark.parametrize("name", [name for name in AQMS if not name.startswith("dualpi2")])
def test_a_queue_management_takes_the_place_of_the_queue_below_the_rate(name):
    words = " ".join(aqm_arguments("to-client", replace(LINK, aqm=name, ecn=True)))
    assert words.startswith(f"tc qdisc add dev to-client parent 10:1 handle 20: {name} ")
    assert ("limit 165" in words and words.endswith(" ecn")) or name == "cake"
    if name != "cake":
        assert aqm_arguments("to-client", replace(LINK, aqm=name))[-1] == "noecn"


@pytest.mark.parametrize(("any_ect", "length"), [(False, 8), (True, 16)])
def test_the_message_for_what_tc_does_not_know(any_ect, length):
    message = dualpi2_message(3, 165, any_ect)
    size, kind = struct.unpack_from("=IH", message)
    assert size == len(message) and kind == 36
    assert struct.unpack_from("=iII", message, 20) == (3, 0x200000, 0x100001)
    name, options = message[36:48], message[48:]
    assert name == struct.pack("=HH", 12, 1) + b"dualpi2\0"
    assert struct.unpack_from("=HHHHI", options) == (4 + length, 0x8002, 8, 1, 165)
    assert len(options) == 4 + length
    if any_ect:
        assert struct.unpack_from("=HHB", options, 12) == (5, 14, 3)


@pytest.mark.parametrize(("key", "value"), ASKED.items())
def test_rattan_says_what_it_has_not(key, value):
    link = Link.from_dict(GOOD | {key: value})
    assert FEATURES[key] in why_not("rattan", link)
    assert why_not("netem", link) == "" and why_not("rattan", LINK) == ""


def test_a_kernel_without_a_management_says_so():
    link = replace(LINK, aqm="cake", ecn=True)
    assert "no cake" in why_not("netem", link, ["codel"])
    assert why_not("netem", link, ["cake"]) == ""


def test_the_tables_of_delays_are_those_of_netem():
    """Of iproute2 in the environment: the least value, the mean and the standard deviation."""
    for name, (below, mean, deviation) in DISTRIBUTIONS.items():
        files = list(Path("/usr/lib").glob(f"*/tc/{name}.dist"))
        if name == "uniform" or not files:
            continue
        lines = [line for line in files[0].read_text().splitlines() if not line.startswith("#")]
        values = [int(word) / 8192 for line in lines for word in line.split()]
        middle = sum(values) / len(values)
        spread = (sum((value - middle) ** 2 for value in values) / len(values)) ** 0.5
        assert (-min(values), middle, spread) == pytest.approx((below, mean, deviation), abs=1e-4)


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ({"aqm": "cake", "ecn": True}, {"aqm": "cake"}),
        ({"aqm": "pie", "ecn": False}, {"aqm": "pie"}),
        ({"aqm": "pie", "ecn": True}, {"aqm": "pie", "ecn": True}),
    ],
)
def test_whether_a_queue_marks_is_said_where_it_could_be_otherwise(said, kept):
    link = Link.from_dict(GOOD | said)
    assert link.to_dict() == GOOD | kept
    assert Link.from_dict(link.to_dict()).marks == link.marks == said["ecn"]
