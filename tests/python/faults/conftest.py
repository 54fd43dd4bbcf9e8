"""The table of faults and outcomes: results/bench/faults.csv, written as the tests find them."""

import csv
import fcntl
import os

import pytest

from howquick.errors import ROOT

COLUMNS = ("fault", "told", "kept", "number")
_outcomes: dict[str, dict[str, str]] = {}


@pytest.fixture
def outcome():
    """Call it with what a fault led to: what the user is told, what was kept, what became of the number."""

    def add(fault, told, kept, number):
        values = (fault, told, kept, number)
        _outcomes[fault] = dict(zip(COLUMNS, values, strict=True))

    return add


def pytest_sessionfinish(session):
    """Write what this session found; what it did not look at stays."""
    if not _outcomes:
        return
    table = ROOT / "results" / "bench" / "faults.csv"
    table.parent.mkdir(parents=True, exist_ok=True)
    # Another worker may end at the same time.
    folder = os.open(table.parent, os.O_RDONLY)
    fcntl.flock(folder, fcntl.LOCK_EX)
    known = {}
    if table.exists():
        with table.open(newline="") as stream:
            known = {row["fault"]: row for row in csv.DictReader(stream)}
    temporary = table.with_suffix(f".{os.getpid()}")
    with temporary.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows((known | _outcomes).values())
    temporary.replace(table)
    os.close(folder)
