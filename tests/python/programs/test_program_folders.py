"""What is in envs/: programs under test, and contracts that programs share by links."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from howquick.errors import ROOT
from howquick.files import folder_hash

ENVS = ROOT / "envs"
SHARED = "contract"
LANGUAGES = sorted(path.name for path in (ENVS / SHARED).iterdir() if path.is_dir())
# Built for every study; the kernel where it exists.
ALWAYS = {"workflow", "typescript", "report"} | (
    {"kernel"} if platform.machine() == "x86_64" else set()
)
# How code names a contract: language, files, text.
USES = [
    ("go", "**/*.go", '"howquick/contract"'),
    ("c", "*.c", '#include "contract/'),
    ("javascript", "*.js", "require('./contract')"),
    ("python", "*.py", "from contract import "),
    ("rust", "Cargo.toml", 'package = "howquick-contract"'),
]
# Hashes of all programs, as ./enter makes them.
HASHES = """
set -euo pipefail
repo=$1
source "$repo/scripts/provision/common.sh"
source "$repo/scripts/provision/programs.sh"
for folder in "$repo"/{envs,environment}/*/; do
  name=$(basename "$folder")
  printf '%s %s\\n' "$name" "$(source_hash "$name")"
done
"""


def programs() -> set[str]:
    """Names of the programs under test."""
    return {path.parent.name for path in ENVS.glob("*/endpoint.yaml")}


def users_of(language: str) -> set[str]:
    """Programs that a contract is linked into."""
    contract = (ENVS / SHARED / language).resolve()
    return {name for name in programs() if (ENVS / name / SHARED).resolve() == contract}


def hashes_of_sources(tree: Path) -> dict[str, str]:
    """What decides in ./enter whether a program is built anew, by program."""
    done = subprocess.run(
        ["bash", "-c", HASHES, "bash", str(tree)], capture_output=True, text=True, check=True
    )
    return dict(line.split() for line in done.stdout.splitlines())


def hashes_of_folders(tree: Path) -> dict[str, str]:
    """What decides in the workflow whether loads of a program are measured anew, by program."""
    return {path.name: folder_hash(path) for path in (tree / "envs").iterdir()}


def changed(before: dict[str, str], after: dict[str, str]) -> set[str]:
    """Names whose hashes differ."""
    assert before.keys() == after.keys()
    return {name for name, digest in before.items() if digest != after[name]}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of what the environment is built from."""
    for part in ("enter", "config", "environment", "envs", "scripts/provision"):
        source = ROOT / part
        if source.is_dir():
            shutil.copytree(
                source, tmp_path / part, symlinks=True, ignore=shutil.ignore_patterns("target")
            )
        else:
            shutil.copy2(source, tmp_path / part)
    return tmp_path


def test_every_folder_is_a_program_or_the_contracts() -> None:
    folders = {path.name for path in ENVS.iterdir() if path.is_dir()}
    assert folders - programs() == {SHARED}
    assert not (ENVS / SHARED / "endpoint.yaml").exists()
    assert not list((ROOT / "environment").glob("*/endpoint.yaml"))


def test_no_name_is_in_both_folders() -> None:
    others = {path.name for path in (ROOT / "environment").iterdir()}
    assert not others & {path.name for path in ENVS.iterdir()}


def test_links_lead_to_the_contracts_and_nowhere_else() -> None:
    """Programs share nothing but by a contract: none leads into another program's folder."""
    links = [path for name in programs() for path in (ENVS / name).rglob("*") if path.is_symlink()]
    assert {ENVS / name / SHARED for name in ("quinn", "quic-go")} <= set(links)
    for link in links:
        inner = link.resolve(strict=True).relative_to(ENVS / SHARED)
        assert inner.parts[0] in LANGUAGES, link
        assert not link.readlink().is_absolute(), link
    for name in programs():
        shared = ENVS / name / SHARED
        assert not shared.exists() or shared.is_symlink(), f"{shared}: move it to {ENVS / SHARED}"


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_contract_decides_the_hash_of_its_programs_alone(language: str, tree: Path) -> None:
    assert users_of(language)
    before, measured = hashes_of_sources(tree), hashes_of_folders(tree)
    assert programs() < before.keys()
    shared = tree / "envs" / SHARED / language
    source = next(path for path in sorted(shared.rglob("*")) if path.is_file())
    source.write_text(source.read_text() + "\n")
    assert changed(before, hashes_of_sources(tree)) == users_of(language) | {SHARED}
    assert changed(measured, hashes_of_folders(tree)) == users_of(language) | {SHARED}


