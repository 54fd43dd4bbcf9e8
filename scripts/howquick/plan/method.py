"""METHOD: which way of measuring a number was found with, as part of its fingerprint.

The code that decides what a load is may change without moving a number. Whoever changes it says so in
`methods.tsv`, one line per state of the code; scripts/record_method.py writes it. Code of which nobody has
said it is a method of its own, so that nothing measured with it passes for something else.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import NamedTuple

from howquick.code import code_hash
from howquick.errors import UserError

# What decides what is served, how it is loaded, and which load counts. What only probes links is not of it.
DECIDES = tuple(
    f"scripts/{name}"
    for name in (
        "measure.py",
        "measure_load.py",
        "replay_trace.py",
        "make_content.py",
        "interop_endpoint.py",
        "howquick/cpu_categories.py",
        "howquick/seeds.py",
        "howquick/timing.py",
        "howquick/foreign.py",
        "howquick/content",
        "howquick/guard",
        "howquick/interop",
        "howquick/measure",
        "howquick/plan/order.py",
        "howquick/player",
        "howquick/study/sites.py",
        "howquick/study/workload.py",
        "howquick/testbed",
    )
)
LEDGER = Path(__file__).with_name("methods.tsv")


class Entry(NamedTuple):
    """A line of the ledger: the method, the hash of the code that measures so, and what had changed."""

    method: int
    code: str
    why: str


def ledger() -> list[Entry]:
    """All lines of the ledger, the newest last. Raises UserError for a line that is none."""
    entries = []
    for number, line in enumerate(LEDGER.read_text(encoding="utf-8").splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        method, code, why = (*line.split("\t"), "", "")[:3]
        if not method.isdigit() or not code or not why:
            raise UserError(
                f"{LEDGER}: line {number}: is not METHOD, hash and reason with tabs between. "
                "Let scripts/record_method.py write it."
            )
        entries.append(Entry(int(method), code, why))
    return entries


def measuring_code() -> str:
    """Hash of the code that decides what a load is, as it stands."""
    return code_hash(*DECIDES)


@cache
def method() -> str:
    """What fingerprints have: the number of the method, or the code's hash while nobody has said it."""
    newest, code = ledger()[-1], measuring_code()
    return str(newest.method) if newest.code == code else f"undeclared-{code[:32]}"


def record(moves_numbers: bool, why: str) -> Entry:
    """Say of the code as it stands whether it may move numbers. Raises UserError if that is said already."""
    newest, code = ledger()[-1], measuring_code()
    if newest.code == code:
        raise UserError(
            f"{LEDGER.name}: the code is as its last line says; there is nothing to add."
        )
    entry = Entry(newest.method + moves_numbers, code, " ".join(why.split()))
    if not entry.why:
        raise UserError(f"{LEDGER.name}: without a reason. Say in a sentence what has changed.")
    with LEDGER.open("a", encoding="utf-8") as stream:
        stream.write("\t".join(map(str, entry)) + "\n")
    return entry
