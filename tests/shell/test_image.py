"""The environment in one file: packed on the login node, unpacked on a node."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from howquick.errors import UserError
from howquick.workflow.cluster import node_command
from howquick.workflow.image import pack_image
from patience import HANG_S

REPO = Path(__file__).resolve().parents[2]
# What provision.sh has read before it comes to the image.
UNPACK = """\
set -euo pipefail
cache=$1
need_space() { :; }
say() { printf '%s\\n' "$*" >&2; }
fail() { say "$*"; exit 1; }
source "$2/scripts/provision/image.sh"
unpack_image
"""
# The way of a node with a disk of its own: nothing in the cache folder, and no network to build from.
AS_NODE = """\
mount --bind "$1" "$HOWQUICK_KEPT"
shift
exec "$@"
"""


@pytest.fixture
def login(tmp_path: Path) -> dict[str, str]:
    """Variables of a start within a small environment."""
    cache = tmp_path / "login"
    for path, content in {
        "roots/r1/usr/bin/tool": "tool",
        "roots/old/usr/bin/tool": "old",
        "programs/quiche-1/bin/server": "server",
        "programs/quiche-1/.complete": "r1\n",
        "programs/quiche-0/.complete": "old\n",
    }.items():
        (cache / path).parent.mkdir(parents=True, exist_ok=True)
        (cache / path).write_text(content)
    (cache / "programs/quiche-1/bin/server").chmod(0o755)
    programs = {
        "quiche": {"prefix": f"{cache}/programs/quiche-1"},
        "nginx": {"prefix": "/usr"},
    }
    manifest = cache / "manifest-abc.json"
    manifest.write_text(json.dumps({"programs": programs}))
    return {
        "HOWQUICK_INSIDE": "enter",
        "HOWQUICK_CACHE": str(cache),
        "HOWQUICK_MANIFEST": str(manifest),
    }


def unpack(image: Path, cache: Path) -> subprocess.CompletedProcess[str]:
    """Unpack as `enter` does on a node."""
    cache.mkdir(exist_ok=True)
    for part in ("roots", "programs", "work"):
        (cache / part).mkdir(exist_ok=True)
    return subprocess.run(
        ["bash", "-c", UNPACK, "bash", str(cache), str(REPO)],
        capture_output=True, text=True, check=False, env=os.environ | {"HOWQUICK_IMAGE": str(image)},
    )  # fmt: skip


def files(folder: Path) -> dict[str, tuple[str, int]]:
    """Content and mode of every file below a folder."""
    return {
        str(path.relative_to(folder)): (path.read_text(), path.stat().st_mode)
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_node_has_what_the_manifest_names(login: dict[str, str], tmp_path: Path) -> None:
    image = pack_image(login, tmp_path / "results")
    node = tmp_path / "node"
    done = unpack(image, node)
    assert done.returncode == 0, done.stderr
    there = files(Path(login["HOWQUICK_CACHE"]))
    assert files(node) == {
        path: there[path]
        for path in (
            "roots/r1/usr/bin/tool",
            "programs/quiche-1/bin/server",
            "programs/quiche-1/.complete",
            "manifest-abc.json",
        )
    }
    assert [path.name for path in (tmp_path / "results").iterdir()] == ["environment-abc.tar.gz"]


def test_second_time_takes_what_is_there(login: dict[str, str], tmp_path: Path) -> None:
    image = pack_image(login, tmp_path)
    before = image.stat().st_mtime_ns
    assert pack_image(login, tmp_path) == image and image.stat().st_mtime_ns == before
    unpack(image, tmp_path / "node")
    image.write_text("not read again")
    done = unpack(image, tmp_path / "node")
    assert (done.returncode, done.stderr) == (0, "")


def test_unpacking_that_was_interrupted_goes_on(login: dict[str, str], tmp_path: Path) -> None:
    image, node = pack_image(login, tmp_path), tmp_path / "node"
    unpack(image, node)
    whole = files(node)
    (node / "manifest-abc.json").unlink()
    (node / "programs/quiche-1/.complete").unlink()
    (node / "programs/quiche-1/bin/server").unlink()
    (node / "programs/quiche-1/bin").rmdir()
    (node / "programs/quiche-1").rmdir()
    (node / "work/image/roots").mkdir(parents=True)
    assert unpack(image, node).returncode == 0
    assert files(node) == whole


@pytest.mark.parametrize("content", [None, b"\x1f\x8b\x08cut"])
def test_image_that_cannot_be_read_leaves_nothing(
    login: dict[str, str], tmp_path: Path, content: bytes | None
) -> None:
    image = pack_image(login, tmp_path)
    image.unlink()
    if content:
        image.write_bytes(content)
    done = unpack(image, tmp_path / "node")
    assert done.returncode == 1
    assert f"HOWQUICK_IMAGE: {image} could not be" in done.stderr or "cannot be read" in done.stderr
    assert files(tmp_path / "node") == {}


def test_image_that_cannot_be_written_says_so(login: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "login" / "roots/r1/usr/bin/tool").unlink()
    (tmp_path / "login" / "roots/r1/usr/bin").rmdir()
    (tmp_path / "login" / "roots/r1/usr").rmdir()
    (tmp_path / "login" / "roots/r1").rmdir()
    with pytest.raises(UserError, match="could not be written"):
        pack_image(login, tmp_path / "results")
    assert not list((tmp_path / "results").iterdir())


def test_jobs_are_told_where_the_image_is(login: dict[str, str], tmp_path: Path) -> None:
    command = node_command(login | {"HOWQUICK_NODES": "image"}, tmp_path / "a folder")
    assert command is not None and "HOWQUICK_IMAGE='" in command
    shown = subprocess.run(
        ["bash", "-c", f'{command}; printf %s "$HOWQUICK_IMAGE"'],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert shown.stdout == str(tmp_path / "a folder/environment-abc.tar.gz")
    plain = node_command(login, tmp_path)
    assert plain is not None and "IMAGE" not in plain
    assert node_command(login | {"HOWQUICK_NODES": "same"}, tmp_path) is None


def test_what_is_no_way_to_nodes_is_refused(login: dict[str, str], tmp_path: Path) -> None:
    with pytest.raises(UserError, match="none of 'enter', 'image' and 'same'"):
        node_command(login | {"HOWQUICK_NODES": "ssh"}, tmp_path)
    with pytest.raises(UserError, match="shared store"):
        node_command({"HOWQUICK_NODES": "image"}, tmp_path)


@pytest.mark.skipif(
    "HOWQUICK_SLURM_LONG" not in os.environ,
    reason="minutes and 8 GB: HOWQUICK_SLURM_LONG=1 runs it",
)
def test_node_without_anything_runs_from_the_image(tmp_path: Path) -> None:
    image = pack_image(os.environ, tmp_path)
    empty = tmp_path / "disk"
    empty.mkdir()
    outside = {name: value for name, value in os.environ.items() if name != "HOWQUICK_INSIDE"}
    namespaces = [
        "unshare",
        "--mount",
        "--net",
        *([] if os.geteuid() == 0 else ["--map-root-user"]),
    ]
    done = subprocess.run(
        [*namespaces, "sh", "-c", AS_NODE, "sh", str(empty), str(REPO / "enter"),
         "python", "-m", "snakemake", "--version"],
        capture_output=True, text=True, check=False, cwd=REPO, timeout=HANG_S,
        env=outside | {"HOWQUICK_IMAGE": str(image)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "unpacking the environment" in done.stderr
    assert (empty / "roots").is_dir()
