"""A client that moves when all bytes of an object are here, but not the end of its stream."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest

from programs import endpoint_runner as runner
from programs.client_driver import drive, hashes
from programs.conftest import Page

SERVER = Path(__file__).with_name("unending_server.py")
OBJECT_BYTES = 200_000
# Far longer than the bytes take over loopback: what is missing then is what the server never sends.
ARRIVAL_S = 2.0


@pytest.fixture(scope="module")
def one_object(tmp_path_factory: pytest.TempPathFactory) -> Page:
    folder = tmp_path_factory.mktemp("one-object") / "www"
    return Page(folder, runner.make_page(folder, [OBJECT_BYTES]))


def unending() -> runner.Endpoint:
    """Return aioquic with the server that ends no object's stream."""
    real = runner.load_endpoint("aioquic")
    python = real.definition["server"]["command"][0]
    command = [python, "-B", str(SERVER), str(real.folder)]
    return replace(
        real,
        definition=real.definition | {"server": real.definition["server"] | {"command": command}},
    )


def moved_after_arrival() -> str:
    time.sleep(ARRIVAL_S)
    return "127.0.0.2"


@pytest.mark.parametrize("client", ["curl", "ngtcp2", "quic-go", "quiche", "quinn", "tquic"])
def test_nothing_is_asked_for_when_every_byte_is_here(
    client: str, certs: Path, one_object: Page, tmp_path: Path
) -> None:
    load = runner.Load("h3", certs, runner.free_port())
    asked = runner.asked_of_client(client, load, on_move="reconnect")
    with runner.running_server(unending(), load, one_object.folder, tmp_path / "server"):
        status, timing, errors = drive(
            runner.load_endpoint(client),
            asked,
            list(one_object.hashes),
            tmp_path / "client",
            [moved_after_arrival],
        )
    assert status == 0, errors
    assert timing is not None
    assert hashes(timing) == one_object.hashes
