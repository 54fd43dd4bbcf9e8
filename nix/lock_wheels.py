"""Writes wheels.json beside a requirements.lock: which of the locked files Nix takes, for each system.

`lock_wheels.py FOLDER`: a requirements.lock names the hashes of all files of a version and no file names;
Nix needs the name of one file. pip chooses it, as it would on that system, and refuses a file whose hash
is not one of the lock's.
Needs pip and the package index; run it after every change of the lock.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

PYTHON = "3.13"
# What glibc a wheel may ask for: nixpkgs has a newer one on all its systems.
NEWEST_GLIBC, OLDEST_GLIBC = 39, 17
MACHINES = {"x86_64-linux": "x86_64", "aarch64-linux": "aarch64"}
LOCKS = ("build-requirements.lock", "requirements.lock")


def platforms(machine: str) -> list[str]:
    """Platform tags of wheels for glibc on `machine`, best first."""
    minors = range(NEWEST_GLIBC, OLDEST_GLIBC - 1, -1)
    return [*(f"manylinux_2_{minor}_{machine}" for minor in minors), f"manylinux2014_{machine}"]


def resolve(lock: Path, machine: str) -> list[dict[str, Any]]:
    """Report of pip on what it would install from `lock` on `machine`. Ends the program if pip cannot."""
    with tempfile.TemporaryDirectory() as scratch:
        report = Path(scratch, "report.json")
        command = [
            sys.executable,
            "-m",
            "pip",
            "install",
            "--quiet",
            "--dry-run",
            "--ignore-installed",
        ]
        command += ["--no-deps", "--require-hashes", "--requirement", str(lock)]
        command += ["--target", scratch, "--report", str(report), "--python-version", PYTHON]
        command += [part for tag in platforms(machine) for part in ("--platform", tag)]
        if subprocess.run(command, check=False).returncode != 0:
            sys.exit(f"{lock}: pip cannot resolve it for {machine}; see above")
        installed: list[dict[str, Any]] = json.loads(report.read_text(encoding="utf-8"))["install"]
    return installed


def describe(item: dict[str, Any]) -> dict[str, str]:
    """Arguments of nixpkgs' fetchPypi for one file of pip's report (PEP 427 names its parts)."""
    archive = item["download_info"]
    name = unquote(urlsplit(archive["url"]).path.rsplit("/", 1)[-1])
    sha256 = archive["archive_info"]["hashes"]["sha256"]
    if name.endswith(".whl"):
        pname, version, python, abi, platform = name.removesuffix(".whl").split("-")
        tags = {"python": python, "dist": python, "abi": abi, "platform": platform}
        return {"pname": pname, "version": version, "format": "wheel", **tags, "sha256": sha256}
    pname, version = name.removesuffix(".tar.gz").rsplit("-", 1)
    return {"pname": pname, "version": version, "format": "setuptools", "sha256": sha256}


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description="Choose the files of a requirements.lock for Nix.")
    parser.add_argument("folder", type=Path, help="folder with a requirements.lock")
    folder: Path = parser.parse_args().folder
    locks = [folder / name for name in LOCKS if (folder / name).is_file()]
    if not locks:
        sys.exit(f"{folder}: has no requirements.lock")
    chosen = {
        system: [describe(item) for lock in locks for item in resolve(lock, machine)]
        for system, machine in MACHINES.items()
    }
    content = {
        system: sorted(files, key=lambda file: file["pname"].lower())
        for system, files in chosen.items()
    }
    (folder / "wheels.json").write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
