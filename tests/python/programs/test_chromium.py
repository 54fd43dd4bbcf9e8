"""Real pages in a real browser: what it measures, what it keeps, how it fails, what it leaves behind.

That it loads, verifies and reports as the contract says is tested in test_endpoints.py.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from howquick.content.site import make_site
from patience import SOON_S, wait_until
from programs.endpoint_runner import (
    HOST,
    EndpointError,
    Load,
    Outcome,
    end_group,
    environment,
    free_port,
    load_endpoint,
    run_client,
    running_server,
)

PROTOCOLS = ("h1", "h2", "h3")
SPOKEN = {"h1": "http/1.1", "h2": "h2", "h3": "h3"}
GREEN, RED = (0x2F, 0x7D, 0x4F), (0xB3, 0x40, 0x2A)
# Bytes of a profile, a net-log and pictures that one load may leave.
ARTIFACTS_BYTES = 20_000_000


@dataclass(frozen=True)
class SitePage:
    """A served site: its folder and its list of objects."""

    www: Path
    index: list[dict[str, Any]]

    @property
    def paths(self) -> list[str]:
        return [entry["path"] for entry in self.index]


@dataclass(frozen=True)
class Seen:
    """A load of the site: how it ended, when, and the artifacts it left."""

    protocol: str
    outcome: Outcome
    over_unix: float
    artifacts: Path

    def json(self, name: str) -> Any:
        return json.loads((self.artifacts / name).read_text())


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> SitePage:
    folder = tmp_path_factory.mktemp("site")
    return SitePage(folder / "www", make_site("small", 1, folder))


def asked(protocol: str, certs: Path) -> tuple[Load, Load]:
    """What server and client are asked to do."""
    server = Load(protocol, certs, free_port(), "reno" if protocol == "h3" else "cubic")
    return server, replace(server, congestion_control="cubic")


def browse(there: Load, paths: list[str], folder: Path, **variables: str) -> Outcome:
    """Load the page by the browser with further variables of the contract."""
    client = load_endpoint("chromium")
    # The runner passes what is in `options` on as OPTION_<NAME>; the contract's variables go through env(1).
    words = [f"{name}={value}" for name, value in variables.items()]
    command = ["env", *words, *client.definition["client"]["command"]]
    part = client.definition["client"] | {"command": command}
    return run_client(
        replace(client, definition=client.definition | {"client": part}), there, paths, folder
    )


@pytest.fixture(scope="module", params=PROTOCOLS)
def seen(
    request: pytest.FixtureRequest,
    certs: Path,
    site: SitePage,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Seen]:
    """One load of the site over each protocol."""
    folder = tmp_path_factory.mktemp(request.param)
    server, there = asked(request.param, certs)
    with running_server(load_endpoint("nginx"), server, site.www, folder / "server"):
        outcome = browse(there, site.paths, folder / "client", ARTIFACTS=str(folder / "artifacts"))
        over_unix = time.time()
    yield Seen(request.param, outcome, over_unix, folder / "artifacts")


def test_every_resource_arrives_over_the_protocol(seen: Seen, site: SitePage) -> None:
    timing = seen.outcome.page()
    received = [
        {key: item[key] for key in ("path", "bytes", "sha256")} for item in timing["objects"]
    ]
    assert received == site.index
    assert {item["protocol"] for item in timing["objects"]} == {seen.protocol}
    assert timing["connections"] <= (6 if seen.protocol == "h1" else 1)
    assert timing["negotiated"] == {"cipher": "AES_128_GCM", "group": "X25519"}


def test_metrics_are_those_declared_and_plausible(seen: Seen) -> None:
    timing = seen.outcome.page()
    metrics = timing["metrics"]
    assert set(metrics) == set(load_endpoint("chromium").definition["client"]["metrics"])
    objects = {item["path"]: item for item in timing["objects"]}
    last = max(item["end_s"] for item in objects.values())
    # Nothing is drawn before the style sheet is there, and the page is white until the first paint.
    assert objects["/css/style-0.css"]["end_s"] < metrics["fcp_s"] <= metrics["lcp_s"]
    over = seen.over_unix - timing["start"]
    assert metrics["lcp_s"] < over
    assert metrics["fcp_s"] - 0.05 <= metrics["speed_index_s"] < over
    assert last <= metrics["onload_s"] < over


def test_har_lists_every_resource(seen: Seen, site: SitePage) -> None:
    entries = seen.json("har.json")["log"]["entries"]
    assert [entry["response"]["httpVersion"] for entry in entries] == [SPOKEN[seen.protocol]] * len(
        site.index
    )
    assert {entry["request"]["url"].split("/", 3)[3] for entry in entries} == {
        path[1:] for path in site.paths
    }


def sent_elsewhere(log: dict[str, Any], port: int) -> list[str]:
    """Addresses to which the net-log shows a connection, or a datagram, other than the server's port."""
    kinds = {number: name for name, number in log["constants"]["logEventTypes"].items()}
    aims: dict[int, str] = {}
    reached = []
    for event in log["events"]:
        kind, parameters = kinds[event["type"]], event.get("params", {})
        if kind in ("UDP_CONNECT", "TCP_CONNECT_ATTEMPT") and "address" in parameters:
            aims[event["source"]["id"]] = parameters["address"]
            if kind == "TCP_CONNECT_ATTEMPT":
                reached.append(parameters["address"])
        # A UDP socket that is connected and sends nothing asks the kernel for a route, no more.
        if kind == "UDP_BYTES_SENT":
            reached.append(parameters.get("address") or aims[event["source"]["id"]])
    assert reached, "the net-log shows no traffic at all"
    return [address for address in reached if address != f"127.0.0.1:{port}"]


