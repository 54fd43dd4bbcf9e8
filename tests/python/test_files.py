"""Hashes of folders, by which a program's results are known to be its own, and what is on the disk when."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from howquick.files import atomic_file, atomic_folder, folder_hash


def program(folder: Path) -> Path:
    """Write a folder of a program that shares a folder with another one."""
    (folder / "shared" / "src").mkdir(parents=True)
    (folder / "shared" / "src" / "code").write_text("one")
    (folder / "program").mkdir()
    (folder / "program" / "main").write_text("main")
    (folder / "program" / "link").symlink_to("../shared")
    return folder / "program"


def test_hash_of_a_folder_counts_what_its_links_point_to(tmp_path: Path) -> None:
    folder = program(tmp_path)
    before = folder_hash(folder)
    assert folder_hash(folder) == before
    (tmp_path / "shared" / "src" / "code").write_text("two")
    assert folder_hash(folder) != before


def test_hash_of_a_folder_leaves_out_caches(tmp_path: Path) -> None:
    folder = program(tmp_path)
    before = folder_hash(folder)
    (tmp_path / "shared" / "target").mkdir()
    (tmp_path / "shared" / "target" / "built").write_text("object")
    assert folder_hash(folder) == before


def write_file(path: Path) -> None:
    with atomic_file(path) as temporary:
        temporary.write_text("whole")


def write_folder(path: Path) -> None:
    with atomic_folder(path) as temporary:
        (temporary / "inner").write_text("whole")


@pytest.mark.parametrize("write", [write_file, write_folder])
@pytest.mark.parametrize("times", [1, 2])
def test_content_is_on_the_disk_before_its_name_and_then_the_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write: Callable[[Path], None], times: int
) -> None:
    """Otherwise a power cut leaves an empty file under the name, or nothing."""
    path, synced = tmp_path / "named", []

    def sync(descriptor: int) -> None:
        found = os.fstat(descriptor).st_ino
        synced.append((found, path.exists() and path.stat().st_ino))

    for _ in range(times):
        synced.clear()
        monkeypatch.setattr(os, "fsync", sync)
        write(path)
    inodes = [file.stat().st_ino for file in (path, *path.rglob("*"))]
    *content, last = synced
    assert {inode for inode, _ in content} == set(inodes)
    assert all(there != path.stat().st_ino for _, there in content)
    assert last == (tmp_path.stat().st_ino, path.stat().st_ino)
