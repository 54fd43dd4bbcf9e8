"""What only the wire tells about the clients over TCP: when they start, and whether early data is early."""

from __future__ import annotations

from pathlib import Path

import pytest

from programs.conftest import Page
from programs.endpoint_runner import load_endpoint, run_client, running_server
from programs.forwarder import TLS_APPLICATION_DATA, Forwarder, forwarding, record_types
from programs.matrix import Pair, Role, enough_pairs, load_for, own_pairs

# Scheduling of a busy machine, not of the clients: a start-up counted in would be above 40 ms.
START_SLACK_S = 0.03
HOLD_S = 0.2


def is_tcp(pair: Pair) -> bool:
    return bool(Role(pair.server, "server", pair.protocol).abilities()["transport"] == "tcp")


def load_through(pair: Pair, certs: Path, page: Page, folder: Path) -> tuple[float, Forwarder]:
    """Load the page through a forwarder and return the client's start and the forwarder."""
    asked = load_for(pair, "server", certs)
    with (
        running_server(load_endpoint(pair.server), asked, page.folder, folder / "server"),
        forwarding(asked.port, HOLD_S) as forwarder,
    ):
        there = load_for(pair, "client", certs, forwarder.port)
        outcome = run_client(
            load_endpoint(pair.client), there, list(page.hashes), folder / "client"
        )
    return outcome.page()["start"], forwarder


@pytest.mark.parametrize("pair", [pair for pair in own_pairs() if is_tcp(pair)], ids=str)
def test_start_is_when_the_client_connects(
    pair: Pair, certs: Path, small_page: Page, tmp_path: Path
) -> None:
    start, forwarder = load_through(pair, certs, small_page, tmp_path)
    assert -0.002 <= forwarder.accepted[0] - start <= START_SLACK_S


@pytest.mark.parametrize("pair", [pair for pair in enough_pairs() if is_tcp(pair)], ids=str)
def test_only_early_data_is_sent_before_the_server_answers(
    pair: Pair, certs: Path, small_page: Page, tmp_path: Path
) -> None:
    _, forwarder = load_through(pair, certs, small_page, tmp_path)
    # The last connection of a single-connection protocol is the page's.
    if pair.protocol == "h1":
        assert all(TLS_APPLICATION_DATA not in record_types(d) for d in forwarder.unprompted)
        return
    early = TLS_APPLICATION_DATA in record_types(forwarder.unprompted[-1])
    assert early is (pair.connection == "0rtt")
