"""A small seeded sample of what `bench fuzz` does at length: no parser stops at a damaged file."""

import random
import shutil
from types import SimpleNamespace

import numpy as np
import pytest

from howquick.bench.fuzz import Hang, Parser, fuzz, fuzz_runs, parsers
from howquick.bench.mutate import mutate
from howquick.extract.quic import _acknowledged, _ranges
from howquick.extract.sctp import _Association
from workflow.blocks import CELL, make_plan, measure

ARMS = {
    "tcp": {},
    "quic": {"protocol": "h3", "server": "quiche", "client": "quiche"},
    "sctp": {"protocol": "sctp", "server": "sctp", "client": "sctp", "congestion_control": "reno"},
}
NAMES = ("pcapng", "pcap", "QUIC", "QUIC headers", "SCTP", "qlog", "TIMING")
INPUTS = 1500


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """A results folder with one real load of each transport."""
    results = tmp_path_factory.mktemp("fuzz")
    with pytest.MonkeyPatch.context() as patch:
        make_plan(results, patch, ARMS)
        status, output, manifest = measure(results)
    assert status == 0 and manifest["statuses"] == {"ok": 3}, output
    return results


@pytest.fixture(scope="module")
def real(results):
    """The parsers, with these loads to start from."""
    runs = {arm: results / "runs/how-quick" / CELL / arm / "0000" for arm in ARMS}
    return {parser.name: parser for parser in parsers(runs)}


@pytest.mark.parametrize("name", NAMES)
def test_no_parser_stops_at_a_damaged_file(real, name):
    row = fuzz(real[name], INPUTS)
    assert (row["faults"], row["first_fault"]) == (0, "")
    assert row["accepted"] + row["refused"] == INPUTS and row["accepted"]


@pytest.mark.parametrize("name", NAMES)
def test_every_parser_accepts_what_is_whole(real, name):
    for seed in real[name].seeds:
        real[name].parse(seed)


def test_the_table_says_what_was_not_tried(results, tmp_path):
    assert [row["parser"] for row in fuzz_runs(results, 1)] == list(NAMES)
    study = f"runs/how-quick/{CELL}"
    shutil.copytree(results / study, tmp_path / study, ignore=shutil.ignore_patterns("sctp"))
    table = {row["parser"]: row for row in fuzz_runs(tmp_path, 1)}
    assert set(table) == set(NAMES)
    assert (table["SCTP"]["inputs"], table["SCTP"]["accepted"]) == (0, 0)
    assert "no finished load over SCTP" in table["SCTP"]["first_fault"]
    assert table["QUIC"]["inputs"] == 1 and not table["QUIC"]["first_fault"]


def test_a_fault_is_found_and_described():
    def careless(content):
        return 1 // content[0] if content else 0

    row = fuzz(Parser("careless", (b"a\0b",), careless), 500)
    assert row["faults"] and "ZeroDivisionError in test_fuzz.py" in row["first_fault"]


def test_memory_and_time_are_bounded(monkeypatch):
    greedy = fuzz(Parser("greedy", (b"a",), lambda _: bytearray(8 << 30)), 1)
    assert "MemoryError" in greedy["first_fault"]
    monkeypatch.setattr("howquick.bench.fuzz.MOST_CPU_S", 0.2)

    def endless(_):
        while True:
            pass

    assert Hang.__name__ in fuzz(Parser("endless", (b"a",), endless), 1)["first_fault"]


def test_the_same_seed_damages_the_same_way():
    copies = [mutate(random.Random("7/x/3"), (b"abc" * 9, b'{"a": 1}'), True) for _ in range(2)]
    assert copies[0] == copies[1]


def test_an_sctp_acknowledgement_costs_what_waits_and_not_what_it_spans():
    """Sixteen thousand gaps of 65536 each fit into one chunk."""
    association = _Association()
    for tsn in range(10):
        association.send(tsn, 1, 100)
    gaps = b"\x00\x02\xff\xff" * 16_000
    body = (0).to_bytes(4, "big") + bytes(4) + (16_000).to_bytes(2, "big") + bytes(2) + gaps

    def acknowledge(_):
        assert association.acknowledge(body) == 900  # all but TSN 1, which no gap names

    assert fuzz(Parser("gaps", (b"a",), acknowledge), 1)["first_fault"] == ""


def test_a_count_of_ranges_is_believed_of_the_ranges_that_are_there():
    """2^62 - 1 is a legal number; it is in front of one range here."""
    packet = {
        "quic.header_form": ["0"],
        "quic.ack.largest_acknowledged": ["9"],
        "quic.ack.first_ack_range": ["1"],
        "quic.ack.gap": ["0"],
        "quic.ack.ack_range": ["2"],
    }
    for count in (0, 1, 1000, 2**62 - 1):
        packet["quic.ack.ack_range_count"] = [str(count)]
        assert _ranges(packet) == ([(8, 9), (4, 6)] if count else [(8, 9)])


def test_numbers_of_packets_cost_what_there_is_and_not_how_far_they_go():
    """A server may begin anywhere and go up to 2^62 - 1."""
    packet = {
        "quic.header_form": ["0"],
        "quic.ack.largest_acknowledged": [str(2**62 - 1)],
        "quic.ack.first_ack_range": [str(2**62 - 2)],
        "quic.ack.ack_range_count": ["0"],
        "quic.ack.gap": [],
        "quic.ack.ack_range": [],
    }
    way = SimpleNamespace(rows=np.array([(7,)], [("time_ns", np.int64)]))

    def read(_):
        order, times = _acknowledged([packet], way, {0: [2], 5: [0], 2**62 - 1: [1]})
        assert (order.tolist(), times.tolist()) == ([0, 1], [7, 7])

    assert fuzz(Parser("numbers", (b"a",), read), 1)["first_fault"] == ""
