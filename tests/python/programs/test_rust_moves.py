"""The programs in Rust: a client whose address changes during the load, FETCH and BODY."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from programs import endpoint_runner as runner
from programs.conftest import Page

PROGRAMS = ["quiche", "quinn", "tquic"]
# So much that no load is over before the client has heard of its last address.
LARGE_BYTES = 20_000_000


@pytest.fixture(scope="module")
def large_page(tmp_path_factory: pytest.TempPathFactory) -> Page:
    folder = tmp_path_factory.mktemp("large-page") / "www"
    return Page(folder, runner.make_page(folder, [LARGE_BYTES] * 3))


def follow(process: subprocess.Popen[bytes], moves: int) -> None:
    """Start the load and give another loopback address each time the client asks for one."""
    assert process.stdout is not None and process.stdin is not None
    assert process.stdout.readline() == b"ready\n"
    process.stdin.write(b"go\n")
    for number in range(moves):
        assert process.stdout.readline() == b"move\n"
        process.stdin.write(f"moved 127.0.0.{number + 2}\n".encode())


def load(
    server: str, client: str, certs: Path, page: Page, folder: Path, changes: dict[str, str]
) -> dict[str, Any]:
    """Serve the page and load it with a changed client environment; return TIMING."""
    on_move = changes.get("OPTION_ON_MOVE", "reconnect")
    asked = runner.Load("h3", certs, runner.free_port(), options={"on_move": on_move})
    there = runner.load_endpoint(client)
    state = folder / "client"
    state.mkdir()
    values = runner.environment(there, "client", asked, state) | changes
    urls = [f"https://{runner.HOST}:{asked.port}{path}" for path in page.hashes]
    values |= {"REQUESTS": " ".join(urls), "TIMING": str(folder / "timing.json")}
    here = runner.load_endpoint(server)
    with (
        runner.running_server(here, asked, page.folder, folder / "server"),
        subprocess.Popen(
            there.argv("client"), env=values, bufsize=0, process_group=0,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        ) as process,
    ):  # fmt: skip
        try:
            follow(process, int(changes.get("MOVES", "0")))
            assert process.wait(20) == 0
        finally:
            runner.end_group(process.pid)
    timing: dict[str, Any] = json.loads((folder / "timing.json").read_text())
    return timing


@pytest.mark.parametrize(
    ("server", "client", "on_move"),
    [(program, program, how) for program in PROGRAMS for how in ("reconnect", "resume")]
    + [("quinn", "quinn", "migrate"), ("quinn", "quiche", "migrate")],
)
def test_load_survives_moves(
    server: str, client: str, on_move: str, certs: Path, large_page: Page, tmp_path: Path
) -> None:
    changes = {"MOVES": "2", "OPTION_ON_MOVE": on_move}
    timing = load(server, client, certs, large_page, tmp_path, changes)
    assert {item["path"]: item["sha256"] for item in timing["objects"]} == large_page.hashes
    assert timing["connections"] == (1 if on_move == "migrate" else 3)


@pytest.mark.parametrize("program", [*PROGRAMS, "s2n-quic"])
def test_sequential_and_counted(program: str, certs: Path, page: Page, tmp_path: Path) -> None:
    changes = {"FETCH": "sequential", "BODY": "length"}
    timing = load(program, program, certs, page, tmp_path, changes)
    end = 0.0
    for item in timing["objects"]:
        assert item["sha256"] is None
        assert item["bytes"] == (page.folder / item["path"].lstrip("/")).stat().st_size
        assert item["start_s"] >= end
        end = item["end_s"]
