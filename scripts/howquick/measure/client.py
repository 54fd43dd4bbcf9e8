"""A client under test: one load."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import time
from collections.abc import Callable
from typing import Any, NoReturn

from howquick.measure.children import (
    STOP_TIMEOUT_S,
    ProgramFailed,
    describe_exit,
    last_line,
    read_line,
    stop,
    with_variable,
)
from howquick.measure.cpu_time import process_cpu_s
from howquick.measure.job import READY_TIMEOUT_S, Job
from howquick.testbed.namespace import Namespace

NOT_SUPPORTED = 127
# How often children that a client has left are looked for.
LOOKS = 20


class Client:
    """One load by a client: `prepare` up to the gate, then `go`.

    on_move: changes the client's address and returns the new one; None where it does not move.
    chosen: entries of the page that it was asked for, where that is chosen during the load.
    cpu_s: CPU seconds of the load, once it has ended by itself: its own and those of the children that
        it waited for.
    """

    def __init__(
        self, job: Job, namespace: Namespace, on_move: Callable[[], str] | None = None
    ) -> None:
        self.job = job
        self.namespace = namespace
        self.on_move = on_move
        self.chosen: list[dict[str, Any]] | None = None
        self.cpu_s: float | None = None
        # Called when the client has ended and is not yet reaped: the kernel still has its accounts.
        self.at_end: Callable[[], None] = lambda: None
        # Whether its CPU seconds are read by its clock, or in ticks.
        self.fine = True
        self._cpu_before_s = 0.0
        self._timeout_s = 0.0
        self._moves = 0
        self.is_talked_to = on_move is not None  # during the load
        self.is_silent = False  # it has closed its standard output
        self.gate: bool = job.endpoint.declaration["client"].get("gate", False)
        self.process: subprocess.Popen[bytes] | None = None

    def prepare(self) -> None:
        """Start a gated client and wait until it says `ready`. Raises ProgramFailed."""
        if not self.gate:
            return
        self._start()
        assert self.process is not None and self.process.stdout is not None
        line = read_line(self.process, READY_TIMEOUT_S)
        if line is None:
            self.kill()
            raise ProgramFailed(
                f"client {self.job.endpoint.name} was not ready in {READY_TIMEOUT_S:.0f} s"
            )
        if line != b"ready":
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(timeout=STOP_TIMEOUT_S)
                raise ProgramFailed(self._failure())
            self.kill()
            raise ProgramFailed(
                f"client {self.job.endpoint.name} said {line[:80]!r} and not that it is ready"
            )

    def go(self) -> None:
        """Let the load begin."""
        if not self.gate:
            self._start()
            return
        assert self.process is not None
        self._cpu_before_s = process_cpu_s(self.process.pid, self.fine)
        self.say("go", last=not self.is_talked_to)

    def say(self, line: str, last: bool) -> None:
        """Write a line to the client's standard input, and close that after the last one."""
        assert self.process is not None and self.process.stdin is not None
        # It may have died meanwhile; wait() tells why.
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write(f"{line}\n".encode())
            self.process.stdin.flush()
            if last:
                self.process.stdin.close()

    def wait(self, timeout_s: float) -> None:
        """Wait for the end of the load. Raises TimeoutError after `timeout_s`, ProgramFailed on failure.

        A client that says `move` gets another address from `on_move` and is told of it.
        """
        assert self.process is not None
        self._timeout_s = timeout_s
        deadline = time.monotonic() + timeout_s
        # Popen.wait with a timeout polls up to every 50 ms; a pidfd tells at once.
        descriptor = os.pidfd_open(self.process.pid)
        try:
            while not self._ended(descriptor, deadline):
                pass
        finally:
            os.close(descriptor)
        self.finish()

    def finish(self) -> None:
        """Reap the client, which has ended, and what it has left. Raises ProgramFailed on failure."""
        assert self.process is not None
        self.at_end()
        # Before it is reaped its number is nobody else's.
        self._end_children()
        _, status, usage = os.wait4(self.process.pid, 0)
        # Popen must know: the process is reaped already.
        self.process.returncode = os.waitstatus_to_exitcode(status)
        spent_s = usage.ru_utime + usage.ru_stime - self._cpu_before_s
        self.cpu_s = round(max(0.0, spent_s), 3)
        if self.process.returncode:
            raise ProgramFailed(self._failure())

    def _ended(self, descriptor: int, deadline: float) -> bool:
        """Wait for the end (true) or for a line of the client's; raises TimeoutError at the deadline."""
        assert self.process is not None
        sources: list[Any] = [descriptor]
        if self.on_move is not None and not self.is_silent:
            sources.append(self.process.stdout)
        left_s = deadline - time.monotonic()
        ready, _, _ = select.select(sources, [], [], max(0.0, left_s))
        if descriptor in ready:
            return True
        # A client that never stops talking has no more time than a silent one.
        if not ready or left_s <= 0:
            self.out_of_time()
        assert self.on_move is not None
        line = read_line(self.process, left_s)
        if line == b"move":
            self._moves += 1
            if self._moves > int(self.job.extra.get("MOVES", 0)):
                self.kill()
                raise ProgramFailed(
                    f"client {self.job.endpoint.name} wanted to move more often than it was asked to"
                )
            self.say(f"moved {self.on_move()}", last=False)
        elif line == b"":
            self.is_silent = True
        return False

    def out_of_time(self) -> NoReturn:
        """End the client by force and raise TimeoutError."""
        self.kill()
        raise TimeoutError(f"not loaded within {self._timeout_s:g} s")

    def kill(self) -> None:
        """End the client by force, and what it has started."""
        if self.process is not None:
            if self.process.returncode is None:
                self._end_children()
            stop(self.process, signal.SIGKILL)

    def _end_children(self) -> None:
        """End what the client has started and left: it would disturb the loads to come.

        Its process group, and what has left that: all that was started with this load's TIMING.
        """
        assert self.process is not None
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        mark = f"TIMING={self.job.extra.get('TIMING', self.job.state)}".encode()
        # Several times, as one of them may start another while they are looked for.
        for _ in range(LOOKS):
            left = [pid for pid in with_variable(mark) if pid != self.process.pid]
            for pid in left:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            if not left:
                break

    def _start(self) -> None:
        with self.job.log.open("ab") as log:
            self.process = self.job.start(
                self.namespace,
                stdin=subprocess.PIPE if self.gate else subprocess.DEVNULL,
                stdout=subprocess.PIPE if self.gate else log,
                stderr=log,
            )

    def _failure(self) -> str:
        assert self.process is not None
        if self.process.returncode == NOT_SUPPORTED:
            return f"client {self.job.endpoint.name}: not supported: {last_line(self.job.log)}"
        return (
            f"client {self.job.endpoint.name} {describe_exit(self.process.returncode)}: "
            f"{last_line(self.job.log)}"
        )
