"""The code that decides what a load is: whoever changes it says whether numbers can move."""

import shutil
import subprocess

import pytest

from howquick import code
from howquick.errors import ROOT, UserError
from howquick.plan import method


@pytest.fixture
def copy(tmp_path, monkeypatch):
    """A checkout whose code may be edited; returns its folder."""
    shutil.copytree(
        ROOT / "scripts", tmp_path / "scripts", ignore=shutil.ignore_patterns("__pycache__")
    )
    monkeypatch.setattr(code, "ROOT", tmp_path)
    monkeypatch.setattr(method, "LEDGER", tmp_path / method.LEDGER.relative_to(ROOT))
    code.code_hash.cache_clear()
    method.method.cache_clear()
    yield tmp_path
    code.code_hash.cache_clear()
    method.method.cache_clear()


def edit(folder, old, new):
    file = folder / "scripts/howquick/measure/children.py"
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))
    code.code_hash.cache_clear()
    method.method.cache_clear()


def test_it_is_said_of_the_code_as_it_stands_whether_numbers_can_move():
    assert method.ledger()[-1].code == method.measuring_code(), (
        "The code that decides what a load is has changed (howquick/plan/method.py: DECIDES). Say whether "
        "numbers can move: ./enter python3 scripts/record_method.py same|moved 'what has changed'"
    )


def test_the_ledger_never_goes_back():
    numbers = [entry.method for entry in method.ledger()]
    assert numbers == sorted(numbers)


def test_comments_docstrings_and_formatting_do_not_count(copy):
    before = method.measuring_code()
    edit(copy, "STOP_TIMEOUT_S = 2.0", "# two\nSTOP_TIMEOUT_S = (\n    2.0\n)")
    edit(copy, '"""A program did not do its part; the text', '"""Other words; the text')
    assert method.measuring_code() == before
    assert method.method() == str(method.ledger()[-1].method)


def test_undeclared_code_is_a_method_of_its_own(copy):
    edit(copy, "STOP_TIMEOUT_S = 2.0", "STOP_TIMEOUT_S = 3.0")
    first = method.method()
    edit(copy, "STOP_TIMEOUT_S = 3.0", "STOP_TIMEOUT_S = 4.0")
    second = method.method()
    known = {str(entry.method) for entry in method.ledger()}
    assert len({first, second}) == 2 and not {first, second} & known


@pytest.mark.parametrize(("moves", "step"), [(False, 0), (True, 1)])
def test_declared_code_keeps_or_raises_the_method(copy, moves, step):
    before = method.ledger()[-1].method
    edit(copy, "STOP_TIMEOUT_S = 2.0", "STOP_TIMEOUT_S = 3.0")
    method.record(moves, "A program has\tlonger to end")
    method.method.cache_clear()
    assert method.method() == str(before + step)
    assert method.ledger()[-1].why == "A program has longer to end"
    with pytest.raises(UserError, match="nothing to add"):
        method.record(moves, "again")


def test_a_damaged_line_is_named(copy):
    with method.LEDGER.open("a") as stream:
        stream.write("two\tabc\n")
    with pytest.raises(UserError, match=r"methods\.tsv: line \d+"):
        method.ledger()


def test_the_program_refuses_what_the_ledger_has_already():
    # Else it would write into this checkout.
    assert method.method().isdigit() and int(method.method()) == method.ledger()[-1].method
    done = subprocess.run(
        ["python3", ROOT / "scripts/record_method.py", "same", "nothing"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1 and "there is nothing to add" in done.stderr
