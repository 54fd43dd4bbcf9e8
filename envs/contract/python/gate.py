"""The words that runner and client exchange over standard input and output."""

import sys

from .environment import Refusal


def pass_gate() -> None:
    """Say that only the load is left to do and wait for the word. Raises Refusal for another."""
    print("ready", flush=True)
    line = sys.stdin.readline()
    if line != "go\n":
        raise Refusal(f"stdin: expected the line go, got {line!r}")
