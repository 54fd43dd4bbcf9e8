"""A file that says what is there is named on the disk after what it says: the order of sync and mv."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parents[2]
PROVISION = REPO / "scripts" / "provision"
NAMESPACE = ["perl", str(PROVISION / "namespace.pl"), *([] if os.geteuid() == 0 else ["--user"])]
# Says what it was asked for, and which of its files were there; mv then does it.
TRACED = """\
#!/bin/sh
printf '%s' "${0##*/}" >>"$TRACE"
for word; do
  case $word in
    -*) printf ' %s' "$word" ;;
    *) printf ' %s' "${word#"$CACHE"/}"
      [ -e "$word" ] || printf '(missing)'
      [ ! -e "$word/.complete" ] || printf '(complete)' ;;
  esac
done >>"$TRACE"
echo >>"$TRACE"
"""
# In place of what provision.sh has others do.
NOTHING_TO_BUILD = """\
declare -A program_hash=([workflow]=1)
start_progress() { :; }
stop_progress() { :; }
unpack_image() { :; }
debian_hash() { echo r1; }
debian_root() { mkdir "$1"; }
programs_needed() { :; }
build_programs() { mkdir "$cache/programs/workflow-1"; }
write_manifest() { manifest=$cache/manifest-1.json; : >"$manifest"; }
leave_other_place() { :; }
remove_outdated() { :; }
"""
# What provision.sh has set before it comes to a part.
PART = """\
set -euo pipefail
repo=$1 here=$1/scripts/provision
export HOWQUICK_CACHE=$2
source "$here/common.sh"
[[ $cache == "$2" ]] # and no other is touched
source "$here/debian.sh"
source "$here/programs.sh"
source "$here/image.sh"
need_space() { :; }
find_mmdebstrap() { :; }
host_apt_settings() { :; }
tidy_from_outside() { :; }
part() { [[ $1 != debian-base ]] || mkdir "$3"; }
in_root() { :; }
prefix_of() { printf '%s' "$cache/programs/$1-1"; }
root=$cache/roots/r1
"""


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    folder = tmp_path / "cache"
    for part in ("known", "programs", "roots", "work"):
        (folder / part).mkdir(parents=True)
    return folder


def traced(cache: Path, argv: list[str | Path], **changes: str) -> list[str]:
    """Run a command; the calls of sync and mv in their order, with paths seen from the cache."""
    tools, trace = cache.parent / "tools", cache.parent / "trace"
    tools.mkdir()
    real = {"sync": "", "mv": f'exec {shutil.which("mv")} "$@"\n'}
    for name, then in real.items():
        (tools / name).write_text(TRACED + then)
        (tools / name).chmod(0o755)
    variables = {"TRACE": str(trace), "CACHE": str(cache), "PATH": f"{tools}:{os.environ['PATH']}"}
    done = subprocess.run(
        argv, capture_output=True, text=True, check=False, env=os.environ | variables | changes
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return trace.read_text().splitlines()


def of_part(cache: Path, command: str, **changes: str) -> list[str]:
    """The same of one part of the provisioning, without what takes long."""
    return traced(cache, ["bash", "-c", PART + command, "bash", REPO, cache], **changes)


def test_what_is_ready_is_named_last(cache: Path, tmp_path: Path) -> None:
    scripts = tmp_path / "repo/scripts/provision"
    scripts.mkdir(parents=True)
    for name in ("provision.sh", "common.sh"):
        shutil.copy(PROVISION / name, scripts)
    for name in ("failures", "debian", "programs", "image", "outdated"):
        (scripts / f"{name}.sh").touch()
    (scripts / "progress.sh").write_text(NOTHING_TO_BUILD)
    ready = cache / "known/key"
    calls = traced(
        cache,
        [*NAMESPACE, "--", "bash", scripts / "provision.sh", tmp_path / "repo", cache, ready, ""],
    )
    unfinished = "known/key.unfinished"
    assert calls == [
        f"sync {unfinished} roots programs {cache}",
        f"mv {unfinished} known/key(missing)",
        "sync known",
    ]
    assert ready.read_text().splitlines()[0] == f"root {cache}/roots/r1"


def test_a_root_directory_is_on_the_disk_before_it_has_its_name(cache: Path) -> None:
    calls = of_part(cache, 'debian_root "$root"')
    assert calls == ["sync -f roots/r1.unfinished", "mv roots/r1.unfinished roots/r1(missing)"]
    assert (cache / "roots/r1").is_dir()


def test_a_program_is_on_the_disk_before_it_says_so(cache: Path) -> None:
    calls = of_part(cache, "build_program curl")
    complete = "programs/curl-1/.complete"
    assert calls == [
        "sync -f programs/curl-1",
        f"sync {complete} programs/curl-1(complete) programs",
    ]
    assert (cache / complete).read_text() == "r1\n"


def test_an_image_is_on_the_disk_before_its_parts_have_their_names(
    cache: Path, tmp_path: Path
) -> None:
    inner = tmp_path / "inner"
    for name in ("roots/r2/usr", "programs/curl-2"):
        (inner / name).mkdir(parents=True)
    (inner / "manifest-abc.json").write_text("{}")
    image = tmp_path / "environment-abc.tar.gz"
    subprocess.run(["tar", "-czf", image, "-C", inner, "."], check=True)
    first, *moves = of_part(cache, "unpack_image", HOWQUICK_IMAGE=str(image))
    assert first == "sync -f work/image"
    names = ["roots/r2", "programs/curl-2", "manifest-abc.json"]
    assert moves == [f"mv work/image/{name} {name}(missing)" for name in names]
