"""TIMING as programs in C write it: whatever a path holds, it is JSON."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from programs.endpoint_runner import REPOSITORY

CONTRACT = REPOSITORY / "envs/contract/c"
WRITER = """
#include "timing.h"
int main(int argc, char **argv) {
  struct object_timing object = {argv[2], 200, 5, 0, 0.5, 1, 1.5};
  struct timing timing = {.protocol = "h3", .start = 1790000000.25, .handshake_s = UNKNOWN,
                          .resumed = UNKNOWN, .connections = argc, .group = "X25519",
                          .moves_followed = 2, .objects = &object, .count = 1};
  timing_write(argv[1], &timing);
  return 0;
}
"""


@pytest.fixture(scope="module")
def writer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program that writes TIMING (first argument) of one object with the path that is the second."""
    folder = tmp_path_factory.mktemp("writer")
    (folder / "main.c").write_text(WRITER)
    subprocess.run(
        ["gcc", "-std=c11", "-D_GNU_SOURCE", f"-I{CONTRACT}", "-o", folder / "writer",
         folder / "main.c", CONTRACT / "timing.c", CONTRACT / "failure.c"],
        check=True,
    )  # fmt: skip
    return folder / "writer"


def test_every_path_is_escaped(writer: Path, tmp_path: Path) -> None:
    file = tmp_path / "timing.json"
    path = '/"quoted"\\\x01\t\n\x7fé'
    subprocess.run([writer, file, path], check=True)
    assert json.loads(file.read_text(encoding="utf-8")) == {
        "protocol": "h3",
        "start": 1790000000.25,
        "handshake_s": None,
        "resumed": None,
        "early_data": False,
        "connections": 3,
        "negotiated": {"group": "X25519"},
        "metrics": {"moves_followed": 2},
        "objects": [
            {"path": path, "status": 200, "bytes": 5, "sha256": None,
             "start_s": 0.5, "first_byte_s": 1.0, "end_s": 1.5},
        ],
    }  # fmt: skip
    assert list(tmp_path.iterdir()) == [file]


def test_a_file_that_cannot_be_written_is_named(writer: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [writer, tmp_path / "none" / "t", "/"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        f"program: TIMING {tmp_path}/none/t: No such file or directory"
    ]
