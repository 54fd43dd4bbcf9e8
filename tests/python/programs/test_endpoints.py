"""Every server and every client on the loopback interface, as docs/formats.md, section 2, says."""

from __future__ import annotations

import itertools
import json
import time
from pathlib import Path
from typing import Any

import pytest

from patience import HANG_S, SOON_S, wait_until
from programs.conftest import Page
from programs.endpoint_runner import (
    EndpointError,
    Outcome,
    load_endpoint,
    run_client,
    running_server,
    start_server,
)
from programs.matrix import Pair, Role, enough_pairs, load_for, own_pairs

CLOCK_SLACK_S = 0.002
# For whatever a busy machine may delay.


def load_page(
    pair: Pair, certs: Path, page: Page, folder: Path, client_certs: Path | None = None
) -> Outcome:
    """Serve the page by the pair's server and load it once by its client."""
    server, client = load_endpoint(pair.server), load_endpoint(pair.client)
    asked = load_for(pair, "server", certs)
    with running_server(server, asked, page.folder, folder / "server"):
        there = load_for(pair, "client", client_certs or certs, asked.port)
        return run_client(client, there, list(page.hashes), folder / "client")


def assert_failed(outcome: Outcome) -> None:
    """Check that the client failed with one clear reason and wrote no times."""
    assert outcome.status not in (0, 127), outcome
    assert outcome.reason
    assert "Traceback" not in outcome.stderr
    assert outcome.timing is None


def assert_ordered(timing: dict[str, Any]) -> None:
    """Check that times increase and that the objects follow the HTML."""
    html, *objects = timing["objects"]
    for item in timing["objects"]:
        assert 0 <= item["start_s"] <= item["first_byte_s"] <= item["end_s"], item
    assert all(item["start_s"] >= html["end_s"] - CLOCK_SLACK_S for item in objects)
    if timing["handshake_s"] is not None and not timing["early_data"]:
        assert 0 < timing["handshake_s"] <= html["first_byte_s"] + CLOCK_SLACK_S


@pytest.mark.parametrize("pair", enough_pairs(), ids=str)
def test_page_arrives_whole(pair: Pair, certs: Path, page: Page, tmp_path: Path) -> None:
    outcome = load_page(pair, certs, page, tmp_path)
    finished = time.time()
    timing = outcome.page()
    received = {item["path"]: item["sha256"] for item in timing["objects"]}
    assert received == page.hashes
    assert next(iter(received)) == "/page.html"
    for item in timing["objects"]:
        assert item["bytes"] == (page.folder / item["path"].lstrip("/")).stat().st_size
        assert item["status"] == 200
    assert_ordered(timing)
    assert timing["protocol"] == pair.protocol
    assert timing["connections"] == (6 if pair.protocol == "h1" else 1)
    assert outcome.go - CLOCK_SLACK_S <= timing["start"]
    assert timing["start"] + max(item["end_s"] for item in timing["objects"]) <= finished
    assert timing["resumed"] is (pair.connection != "cold")
    assert timing["early_data"] is (pair.connection == "0rtt")


@pytest.mark.parametrize("pair", own_pairs(), ids=str)
def test_server_survives_many_connections_and_stops(
    pair: Pair, certs: Path, small_page: Page, tmp_path: Path
) -> None:
    client = load_endpoint(pair.client)
    asked = load_for(pair, "server", certs)
    with running_server(
        load_endpoint(pair.server), asked, small_page.folder, tmp_path / "server"
    ) as server:
        there = load_for(pair, "client", certs, asked.port)
        # A browser takes a second to start.
        for number in range(3 if "fcp_s" in client.definition["client"].get("metrics", []) else 20):
            outcome = run_client(
                client, there, list(small_page.hashes), tmp_path / f"client{number}"
            )
            assert len(outcome.page()["objects"]) == len(small_page.hashes)
        assert server.process.poll() is None
        server.process.send_signal(server.stop_signal)
        server.process.wait(timeout=HANG_S)
        assert not server.leaves_process()


@pytest.mark.parametrize("pair", own_pairs(), ids=str)
def test_server_down_is_a_clear_failure(
    pair: Pair, certs: Path, small_page: Page, tmp_path: Path
) -> None:
    there = load_for(pair, "client", certs)
    client = load_endpoint(pair.client)
    assert_failed(run_client(client, there, list(small_page.hashes), tmp_path / "client"))


@pytest.mark.parametrize("pair", own_pairs(), ids=str)
def test_wrong_authority_is_refused(
    pair: Pair, certs: Path, other_certs: Path, small_page: Page, tmp_path: Path
) -> None:
    assert_failed(load_page(pair, certs, small_page, tmp_path, client_certs=other_certs))


@pytest.mark.parametrize("pair", own_pairs(), ids=str)
def test_missing_object_is_a_clear_failure(
    pair: Pair, certs: Path, small_page: Page, tmp_path: Path
) -> None:
    www = tmp_path / "www"
    www.mkdir()
    (www / "objects").mkdir()
    present = [path for path in small_page.hashes if path != "/objects/001.jpg"]
    for path in present:
        (www / path[1:]).write_bytes((small_page.folder / path[1:]).read_bytes())
    outcome = load_page(pair, certs, Page(www, small_page.hashes), tmp_path)
    assert_failed(outcome)
    assert "/objects/001.jpg" in outcome.reason


