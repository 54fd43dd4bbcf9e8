"""FETCH=steered: clients that are told what to fetch next, and those that cannot be."""

from __future__ import annotations

import itertools
import json
import subprocess
from pathlib import Path

import pytest

from howquick.study.host import has_sctp
from patience import HANG_S
from programs.client_driver import hashes
from programs.conftest import Page
from programs.endpoint_runner import (
    HOST,
    end_group,
    endpoint_names,
    environment,
    load_endpoint,
    running_server,
)
from programs.matrix import Pair, load_for

PAIRS = [
    Pair("quic-go", "quic-go", "h1"),
    Pair("nginx", "quic-go", "h2"),
    Pair("quic-go", "quic-go", "h3"),
    Pair("go-x-net", "go-x-net", "hq"),
    Pair("sctp", "sctp", "sctp"),
    *([Pair("sctp-kernel", "sctp-kernel", "sctp")] if has_sctp() else []),
]
NOT_SUPPORTED = 127


def steer(
    pair: Pair, certs: Path, folder: Path, lines: list[str], state: Path, **variables: str
) -> tuple[int, list[str], Path, str]:
    """A load of the first object, then as each line says once the client is done; REQUESTS is the first line.

    Returns exit status, what the client said, its TIMING, and its standard error.
    """
    server = load_for(pair, "server", certs)
    asked = load_for(pair, "client", certs, server.port)
    endpoint, timing = load_endpoint(pair.client), state.with_name("timing.json")
    urls = [line.replace("ORIGIN", f"https://{HOST}:{server.port}") for line in lines]
    state.mkdir()
    values = environment(endpoint, "client", asked, state) | {
        "REQUESTS": urls[0], "TIMING": str(timing), "MOVES": "0", "FETCH": "steered", **variables,
    }  # fmt: skip
    said = []
    there = running_server(load_endpoint(pair.server), server, folder, state.with_name("server"))
    with there, subprocess.Popen(
        endpoint.argv("client"), env=values, cwd=state, stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, process_group=0, text=True,
    ) as process:  # fmt: skip
        assert process.stdin and process.stdout and process.stderr
        try:
            for line in ("go", *urls[1:]):
                said.append(process.stdout.readline().strip())
                if not said[-1]:
                    break
                process.stdin.write(f"{line}\n")
                process.stdin.flush()
            out, errors = process.communicate(timeout=HANG_S)
        finally:
            end_group(process.pid)
    return process.returncode, [*said, *out.split()], timing, errors


@pytest.mark.parametrize("pair", PAIRS, ids=str)
def test_one_object_after_another_as_told(
    pair: Pair, certs: Path, small_page: Page, tmp_path: Path
) -> None:
    first, second, *_ = small_page.hashes
    # One of them twice: what was fetched before says nothing of what comes.
    lines = [f"ORIGIN{first}", f"fetch ORIGIN{second}", f"fetch ORIGIN{first}"]
    status, said, file, errors = steer(pair, certs, small_page.folder, lines, tmp_path / "client")
    assert status == 0, errors
    assert said == ["ready", "done", "done", "done"]
    timing = json.loads(file.read_text())
    assert [item["path"] for item in timing["objects"]] == [first, second, first]
    assert hashes(timing) == {path: small_page.hashes[path] for path in (first, second)}
    assert all(b["start_s"] >= a["end_s"] for a, b in itertools.pairwise(timing["objects"]))
    assert timing["connections"] == 1


def test_what_is_no_url_ends_the_client(certs: Path, small_page: Page, tmp_path: Path) -> None:
    pair = Pair("quic-go", "quic-go", "h3")
    first = next(iter(small_page.hashes))
    for number, line in enumerate(("fetch https://elsewhere.test/x", "hurry")):
        lines = [f"ORIGIN{first}", line]
        folder = tmp_path / str(number)
        folder.mkdir()
        status, _, timing, errors = steer(pair, certs, small_page.folder, lines, folder / "client")
        assert status == 1 and not timing.exists()
        assert line.split()[-1] in errors and len(errors.splitlines()) == 1


def test_moves_with_it_are_refused(certs: Path, small_page: Page, tmp_path: Path) -> None:
    first = next(iter(small_page.hashes))
    status, said, _, errors = steer(
        Pair("quic-go", "quic-go", "h3"), certs, small_page.folder, [f"ORIGIN{first}"],
        tmp_path / "client", MOVES="1",
    )  # fmt: skip
    assert status == NOT_SUPPORTED and said == [""] and "MOVES=1" in errors


def test_all_that_say_so_are_asked() -> None:
    declared = {
        name
        for name in endpoint_names()
        if load_endpoint(name).definition.get("client", {}).get("steered")
    }
    asked = {pair.client for pair in PAIRS} | ({"sctp-kernel"} if not has_sctp() else set())
    assert declared == asked
