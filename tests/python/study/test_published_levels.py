"""Every level that the papers published is a cell at scale paper."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

import pytest

from howquick.environment.endpoints import load_endpoints
from howquick.model import ResolvedStudy
from howquick.study.cells import arms_of, is_selected
from howquick.study.resolve import Selection, resolve_study

LOSSES = [0, 5, 10, 15, 20]
BUFFERS = ["halfbuffers", "buffers1", "buffers2", "buffers4", "buffers8", "buffers16", "buffers32"]
SERVERS = ("cubic-fifo", "bbr-fifo", "bbr-rr", "bbr-pto")
CLIENTS = {
    ("100kb", "1mb", "5mb"): ("h3-ngtcp2", "h3-quiche", "h3-chromium", "h2-curl", "h2-chromium"),
    ("small", "medium", "large"): ("h3-chromium", "h2-chromium"),
}
WEB = ("h2-chromium", "h3-chromium", "h2-go", "h3-go")
MEDIA = ("tcp", "sctp-kernel", "quic")
STACKS = ("tls", "h3-quinn-quinn", "h3-quiche-quiche")
Levels = dict[str, list[Any]]


def streaming(*loads: str, rtt_ms: int, loss: Any = 0, moves: Any = 0) -> Levels:
    return {
        "workload": [*loads], "rtt_ms": [rtt_ms], "loss_percent": as_list(loss), "moves": as_list(moves),
    }  # fmt: skip


def highway(
    offloads: Any = "offloads", buffers: Any = "ownbuffers", aes: Any = "owncipher aesni"
) -> Levels:
    cipher, instructions = aes.split(" ")
    return {
        "offloads": as_list(offloads), "option.socket_buffer_bytes": as_list(buffers),
        "option.cipher": [cipher], "option.aes_acceleration": [instructions],
    }  # fmt: skip


def as_list(given: Any) -> list[Any]:
    return given if isinstance(given, list) else [given]


# Study; levels, of which each combination is to be a cell; arms to be measured in each.
PUBLISHED: list[tuple[str, Levels, Iterable[str]]] = [
    ("how-quick",
     {"bandwidth_mbit": [2, 10, 50], "rtt_ms": [18, 218], "loss_percent": [0, 2], "objects": [5, 50],
      "object_size": ["small", "large"]},
     ("h1-nginx-curl", "spdy-node", "h3-quiche")),
    *[("production-quic",
       sweep | {"burst_bytes": ["exact"], "workload": [*loads]},
       [f"{server}-{client}" for server in SERVERS for client in clients])
      for sweep in ({"rtt_ms": [20], "loss_percent": [0, 0.1, 1]},
                    {"rtt_ms": [20, 70, 120], "loss_percent": [0]})
      for loads, clients in CLIENTS.items()],
    ("web-streaming", streaming("web", rtt_ms=200, loss=LOSSES), WEB),
    ("web-streaming", streaming("lossyfile", "lossyqhd", rtt_ms=50, loss=LOSSES), MEDIA),
    # Below 100 ms, up to 200 and above: the delays themselves are not named.
    ("web-streaming", streaming("file", "qhd", rtt_ms=50), MEDIA),
    ("web-streaming", streaming("file", "fhd", rtt_ms=100), MEDIA),
    ("web-streaming", streaming("file", "fhd", rtt_ms=200), MEDIA),
    ("web-streaming", streaming("file", "hd", rtt_ms=250), MEDIA),
    ("web-streaming", streaming("file", "fhd", rtt_ms=150, moves=[1, 2, 4, 8]), (*MEDIA, "quic-migrate")),
    ("highway", highway(offloads=["offloads", "udponly", "nooffloads"]), STACKS),
    # Which of them a machine grants is the machine's.
    ("highway", highway(buffers=BUFFERS), ()),
    *[("highway", highway(aes=aes), STACKS) for aes in ("aes128 aesni", "aes128 noaesni", "chacha20 aesni")],
]  # fmt: skip
AT_LEAST = {"how-quick": 100, "production-quic": 40, "web-streaming": 20, "highway": 50}


def paper(study: str) -> ResolvedStudy:
    return resolve_study(study, Selection("paper", 1))


@pytest.mark.parametrize(("name", "levels", "arms"), PUBLISHED)
def test_every_published_level_is_a_cell(name: str, levels: Levels, arms: Iterable[str]) -> None:
    study = paper(name)
    for combination in itertools.product(*levels.values()):
        wanted = dict(zip(levels, combination, strict=True))
        found = [cell for cell in study["cells"] if is_selected(cell, wanted)]
        assert len(found) == 1, wanted
        assert set(arms) <= {arm["name"] for arm in arms_of(study, found[0])}, wanted


@pytest.mark.parametrize(("name", "repetitions"), AT_LEAST.items())
def test_they_are_repeated_as_often_as_in_the_paper(name: str, repetitions: int) -> None:
    assert paper(name)["repetitions"] >= repetitions


def test_loss_and_further_delay_never_meet() -> None:
    for cell in paper("production-quic")["cells"]:
        assert cell["values"]["rtt_ms"] == 20 or cell["values"]["loss_percent"] == 0


def test_only_the_p256_arms_pay_a_hello_retry_request() -> None:
    """Every server takes X25519, and every other client offers it first or has no other."""
    endpoints = load_endpoints()
    for arm in paper("production-quic")["arms"]:
        own = arm.get("own_options", {})
        offered = own.get("client", {}).get("group") or arm["options"].get("group")
        default = endpoints[arm["client"]].defaults.get("group", "X25519")
        first = str(offered or default).split(":")[0]
        assert (first == "X25519") == (not arm["name"].endswith("-p256")), arm["name"]
        assert endpoints[arm["server"]].defaults.get("group", "X25519").startswith("X25519")
        assert "group" not in own.get("server", {})
