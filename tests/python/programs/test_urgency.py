"""What clients ask by option urgency (RFC 9218), and that the ngtcp2 server obeys where it is told to."""

from __future__ import annotations

import json
import re
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from howquick.testbed.link import Link
from howquick.testbed.testbed import Testbed
from programs import endpoint_runner as runner
from programs.client_driver import drive
from programs.test_go_links import serving
from testbed.sandboxed import run_inside

CLIENTS = ["aioquic", "curl", "ngtcp2", "quic-go"]
ADDRESS = "10.0.2.1"
# Of a page with eight objects, the HTML first.
ASKED = {
    "none": [None] * 9,
    "order": ["u=0", "u=1", "u=1", "u=2", "u=3", "u=4", "u=5", "u=6", "u=7"],
    "reverse": ["u=0", "u=7", "u=6", "u=5", "u=4", "u=3", "u=2", "u=1", "u=1"],
    "incremental": ["u=3, i"] * 9,
}
SMALL = [500] * 8
# One object for each class behind the HTML's; each is many packets long.
SIZES = [100_000] * 7
OBJECTS = [f"/objects/{number:03}.jpg" for number in range(len(SIZES))]
# Option scheduling of the server, client, option urgency of the client.
LOADS = [
    *[("client", client, urgency) for client in ("curl", "ngtcp2") for urgency in ASKED],
    *[(order, "ngtcp2", "reverse") for order in ("fifo", "round_robin")],
]


def fetch(client: str, load: runner.Load, paths: list[str], state: Path) -> None:
    """Load a page; its client must say that all is well."""
    status, _, errors = drive(runner.load_endpoint(client), load, paths, state)
    assert status == 0, errors


def fields_in_qlog(folder: Path) -> dict[str, str | None]:
    """Return the field `priority` of each request by its path, as aioquic's server logged it."""
    found = {}
    for record in next(folder.iterdir()).read_text().split("\x1e")[1:]:
        frame = json.loads(record).get("data", {}).get("frame", {})
        headers = {item["name"]: item["value"] for item in frame.get("headers", [])}
        if ":path" in headers:
            found[headers[":path"]] = headers.get("priority")
    return found


def fields_in_log(log: str) -> dict[str, str | None]:
    """The same as nghttpd tells it while it runs."""
    streams: dict[str, dict[str, str]] = {}
    plain = re.sub(r"\x1b\[[0-9;]*m", "", log)
    for stream, name, value in re.findall(
        r"recv \(stream_id=(\d+)\) (:path|priority): (.*)", plain
    ):
        streams.setdefault(stream, {})[name] = value
    return {headers[":path"]: headers.get("priority") for headers in streams.values()}


@pytest.mark.parametrize("urgency", ASKED)
@pytest.mark.parametrize("client", CLIENTS)
def test_server_is_told_over_http3(client: str, urgency: str, certs: Path, tmp_path: Path) -> None:
    www = tmp_path / "www"
    paths = list(runner.make_page(www, SMALL))
    load = runner.Load("h3", certs, runner.free_port(), "reno", qlog=tmp_path / "qlog")
    server = runner.load_endpoint("aioquic")
    with runner.running_server(server, load, www, tmp_path / "server"):
        there = runner.asked_of_client(client, replace(load, qlog=None), urgency=urgency)
        fetch(client, there, paths, tmp_path / "client")
    assert fields_in_qlog(tmp_path / "qlog") == dict(zip(paths, ASKED[urgency], strict=True))


@pytest.mark.parametrize("urgency", ASKED)
@pytest.mark.parametrize("client", ["curl", "quic-go"])
def test_server_is_told_over_http2(client: str, urgency: str, certs: Path, tmp_path: Path) -> None:
    www = tmp_path / "www"
    paths = list(runner.make_page(www, SMALL))
    load = runner.Load(
        "h2", certs, runner.free_port(), options={"urgency": urgency, "group": "P-256"}
    )
    # It says what it hears only where it is asked to, which no option does.
    argv = [
        "nghttpd", "--verbose", "--address=127.0.0.1", f"--htdocs={www}", str(load.port),
        str(certs / "priv.key"), str(certs / "cert.pem"),
    ]  # fmt: skip
    with (tmp_path / "log").open("wb") as log, subprocess.Popen(argv, stdout=log) as server:
        try:
            runner.Server(runner.load_endpoint("nghttp2"), server, tmp_path / "log").wait_ready(
                load
            )
            fetch(client, load, paths, tmp_path / "client")
        finally:
            server.terminate()
    told = fields_in_log((tmp_path / "log").read_text())
    assert told == dict(zip(paths, ASKED[urgency], strict=True))


@pytest.mark.parametrize(
    ("client", "protocol", "variables", "named"),
    [
        ("ngtcp2", "hq", {}, "hq"),
        ("quic-go", "hq", {}, "hq"),
        ("quic-go", "h3", {"FETCH": "steered"}, "FETCH"),
    ],
)
def test_requests_that_cannot_say_it_are_refused(
    client: str, protocol: str, variables: dict[str, str], named: str, certs: Path, tmp_path: Path
) -> None:
    load = runner.Load(protocol, certs, runner.free_port(), "reno", options={"urgency": "order"})
    status, timing, errors = drive(
        runner.load_endpoint(client), load, ["/x"], tmp_path / "client", **variables
    )
    assert (status, timing) == (127, None)
    assert "OPTION_URGENCY" in errors and "order" in errors and named in errors


def completed(bed: Testbed, case: tuple[str, str, str], folder: Path) -> dict[str, Any]:
    """Load a page; returns its objects in the order in which they were complete, and when they were."""
    scheduling, client, urgency = case
    folder.mkdir()
    runner.make_page(folder / "www", SIZES)
    paths = ["/page.html", *OBJECTS]
    certs = runner.make_certificates(folder / "certs")
    load = runner.Load(
        "h3",
        certs,
        runner.free_port(),
        "cubic",
        address=ADDRESS,
        options={"scheduling": scheduling},
    )
    there = runner.asked_of_client(client, load, urgency=urgency)
    with serving(bed, runner.load_endpoint("ngtcp2"), load, folder):
        status, timing, errors = drive(
            runner.load_endpoint(client), there, paths, folder / "client", [], bed.client.popen
        )
    if status or timing is None:
        return {"failed": errors[-500:]}
    ends = {item["path"]: item["end_s"] for item in timing["objects"][1:]}
    return {"order": sorted(ends, key=lambda path: ends[path]), "ends": sorted(ends.values())}


def all_loads(scratch: Path) -> dict[str, Any]:
    """Every case on one link."""
    with Testbed(Link(10, 20, 0, 200), scratch=scratch) as bed:
        return {"-".join(case): completed(bed, case, scratch / "-".join(case)) for case in LOADS}


@pytest.fixture(scope="module")
def loads() -> dict[str, Any]:
    return run_inside(all_loads)


@pytest.mark.parametrize("case", LOADS, ids="-".join)
def test_order_is_the_clients_where_the_server_obeys(
    loads: dict[str, Any], case: tuple[str, str, str]
) -> None:
    outcome = loads["-".join(case)]
    assert "failed" not in outcome, outcome
    scheduling, _, urgency = case
    if scheduling == "round_robin" or urgency == "incremental":
        # One after the other the first of seven is there after a seventh of the time.
        assert outcome["ends"][0] > 0.6 * outcome["ends"][-1]
        return
    obeyed = scheduling == "client" and urgency == "reverse"
    assert outcome["order"] == (OBJECTS[::-1] if obeyed else OBJECTS)
    assert outcome["ends"][0] < 0.5 * outcome["ends"][-1]
