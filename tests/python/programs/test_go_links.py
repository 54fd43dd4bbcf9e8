"""The programs in Go and C on real links: with loss, and with changes of the client's address."""

from __future__ import annotations

import contextlib
import hashlib
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from howquick.testbed.link import Link
from howquick.testbed.testbed import Testbed
from programs import endpoint_runner as runner
from programs.go_loads import MOVES, load_of, moving_load
from testbed.sandboxed import run_inside

MOVED_BYTES = 3_000_000
LARGE_BYTES = 10_000_000
LOSSY = [("sctp", "sctp"), ("tls", "tls"), *(("quic-go", p) for p in ("h1", "h2", "h3", "hq"))]
SERVER_ADDRESS = "10.0.2.1"


@contextlib.contextmanager
def serving(bed: Testbed, endpoint: runner.Endpoint, load: runner.Load, folder: Path) -> Iterator:
    """Serve ``folder/www`` in the server's namespace for the time of a ``with`` block."""
    state = folder / "server"
    state.mkdir()
    values = {**runner.environment(endpoint, "server", load, state), "WWW": str(folder / "www")}
    server = bed.server.popen(endpoint.argv("server"), env=values, cwd=state)
    time.sleep(0.5)  # Clients try again by themselves where this is too short.
    try:
        yield server
    finally:
        server.kill()
        server.wait()


def one_load(
    bed: Testbed, folder: Path, program: str, protocol: str, size: int, way: str = ""
) -> dict[str, Any]:
    """Load one object of ``size`` bytes; with two changes of the address where ``way`` says how."""
    (folder / "www").mkdir(parents=True)
    content = bytes(range(250)) * (size // 250)
    (folder / "www" / "object.bin").write_bytes(content)
    endpoint = runner.load_endpoint(program)
    certs = runner.make_certificates(folder / "certs")
    options = {"on_move": way} if way else {}
    load = load_of(endpoint, protocol, certs, address=SERVER_ADDRESS, options=options)
    try:
        with serving(bed, endpoint, load, folder):
            moves = [bed.move_client] * (2 if way else 0)
            timing = moving_load(
                endpoint, load, ["/object.bin"], folder / "client", moves, bed.client.popen
            )
    except (runner.EndpointError, AssertionError) as error:
        return {"failed": str(error)}
    finally:
        bed.reset_client()
    timing["intact"] = timing["objects"][0]["sha256"] == hashlib.sha256(content).hexdigest()
    return timing


def moving_loads(scratch: Path) -> dict[str, Any]:
    """Every way of every program to go on from another address."""
    # Seconds for the object: both changes come before its end, however late they are made.
    with Testbed(Link(5, 20, 1, 100), scratch=scratch) as bed:
        return {
            "-".join(case): one_load(bed, scratch / "-".join(case), case[0], case[1], MOVED_BYTES, case[2])
            for case in MOVES
        }  # fmt: skip


def lossy_loads(scratch: Path) -> dict[str, Any]:
    """A large object by every protocol while every twentieth packet is lost."""
    with Testbed(Link(50, 10, 5, 100), scratch=scratch) as bed:
        return {
            "-".join(case): one_load(bed, scratch / "-".join(case), *case, LARGE_BYTES) for case in LOSSY
        }  # fmt: skip


@pytest.fixture(scope="module")
def moved() -> dict[str, Any]:
    return run_inside(moving_loads)


@pytest.fixture(scope="module")
def lossy() -> dict[str, Any]:
    return run_inside(lossy_loads)


def checked(timing: dict[str, Any]) -> dict[str, Any]:
    """Return TIMING of a load that worked and brought the very bytes."""
    assert "failed" not in timing, timing["failed"]
    assert timing["intact"]
    return timing


@pytest.mark.parametrize(("program", "protocol"), LOSSY)
def test_large_object_survives_loss(lossy: dict[str, Any], program: str, protocol: str) -> None:
    assert checked(lossy[f"{program}-{protocol}"])["objects"][0]["bytes"] == LARGE_BYTES


@pytest.mark.parametrize(("program", "protocol", "way"), MOVES)
def test_load_goes_on_from_another_address(
    moved: dict[str, Any], program: str, protocol: str, way: str
) -> None:
    timing = checked(moved[f"{program}-{protocol}-{way}"])
    assert timing["metrics"]["moves_followed"] == 2
    assert timing["connections"] == (1 if way == "migrate" else 3)
    if program != "tls":
        expected = 2 if way == "resume" else 0
        assert timing["metrics"]["moves_resumed"] == expected
        assert timing["metrics"]["moves_early_data"] == expected
