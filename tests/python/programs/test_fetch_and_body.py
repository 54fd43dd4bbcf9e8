"""FETCH and BODY, by every client that is there: it does as it is told, or says by 127 that it cannot."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest

from programs.client_driver import drive
from programs.conftest import Page
from programs.endpoint_runner import load_endpoint, running_server
from programs.matrix import Pair, load_for, own_pairs

PAIRS = own_pairs()
NOT_SUPPORTED = 127
# What a client has that is told nothing.
USUAL = {"FETCH": "page", "BODY": "sha256"}
# On one connection, of which each is asked for by itself.
ONE_BY_ONE = "tls"
# Several connections, where it may have them.
SEVERAL = "h1"
# On a busy machine an object may have come before the next is asked for, though nobody waits for it.
TRIES = 6


def fetched(
    pair: Pair, certs: Path, page: Page, paths: list[str], folder: Path, **told: str
) -> list[dict[str, Any]]:
    """The objects of a load, as TIMING has them; skips what the client says that it cannot."""
    server = load_for(pair, "server", certs)
    asked = load_for(pair, "client", certs, server.port)
    with running_server(load_endpoint(pair.server), server, page.folder, folder / "server"):
        status, timing, errors = drive(
            load_endpoint(pair.client), asked, paths, folder / "client", **told
        )
    refused = [name for name in told if name in errors]
    if status == NOT_SUPPORTED and refused:
        assert all(told[name] != USUAL[name] for name in refused), errors
        pytest.skip(errors.strip().splitlines()[-1])
    assert status == 0 and timing, errors
    if told["FETCH"] == "sequential" or pair.protocol != SEVERAL:
        assert timing["connections"] == 1
    objects: list[dict[str, Any]] = timing["objects"]
    assert [item["bytes"] for item in objects] == [
        (page.folder / item["path"].lstrip("/")).stat().st_size for item in objects
    ]
    if told["BODY"] == "length":
        assert [item["sha256"] for item in objects] == [None] * len(paths)
    else:
        assert all(item["sha256"] == page.hashes[item["path"]] for item in objects)
    return objects


def is_one_by_one(objects: list[dict[str, Any]]) -> bool:
    return all(b["start_s"] >= a["end_s"] for a, b in itertools.pairwise(objects))


@pytest.mark.parametrize("pair", PAIRS, ids=str)
@pytest.mark.parametrize("fetch", ["page", "sequential"])
@pytest.mark.parametrize("body", ["sha256", "length"])
def test_order_and_hashing_are_as_asked(
    pair: Pair, fetch: str, body: str, certs: Path, small_page: Page, tmp_path: Path
) -> None:
    paths = list(small_page.hashes)
    waits = fetch == "sequential" or pair.protocol == ONE_BY_ONE
    for attempt in range(1 if waits else TRIES):
        folder = tmp_path / str(attempt)
        objects = fetched(pair, certs, small_page, paths, folder, FETCH=fetch, BODY=body)
        assert [item["path"] for item in objects] == paths
        if is_one_by_one(objects) is waits:
            return
    pytest.fail(
        "every object was asked for after the one before" if not waits else "objects overlap"
    )


def has_bulk(pair: Pair) -> bool:
    """Whether a client is made for loads that ask for objects again."""
    client = load_endpoint(pair.client).definition["client"]
    return "bulk" in client.get("workloads", ["bulk"])


@pytest.mark.parametrize("pair", [pair for pair in PAIRS if has_bulk(pair)], ids=str)
def test_an_object_may_be_asked_for_again(
    pair: Pair, certs: Path, small_page: Page, tmp_path: Path
) -> None:
    path = max(small_page.hashes, key=lambda p: (small_page.folder / p.lstrip("/")).stat().st_size)
    told = USUAL | {"FETCH": "sequential"}
    objects = fetched(pair, certs, small_page, [path] * 3, tmp_path, **told)
    assert [item["path"] for item in objects] == [path] * 3
    assert is_one_by_one(objects)
