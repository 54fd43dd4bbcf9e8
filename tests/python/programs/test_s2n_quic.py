"""What is s2n-quic's own; that it serves and loads pages is tested with all other programs."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from programs.conftest import Page
from programs.endpoint_runner import (
    Load,
    Outcome,
    free_port,
    load_endpoint,
    run_client,
    running_server,
)

NOT_SUPPORTED = 127


def load_page(
    certs: Path,
    page: Page,
    folder: Path,
    server: dict[str, Any],
    client: dict[str, Any],
    **asked: Any,
) -> Outcome:
    """Load the page over HTTP/3 with these options of server and client; keys go to `folder`/keys."""
    port = free_port()
    ends = [
        Load("h3", certs, port, options=options, keys=folder / "keys", **asked)
        for options in (server, client)
    ]
    endpoint = load_endpoint("s2n-quic")
    with running_server(endpoint, ends[0], page.folder, folder / "server"):
        return run_client(endpoint, ends[1], list(page.hashes), folder / "client")


@pytest.mark.parametrize("control", ["cubic", "bbr"])
@pytest.mark.parametrize("payload", [1200, 1472])
def test_page_with_each_congestion_control_and_size(
    control: str, payload: int, certs: Path, page: Page, tmp_path: Path
) -> None:
    options = {"max_udp_payload": payload}
    outcome = load_page(certs, page, tmp_path, options, options, congestion_control=control)
    received = {item["path"]: item["sha256"] for item in outcome.page()["objects"]}
    assert received == page.hashes


@pytest.mark.parametrize("cipher", ["aes128", "aes256", "chacha20"])
def test_cipher_is_the_one_asked_for(
    cipher: str, certs: Path, small_page: Page, tmp_path: Path
) -> None:
    names = {"aes128": "AES_128_GCM", "aes256": "AES_256_GCM", "chacha20": "CHACHA20"}
    timing = load_page(certs, small_page, tmp_path, {}, {"cipher": cipher}).page()
    assert names[cipher] in timing["negotiated"]["cipher"]
    # The secrets' length follows from the hash of the suite: SHA-384 for AES-256, else SHA-256.
    secrets = [line.split()[2] for line in (tmp_path / "keys").read_text().splitlines()]
    assert {len(secret) for secret in secrets} == {96 if cipher == "aes256" else 64}


def test_ends_that_agree_on_no_group_fail_with_a_reason(
    certs: Path, small_page: Page, tmp_path: Path
) -> None:
    """The library's server says nothing to a client whose first packet it cannot use."""
    client = {"group": "X25519", "idle_timeout_s": 2}
    outcome = load_page(certs, small_page, tmp_path, {"group": "P-384"}, client)
    assert outcome.status == 1
    assert "no handshake" in outcome.reason
    assert outcome.reason.endswith("for 2 s")
    assert outcome.timing is None


def test_client_without_verification_is_refused(
    certs: Path, small_page: Page, tmp_path: Path
) -> None:
    outcome = load_page(certs, small_page, tmp_path, {}, {"verify": False})
    assert outcome.status == NOT_SUPPORTED
    assert "OPTION_VERIFY" in outcome.reason


def test_server_that_is_not_there_is_told_at_once(
    certs: Path, small_page: Page, tmp_path: Path
) -> None:
    asked = Load("h3", certs, free_port())
    outcome = run_client(
        load_endpoint("s2n-quic"), asked, list(small_page.hashes), tmp_path / "client"
    )
    assert outcome.status == 1
    # And not that there was no handshake for so long.
    assert "nothing listens on UDP 127.0.0.1:" in outcome.reason


def test_version_is_that_of_the_lock() -> None:
    endpoint = load_endpoint("s2n-quic")
    assert endpoint.prefix is not None
    server = endpoint.prefix / "bin" / "server"
    done = subprocess.run([server, "--version"], capture_output=True, text=True, check=True)
    lock = (endpoint.folder / "Cargo.lock").read_text()
    version = lock.split('name = "s2n-quic"\nversion = "')[1].split('"')[0]
    assert done.stdout.startswith(f"s2n-quic {version} ")
