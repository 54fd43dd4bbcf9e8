"""The few system calls that Python's library does not offer, and the start of small programs."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from howquick.testbed.errors import TestbedError

MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_BIND, MS_REC, MS_PRIVATE = 0x2, 0x4, 0x8, 0x1000, 0x4000, 0x40000
_PR_SET_PDEATHSIG = 1

_libc = ctypes.CDLL(None, use_errno=True)


def die_with_parent() -> None:
    """Have the kernel kill this process when the thread that started it ends (prctl(2))."""
    if _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0):
        raise _last_error("prctl")


def mount(source: str, target: Path, kind: str, flags: int, options: str = "") -> None:
    """Mount a filesystem, or change flags of one (mount(2)). Raises OSError."""
    words = [word.encode() or None for word in (source, os.fspath(target), kind)]
    if _libc.mount(*words, ctypes.c_ulong(flags), options.encode() or None):
        raise _last_error(f"mount {kind or 'flags'} on {target}")


def _last_error(what: str) -> OSError:
    number = ctypes.get_errno()
    return OSError(number, f"{what}: {os.strerror(number)}")


def end_gently(process: subprocess.Popen[Any]) -> None:
    """End a program that ends with its input; by force if it does not obey within a second."""
    for stream in (process.stdin, process.stdout):
        if stream:
            stream.close()
    try:
        process.wait(timeout=1)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def run(argv: Sequence[str], text: str = "", check: bool = True) -> str:
    """Run a small program to its end, `text` on its standard input; gives its standard output.

    Raises TestbedError if it is missing, takes more than 30 s or (if `check`) fails.
    """
    try:
        done = subprocess.run(argv, input=text, capture_output=True, text=True, timeout=30)
    except FileNotFoundError:
        raise TestbedError(f"the program {argv[0]} is not installed") from None
    except subprocess.TimeoutExpired:
        raise TestbedError(f"{' '.join(argv)} did not end within 30 s") from None
    if check and done.returncode:
        raise TestbedError(f"{' '.join(argv)} failed: {(done.stderr or done.stdout).strip()}")
    return done.stdout
