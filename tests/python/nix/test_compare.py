"""Two environments compared by their manifests."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from howquick.errors import ROOT

ENTER: dict[str, Any] = {
    "way": "enter",
    "debian": {
        "packages": {
            "nginx": "1.26.3-3+deb13u1",
            "tshark": "4.4.9-0+deb13u1",
            "jq": "1.7.1",
            "r-base-core": "4.5.0-3",
        }
    },
    "programs": {"quiche": {"prefix": "/a", "locks": {"Cargo.lock": "11"}}},
}
NIX: dict[str, Any] = {
    "way": "nix",
    "nixpkgs": {
        "packages": {"nginx": "1.30.1", "wireshark-cli": "4.4.9", "less": "", "R": "4.5.0-wrapper"}
    },
    "programs": {"quiche": {"prefix": "/b", "locks": {"Cargo.lock": "11"}}, "nginx": {"locks": {}}},
}


@pytest.fixture
def compare(tmp_path: Path) -> Any:
    def run(*manifests: dict[str, Any]) -> subprocess.CompletedProcess[str]:
        paths = [tmp_path / f"{index}.json" for index, _ in enumerate(manifests)]
        for path, manifest in zip(paths, manifests, strict=True):
            path.write_text(json.dumps(manifest))
        command = [sys.executable, str(ROOT / "nix/compare_manifests.py"), *map(str, paths)]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    return run


def test_other_versions_of_the_distribution_are_shown(compare: Any) -> None:
    done = compare(ENTER, NIX)
    assert done.returncode == 0, done.stderr
    assert [line.split() for line in done.stdout.splitlines()[1:-1]] == [
        ["nginx", "1.26.3", "1.30.1"]
    ]


def test_another_lock_is_an_error(compare: Any) -> None:
    other = copy.deepcopy(NIX)
    other["programs"]["quiche"]["locks"]["Cargo.lock"] = "12"
    done = compare(ENTER, other)
    assert done.returncode == 1
    assert done.stdout.splitlines()[-1] == "programs with different locks: quiche"


def test_what_is_no_manifest_is_one_message(compare: Any) -> None:
    done = compare(ENTER, {"way": "nix"})
    assert done.returncode == 1
    assert "not a manifest" in done.stderr
    assert len(done.stderr.splitlines()) == 1
