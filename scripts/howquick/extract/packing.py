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
from pathlib import Path, PurePosixPath
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
    folder = _folder(manifest, results, entry)
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
    return _cell(manifest, results) / f"{_plain(manifest['block'])}.zip"


def _cell(manifest: dict[str, Any], results: Path) -> Path:
    return results / "runs" / _plain(manifest["study"]) / _plain(manifest["cell"])


def _plain(value: Any) -> str:
    """A manifest's word as the name of a folder. Raises UserError for one that leads elsewhere."""
    name = str(value)
    if name in ("", ".", "..") or "/" in name or "\0" in name:
        raise UserError(
            f"{name!r} is no name of a study, cell or block. This manifest is not the workflow's own: "
            "delete it."
        )
    return name


def _folder(manifest: dict[str, Any], results: Path, run: dict[str, Any]) -> Path:
    """The folder of a load. Raises UserError unless it is one of the manifest's own cell, reached by no link.

    What is packed is removed afterwards: a manifest from elsewhere must not say of what.
    """
    cell = _cell(manifest, results)
    folder = results / str(run["path"])
    if folder.parts[:-2] != cell.parts or ".." in folder.parts[-2:]:
        raise UserError(
            f"{run['path']}: no load of {manifest['study']}, {manifest['cell']}. This manifest is not the "
            "workflow's own: delete it."
        )
    for link in (folder, folder.parent, cell, cell.parent, results / "runs"):
        if link.is_symlink():
            raise UserError(
                f"{link}: a link in the place of a folder. Put the folder itself there."
            )
    return folder


def _folders(manifest: dict[str, Any], results: Path) -> dict[str, Path]:
    """By name in the archive, the folders of the loads."""
    folders = [_folder(manifest, results, run) for run in manifest["runs"]]
    return {_name(folder): folder for folder in folders}


def _name(folder: Path) -> str:
    return "/".join(folder.parts[-2:])


def _loose(folder: Path) -> list[Path]:
    """The files of a load but META. Raises UserError for links, which a load of ours does not have."""
    found = sorted(p for p in folder.rglob("*") if not p.is_dir() or p.is_symlink())
    for path in found:
        if path.is_symlink() or not path.is_file():
            raise UserError(f"{path}: no regular file. Remove it, or put the file itself there.")
    return [path for path in found if path != folder / META]


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
        inner = PurePosixPath(member.filename.removeprefix(f"{name}/"))
        if inner.is_absolute() or ".." in inner.parts or member.compress_type != zipfile.ZIP_STORED:
            raise UserError(
                f"{folder}: its archive holds {member.filename!r}, which is none of a load's files. The "
                "archive is not the workflow's own: delete it."
            )
        file = target / inner
        for parent in (file, *file.parents[: len(inner.parts) - 1]):
            if parent.is_symlink():
                raise UserError(f"{parent}: a link in the place of a load's file. Remove it.")
        if not file.exists() and packed is not None:
            file.parent.mkdir(parents=True, exist_ok=True)
            with atomic_file(file) as temporary:
                temporary.write_bytes(packed.read(member))
