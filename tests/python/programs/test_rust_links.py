"""The programs in Rust on real links: with loss, and what their options change of the handshake."""

from __future__ import annotations

import contextlib
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from howquick.guest.guest import basic_environment
from howquick.measure.job import MASKED
from howquick.testbed.link import Link
from howquick.testbed.testbed import Testbed
from patience import HANG_S
from programs import endpoint_runner as runner
from programs.test_go_links import SERVER_ADDRESS, one_load, serving
from testbed.sandboxed import run_inside

LOST_BYTES = 3_000_000
SNAPLEN = "2000"  # longer than any frame here
LOSSY = [
    (program, protocol)
    for program in ("quinn", "tquic", "quiche", "s2n-quic")
    for protocol in ("h3", "hq")
]
AES128, AES256, CHACHA20 = "0x1301", "0x1302", "0x1303"
X25519, P256, P384, X25519MLKEM768 = 29, 23, 24, 4588
# Program, options of both ends, cipher suite and group of the Server Hello (RFC 8446, appendix B).
HANDSHAKES: list[tuple[str, dict[str, str], str, int]] = [
    ("quinn", {"cipher": "aes128"}, AES128, X25519),
    ("quinn", {"cipher": "aes256"}, AES256, X25519),
    ("quinn", {"cipher": "chacha20", "group": "P-256"}, CHACHA20, P256),
    ("quinn", {"cipher": "aes128", "group": "P-384"}, AES128, P384),
    ("quinn", {"cipher": "aes128", "group": "X25519MLKEM768"}, AES128, X25519MLKEM768),
    ("quiche", {"cipher": "aes128", "group": "P-256"}, AES128, P256),
    ("quiche", {"cipher": "chacha20", "group": "P-384"}, CHACHA20, P384),
    # BoringSSL prefers ChaCha20 where there is no AES.
    ("quiche", {"aes_acceleration": "false"}, CHACHA20, X25519),
    ("s2n-quic", {"cipher": "aes128", "group": "P-256"}, AES128, P256),
    ("s2n-quic", {"cipher": "chacha20", "group": "X25519MLKEM768"}, CHACHA20, X25519MLKEM768),
    ("tquic", {}, AES128, X25519),
    ("tquic", {"cipher": "chacha20"}, CHACHA20, X25519),
    ("tquic", {"aes_acceleration": "false"}, CHACHA20, X25519),
]
# What a guest has programs overlook of the processor stays beside what they are asked to.
IN_GUEST = {name: word for name, word in basic_environment().items() if name == MASKED}
HELLOS = [
    *((case, {}) for case in HANDSHAKES),
    *((case, IN_GUEST) for case in HANDSHAKES if "aes_acceleration" in case[1]),
]


def named(case: tuple[str, dict[str, str], str, int], variables: dict[str, str]) -> str:
    return "-".join([case[0], *case[1].values(), *(["in-guest"] if variables else [])])


@contextlib.contextmanager
def captured(bed: Testbed, file: Path) -> Iterator[None]:
    """Capture what the client's namespace sees for the time of a ``with`` block."""
    # By default eight packets fill the buffer, each with room for the longest there is.
    argv = ["tcpdump", "-i", "any", "-Z", "root", "--immediate-mode", "-s", SNAPLEN, "-U"]
    argv += ["-w", str(file), "udp"]
    tcpdump = bed.client.popen(argv, stderr=subprocess.PIPE)
    assert tcpdump.stderr is not None
    # Warnings about the interface may come first.
    assert any(b"listening on" in line for line in iter(tcpdump.stderr.readline, b""))
    try:
        yield
    finally:
        time.sleep(0.2)
        tcpdump.terminate()
        tcpdump.wait()
        tcpdump.stderr.close()


def dissected(
    file: Path, keys: Path, port: int, show: str, *fields: str, occurrence: str = "f"
) -> list[list[str]]:
    """The fields of the packets that ``show`` selects: the first of each packet, or (a) all with commas."""
    argv = [
        "tshark",
        "-r",
        str(file),
        "-o",
        f"tls.keylog_file:{keys}",
        "-d",
        f"udp.port=={port},quic",
    ]
    argv += ["-Y", show, "-T", "fields", "-E", f"occurrence={occurrence}"]
    argv += [word for field in fields for word in ("-e", field)]
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    return [line.split("\t") for line in done.stdout.splitlines()]


