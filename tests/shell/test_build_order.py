"""What the environment is built from: in which order, and what of it only real time needs."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parents[2]
# What provision.sh has set before it builds; a program's build says when it begins and ends.
BUILD = """\
set -euo pipefail
repo=$1 here=$2/scripts/provision
export HOWQUICK_CACHE=$3
source "$here/common.sh"
source "$here/programs.sh"
need_space() { :; }
is_built() { false; }
part() { echo "begin $1"; sleep 0.3; echo "end $1"; }
programs=(one other short third)
build_programs
"""
WANTED = """\
repo=$1
export HOWQUICK_CACHE=$2
shift 2
source "$repo/scripts/provision/common.sh"
is_emulator_wanted "$@"
"""
LEAVE = """\
repo=$1
export HOWQUICK_CACHE=$2
source "$repo/scripts/provision/common.sh"
source "$repo/scripts/provision/outdated.sh"
leave_other_place
cat "$cache/place"
"""
SHARING = 'CARGO_TARGET_DIR="${SHARED_TARGET:-$CACHE/target}" cargo build'
BUILDS = {"one": SHARING, "other": SHARING, "short": "pip install .", "third": SHARING}


def run(script: str, *arguments: str | Path) -> str:
    """What a script says. It ends well."""
    done = subprocess.run(
        ["bash", "-c", script, "bash", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_programs_that_share_a_folder_are_built_one_after_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each leaves a program of the same name in it."""
    for name, build in BUILDS.items():
        folder = tmp_path / "envs" / name
        folder.mkdir(parents=True)
        (folder / "build.sh").write_text(f"{build}\n")
    monkeypatch.setenv("ENTER_JOBS", "4")
    words = [line.split() for line in run(BUILD, tmp_path, REPO, tmp_path / "cache").splitlines()]
    assert sorted(name for word, name in words if word == "end") == sorted(BUILDS)
    of_sharing = [word for word, name in words if BUILDS[name] == SHARING]
    assert of_sharing == ["begin", "end"] * 3
    # Beside them the others go on.
    assert [word for word, _ in words[:2]] == ["begin", "begin"]


def test_programs_in_rust_share_a_folder() -> None:
    shared = REPO / "envs" / "contract" / "rust" / "build.sh"
    assert "SHARED_TARGET" in shared.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("command", "wanted"),
    [
        (["snakemake", "-j8"], False),
        (["snakemake", "--config", "scale=paper", "clock=virtual"], False),
        (["snakemake", "--config", "scale=paper", "clock=real"], True),
        (["snakemake", "-j8", "interference"], True),
        (["pytest"], True),
        (["python3", "scripts/check_program.py", "curl"], True),
        (["true"], False),
    ],
)
def test_who_measures_in_real_time_gets_the_emulator_and_keeps_it(
    tmp_path: Path, command: list[str], wanted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ENTER_EMULATOR", raising=False)
    said = "wanted" if wanted else ""
    assert run(WANTED, REPO, tmp_path, *command) == said
    assert run(WANTED, REPO, tmp_path, "true") == said
    monkeypatch.setenv("ENTER_EMULATOR", "yes")
    assert run(WANTED, REPO, tmp_path, "true") == "wanted"


@pytest.mark.parametrize(
    ("said", "kept"),
    [(None, False), ("", False), ("/elsewhere", False), ("/root/.cache/howquick", True)],
)
def test_what_was_built_to_be_found_elsewhere_is_built_anew(
    tmp_path: Path, said: str | None, kept: bool
) -> None:
    """Each cache folder that says nothing was built before there was one place for all."""
    for part in ("programs/quiche-1", "work/quiche", "known", "roots/r1", "downloads/cargo"):
        (tmp_path / part).mkdir(parents=True)
    (tmp_path / "manifest-abc.json").touch()
    if said is not None:
        (tmp_path / "place").write_text(f"{said}\n")
    assert run(LEAVE, REPO, tmp_path) == "/root/.cache/howquick\n"
    left = [(tmp_path / part).exists() for part in ("programs/quiche-1", "manifest-abc.json")]
    assert left == [kept, kept]
    assert (tmp_path / "roots/r1").exists() and (tmp_path / "downloads/cargo").exists()
    assert run(LEAVE, REPO, tmp_path) == "/root/.cache/howquick\n"
