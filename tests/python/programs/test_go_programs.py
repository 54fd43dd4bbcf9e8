"""What the programs in Go, tls and caddy do beyond the common tests: their knobs and limits."""

from __future__ import annotations

import contextlib
import itertools
import json
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from patience import HANG_S
from programs import endpoint_runner as runner
from programs.conftest import Page
from programs.go_loads import load_of, moving_load

SECURE = [("quic-go", "h2"), ("quic-go", "h3"), ("tls", "tls")]
ALL = [*SECURE, ("quic-go", "h1"), ("go-x-net", "hq"), ("sctp", "sctp")]


def load_once(
    case: tuple[str, str], certs: Path, page: Page, folder: Path,
    options: dict[str, Any] | None = None, moves: Sequence[Callable[[], str]] = (), **more: str,
) -> dict[str, Any]:  # fmt: skip
    """Serve a page and load it once by the same program; return TIMING."""
    endpoint = runner.load_endpoint(case[0])
    load = load_of(endpoint, case[1], certs, options=options or {})
    with runner.running_server(endpoint, load, page.folder, folder / "server"):
        return moving_load(
            endpoint, load, list(page.hashes), folder / "client", moves, subprocess.Popen, **more
        )


@pytest.mark.parametrize("cipher", ["aes128", "aes256", "chacha20"])
@pytest.mark.parametrize("case", SECURE)
def test_cipher_is_the_one_asked_for(
    case: tuple[str, str], cipher: str, certs: Path, small_page: Page, tmp_path: Path
) -> None:
    options = {"cipher": cipher, "aes_acceleration": cipher != "aes256"}
    timing = load_once(case, certs, small_page, tmp_path, options)
    assert timing["negotiated"]["cipher"] == cipher
    assert {o["path"]: o["sha256"] for o in timing["objects"]} == small_page.hashes


def test_go_without_aes_prefers_chacha20(certs: Path, small_page: Page, tmp_path: Path) -> None:
    found = []
    for acceleration in (True, False):
        folder = tmp_path / str(acceleration)
        folder.mkdir()
        options = {"aes_acceleration": acceleration}
        timing = load_once(("quic-go", "h3"), certs, small_page, folder, options)
        found.append(timing["negotiated"]["cipher"])
    assert found == ["aes128", "chacha20"]


def test_openssl_without_aes_instructions_is_slower(certs: Path, tmp_path: Path) -> None:
    path, hashed = list(runner.make_page(tmp_path / "www", [50_000_000]).items())[1]
    page, took = Page(tmp_path / "www", {path: hashed}), {}
    for acceleration in (True, False):
        times = []
        for attempt in range(3):  # The machine may be busy: the best of three counts.
            folder = tmp_path / f"{acceleration}{attempt}"
            folder.mkdir()
            options = {"cipher": "aes128", "aes_acceleration": acceleration}
            timing = load_once(("tls", "tls"), certs, page, folder, options, BODY="length")
            times.append(timing["objects"][0]["end_s"])
        took[acceleration] = min(times)
    assert took[False] > 2 * took[True]


@pytest.mark.parametrize("group", ["X25519", "P-256", "P-384"])
@pytest.mark.parametrize("case", [*SECURE, ("go-x-net", "hq")])
def test_group_is_the_one_asked_for(
    case: tuple[str, str], group: str, certs: Path, small_page: Page, tmp_path: Path
) -> None:
    timing = load_once(case, certs, small_page, tmp_path, {"group": group})
    assert timing["negotiated"]["group"] == group


@pytest.mark.parametrize("case", ALL)
def test_sequential_counting_load(
    case: tuple[str, str], certs: Path, small_page: Page, tmp_path: Path
) -> None:
    backwards = Page(small_page.folder, dict(reversed(small_page.hashes.items())))
    timing = load_once(case, certs, backwards, tmp_path, FETCH="sequential", BODY="length")
    objects = timing["objects"]
    assert [o["path"] for o in objects] == list(backwards.hashes) and timing["connections"] == 1
    assert all(a["end_s"] <= b["start_s"] for a, b in itertools.pairwise(objects))
    assert all(o["sha256"] is None and o["bytes"] > 0 for o in objects)


@pytest.mark.parametrize(
    "case", [("quic-go", "h3"), ("quic-go", "h1"), ("sctp", "sctp"), ("tls", "tls")]
)
def test_page_goes_on_after_moves(
    case: tuple[str, str], certs: Path, page: Page, tmp_path: Path
) -> None:
    timing = load_once(case, certs, page, tmp_path, moves=[lambda: "127.0.0.2"])
    assert {o["path"]: o["sha256"] for o in timing["objects"]} == page.hashes