def one_handshake(
    bed: Testbed, folder: Path, program: str, options: dict[str, str], variables: dict[str, str]
) -> dict[str, Any]:
    """Load a small page and look at the capture."""
    folder.mkdir()
    hashes = runner.make_page(folder / "www", [5_000] * 3)
    endpoint = runner.load_endpoint(program)
    keys, capture = folder / "keys", folder / "client.pcap"
    load = runner.Load(
        "h3", runner.make_certificates(folder / "certs"), runner.free_port(),
        address=SERVER_ADDRESS, options=options, keys=keys, variables=variables,
    )  # fmt: skip
    values = runner.environment(endpoint, "client", load, folder)
    urls = [f"https://{runner.HOST}:{load.port}{path}" for path in hashes]
    values |= {"REQUESTS": " ".join(urls), "TIMING": str(folder / "timing.json")}
    with serving(bed, endpoint, load, folder), captured(bed, capture):
        pipe = subprocess.PIPE
        client = bed.client.popen(endpoint.argv("client"), env=values, stdin=pipe, stderr=pipe)
        _, said = client.communicate(b"go\n", timeout=HANG_S)
    if client.returncode != 0:
        return {"failed": said.decode()}
    hello = dissected(
        capture, keys, load.port, "tls.handshake.type == 2",
        "tls.handshake.ciphersuite", "tls.handshake.extensions_key_share_group",
    )  # fmt: skip
    # One packet may end an object and begin the next: frames are counted, not packets.
    frames = dissected(
        capture, keys, load.port, "http3.frame_type == 0", "http3.frame_type", occurrence="a"
    )
    return {
        "hello": hello,
        "bodies": sum(int(kind, 0) == 0 for row in frames for kind in row[0].split(",")),
        "undecrypted": len(
            dissected(capture, keys, load.port, "quic.decryption_failed", "frame.number")
        ),
    }


def lossy_loads(scratch: Path) -> dict[str, Any]:
    """An object by every program while every twentieth packet is lost."""
    with Testbed(Link(50, 10, 5, 100), scratch=scratch) as bed:
        return {
            "-".join(case): one_load(bed, scratch / "-".join(case), *case, LOST_BYTES)
            for case in LOSSY
        }


def all_handshakes(scratch: Path) -> dict[str, Any]:
    """Every case of HELLOS."""
    with Testbed(Link(50, 10, 0, 100), scratch=scratch) as bed:
        return {
            named(case, variables): one_handshake(
                bed, scratch / named(case, variables), *case[:2], variables
            )
            for case, variables in HELLOS
        }


@pytest.fixture(scope="module")
def lossy() -> dict[str, Any]:
    return run_inside(lossy_loads)


@pytest.fixture(scope="module")
def handshakes() -> dict[str, Any]:
    return run_inside(all_handshakes)


@pytest.mark.parametrize("case", LOSSY, ids="-".join)
def test_object_survives_loss(lossy: dict[str, Any], case: tuple[str, str]) -> None:
    timing = lossy["-".join(case)]
    assert timing.get("intact"), timing
    assert timing["objects"][0]["bytes"] == LOST_BYTES


@pytest.mark.parametrize(("case", "variables"), HELLOS, ids=[named(*hello) for hello in HELLOS])
def test_options_are_what_the_wire_has(
    handshakes: dict[str, Any],
    case: tuple[str, dict[str, str], str, int],
    variables: dict[str, str],
) -> None:
    seen = handshakes[named(case, variables)]
    assert "failed" not in seen, seen
    assert seen["hello"]
    assert {(suite, int(group)) for suite, group in seen["hello"]} == {case[2:]}
    assert seen["bodies"] >= 3  # Of decrypted HTTP/3: the keys fit.
    assert seen["undecrypted"] == 0
