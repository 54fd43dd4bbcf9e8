"""Formatters, linters and type checkers are clean."""

import ast
import os
import subprocess
from pathlib import Path

import pytest

from howquick.environment.manifest import prefix_of
from howquick.errors import ROOT


def shell_scripts():
    """Every shell script of the project."""
    listed = [ROOT / "enter"]
    for folder in (".ci", "scripts", "environment", "envs", "tests"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.is_file() and not path.is_symlink() and "node_modules" not in path.parts:
                with path.open("rb") as stream:
                    first = stream.readline()
                if path.suffix == ".sh" or (
                    first.startswith(b"#!") and b"sh" in first.split(b"/")[-1]
                ):
                    listed.append(path)
    return [str(path) for path in listed]


def go_folders():
    """Every folder of the project with Go in it: links are not followed by gofmt."""
    modules = [path.parent for path in sorted((ROOT / "envs").glob("*/go.mod"))]
    return [str(folder) for folder in (*modules, ROOT / "envs/contract/go")]


def crates():
    """The manifest of every crate of the project."""
    places = ("envs/*", "envs/contract/*", "environment/*")
    return [path for place in places for path in sorted(ROOT.glob(f"{place}/Cargo.toml"))]


CHECKS = {
    "ruff": ["ruff", "check", "scripts", "envs", "tests"],
    "ruff-format": ["ruff", "format", "--check", "scripts", "envs", "tests"],
    "mypy": ["mypy", "scripts"],
    "shellcheck": ["shellcheck", "-x", *shell_scripts()],
    "snakefmt": ["snakefmt", "--check", "Snakefile", "rules"],
    **{
        f"rustfmt-{path.parent.name}": ["cargo", "fmt", "--check", "--manifest-path", str(path)]
        for path in crates()
    },
    # Types of what the report's page uses of others are where the environment has it.
    "tsc": ["node", f"{prefix_of('typescript')}/node_modules/typescript/bin/tsc", "-p",
            "scripts/howquick/report", "--typeRoots",
            ",".join(f"{prefix_of('report')}/{place}" for place in ("node_modules/@types", "node_modules"))],
    "lintr": ["Rscript", "-e", 'x <- c(lintr::lint_dir("R"), lintr::lint_dir("tests/testthat"));'
              " print(x); quit(status = length(x) > 0)"],
}  # fmt: skip


@pytest.mark.parametrize("name", CHECKS)
def test_clean(name):
    done = subprocess.run(
        CHECKS[name], cwd=ROOT, capture_output=True, text=True, check=False, env=dict(os.environ)
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-3000:]


def test_gofmt():
    """`gofmt -l` names what it would change and ends well all the same."""
    done = subprocess.run(
        ["gofmt", "-l", *go_folders()], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_snakemake_lint():
    """All lints but one: the software comes from `enter` or the flake, not from conda or a container."""
    done = subprocess.run(
        ["snakemake", "--lint"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    lints = [line.strip() for line in done.stderr.splitlines() if line.startswith("    * ")]
    assert lints, done.stderr  # the one that is always there
    assert [line for line in lints if "conda environment or container" not in line] == []


def test_r():
    """The tests of the analysis; their last line is `N passed, N failed`."""
    done = subprocess.run(
        ["Rscript", "tests/testthat.R"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    print(done.stdout.strip().splitlines()[-1] if done.stdout.strip() else "")
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-3000:]
    assert " passed, 0 failed" in done.stdout


def test_no_rule_has_a_python_body():
    for path in [ROOT / "Snakefile", *sorted((ROOT / "rules").glob("*.smk"))]:
        assert not [line for line in path.read_text().splitlines() if line.strip() == "run:"], path


def waits_of(file):
    """Line and number of each literal `timeout=` of a file."""
    for node in ast.walk(ast.parse(file.read_text())):
        for keyword in node.keywords if isinstance(node, ast.Call) else ():
            if keyword.arg == "timeout" and isinstance(keyword.value, ast.Constant):
                yield node.lineno, keyword.value.value


def test_no_test_asks_how_fast_a_machine_is():
    """What is waited for comes later on a busy machine: tests wait by tests/python/patience.py.

    Up to a second is meant to be over in vain, ten minutes are for what cannot import that file.
    """
    found = [
        f"{file.relative_to(ROOT)}:{line}: timeout={number}"
        for file in sorted((ROOT / "tests").rglob("*.py"))
        for line, number in waits_of(file)
        if 1 < number < 600
    ]
    assert not found


def test_no_key_is_committed():
    tracked = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout.splitlines()
    for name in tracked:
        path = Path(ROOT, name)
        if path.is_file():
            assert b"PRIVATE KEY" + b"-----" not in path.read_bytes(), name