@pytest.mark.parametrize(("language", "files", "says"), USES)
def test_who_uses_a_contract_has_its_link(language: str, files: str, says: str) -> None:
    """By what the code says, and not by the link."""
    naming = {
        name
        for name in programs()
        if any(says in file.read_text(encoding="utf-8") for file in (ENVS / name).glob(files))
    }
    assert naming
    assert naming == users_of(language)


def select(
    tree: Path, wish: str, *emulator: str, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Runs select_programs.py."""
    program = tree / "scripts/provision/select_programs.py"
    command = [sys.executable, str(program), str(tree), wish, *emulator]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, env={**os.environ, **environment}
    )


def with_netem(tree: Path, possible: bool) -> dict[str, str]:
    """Variables with which the question whether this kernel has netem is answered so."""
    answer = tree / "bin/unshare"
    answer.parent.mkdir(exist_ok=True)
    answer.write_text(f"#!/bin/sh\nexit {0 if possible else 2}\n")
    answer.chmod(0o755)
    return {"PATH": f"{answer.parent}:{os.environ['PATH']}"}


@pytest.mark.parametrize("possible", [True, False])
def test_the_emulator_is_built_for_kernels_without_netem(tree: Path, possible: bool) -> None:
    """Also where a study asks for all programs: it is none."""
    config = tree / "config/config.yaml"
    config.write_text("studies: [arms]\nscale: smoke\n")
    done = select(tree, "", **with_netem(tree, possible))
    emulator = set() if possible else {"rattan"}
    assert set(done.stdout.split()) == programs() | ALWAYS | emulator


@pytest.mark.parametrize(
    ("study", "config", "asked", "built"),
    [
        ("", "", "", False),
        ("", "", "wanted", True),
        ("", "clock: real", "", True),
        ("", "clock: virtual", "", False),
        ("fixed: {clock: real}", "", "", True),
        ("fixed: {clock: virtual}", "", "", False),
        ("factors: {clock: {levels: {here: real, there: virtual}}}", "", "", True),
    ],
)
def test_the_emulator_is_built_where_real_time_needs_it(
    tree: Path, study: str, config: str, asked: str, built: bool
) -> None:
    own = f"arms: {{a: {{server: nginx, client: curl}}}}\n{study}\n"
    (tree / "config/studies/own.yaml").write_text(own)
    (tree / "config/config.yaml").write_text(f"studies: [own]\nscale: smoke\n{config}\n")
    done = select(tree, "", asked, **with_netem(tree, possible=False))
    assert set(done.stdout.split()) == {"curl", "nginx"} | ALWAYS | ({"rattan"} if built else set())


def test_only_what_the_studies_use_is_built(tree: Path) -> None:
    (tree / "config/studies/own.yaml").write_text("arms: {a: {server: nginx, client: curl}}\n")
    (tree / "config/config.yaml").write_text("studies: [own]\nscale: smoke\n")
    done = select(tree, "", **with_netem(tree, possible=True))
    assert set(done.stdout.split()) == {"curl", "nginx"} | ALWAYS


def test_the_contracts_are_no_program(tree: Path) -> None:
    done = select(tree, SHARED)
    assert done.returncode == 1
    assert f"there is no {SHARED} in envs/ or environment/" in done.stderr
    everything = select(tree, "all").stdout.split()
    assert set(everything) == programs() | {
        "kernel", "rattan", "report", "typescript", "workflow"
    }  # fmt: skip