def test_net_log_is_whole_and_shows_traffic_to_the_server_alone(seen: Seen) -> None:
    log = seen.json("netlog.json")
    url = seen.json("har.json")["log"]["entries"][0]["request"]["url"]
    assert sent_elsewhere(log, int(url.split("/")[2].split(":")[1])) == []
    # What the browser writes last.
    assert any("quicInfo" in part for part in log["polledData"])


def colour_at(picture: Path, x: int, y: int) -> tuple[int, ...]:
    """Colour of one pixel of a JPEG file, decoded by the package that the client is built with."""
    prefix = load_endpoint("chromium").prefix
    script = (
        "const [prefix, file, x, y] = process.argv.slice(1);"
        "const { createRequire } = require('node:module');"
        "const jpeg = createRequire(`${prefix}/package.json`)('jpeg-js');"
        "const { width, data } = jpeg.decode(require('node:fs').readFileSync(file));"
        "const at = 4 * (width * Number(y) + Number(x));"
        "console.log(JSON.stringify([...data.subarray(at, at + 3)]));"
    )
    done = subprocess.run(
        ["node", "-e", script, str(prefix), str(picture), str(x), str(y)],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return tuple(json.loads(done.stdout))


def is_near(colour: tuple[int, ...], wanted: tuple[int, ...]) -> bool:
    return all(abs(a - b) < 20 for a, b in zip(colour, wanted, strict=True))


def test_screenshot_shows_the_styled_page_after_its_scripts(seen: Seen) -> None:
    # The bar below the title: red by the style sheet, green once the script has run.
    colour = colour_at(seen.artifacts / "screenshot.jpg", 1200, 72)
    assert is_near(colour, GREEN)
    assert not is_near(colour, RED)


def test_film_strip_is_short_and_in_time(seen: Seen) -> None:
    frames = sorted((seen.artifacts / "filmstrip").iterdir())
    assert 1 <= len(frames) <= 10
    first_s = int(frames[0].name.removesuffix("ms.jpg")) / 1000
    # The recorder names a frame by the refresh of the screen that shows it.
    assert abs(first_s - seen.outcome.page()["metrics"]["fcp_s"]) < 0.25
    files = [path for path in seen.artifacts.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < ARTIFACTS_BYTES


def test_another_protocol_than_asked_fails(certs: Path, site: SitePage, tmp_path: Path) -> None:
    server, there = asked("h1", certs)
    with running_server(load_endpoint("nginx"), server, site.www, tmp_path / "server"):
        quic = browse(replace(there, protocol="h3"), site.paths, tmp_path / "quic")
        http2 = browse(replace(there, protocol="h2"), site.paths, tmp_path / "http2")
    assert quic.status == 1 and quic.timing is None
    assert quic.reason.startswith("chromium: /page.html over h3 failed: net::ERR_")
    assert http2.status == 1 and http2.timing is None
    assert http2.reason == "chromium: /page.html came over http/1.1, not over h2"


def test_objects_one_after_another_without_a_page(
    certs: Path, site: SitePage, tmp_path: Path
) -> None:
    server, there = asked("h3", certs)
    paths = ["/images/main.png", "/images/000.png", "/images/001.png"]
    with running_server(load_endpoint("nginx"), server, site.www, tmp_path / "server"):
        asks = {"FETCH": "sequential", "BODY": "length", "ARTIFACTS": str(tmp_path / "artifacts")}
        timing = browse(there, paths, tmp_path / "client", **asks).page()
    sizes = {entry["path"]: entry["bytes"] for entry in site.index}
    objects = timing["objects"]
    assert [(item["path"], item["bytes"]) for item in objects] == [(p, sizes[p]) for p in paths]
    assert all(item["sha256"] is None for item in objects)
    assert all(b["start_s"] >= a["end_s"] for a, b in itertools.pairwise(objects))
    assert timing["connections"] == 1 and timing["metrics"] == {}
    entries = json.loads((tmp_path / "artifacts" / "har.json").read_text())["log"]["entries"]
    assert [entry["request"]["url"].split("/", 3)[3] for entry in entries] == [p[1:] for p in paths]


def test_page_that_does_not_ask_for_everything_fails(
    certs: Path, site: SitePage, tmp_path: Path
) -> None:
    server, there = asked("h2", certs)
    with running_server(load_endpoint("nginx"), server, site.www, tmp_path / "server"):
        more = browse(there, [*site.paths, "/images/none.png"], tmp_path / "more")
        less = browse(there, site.paths[:-1], tmp_path / "less")
    assert more.reason == "chromium: the page never asked for /images/none.png"
    assert less.reason.endswith(f"{site.paths[-1]}, which is not one of REQUESTS")


def processes_of(state: Path) -> list[int]:
    """Processes that work in a folder or were started with its name."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            command = (entry / "cmdline").read_bytes()
            if str(state).encode() in command or (entry / "cwd").readlink() == state:
                found.append(int(entry.name))
    return found


@pytest.mark.parametrize("whole_group", [True, False], ids=["group", "client-alone"])
def test_nothing_is_left_when_the_client_is_killed(
    whole_group: bool, certs: Path, site: SitePage, tmp_path: Path
) -> None:
    client, state = load_endpoint("chromium"), tmp_path / "client"
    state.mkdir()
    _, there = asked("h2", certs)
    values = environment(client, "client", there, state)
    values |= {
        "REQUESTS": f"https://{HOST}:{there.port}/page.html",
        "TIMING": str(tmp_path / "timing.json"),
    }
    with subprocess.Popen(
        client.argv("client"), env=values, cwd=state, process_group=0,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        if process.stdout.readline() != b"ready\n":
            raise EndpointError("the browser did not become ready")
        assert len(processes_of(state)) > 3, "the browser has helpers"
        if whole_group:
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
        process.wait()
        try:
            assert wait_until(lambda: processes_of(state) == [], SOON_S)
        finally:
            end_group(process.pid)
