"""Helpers for the processes of programs under test: lines, signals, exit status, last words."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import time
from pathlib import Path

STOP_TIMEOUT_S = 2.0
# What programs say to their runner is a word or two.
LONGEST_LINE = 1024


class ProgramFailed(Exception):
    """A program did not do its part; the text is the reason that the result records."""


def stop(process: subprocess.Popen[bytes], signum: int) -> None:
    """Send a signal to a process group we started, then SIGKILL, and reap it."""
    if process.poll() is None:
        signal_group(process, signum)
        try:
            process.wait(timeout=STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            signal_group(process, signal.SIGKILL)
            process.wait()


def signal_group(process: subprocess.Popen[bytes], signum: int) -> None:
    """Send a signal to the process group that a program leads, or to it alone."""
    try:
        os.killpg(process.pid, signum)
    except ProcessLookupError:
        process.send_signal(signum)


def read_line(process: subprocess.Popen[bytes], timeout_s: float) -> bytes | None:
    """The next line of a process's stdout, b"" at its end, None after the timeout.

    Of a line longer than LONGEST_LINE its beginning.
    """
    assert process.stdout is not None
    deadline = time.monotonic() + timeout_s
    line = b""
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while not line.endswith(b"\n") and len(line) < LONGEST_LINE:
            # Also while there is always more to read.
            left_s = deadline - time.monotonic()
            if left_s <= 0 or not selector.select(left_s):
                return None
            chunk = os.read(process.stdout.fileno(), 1)
            if not chunk:
                break
            line += chunk
    return line.strip()


def describe_exit(status: int | None) -> str:
    """An exit status in words."""
    if status is not None and status < 0:
        return f"was killed by {signal.Signals(-status).name}"
    return f"ended with status {status}"


def last_line(log: Path) -> str:
    """The last line with text of a log, or `no message`."""
    try:
        lines = log.read_text(errors="replace").splitlines()
    except OSError:
        return "no message"
    return next((line.strip()[:300] for line in reversed(lines) if line.strip()), "no message")


def with_variable(variable: bytes) -> list[int]:
    """PIDs of the living processes that were started with a variable, given as NAME=VALUE."""
    found: list[int] = []
    if Path("/proc/self").readlink().name != str(os.getpid()):
        return found  # a /proc of other numbers than ours
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            # Empty for a process that has ended and is not reaped.
            if variable in (folder / "environ").read_bytes().split(b"\0"):
                found.append(int(folder.name))
        except OSError:
            continue
    return found
