"""What only the ngtcp2 programs, and the clients that move, are asked to do."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from programs.client_driver import drive, hashes
from programs.conftest import Page
from programs.endpoint_runner import (
    Load,
    asked_of_client,
    free_port,
    load_endpoint,
    make_page,
    running_server,
)

BIG_BYTES = 10_000_000
# All of 127.0.0.0/8 leads to the loopback interface: these stand for the addresses a client gets.
ADDRESSES = (lambda: "127.0.0.2", lambda: "127.0.0.3")
MOVERS = [
    *[("ngtcp2", "ngtcp2", "h3", way) for way in ("reconnect", "resume", "migrate")],
    ("ngtcp2", "ngtcp2", "hq", "migrate"),
    ("nginx", "ngtcp2", "h3", "reconnect"),
    *[("nginx", "curl", protocol, "reconnect") for protocol in ("h1", "h2", "h3")],
    ("ngtcp2", "curl", "h3", "reconnect"),
]


@pytest.fixture(scope="module")
def big(tmp_path_factory: pytest.TempPathFactory) -> Page:
    folder = tmp_path_factory.mktemp("big") / "www"
    return Page(folder, make_page(folder, [BIG_BYTES]))


def asked_of(server: str, protocol: str, certs: Path, **more: Any) -> Load:
    known = load_endpoint(server).definition["server"]["protocols"][protocol]["congestion_control"]
    return Load(protocol, certs, free_port(), congestion_control=known[0], **more)


@pytest.mark.parametrize("mover", MOVERS, ids="-".join)
def test_load_goes_on_from_another_address(
    mover: tuple[str, str, str, str], certs: Path, big: Page, tmp_path: Path
) -> None:
    server, client, protocol, way = mover
    load = asked_of(server, protocol, certs, connection="0rtt" if way == "resume" else "cold")
    moves = ADDRESSES[:1] if protocol == "hq" else ADDRESSES
    with running_server(load_endpoint(server), load, big.folder, tmp_path / "server"):
        there = asked_of_client(client, replace(load, connection="cold"), on_move=way)
        status, timing, errors = drive(
            load_endpoint(client), there, list(big.hashes), tmp_path / "client", moves
        )
    if protocol == "hq":
        # hq's answers do not tell their lengths before they end: the client cannot know when to move.
        assert (status, timing) == (127, None)
        return
    assert status == 0, errors
    assert timing is not None
    assert hashes(timing) == big.hashes
    if way == "migrate":
        assert timing["connections"] == 1
    else:
        # The last bytes may be here before the last new address is.
        assert 2 <= timing["connections"] <= 1 + len(moves)


@pytest.mark.parametrize("control", ["cubic", "reno", "bbr"])
@pytest.mark.parametrize("protocol", ["h3", "hq"])
def test_single_object(protocol: str, control: str, certs: Path, big: Page, tmp_path: Path) -> None:
    path = "/objects/000.jpg"
    load = Load(protocol, certs, free_port(), congestion_control=control)
    with running_server(load_endpoint("ngtcp2"), load, big.folder, tmp_path / "server"):
        status, timing, errors = drive(load_endpoint("ngtcp2"), load, [path], tmp_path / "client")
    assert status == 0 and timing, errors
    assert hashes(timing) == {path: big.hashes[path]}
    assert timing["negotiated"]["congestion_control"] == control


@pytest.mark.parametrize(
    ("cipher", "name"),
    [("aes128", "AES_128"), ("aes256", "AES_256"), ("chacha20", "CHACHA20")],
)
@pytest.mark.parametrize("server", ["ngtcp2", "nginx", "haproxy"])
def test_server_takes_the_cipher_and_group_asked_for(
    server: str, cipher: str, name: str, certs: Path, small_page: Page, tmp_path: Path
) -> None:
    knobs = {"cipher": cipher, "group": "P-256", "aes_acceleration": False}
    load = asked_of(server, "h3", certs, options=knobs)
    with running_server(load_endpoint(server), load, small_page.folder, tmp_path / "server"):
        there = asked_of_client("ngtcp2", load, group="P-256")
        status, timing, errors = drive(
            load_endpoint("ngtcp2"), there, list(small_page.hashes), tmp_path / "client"
        )
    assert status == 0 and timing, errors
    assert name in timing["negotiated"]["cipher"]
    assert timing["negotiated"]["group"] == "secp256r1"


@pytest.mark.parametrize("client", ["ngtcp2", "curl"])
def test_without_verification_any_authority_will_do(
    client: str, certs: Path, other_certs: Path, small_page: Page, tmp_path: Path
) -> None:
    load = asked_of("ngtcp2", "h3", certs)
    with running_server(load_endpoint("ngtcp2"), load, small_page.folder, tmp_path / "server"):
        for verify in (True, False):
            there = replace(load, certs=other_certs, options={"verify": verify})
            status, timing, errors = drive(
                load_endpoint(client), there, list(small_page.hashes), tmp_path / f"client{verify}"
            )
            assert (status == 0) is not verify, errors
            assert (timing is None) is verify


@pytest.mark.parametrize(
    ("option", "value", "status"),
    [
        ("max_udp_payload", "100", 1), ("socket_buffer_bytes", "many", 1), ("gso", "perhaps", 1),
        ("cipher", "rot13", 127), ("group", "P-1", 127), ("scheduling", "random", 127),
    ],
)  # fmt: skip
def test_wrong_option_is_named(
    option: str, value: str, status: int, certs: Path, tmp_path: Path
) -> None:
    load = Load("h3", certs, free_port(), options={option: value})
    ended, timing, errors = drive(load_endpoint("ngtcp2"), load, ["/x"], tmp_path / "client")
    assert ended == status
    assert timing is None
    assert f"OPTION_{option.upper()} {value}" in errors
