"""What a table is valid for: the code that makes it from run folders, and what that validates by."""

from __future__ import annotations

from howquick.code import code_hash

TABLES = (
    "scripts/extract.py",
    "scripts/howquick/capture",
    "scripts/howquick/extract",
    "scripts/howquick/cpu_categories.py",
    "scripts/howquick/foreign.py",
    "scripts/howquick/player",
    "scripts/howquick/testbed/link_rules.py",
    "scripts/howquick/timing.py",
    # What logs are validated by.
    "config/schemas/qlog-*.schema.json",
)


def extraction_hash() -> str:
    """Changes when tables must be made anew from the run folders."""
    return code_hash(*TABLES)