@pytest.mark.parametrize("payload", [1200, 1452])
def test_packets_are_as_large_as_asked(
    payload: int, certs: Path, page: Page, tmp_path: Path
) -> None:
    logs, options = tmp_path / "qlog", {"max_udp_payload": payload}
    endpoint = runner.load_endpoint("quic-go")
    load = load_of(endpoint, "h3", certs, options=options, qlog=logs)
    with runner.running_server(endpoint, load, page.folder, tmp_path / "server"):
        load = load_of(endpoint, "h3", certs, options=options, port=load.port)
        moving_load(endpoint, load, list(page.hashes), tmp_path / "client")
    records = next(logs.iterdir()).read_text().split("\x1e")[2:]
    events = [json.loads(record) for record in records]
    sent = [e["data"]["raw"]["length"] for e in events if e["name"].endswith(":packet_sent")]
    assert max(sent) == payload


@pytest.mark.parametrize(
    ("program", "protocol", "changes"),
    [
        ("quic-go", "hq", {"MOVES": "1"}),
        ("go-x-net", "hq", {"MOVES": "1"}),
        ("go-x-net", "hq", {"OPTION_GROUP": "P-521"}),
        ("quic-go", "h2", {"MOVES": "1", "OPTION_ON_MOVE": "migrate"}),
        ("quic-go", "h3", {"OPTION_CIPHER": "rot13"}),
        ("sctp", "sctp", {"OPTION_ON_MOVE": "migrate"}),
        ("tls", "tls", {"OPTION_GROUP": "P-521"}),
        ("tls", "tls", {"OPTION_ON_MOVE": "resume"}),
    ],
)
def test_what_a_client_cannot_do_is_named(
    program: str, protocol: str, changes: dict[str, str], certs: Path, tmp_path: Path
) -> None:
    endpoint = runner.load_endpoint(program)
    values = runner.environment(endpoint, "client", load_of(endpoint, protocol, certs), tmp_path)
    values |= {"REQUESTS": f"https://{runner.HOST}/", "TIMING": str(tmp_path / "t")} | changes
    done = subprocess.run(
        endpoint.argv("client"),
        env=values,
        input="",
        capture_output=True,
        text=True,
        timeout=HANG_S,
    )
    assert done.returncode == 127 and done.stdout == ""
    name, value = list(changes.items())[-1]
    assert name in done.stderr and value in done.stderr


def open_files(pid: int) -> list[str]:
    """What the descriptors of a process lead to; one that is closed meanwhile is not among them."""
    names = []
    for descriptor in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):
            names.append(str(descriptor.readlink()))
    return names


@pytest.mark.parametrize("protocol", ["h1", "h2", "h3"])
def test_caddy_opens_nothing_but_its_port(
    protocol: str, certs: Path, small_page: Page, tmp_path: Path
) -> None:
    endpoint = runner.load_endpoint("caddy")
    load = load_of(endpoint, protocol, certs)
    with runner.running_server(endpoint, load, small_page.folder, tmp_path / "server") as server:
        files = open_files(server.process.pid)
        inodes = {name[8:-1] for name in files if name.startswith("socket:[")}
        ports = set()
        for table in ("tcp", "tcp6", "udp", "udp6"):
            for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
                columns = line.split()
                if columns[9] in inodes:
                    ports.add((table, int(columns[1].split(":")[1], 16)))
        assert ports == {("udp" if protocol == "h3" else "tcp", load.port)}
        own = ("socket:", "pipe:", "anon_inode:", "/dev/null", str(tmp_path), "/sys/", "/proc/")
        assert [name for name in files if not name.startswith(own)] == []


@pytest.mark.parametrize("program", ["quic-go", "go-x-net", "sctp"])
def test_version_is_that_of_the_lock(program: str) -> None:
    endpoint = runner.load_endpoint(program)
    shown = subprocess.run(endpoint.argv("version"), capture_output=True, text=True, check=True)
    libraries = {"quic-go": "github.com/quic-go/quic-go", "sctp": "github.com/pion/sctp"}
    library = libraries.get(program, "golang.org/x/net")
    version = (endpoint.folder / "go.mod").read_text().split(f"{library} ")[1].split()[0]
    assert version in shown.stdout.splitlines()[0]
