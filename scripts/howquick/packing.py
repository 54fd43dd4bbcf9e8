"""The run folders of a block as one file: a shared file system that counts files has fewer to count.

Only `meta.json` of each load stays where it was: by it the workflow knows what is measured. All else is in
`results/runs/<study>/<cell>/<block>.zip`, stored as it is, as `<arm>/<repetition>/<file>`.
"""

from __future__ import annotations

import shutil
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from howquick.errors import UserError
from howquick.files import atomic_file, file_sizes

META = "meta.json"


def pack_block(manifest: dict[str, Any], results: Path) -> None:
    """Move the files of a block's loads into its archive. What is there already stays there.

    The archive is whole before the first file is removed; killed in between, the next call ends it.
    """
    archive = _archive(manifest, results)
    folders = _folders(manifest, results)
    loose = {name: _loose(folder) for name, folder in folders.items()}
    if not any(loose.values()):
        return
    with (
        atomic_file(archive) as temporary,
        zipfile.ZipFile(temporary, "w") as target,
        _opened(archive) as packed,
    ):
        for name, folder in folders.items():
            replaced = {f"{name}/{file.relative_to(folder)}" for file in loose[name]}
            for member in _members(packed, name, folder):
                if member.filename not in replaced and packed:
                    target.writestr(member, packed.read(member))
            for file in [*loose[name], folder / META]:
                if file.is_file():
                    target.write(file, f"{name}/{file.relative_to(folder)}")
    for name, folder in folders.items():
        for file in loose[name]:
            file.unlink()
        for below in sorted((p for p in folder.rglob("*") if p.is_dir()), reverse=True):
            below.rmdir()


def unpack_block(manifest: dict[str, Any], results: Path) -> None:
    """Put the files of a block's loads back into their folders and remove the archive."""
    archive = _archive(manifest, results)
    with _opened(archive) as packed:
        for name, folder in _folders(manifest, results).items():
            _extract(packed, name, folder, folder)
    archive.unlink(missing_ok=True)


@contextmanager
def run_folder(manifest: dict[str, Any], results: Path, entry: dict[str, Any]) -> Iterator[Path]:
    """The folder of a load with all its files: its own, or a copy for as long as the block lasts."""
    folder = results / entry["path"]
    with _opened(_archive(manifest, results)) as packed:
        name = _name(folder)
        if not _members(packed, name, folder):
            yield folder
            return
        with tempfile.TemporaryDirectory(prefix="howquick-") as scratch:
            copy = Path(scratch, *folder.parts[-2:])
            _extract(packed, name, folder, copy)
            shutil.copytree(folder, copy, dirs_exist_ok=True)
            yield copy


def run_sizes(manifest: dict[str, Any], results: Path) -> list[int]:
    """Bytes of every file of a block's loads, its archive's among them."""
    sizes = [size for folder in _folders(manifest, results).values() for size in file_sizes(folder)]
    archive = _archive(manifest, results)
    return [*sizes, archive.stat().st_size] if archive.exists() else sizes


def _archive(manifest: dict[str, Any], results: Path) -> Path:
    return results / "runs" / manifest["study"] / manifest["cell"] / f"{manifest['block']}.zip"


def _folders(manifest: dict[str, Any], results: Path) -> dict[str, Path]:
    """By name in the archive, the folders of the loads."""
    folders = [results / run["path"] for run in manifest["runs"]]
    return {_name(folder): folder for folder in folders}


def _name(folder: Path) -> str:
    return "/".join(folder.parts[-2:])


def _loose(folder: Path) -> list[Path]:
    return sorted(p for p in folder.rglob("*") if p.is_file() and p != folder / META)


@contextmanager
def _opened(archive: Path) -> Iterator[zipfile.ZipFile | None]:
    """The archive, None if there is none. Raises UserError for a damaged one."""
    if not archive.exists():
        yield None
        return
    try:
        with zipfile.ZipFile(archive) as packed:
            yield packed
    except zipfile.BadZipFile as error:
        raise UserError(
            f"{archive}: damaged ({error}). Its loads are lost: remove it and the folders of arms beside it, "
            "and run the workflow to measure them again."
        ) from error


def _members(packed: zipfile.ZipFile | None, name: str, folder: Path) -> Sequence[zipfile.ZipInfo]:
    """What the archive has of the load that is in `folder` now; nothing of one measured before it."""
    if packed is None:
        return []
    members = [m for m in packed.infolist() if m.filename.startswith(f"{name}/")]
    try:
        same = packed.read(f"{name}/{META}") == (folder / META).read_bytes()
    except (KeyError, OSError):
        same = False
    return [m for m in members if m.filename != f"{name}/{META}"] if same else []


def _extract(packed: zipfile.ZipFile | None, name: str, folder: Path, target: Path) -> None:
    """Write the members of a load below `target`; what is loose there stays."""
    for member in _members(packed, name, folder):
        file = target / member.filename.removeprefix(f"{name}/")
        if not file.exists() and packed is not None:
            file.parent.mkdir(parents=True, exist_ok=True)
            with atomic_file(file) as temporary:
                temporary.write_bytes(packed.read(member))
