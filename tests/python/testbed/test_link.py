from __future__ import annotations

import json

import pytest

from howquick.testbed.errors import TestbedError
from howquick.testbed.link import Link

GOOD = {"bandwidth_mbit": 10, "rtt_ms": 18, "loss_percent": 2, "queue_ms": 200, "mtu_bytes": 1500}


def test_json_and_back():
    assert Link.from_json(json.dumps(GOOD)).to_dict() == GOOD


def test_file(tmp_path):
    file = tmp_path / "link.json"
    file.write_text(json.dumps(GOOD))
    assert Link.from_json(str(file)) == Link(10, 18, 2, 200)


def test_queue_is_time_at_the_full_rate():
    assert Link(10, 18, 0, 200).queue_bytes == 250_000


def test_queue_holds_at_least_ten_packets():
    link = Link(1, 18, 0, 10)
    assert link.queue_bytes == 10 * 1514
    assert link.queue_delay_ms == pytest.approx(121.12)


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"bandwidth_mbit": 0}, "bandwidth_mbit"),
        ({"bandwidth_mbit": 5000}, "bandwidth_mbit"),
        ({"rtt_ms": -1}, "rtt_ms"),
        ({"loss_percent": 100}, "loss_percent"),
        ({"loss_percent": "2"}, "loss_percent"),
        ({"loss_percent": True}, "loss_percent"),
        ({"loss_percent": float("nan")}, "loss_percent"),
        ({"mtu_bytes": 1499.5}, "mtu_bytes"),
        ({"jitter_ms": 11}, "jitter_ms"),
        ({"jitter": 1}, "jitter"),
    ],
)
def test_what_cannot_be_made_is_refused_by_name(change, word):
    with pytest.raises(TestbedError, match=word):
        Link.from_dict(GOOD | change)


def test_missing_key_is_named():
    with pytest.raises(TestbedError, match="queue_ms"):
        Link.from_dict({key: GOOD[key] for key in GOOD if key != "queue_ms"})


@pytest.mark.parametrize("text", ["{", "{} extra", "/nowhere/link.json"])
def test_unreadable_text_is_one_clear_error(text):
    with pytest.raises(TestbedError):
        Link.from_json(text)
