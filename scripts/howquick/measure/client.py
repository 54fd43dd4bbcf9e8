"""A client under test: one load."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import time
from collections.abc import Callable
from typing import Any

from howquick.measure.cpu import process_cpu_s
from howquick.measure.job import READY_TIMEOUT_S, Job
from howquick.measure.process import (
    STOP_TIMEOUT_S,
    ProgramFailed,
    describe_exit,
    last_line,
    read_line,
    stop,
)
from howquick.testbed.namespace import Namespace

NOT_SUPPORTED = 127


class Client:
    """One load by a client: `prepare` up to the gate, then `go`.

    on_move: changes the client's address and returns the new one; None where it does not move.
    cpu_s: CPU seconds of the load, once it has ended by itself: its own and those of the children that
        it waited for.
    """

    def __init__(
        self, job: Job, namespace: Namespace, on_move: Callable[[], str] | None = None
    ) -> None:
        self.job = job
        self.namespace = namespace
        self.on_move = on_move
        self.cpu_s: float | None = None
        # Called when the client has ended and is not yet reaped: the kernel still has its accounts.
        self.at_end: Callable[[], None] = lambda: None
        self._cpu_before_s = 0.0
        self._timeout_s = 0.0
        self._silent = False  # it has closed its standard output
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
            self.process.wait(timeout=STOP_TIMEOUT_S)
            raise ProgramFailed(self._failure())

    def go(self) -> None:
        """Let the load begin."""
        if not self.gate:
            self._start()
            return
        assert self.process is not None
        self._cpu_before_s = process_cpu_s(self.process.pid)
        self._say("go", last=self.on_move is None)

    def _say(self, line: str, last: bool) -> None:
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
        self.at_end()
        _, status, usage = os.wait4(self.process.pid, 0)
        # Popen must know: the process is reaped already.
        self.process.returncode = os.waitstatus_to_exitcode(status)
        spent_s = usage.ru_utime + usage.ru_stime - self._cpu_before_s
        self.cpu_s = round(max(0.0, spent_s), 3)  # /proc counts in ticks, so the difference may err
        if self.process.returncode:
            raise ProgramFailed(self._failure())

    def _ended(self, descriptor: int, deadline: float) -> bool:
        """Wait for the end (true) or for a line of the client's; raises TimeoutError at the deadline."""
        assert self.process is not None
        sources: list[Any] = [descriptor]
        if self.on_move is not None and not self._silent:
            sources.append(self.process.stdout)
        ready, _, _ = select.select(sources, [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            self.kill()
            raise TimeoutError(f"not loaded within {self._timeout_s:g} s")
        if descriptor in ready:
            return True
        assert self.on_move is not None
        line = read_line(self.process, max(0.0, deadline - time.monotonic()))
        if line == b"move":
            self._say(f"moved {self.on_move()}", last=False)
        elif line == b"":
            self._silent = True
        return False

    def kill(self) -> None:
        """End the client by force."""
        if self.process is not None:
            stop(self.process, signal.SIGKILL)

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
