"""ngtcp2, haproxy, nginx and curl on real links: with loss, and with changes of the client's address."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from howquick.testbed.link import Link
from howquick.testbed.testbed import Testbed
from programs import endpoint_runner as runner
from programs.client_driver import drive
from programs.test_go_links import serving
from testbed.sandboxed import run_inside

# Of one size: a client takes the mean of the sizes that it knows for those that it does not. At each change
# there are seconds of the page to come on the link of MOVING, and several objects are under way.
SIZES = [160_000] * 21
ADDRESS = "10.0.2.1"
# Server, client, protocol, congestion control of the server, way to move ("": none).
LOSSY = [
    *[("ngtcp2", "ngtcp2", p, c, "") for p in ("h3", "hq") for c in ("cubic", "reno", "bbr")],
    *[("haproxy", "curl", p, "cubic", "") for p in ("h1", "h2", "h3")],
    *[("haproxy", "ngtcp2", "h3", c, "") for c in ("cubic", "reno")],
    ("nginx", "ngtcp2", "h3", "reno", ""),
    ("nginx", "curl", "h2", "cubic", ""),
]
MOVING = [
    *[("ngtcp2", "ngtcp2", "h3", "cubic", w) for w in ("reconnect", "resume", "migrate")],
    *[("nginx", "curl", p, c, "reconnect") for p, c in (("h1", "cubic"), ("h2", "cubic"), ("h3", "reno"))],
]  # fmt: skip


def one_load(bed: Testbed, case: tuple[str, ...], folder: Path) -> dict[str, Any]:
    """Load a page; returns what came of it."""
    server, client, protocol, control, way = case
    folder.mkdir()
    hashes = runner.make_page(folder / "www", SIZES)
    certs = runner.make_certificates(folder / "certs")
    known = runner.load_endpoint(client).definition["client"]["protocols"][protocol]
    load = runner.Load(
        protocol, certs, runner.free_port(), control, "0rtt" if way == "resume" else "cold", ADDRESS
    )
    there = runner.Load(
        protocol, certs, load.port, known["congestion_control"][0], "cold", ADDRESS,
        {"on_move": way} if way else {},
    )  # fmt: skip
    with serving(bed, runner.load_endpoint(server), load, folder):
        status, timing, errors = drive(
            runner.load_endpoint(client), there, list(hashes), folder / "client",
            [bed.move_client] * 2 if way else [], bed.client.popen,
        )  # fmt: skip
    bed.reset_client()
    if status or timing is None:
        return {"failed": errors[-500:]}
    received = {item["path"]: item["sha256"] for item in timing["objects"]}
    return {"intact": received == hashes, "connections": timing["connections"]}


def all_loads(scratch: Path) -> dict[str, Any]:
    """Every case on a link of its kind."""
    results = {}
    for link, cases in ((Link(50, 10, 5, 100), LOSSY), (Link(5, 20, 1, 100), MOVING)):
        with Testbed(link, scratch=scratch) as bed:
            for case in cases:
                results["-".join(case)] = one_load(bed, case, scratch / "-".join(case))
    return results


@pytest.fixture(scope="module")
def loads() -> dict[str, Any]:
    return run_inside(all_loads)


@pytest.mark.parametrize("case", [*LOSSY, *MOVING], ids="-".join)
def test_page_arrives_whole(loads: dict[str, Any], case: tuple[str, ...]) -> None:
    outcome = loads["-".join(case)]
    assert outcome.get("intact"), outcome
    way = case[-1]
    # Moves can follow each other before the connection between them is made.
    assert outcome["connections"] >= (2 if way in ("reconnect", "resume") else 1)
    assert outcome["connections"] == 1 or case[2] == "h1" or way not in ("", "migrate")
