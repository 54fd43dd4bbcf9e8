"""What is quinn's own; that it serves and loads pages is tested with all other programs."""

from __future__ import annotations

from pathlib import Path

from programs.conftest import Page
from programs.endpoint_runner import load_endpoint, run_client, running_server
from programs.matrix import Pair, load_for

LOADS = 12


def test_server_takes_a_hello_of_several_packets(
    certs: Path, small_page: Page, tmp_path: Path
) -> None:
    """This client's first packet ends within its ClientHello; the next may come at any time."""
    pair = Pair("quinn", "quic-go-interop", "h3")
    asked = load_for(pair, "server", certs)
    paths = list(small_page.hashes)[1:]  # Go's own library asks for index.html by another name.
    with running_server(load_endpoint("quinn"), asked, small_page.folder, tmp_path / "server"):
        there = load_for(pair, "client", certs, asked.port)
        for number in range(LOADS):
            state = tmp_path / f"client{number}"
            timing = run_client(load_endpoint("quic-go-interop"), there, paths, state, 10).page()
            received = {item["path"]: item["sha256"] for item in timing["objects"]}
            assert received == {path: small_page.hashes[path] for path in paths}
