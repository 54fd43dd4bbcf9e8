"""FETCH and BODY, by a client of each language; those on C are asked in test_ngtcp2.py."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from howquick.study.host import has_sctp
from programs.client_driver import drive, hashes
from programs.conftest import Page
from programs.endpoint_runner import load_endpoint, running_server
from programs.matrix import Pair, load_for

# One of each client's own way to keep what it asked for; bulk loads are asked of all of them.
AGAIN = [
    Pair("aioquic", "aioquic", "h3"),
    Pair("nginx", "curl", "h1"),
    Pair("nginx", "curl", "h2"),
    Pair("ngtcp2", "ngtcp2", "h3"),
    Pair("quic-go", "quic-go", "h3"),
    Pair("quiche", "quiche", "h3"),
    Pair("quinn", "quinn", "h3"),
    Pair("s2n-quic", "s2n-quic", "h3"),
    Pair("sctp", "sctp", "sctp"),
    Pair("tls", "tls", "tls"),
    Pair("tquic", "tquic", "h3"),
]
PAIRS = [
    Pair("aioquic", "aioquic", "h3"),
    Pair("node-spdy", "node-spdy", "spdy"),
    Pair("quic-go", "quic-go", "h2"),
    Pair("quinn", "quinn", "h3"),
]


@pytest.mark.parametrize("pair", PAIRS, ids=str)
@pytest.mark.parametrize("fetch", ["page", "sequential"])
@pytest.mark.parametrize("body", ["sha256", "length"])
def test_order_and_hashing_are_as_asked(
    pair: Pair, fetch: str, body: str, certs: Path, small_page: Page, tmp_path: Path
) -> None:
    server = load_for(pair, "server", certs)
    asked = load_for(pair, "client", certs, server.port)
    with running_server(load_endpoint(pair.server), server, small_page.folder, tmp_path / "server"):
        status, timing, errors = drive(
            load_endpoint(pair.client), asked, list(small_page.hashes), tmp_path / "client",
            FETCH=fetch, BODY=body,
        )  # fmt: skip
    assert status == 0 and timing, errors
    expected = small_page.hashes if body == "sha256" else dict.fromkeys(small_page.hashes)
    assert hashes(timing) == expected
    assert all(
        item["bytes"] == (small_page.folder / item["path"].lstrip("/")).stat().st_size
        for item in timing["objects"]
    )
    one_by_one = all(b["start_s"] >= a["end_s"] for a, b in itertools.pairwise(timing["objects"]))
    assert one_by_one is (fetch == "sequential")
    assert timing["connections"] == 1


@pytest.mark.parametrize(
    "pair", [*AGAIN, *([Pair("sctp-kernel", "sctp-kernel", "sctp")] if has_sctp() else [])], ids=str
)
def test_an_object_may_be_asked_for_again(
    pair: Pair, certs: Path, small_page: Page, tmp_path: Path
) -> None:
    path = max(small_page.hashes, key=lambda p: (small_page.folder / p.lstrip("/")).stat().st_size)
    server = load_for(pair, "server", certs)
    asked = load_for(pair, "client", certs, server.port)
    with running_server(load_endpoint(pair.server), server, small_page.folder, tmp_path / "server"):
        status, timing, errors = drive(
            load_endpoint(pair.client), asked, [path] * 3, tmp_path / "client", FETCH="sequential"
        )
    assert status == 0 and timing, errors
    seen = [(item["path"], item["sha256"]) for item in timing["objects"]]
    assert seen == [(path, small_page.hashes[path])] * 3
    assert all(b["start_s"] >= a["end_s"] for a, b in itertools.pairwise(timing["objects"]))
