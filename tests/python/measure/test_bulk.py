"""Bulk loads: what is asked for, what of it is compared, and the socket buffers that were granted."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from howquick.content.pages import make_bulk, make_page
from howquick.files import file_hash, read_json
from howquick.measure.bulk import counted
from howquick.measure.children import ProgramFailed
from howquick.measure.socket_buffers import SocketBuffers
from howquick.measure.verify import verified_timing
from howquick.study.workload import BULK_OBJECT, bulk_objects, bulk_requests, bulk_sizes, fetch_mode

LONG = {"bulk": {"seconds": 10, "at_most_bytes": 16 << 30}}
# Opens a socket with the buffers that it is told, says so, and waits to be ended.
PROGRAM = """
import socket, sys
own = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
own.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, int(sys.argv[1]))
print("open", flush=True)
sys.stdin.read()
"""


def test_many_bytes_are_one_object_again(tmp_path: Path) -> None:
    make_page(LONG, 1, tmp_path / "page")
    page = read_json(tmp_path / "page" / "page.json")
    assert [entry["bytes"] for entry in page] == bulk_objects(LONG) == bulk_sizes(LONG)[:6]
    assert max(bulk_sizes(LONG)) == 16 << 30 and max(bulk_objects(LONG)) == BULK_OBJECT
    for size in bulk_sizes(LONG):
        requests = bulk_requests(page, size)
        assert sum(entry["bytes"] for entry in requests) == size
        assert len({entry["path"] for entry in requests}) == 1
        assert fetch_mode(LONG, len(requests)) == ("sequential" if size > BULK_OBJECT else "page")


def test_the_smallest_object_is_compared_and_no_measured_one_is_hashed(tmp_path: Path) -> None:
    workload = {"bulk": {"seconds": 1, "at_most_bytes": 16 << 20}}
    make_page(workload, 1, tmp_path / "page")
    small, large = read_json(tmp_path / "page" / "page.json")
    make_bulk(tmp_path / "bulk", bulk_objects(workload))
    assert small["sha256"] == file_hash(tmp_path / "bulk" / f"{8 << 20}.bin")
    assert "sha256" not in large
    assert counted([small, large]) == [
        {"path": entry["path"], "bytes": entry["bytes"]} for entry in (small, large)
    ]


@pytest.mark.parametrize("fetched", [2, 3])
def test_each_time_that_an_object_is_asked_for_counts(tmp_path: Path, fetched: int) -> None:
    entry = {"path": "/bulk/8.bin", "bytes": 8}
    item = entry | {
        "status": 200,
        "sha256": None,
        "start_s": 0.0,
        "first_byte_s": 0.1,
        "end_s": 0.2,
    }
    timing = {
        "protocol": "h3", "start": 1.8e9, "handshake_s": None, "resumed": False, "early_data": False,
        "connections": 1, "objects": [item] * fetched,
    }  # fmt: skip
    (tmp_path / "timing.json").write_text(json.dumps(timing))
    if fetched == 3:
        assert verified_timing(tmp_path / "timing.json", [entry] * 3, "h3").body_bytes == 24
    else:
        with pytest.raises(ProgramFailed, match="2 objects reported, 3 asked"):
            verified_timing(tmp_path / "timing.json", [entry] * 3, "h3")


@pytest.mark.parametrize("asked", [50_000, 100_000])
def test_buffers_are_what_the_kernel_granted(asked: int) -> None:
    program = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(asked)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        start_new_session=True,
    )  # fmt: skip
    try:
        assert program.stdout and program.stdout.readline() == b"open\n"
        found = SocketBuffers({"server": program.pid, "client": os.getpid()}).finish()
    finally:
        program.kill()
        program.wait()
    # The kernel doubles what it grants (socket(7)).
    assert found["server"]["receive_bytes"] == 2 * asked
    assert found["server"]["send_bytes"] > 0


def test_a_program_without_sockets_has_no_buffers() -> None:
    assert SocketBuffers({"client": 2**22 + 1}).finish() == {}
