"""Hashes of folders, by which a program's results are known to be its own."""

from __future__ import annotations

from pathlib import Path

from howquick.files import folder_hash


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
