"""Tiers of tests: each test has one, and the summary says what each took."""

import shutil
import subprocess
import sys

import pytest

from howquick.errors import ROOT

BODY = "import pytest\n\n{}\ndef test_it():\n    pass\n"


@pytest.fixture
def tree(tmp_path):
    """A tree of tests with the project's conftest.py; call it with a file, a mark and arguments of pytest."""
    shutil.copy(ROOT / "tests/conftest.py", tmp_path)

    def run(file, mark="", *arguments):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(BODY.format(mark))
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", tmp_path, *arguments]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    return run


@pytest.mark.parametrize(
    ("file", "mark"),
    [
        ("python/nowhere/test_a.py", ""),
        ("python/plan/test_a.py", "@pytest.mark.workflow\n@pytest.mark.slurm"),
    ],
)
def test_without_exactly_one_tier_nothing_runs(tree, file, mark):
    done = tree(file, mark)
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert f"{file}::test_it" in done.stderr and "tests/conftest.py" in done.stderr


def test_a_mark_comes_before_the_folder(tree):
    done = tree("python/plan/test_a.py", "@pytest.mark.slurm", "-m", "slurm")
    assert done.returncode == 0, done.stdout
    assert "slurm        1 tests" in done.stdout
    done = tree("python/plan/test_a.py", "@pytest.mark.slurm", "-m", "fast")
    assert done.returncode == pytest.ExitCode.NO_TESTS_COLLECTED
