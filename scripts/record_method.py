"""Say whether a change of the code that measures may move numbers: `record_method.py same|moved REASON`."""

from __future__ import annotations

import argparse

from howquick.errors import run_program
from howquick.plan.method import record


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("numbers", choices=["same", "moved"])
    parser.add_argument("reason", help="what has changed, in a sentence")
    arguments = parser.parse_args()
    entry = record(arguments.numbers == "moved", arguments.reason)
    print(f"METHOD {entry.method}: {entry.why}")


if __name__ == "__main__":
    run_program(main)
