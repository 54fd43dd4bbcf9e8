"""Tiers of tests: each test has one, and the summary says what each took."""

import pytest

from tree import run_tests

BODY = "import pytest\n\n{}\ndef test_it():\n    pass\n"


@pytest.mark.parametrize(
    ("file", "mark"),
    [
        ("python/nowhere/test_a.py", ""),
        ("python/plan/test_a.py", "@pytest.mark.workflow\n@pytest.mark.slurm"),
    ],
)
def test_without_exactly_one_tier_nothing_runs(tmp_path, file, mark):
    done = run_tests(tmp_path, {file: BODY.format(mark)})
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert f"{file}::test_it" in done.stderr and "tests/conftest.py" in done.stderr


def test_a_mark_comes_before_the_folder(tmp_path):
    files = {"python/plan/test_a.py": BODY.format("@pytest.mark.slurm")}
    done = run_tests(tmp_path, files, "-m", "slurm")
    assert done.returncode == 0, done.stdout
    assert "slurm        1 tests" in done.stdout
    done = run_tests(tmp_path, files, "-m", "fast")
    assert done.returncode == pytest.ExitCode.NO_TESTS_COLLECTED
