"""What goes into an archive, under which name, and how it is packed."""

from __future__ import annotations

import gzip
import hashlib
import io
import subprocess
import tarfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from howquick.errors import ROOT, UserError
from howquick.files import GENERATED
from howquick.plan.plan import ENVIRONMENT

# The checkout, without what is generated and without what else a user keeps there.
CODE = (
    ".ci", ".gitignore", ".lintr", "CITATION.cff", "LICENSE", "R", "README.md", "Snakefile", "config", "docs",
    "enter", "environment", "envs", "examples", "flake.lock", "flake.nix", "nix", "paper", "profiles",
    "pyproject.toml", "rules", "scripts", "tests",
)  # fmt: skip
# Where the archive keeps what was published, apart from where the same files are rebuilt.
PUBLISHED = "published"
SUMS = f"{PUBLISHED}/SHA256SUMS"
ALL_SUMS = "SHA256SUMS"


@dataclass(frozen=True)
class Member:
    """A file of the archive: its name there, and its content by a path or by its bytes."""

    name: str
    source: Path | bytes
    executable: bool = False

    def content(self) -> bytes:
        """The bytes of the file."""
        return self.source if isinstance(self.source, bytes) else self.source.read_bytes()

    @cached_property
    def sha256(self) -> str:
        """The checksum of the file; the sums, their sums and the metadata all name it."""
        return hashlib.sha256(self.content()).hexdigest()

    def size(self) -> int:
        """Bytes of the file."""
        return len(self.source) if isinstance(self.source, bytes) else self.source.stat().st_size


def code(root: Path = ROOT) -> Iterator[Member]:
    """Code, locks, studies and documents. Links become the files that they lead to.

    Of a checkout only what git tracks: what else lies there may be nobody else's business. Raises UserError
    for a tracked link that leads out of `root`, and where git cannot tell.
    """
    tracked = _tracked(root)
    for name in CODE:
        top = root / name
        files = [top] if top.is_file() else sorted(top.rglob("*", recurse_symlinks=True))
        for file in files:
            inner, real = file.relative_to(root), file.resolve()
            if not file.is_file() or GENERATED & set(inner.parts):
                continue
            if not real.is_relative_to(root.resolve()):
                if tracked is None or str(inner) in tracked:
                    raise UserError(
                        f"{file}: leads out of the project, to {real}. Put the file itself there."
                    )
                continue
            if tracked is None or str(real.relative_to(root.resolve())) in tracked:
                yield Member(str(inner), file, bool(file.stat().st_mode & 0o100))


def _tracked(root: Path) -> set[str] | None:
    """The files that git tracks; None where there is no checkout, as in an archive that was unpacked."""
    if not (root / ".git").exists():
        return None
    # The folder may be another user's, mounted into a container: it is read only.
    argv = ["git", "-c", "safe.directory=*", "-C", str(root), "ls-files", "-z"]
    try:
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise UserError(f"{root}: a checkout, and git is not installed. Install git.") from None
    if done.returncode:
        raise UserError(
            f"{root}: git cannot list its files: {done.stderr.strip()}. Mend the checkout."
        )
    return set(done.stdout.split("\0"))


def check_studies(members: Iterable[Member], studies: Iterable[str]) -> None:
    """Raise UserError for a study whose file the archive lacks, since git does not track it."""
    names = {member.name for member in members}
    for study in studies:
        file = f"config/studies/{study}.yaml"
        if file not in names:
            raise UserError(
                f"{file}: not tracked by git, so the archive would lack it. git add {file}"
            )


def measured(results: Path, studies: list[str], manifest: Path) -> Iterator[Member]:
    """What the analysis reads: plans, tables, calibrations, processor seconds, the environment's manifest."""
    yield Member(f"results/{ENVIRONMENT}", manifest)
    for study in studies:
        tables = results / "tables"
        for file in (results / "plan" / f"{study}.json", tables / f"{study}.csv"):
            yield Member(f"results/{file.relative_to(results)}", file)
        processor = results / "processor" / f"{study}.csv"
        for file in [*sorted((tables / study).rglob("*.csv")), *filter(Path.is_file, [processor])]:
            yield Member(f"results/{file.relative_to(results)}", file)
    for file in sorted((results / "calibration").glob("*.json")):
        yield Member(f"results/{file.relative_to(results)}", file)


def published(results: Path, studies: list[str]) -> list[Member]:
    """Appendix, page of results, figures and statistics, as they were made here."""
    files = [results / "appendix.pdf", results / "results.md"]
    for study in studies:
        files += sorted((results / "figures" / study).glob("*.pdf"))
        files += sorted((results / "figures" / study).glob("*.svg"))
        files += sorted((results / "statistics" / study).glob("*.csv"))
    return [Member(f"{PUBLISHED}/{file.relative_to(results)}", file) for file in files]


def report(results: Path, studies: list[str], place: bytes) -> Iterator[Member]:
    """The reader's report: a folder beside the code, which opens from the disk.

    place: its data/place.js, for what lies beside it here is another than in a folder of results.
    """
    yield Member("report/data/place.js", place)
    folder = results / "report"
    parts = [folder / "page", *(folder / "data" / study for study in studies)]
    files = [folder / "index.html", folder / "data" / "index.js"]
    for file in [*files, *(file for part in parts for file in sorted(part.rglob("*")))]:
        if file.is_file() and not file.name.startswith("."):
            yield Member(f"report/{file.relative_to(folder)}", file)


def sums(members: list[Member], strip: str = "", prefix: str = "") -> bytes:
    """Checksums in the form of sha256sum, with other names: `strip` replaced by `prefix`."""
    lines = [f"{m.sha256}  {prefix}{m.name.removeprefix(strip)}\n" for m in members]
    return "".join(lines).encode()


def pack(members: list[Member], top: str, output: Path) -> None:
    """Write all members below the folder `top` into one .tar.gz; the same members give the same bytes.

    Raises UserError if two have the same name.
    """
    names = [member.name for member in members]
    if len(set(names)) < len(names):
        twice = sorted({name for name in names if names.count(name) > 1})
        raise UserError(f"{output}: twice in the archive: {', '.join(twice)}")
    with (
        output.open("wb") as raw,
        gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for member in sorted(members, key=lambda m: m.name):
            content = member.content()
            info = tarfile.TarInfo(f"{top}/{member.name}")
            info.size, info.mode = len(content), 0o755 if member.executable else 0o644
            # Older than whatever is rebuilt from it.
            info.mtime = 946684800
            archive.addfile(info, io.BytesIO(content))
