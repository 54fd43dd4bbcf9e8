"""The flake's structure: every output evaluates for both systems; what needs no nixpkgs is built."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from howquick.errors import ROOT
from nix.flake import Flake

SYSTEM = f"{os.uname().machine}-linux"
SYSTEMS = ("aarch64-linux", "x86_64-linux")
TOPS = ("environment", "envs")
# User mode exists for x86-64 only.
ABSENT = {"aarch64-linux": {"kernel"}}
OUTPUTS = ("apps", "checks", "devShells", "formatter", "packages")

needs_nix = pytest.mark.skipif(shutil.which("nix") is None, reason="needs the program nix")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("nix")


@pytest.fixture
def flake(tmp_path: Path, store: Path) -> Flake:
    return Flake(tmp_path, store)


def evaluated(flake: Flake) -> dict[str, dict[str, Any]]:
    """What `nix flake show` says of every output and system, once all of them evaluate."""
    done = flake.run("flake check", "--no-build", "--all-systems")
    assert done.returncode == 0, done.stderr
    shown = flake.run("flake show", "--json", "--all-systems")
    assert shown.returncode == 0, shown.stderr
    tree: dict[str, dict[str, Any]] = json.loads(shown.stdout)
    return tree


def packaged(system: str = SYSTEM) -> set[str]:
    """Programs under test and parts of the environment that Nix can build for a system."""
    folders = {path.parent.name for top in TOPS for path in (ROOT / top).glob("*/package.nix")}
    return folders - ABSENT.get(system, set())


@needs_nix
def test_every_output_evaluates_for_both_systems(flake: Flake) -> None:
    tree = evaluated(flake)
    assert sorted(tree) == sorted(OUTPUTS)
    assert all(sorted(tree[output]) == sorted(SYSTEMS) for output in OUTPUTS)
    for system in SYSTEMS:
        assert packaged(system) < set(tree["packages"][system])
        assert not ABSENT.get(system, set()) & set(tree["packages"][system])
        assert {"format", "lint", "schemas", "smoke"} <= set(tree["checks"][system])


@needs_nix
@pytest.mark.skipif(
    "NIXPKGS" not in os.environ,
    reason="minutes: NIXPKGS=FOLDER, a tree of nixpkgs, evaluates every output against it",
)
def test_every_output_evaluates_against_nixpkgs(tmp_path: Path, store: Path) -> None:
    """Prints how many outputs evaluate, and where versions of nixpkgs and of Debian differ."""
    flake = Flake(tmp_path, store, Path(os.environ["NIXPKGS"]))
    for output, systems in sorted(evaluated(flake).items()):
        # A system has derivations by name, or is the one derivation itself.
        counts = [f"{s} {1 if 'name' in systems[s] else len(systems[s])}" for s in SYSTEMS]
        print(f"{output:10} {'   '.join(counts)}")
    for system in SYSTEMS:
        manifest = flake.run("eval", "--raw", attribute=f"packages.{system}.manifest.text")
        assert manifest.returncode == 0, manifest.stderr
        file = tmp_path / f"{system}.json"
        file.write_text(manifest.stdout)
        assert json.loads(manifest.stdout)["nixpkgs"]["packages"]["R"]
        compare = [
            sys.executable,
            ROOT / "nix/compare_manifests.py",
            os.environ["HOWQUICK_MANIFEST"],
        ]
        compared = subprocess.run([*compare, file], capture_output=True, text=True, check=False)
        assert compared.returncode == 0, compared.stdout + compared.stderr
        print(f"{system}:\n{compared.stdout}")


@needs_nix
def test_a_new_folder_is_a_package_and_an_unknown_name_is_seen(flake: Flake) -> None:
    package = flake.tree / "envs/another/package.nix"
    package.parent.mkdir()
    package.write_text("{ nginx }: nginx\n")
    found = flake.run("eval", "--raw", attribute=f"packages.{SYSTEM}.another.name")
    assert found.stdout == "nginx", found.stderr
    package.write_text("{ notInNixpkgs }: notInNixpkgs\n")
    refused = flake.run("flake check", "--no-build")
    assert refused.returncode != 0
    assert "notInNixpkgs" in refused.stderr


@needs_nix
@pytest.mark.parametrize("language", ["c", "go", "rust"])
def test_a_contract_is_a_source_of_its_programs_alone(flake: Flake, language: str) -> None:
    def derivations() -> dict[str, str]:
        apply = (
            "builtins.mapAttrs (_: package: builtins.unsafeDiscardStringContext package.drvPath)"
        )
        done = flake.run("eval", "--json", "--apply", apply, attribute=f"packages.{SYSTEM}")
        assert done.returncode == 0, done.stderr
        found: dict[str, str] = json.loads(done.stdout)
        return {name: found[name] for name in packaged()}

    contract = flake.tree / "envs/contract" / language
    links = (flake.tree / "envs").glob("*/contract")
    users = {link.parent.name for link in links if link.resolve() == contract.resolve()}
    before = derivations()
    (contract / "more.txt").touch()
    after = derivations()
    assert users
    assert {name for name in before if before[name] != after[name]} == users


@needs_nix
def test_shell_has_a_manifest_that_the_workflow_reads(flake: Flake) -> None:
    (flake.standin / "hollow").touch()
    program = (
        "import json; from howquick.environment import manifest as m;"
        " print(json.dumps([m.load_manifest(), m.environment_hash(), str(m.prefix_of('quiche'))]))"
    )
    flake.environment["PYTHONPATH"] = str(ROOT / "scripts")
    done = flake.run("develop", "--command", "python3", "-c", program)
    assert done.returncode == 0, done.stderr
    manifest, digest, prefix = json.loads(done.stdout.splitlines()[-1])
    assert manifest["way"] == "nix"
    assert len(digest) == 16
    assert prefix.startswith(flake.environment["NIX_STORE_DIR"])
    assert Path(prefix).is_dir()
    assert set(manifest["programs"]) == packaged()
    assert manifest["programs"]["quiche"]["locks"].keys() == {"Cargo.lock"}


@needs_nix
@pytest.mark.parametrize("program", ["envs/node-spdy", "envs/chromium", "environment/report"])
def test_what_npm_installs_has_the_hash(flake: Flake, program: str) -> None:
    done = flake.run("build", "--no-link", "--print-out-paths", attribute=Path(program).name)
    assert done.returncode == 0, done.stderr
    folder = Path(done.stdout.strip())
    lock = json.loads((ROOT / program / "package-lock.json").read_text())["packages"]
    for path, entry in lock.items():
        # What builds is taken away: it is another one on every processor.
        if entry.get("dev"):
            assert not (folder / path).exists(), path
        elif path:
            installed = json.loads((folder / path / "package.json").read_text())
            assert installed["version"] == entry["version"], path


@needs_nix
def test_other_content_than_the_hash_says_is_refused(flake: Flake) -> None:
    package = flake.tree / "envs/node-spdy/package.nix"
    package.write_text(package.read_text().replace("sha256-Q", "sha256-R"))
    done = flake.run("build", "--no-link", attribute="node-spdy")
    assert done.returncode != 0
    assert "hash mismatch" in done.stderr


@needs_nix
def test_c_program_is_built_by_its_own_script(flake: Flake) -> None:
    done = flake.run("build", "--no-link", "--print-out-paths", attribute="tls")
    assert done.returncode == 0, done.stderr
    server = Path(done.stdout.strip(), "bin/server")
    version = subprocess.run([server, "--version"], capture_output=True, text=True, check=True)
    assert "OpenSSL" in version.stdout


def test_artifact_run_copies_the_source_once(tmp_path: Path) -> None:
    source, place = tmp_path / "source", tmp_path / "place"
    source.mkdir()
    place.mkdir()
    for name in ("Snakefile", "marker"):
        (source / name).write_text(name)
        (source / name).chmod(0o444)
    (source / "envs").mkdir()
    command = ["bash", str(ROOT / "nix/artifact.sh"), "--version"]
    environment = {**os.environ, "HOWQUICK_SOURCE": str(source)}

    def start(folder: Path) -> None:
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout[0].isdigit()  # snakemake's version

    start(place)
    (place / "howquick/marker").write_text("changed")
    start(place)
    start(place / "howquick")
    assert (place / "howquick/marker").read_text() == "changed"
    assert [path.name for path in place.iterdir()] == ["howquick"]
    assert not (place / "howquick/howquick").exists()
