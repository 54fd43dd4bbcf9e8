"""The kernel's build says when its source is not the pinned one; both ways in pin the same."""

from __future__ import annotations

import json
import os
import subprocess
from hashlib import file_digest
from pathlib import Path

from howquick.environment.manifest import load_manifest, prefix_of
from howquick.errors import ROOT

FOLDER = ROOT / "environment/kernel"
PINNED = json.loads((FOLDER / "source.json").read_text(encoding="utf-8"))


def build(folder: Path) -> subprocess.CompletedProcess[str]:
    """build.sh with the distribution's files below `folder`."""
    more = {"OUT": str(folder / "out"), "CACHE": str(folder / "cache"), "SOURCES": str(folder)}
    return subprocess.run(
        ["bash", FOLDER / "build.sh"],
        env={**os.environ, **more},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_missing_tarball_is_refused_and_another_one_named(tmp_path: Path) -> None:
    missing = build(tmp_path)
    assert missing.returncode == 1 and len(missing.stderr.splitlines()) == 1
    assert PINNED["package_version"] in missing.stderr
    tarball = tmp_path / PINNED["tarball"]
    tarball.parent.mkdir(parents=True)
    tarball.write_text("a newer kernel, and a damaged one")
    other = build(tmp_path)
    assert "not to be compared" in other.stderr.splitlines()[0]
    assert "environment/kernel/source.json" in other.stderr
    # It goes on with it, and nothing comes of this one.
    assert other.returncode and not (tmp_path / "out").exists()


def test_the_manifest_names_kernel_and_source() -> None:
    kernel = load_manifest()["programs"]["kernel"]
    assert kernel["hash"]
    assert set(kernel["locks"]) == {"source.json"}


def test_the_kernel_is_the_pinned_version_or_an_update_of_it() -> None:
    done = subprocess.run(
        [f"{prefix_of('kernel')}/bin/linux", "--version"],
        capture_output=True,
        text=True,
        check=True,
    )
    version = done.stdout.strip()
    with Path(f"/{PINNED['tarball']}").open("rb") as tarball:
        is_pinned = file_digest(tarball, "sha256").hexdigest() == PINNED["tarball_sha256"]
    assert version == PINNED["version"] if is_pinned else version.startswith("7.3.")
