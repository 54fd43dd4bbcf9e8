from __future__ import annotations

import pytest

from howquick.testbed.errors import TestbedError
from howquick.testbed.link import Link
from howquick.testbed.netem import netem_arguments, tbf_arguments, totals_of
from howquick.testbed.testbed import make_backend

LINK = Link(10, 18, 2, 200)


def test_half_of_the_delay_and_all_of_the_loss_in_each_direction():
    words = " ".join(netem_arguments("to-server", LINK, seed=7))
    assert words == (
        "tc qdisc add dev to-server root handle 1: netem limit 1000000 delay 9000us"
        " loss random 2.000000% seed 7"
    )


def test_a_link_without_loss_draws_nothing():
    words = netem_arguments("to-server", Link(10, 18, 0, 200), seed=7)
    assert "loss" not in words
    assert "seed" not in words


def test_reseeding_changes_the_seed_alone():
    first = netem_arguments("to-client", LINK, 1)
    second = netem_arguments("to-client", LINK, 2, "change")
    assert [w for w in first if w not in ("add", "1")] == [
        w for w in second if w not in ("change", "2")
    ]
    assert second[-2:] == ["seed", "2"]


def test_rate_and_queue_are_a_child_of_the_delay():
    words = " ".join(tbf_arguments("to-client", LINK, wire=False))
    assert words == (
        "tc qdisc add dev to-client parent 1:1 handle 10: tbf rate 10000000bit burst 3028b"
        " limit 250000b"
    )


def test_a_wire_has_no_bucket_unless_the_link_has_one():
    words = tbf_arguments("to-client", LINK, wire=True)
    assert words[words.index("burst") + 1] == "1b"
    words = tbf_arguments("to-client", Link(10, 18, 2, 200, burst_bytes=9000), wire=False)
    assert words[words.index("burst") + 1] == "9000b"


def test_losses_are_told_from_drops_of_the_full_queue():
    qdiscs = [
        {"kind": "netem", "dev": "to-server", "packets": 80, "drops": 15, "qlen": 5},
        {"kind": "tbf", "dev": "to-server", "packets": 80, "drops": 5, "qlen": 3},
        {"kind": "netem", "dev": "to-client", "packets": 1, "drops": 0, "qlen": 0},
        {"kind": "tbf", "dev": "to-client", "packets": 1, "drops": 0, "qlen": 0},
    ]
    assert totals_of(qdiscs, "to-server") == {
        "entered": 100,
        "lost": 10,
        "queue_dropped": 5,
        "sent": 80,
    }


def test_unknown_backend_is_named(tmp_path):
    with pytest.raises(TestbedError, match="dummynet"):
        make_backend("dummynet", tmp_path)
