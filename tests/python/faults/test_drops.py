"""The emulator's list of drops: it agrees with real captures, and no other list would."""

import numpy as np
import pytest

from faults.damage import damaged, extract
from howquick.extract.drops import Crossed
from workflow.blocks import make_plan, measure

CELL = "10mbit-18ms-loss2-5obj-large"
QUIC = {"protocol": "h3", "server": "quiche", "client": "quiche"}


@pytest.fixture(scope="module")
def lossy(tmp_path_factory):
    """One load over TCP and one over QUIC, with losses."""
    results = tmp_path_factory.mktemp("lossy")
    with pytest.MonkeyPatch.context() as patch:
        make_plan(results, patch, {"tcp": {}, "quic": QUIC}, CELL)
        status, output, manifest = measure(results, CELL)
        assert status == 0, output
        assert manifest["statuses"] == {"ok": 2}, [run["reason"] for run in manifest["runs"]]
    return results


@pytest.mark.parametrize("arm", ["tcp", "quic"])
def test_what_was_dropped_and_what_the_server_believed(lossy, tmp_path, arm):
    row = extract(lossy, tmp_path / "tables", CELL)[arm]
    assert row["drops_verdict"] == "agrees", row["extract_note"]
    dropped = int(row["link_lost_down"]) + int(row["queue_dropped_down"])
    assert dropped > 0
    believed = int(row["believed_lost_down"])
    assert believed > 0
    assert int(row["belief_error_down"]) == believed - dropped
    # Nearly all that it sends is data, so it misses each drop sooner or later.
    assert believed >= 0.8 * dropped


def without_first_drop(content):
    head, _, rest = content.partition(b"\n")
    return head + b"\n" + rest.partition(b"\n")[2]


def one_packet_later(content):
    head, _, rest = content.partition(b"\n")
    first, _, rest = rest.partition(b"\n")
    way, index, *others = first.split(b",")
    moved = b",".join([way, b"%d" % (int(index) + 1), *others])
    return b"\n".join([head, moved, rest])


@pytest.mark.parametrize(
    ("fault", "change", "told"),
    [
        ("drops.csv without a line", without_first_drop, "not listed"),
        ("drops.csv names another packet", one_packet_later, "listed packets arrived"),
        ("drops.csv damaged", lambda content: content[:40] + b'"', "cannot be read"),
    ],
)
def test_a_list_that_is_wrong_is_found(lossy, tmp_path, outcome, fault, change, told):
    whole, rest = damaged(lossy, "tcp", "drops.csv", change, tmp_path, CELL)
    assert rest["tcp"]["drops_verdict"] == "differs"
    assert told in rest["tcp"]["extract_note"]
    assert rest["tcp"]["plt_s"] == whole["tcp"]["plt_s"] != ""
    assert rest["quic"] == whole["quic"]
    outcome(fault, f"extract_note: {rest['tcp']['extract_note']}", "everything else",
            "drops_verdict: differs")  # fmt: skip


def crossed(arrived, prints=None):
    count = len(arrived)
    return Crossed(
        sizes=np.arange(100, 100 + count),
        prints=np.arange(count, dtype=np.uint64) if prints is None else np.array(prints, np.uint64),
        arrived=np.array(arrived, dtype=bool),
    )


def test_packets_of_before_shift_the_list():
    sent = crossed([True, False, True, True, False, True])
    listed = [(3, 101), (6, 104)]
    assert sent.difference(listed, early=2) == ""
    assert "listed packets arrived" in sent.difference(listed, early=0)
    # The places would fit, but it was another packet.
    assert "another size" in sent.difference([(3, 101), (6, 999)], early=2)


def test_of_packets_that_look_alike_any_may_be_the_lost_one():
    sent = crossed([True, False, True], prints=[7, 7, 8])
    listed = [(0, 100)]
    assert sent.difference(listed, early=0) == ""
    assert "not listed" in sent.difference([], early=0)
