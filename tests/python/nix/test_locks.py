"""Both ways in, `./enter` and Nix, use the versions that the locks name."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from howquick.errors import ROOT

TOPS = (ROOT / "environment", ROOT / "envs")
SYSTEMS = ("x86_64-linux", "aarch64-linux")


def folders_with(name: str) -> list[Path]:
    """Folders of programs under test and of parts of the environment that have such a file."""
    return sorted(path.parent for top in TOPS for path in top.glob(f"*/{name}"))


def name_of(program: object) -> str | None:
    """The name of a program's folder, for the names of tests; pytest's own for anything else."""
    return program.name if isinstance(program, Path) else None


BUILT = folders_with("build.sh")
DESCRIBED = folders_with("endpoint.yaml")
PYTHON = folders_with("requirements.lock")
# Part of R itself: what every installation has.
# What comes with R itself.
BASE = {"base", "codetools", "grDevices", "grid", "methods", "stats", "tools", "utils"}


def normal(name: str) -> str:
    """A Python project's name as PEP 503 compares them."""
    return re.sub(r"[-_.]+", "-", name).lower()


def locked(folder: Path) -> dict[str, tuple[str, set[str]]]:
    """Version and hashes of each project in the requirement locks of a program's folder."""
    found: dict[str, tuple[str, set[str]]] = {}
    for lock in folder.glob("*requirements.lock"):
        for entry in lock.read_text(encoding="utf-8").replace("\\\n", " ").splitlines():
            pinned = re.match(r"([\w.-]+)==(\S+)", entry)
            if pinned:
                hashes = set(re.findall(r"--hash=sha256:([0-9a-f]{64})", entry))
                found[normal(pinned[1])] = (pinned[2], hashes)
    return found


def disagreements(folder: Path, files: list[dict[str, Any]]) -> list[str]:
    """Where the files that Nix takes are not those of the lock."""
    wanted, chosen = locked(folder), {normal(file["pname"]): file for file in files}
    wrong = [] if wanted else ["the lock names nothing"]
    wrong += [f"{name}: only in one of them" for name in sorted(wanted.keys() ^ chosen.keys())]
    for name in sorted(wanted.keys() & chosen.keys()):
        version, hashes = wanted[name]
        if chosen[name]["version"] != version:
            wrong.append(f"{name}: lock {version}, Nix {chosen[name]['version']}")
        if chosen[name]["sha256"] not in hashes:
            wrong.append(f"{name}: the hash of the file for Nix is not in the lock")
    return wrong


def wheels(program: Path) -> dict[str, list[dict[str, Any]]]:
    content: dict[str, list[dict[str, Any]]] = json.loads(
        (program / "wheels.json").read_text(encoding="utf-8")
    )
    return content


@pytest.mark.parametrize("program", PYTHON, ids=name_of)
@pytest.mark.parametrize("system", SYSTEMS)
def test_python_files_are_those_of_the_lock(program: Path, system: str) -> None:
    assert disagreements(program, wheels(program)[system]) == []


def test_a_wrong_version_hash_or_name_is_seen() -> None:
    program = ROOT / "envs/aioquic"
    files = wheels(program)[SYSTEMS[0]]
    changed = [{**files[0], "version": "0"}, {**files[1], "sha256": "0" * 64}, *files[3:]]
    assert len(disagreements(program, changed)) == 3


def test_a_program_without_dependencies_has_one_locked_project(tmp_path: Path) -> None:
    lock = tmp_path / "requirements.lock"
    lock.write_text(f"qh3==1.0 \\\n    --hash=sha256:{'a' * 64}\n", encoding="utf-8")
    file = {"pname": "qh3", "version": "1.0", "sha256": "a" * 64}
    assert disagreements(tmp_path, [file]) == []
    lock.write_text("", encoding="utf-8")
    assert disagreements(tmp_path, []) == ["the lock names nothing"]


@pytest.mark.parametrize("program", sorted({*BUILT, *DESCRIBED}), ids=name_of)
def test_every_program_is_a_package(program: Path) -> None:
    assert (program / "package.nix").is_file(), f"{program} cannot be had by Nix"


def test_locks_that_nix_reads_are_those_that_enter_reads() -> None:
    """Each build.sh installs by the lock beside it and package.nix names no version of its own."""
    for program in BUILT:
        text = (program / "package.nix").read_text(encoding="utf-8")
        assert not re.search(r"\bversion\s*=|fetch[A-Z]", text), program
    for lock in (folder / "Cargo.lock" for folder in folders_with("Cargo.lock")):
        entries = re.split(r"^\[\[package\]\]$", lock.read_text(encoding="utf-8"), flags=re.M)[1:]
        sources = [entry for entry in entries if "\nsource = " in entry]
        assert sources, lock
        assert all("\nchecksum = " in entry for entry in sources), lock


def test_both_ways_make_a_manifest_of_the_same_locks() -> None:
    enter = (ROOT / "scripts/provision/write_manifest.py").read_text(encoding="utf-8")
    names = re.search(r"LOCKS = \((.*?)\)", enter, flags=re.S)
    nix = re.search(r"locks = \[(.*?)\]", (ROOT / "nix/manifest.nix").read_text(), flags=re.S)
    assert names is not None
    assert nix is not None
    assert re.findall(r'"([^"]+)"', names[1]) == re.findall(r'"([^"]+)"', nix[1])


def test_flake_lock_is_that_of_the_input() -> None:
    lock = json.loads((ROOT / "flake.lock").read_text(encoding="utf-8"))
    nixpkgs = lock["nodes"]["nixpkgs"]
    source = "github:{owner}/{repo}/{ref}".format(**nixpkgs["original"])
    assert f'inputs.nixpkgs.url = "{source}";' in (ROOT / "flake.nix").read_text(encoding="utf-8")
    assert re.fullmatch(r"[0-9a-f]{40}", nixpkgs["locked"]["rev"])


def r_packages(paths: list[Path]) -> set[str]:
    """Packages that R code names, by `package::name`, `library(package)` or `data(package = …)`."""
    named = set()
    for path in paths:
        for line in path.read_text(encoding="utf-8").splitlines():
            code = line.split("#")[0]
            named |= set(re.findall(r"([A-Za-z][A-Za-z0-9.]*):::?[A-Za-z_]", code))
            named |= set(re.findall(r"(?:library|requireNamespace)\(\"?([A-Za-z0-9.]+)", code))
    return named - BASE


def test_r_has_the_packages_that_the_code_names() -> None:
    code = [*(ROOT / "R").rglob("*.R"), ROOT / "tests/testthat.R", *(ROOT / "tests").rglob("*.R")]
    listed = (
        (ROOT / "nix/statistics.nix").read_text(encoding="utf-8").split("inherit (rPackages)")[1]
    )
    nix = set(re.findall(r"^\s+(\w+)$", listed.split(";")[0], flags=re.M))
    needed = {name.replace(".", "_") for name in r_packages(code)} | {"lintr"}
    assert nix == needed
