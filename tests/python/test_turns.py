"""Turns: tests run side by side, and those that must be alone beside nothing."""

import pytest

from tree import run_tests

# Each of two tests ends once the other has begun too; then one of them stays for a while.
TOGETHER = """
import pathlib, time

HERE = pathlib.Path(__file__).parents[2]

def test_it():
    (HERE / "begun-{own}").touch()
    end = time.monotonic() + 60
    while not (HERE / "begun-{other}").exists() and time.monotonic() < end:
        time.sleep(0.01)
    assert (HERE / "begun-{other}").exists()
    (HERE / "inside-{own}").touch()
    time.sleep({stay})
    (HERE / "inside-{own}").unlink()
"""
ALONE = """
import pathlib, time, pytest

HERE = pathlib.Path(__file__).parents[2]

@pytest.mark.alone
@pytest.mark.parametrize("number", range(3))
def test_it(number):
    assert len(list(HERE.glob("begun-*"))) == 2 and not list(HERE.glob("inside-*"))
    (HERE / "inside-{own}").touch()
    time.sleep(0.2)
    (HERE / "inside-{own}").unlink()
"""
DIES = "import os, pytest\n\n@pytest.mark.alone\ndef test_it():\n    os._exit(1)\n"


def test_two_run_side_by_side_and_who_must_be_alone_runs_after_them_and_alone(tmp_path):
    done = run_tests(
        tmp_path,
        {
            "python/plan/test_a.py": ALONE.format(own="a"),
            "python/plan/test_b.py": ALONE.format(own="b"),
            "python/plan/test_c.py": TOGETHER.format(own="c", other="d", stay=1),
            "python/plan/test_d.py": TOGETHER.format(own="d", other="c", stay=0),
        },
        "-n2",
    )
    assert done.returncode == 0, done.stdout
    assert "8 passed" in done.stdout
    assert "fast         8 tests" in done.stdout


def test_what_is_undivided_comes_first_and_one_after_the_other(tmp_path):
    """Were its files beside each other, each would see the other's mark; beside another folder's it is."""
    undivided = TOGETHER.format(own="{own}", other="other", stay=0.2).replace(
        "def test_it():", "def test_it():\n    assert not list(HERE.glob('inside-[ab]'))"
    )
    done = run_tests(
        tmp_path,
        {
            "python/plan/test_c.py": TOGETHER.format(own="other", other="a", stay=0),
            "python/programs/test_a.py": undivided.format(own="a"),
            "python/programs/test_b.py": undivided.format(own="b"),
        },
        "-n2",
    )
    assert done.returncode == 0, done.stdout
    assert "3 passed" in done.stdout


def test_a_fault_of_a_worker_ends_its_turn_alone(tmp_path):
    """Whoever dies gives back its turn, and the other goes on."""
    done = run_tests(
        tmp_path,
        {
            "python/plan/test_a.py": DIES,
            "python/plan/test_b.py": DIES.replace("os._exit(1)", "pass"),
        },
        "-n2",
    )
    assert done.returncode == pytest.ExitCode.TESTS_FAILED, done.stdout
    assert "crashed while running" in done.stdout and "failed, 1 passed" in done.stdout


def test_one_after_the_other_keeps_their_order(tmp_path):
    done = run_tests(
        tmp_path,
        {
            "python/plan/test_a.py": ALONE.format(own="a").replace("== 2", "== 0"),
            "python/plan/test_b.py": "def test_it():\n    pass\n",
        },
        "-v",
    )
    assert done.returncode == 0, done.stdout
    assert done.stdout.index("test_a.py::test_it[2]") < done.stdout.index("test_b.py::test_it")