@pytest.mark.parametrize("pair", own_pairs(), ids=str)
def test_connection_of_another_word_than_go_is_refused(
    pair: Pair, certs: Path, small_page: Page, tmp_path: Path
) -> None:
    client = load_endpoint(pair.client)
    if not client.definition["client"]["gate"]:
        assert pair.connection == "cold", "without a gate there is no time to prime"
        return
    there = load_for(pair, "client", certs)
    outcome = run_client(client, there, list(small_page.hashes), tmp_path / "client", word="stop\n")
    assert_failed(outcome)
    assert "go" in outcome.reason


def read_qlog(path: Path) -> list[dict[str, Any]]:
    """Return the events of a trace, JSON or JSON text sequences."""
    text = path.read_text()
    if text.startswith("\x1e"):
        records = [json.loads(record) for record in text.split("\x1e")[1:]]
        return records[1:]
    events: list[dict[str, Any]] = json.loads(text)["traces"][0]["events"]
    return events


def frames_of(event: dict[str, Any]) -> list[str]:
    """Return the types of the frames of a packet's event."""
    return [frame["frame_type"] for frame in event["data"].get("frames", [])]


def closes(traces: list[list[dict[str, Any]]]) -> int | None:
    """Count the received packets that close a connection; None if the library logs no frames."""
    events = itertools.chain.from_iterable(traces)
    received = [event for event in events if event["name"].endswith("packet_received")]
    if not any("frames" in event["data"] for event in received):
        return None
    return sum("connection_close" in frames_of(event) for event in received)


def is_complete(folder: Path) -> bool:
    """Tell whether the traces in a folder can be read, and each has the end of its connection."""
    try:
        traces = [read_qlog(path) for path in folder.iterdir()]
    except (ValueError, LookupError):
        return False
    count = closes(traces)
    return count is None or count >= len(traces)


@pytest.mark.parametrize("pair", enough_pairs(), ids=str)
def test_qlogs_and_keys_are_there_when_promised(
    pair: Pair, certs: Path, small_page: Page, tmp_path: Path
) -> None:
    server, client = load_endpoint(pair.server), load_endpoint(pair.client)
    logs = {role: tmp_path / f"{role}-qlog" for role in ("server", "client")}
    keys = {role: tmp_path / f"{role}.keys" for role in ("server", "client")}
    asked = load_for(pair, "server", certs, qlog=logs["server"], keys=keys["server"])
    there = load_for(pair, "client", certs, asked.port, qlog=logs["client"], keys=keys["client"])
    with running_server(server, asked, small_page.folder, tmp_path / "server"):
        timing = run_client(client, there, list(small_page.hashes), tmp_path / "client").page()
        wait_until(lambda: is_complete(logs["server"]), SOON_S)
        traces = {role: [read_qlog(path) for path in logs[role].iterdir()] for role in logs}
    page_connections = len(small_page.hashes) - 1 if pair.protocol == "h1" else 1
    connections = page_connections * (1 if pair.connection == "cold" else 2)
    # HTTP/1.1 takes an idle connection before it opens another: how many it needs, milliseconds decide.
    fewest = connections - page_connections + timing["connections"]
    assert fewest == connections or (
        pair.protocol == "h1" and 1 <= timing["connections"] < page_connections
    )
    quic = Role(pair.server, "server", pair.protocol).abilities()["transport"] == "quic"
    for role, endpoint in (("server", server), ("client", client)):
        part = endpoint.definition[role]
        assert len(traces[role]) == (connections if part["qlog"] and quic else 0)
        text = keys[role].read_text() if keys[role].exists() else ""
        secrets = text.count("CLIENT_TRAFFIC_SECRET_0")
        assert fewest <= secrets <= connections if part["keys"] else secrets == 0
        for events in traces[role]:
            names = {event["name"].split(":")[-1] for event in events}
            assert {"packet_sent", "packet_received"} <= names
    if server.definition["server"]["qlog"] and quic:
        received = [
            event
            for event in itertools.chain.from_iterable(traces["server"])
            if event["name"].endswith("packet_received")
        ]
        count = closes(traces["server"])
        assert count is None or count >= connections
        early = [e for e in received if e["data"]["header"]["packet_type"] == "0RTT"]
        assert bool(early) is (pair.connection == "0rtt")


def test_server_that_cannot_start_says_why(certs: Path, page: Page, tmp_path: Path) -> None:
    pair = Pair("nginx", "curl", "h1")
    asked = load_for(pair, "server", tmp_path / "no-certificates")
    server = start_server(load_endpoint("nginx"), asked, page.folder, tmp_path / "server")
    with pytest.raises(EndpointError, match=r"ended with status 1: .*no-certificates"):
        server.wait_ready(asked)
    server.stop()
