"""A named network namespace with one end of the link, and programs started in it."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from howquick.testbed.errors import TestbedError

NETNS = Path("/run/netns")


class Namespace:
    """One of the testbed's network namespaces.

    name: `client`, `router` or `server`.
    interface: name of the interface towards the link (empty for the router, which has two).
    address: its IPv4 address (empty for the router).
    """

    def __init__(self, name: str, interface: str = "", address: str = "") -> None:
        self.name = name
        self.interface = interface
        self.address = address

    @contextlib.contextmanager
    def entered(self) -> Iterator[None]:
        """Within this context the calling thread (no other) lives in the namespace.

        Sockets made here stay here for good; processes started here inherit the namespace.
        """
        home = os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
        try:
            there = os.open(NETNS / self.name, os.O_RDONLY | os.O_CLOEXEC)
            try:
                os.setns(there, os.CLONE_NEWNET)
            finally:
                os.close(there)
            try:
                yield
            finally:
                os.setns(home, os.CLONE_NEWNET)
        finally:
            os.close(home)

    def popen(self, argv: Sequence[str | Path], **options: Any) -> subprocess.Popen[Any]:
        """Start a program in the namespace, in a process group of its own; never through a shell.

        It stays in the caller's session. With the kernel's autogroups (sched(7)) sessions share the
        processors among each other whatever policy their processes have: the idle work of one session
        would make the programs of another wait as long as any work does.

        `options` go to subprocess.Popen. It dies with the sandbox's PID namespace, that is when
        the calling program ends in whatever way. Raises TestbedError if it cannot be started.
        """
        if isinstance(argv, str | bytes) or options.get("shell"):
            raise TestbedError("a program is started with a list of arguments, never by a shell")
        options.setdefault("process_group", 0)
        options.setdefault("stdin", subprocess.DEVNULL)
        words = [os.fspath(word) for word in argv]
        # Entering before the fork keeps the fast and thread-safe way of starting a program
        # (vfork), which code between fork and exec would rule out.
        with self.entered():
            try:
                return subprocess.Popen(words, **options)
            except OSError as error:
                raise TestbedError(f"cannot start {words[0]}: {error.strerror}") from None

    def run(
        self, argv: Sequence[str | Path], *, check: bool = True, **options: Any
    ) -> subprocess.CompletedProcess[Any]:
        """Run a program in the namespace to its end; text in and out unless `text=False`.

        `timeout` (seconds, 30 unless given) and `input` as in subprocess.run. Raises TestbedError
        if `check` and the exit status is not 0, or when the time is over.
        """
        timeout = options.pop("timeout", 30)
        text_input = options.pop("input", None)
        options.setdefault("text", True)
        options.setdefault("stdout", subprocess.PIPE)
        options.setdefault("stderr", subprocess.PIPE)
        if text_input is not None:
            options["stdin"] = subprocess.PIPE
        process = self.popen(argv, **options)
        try:
            out, err = process.communicate(text_input, timeout=timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise TestbedError(f"{argv[0]} did not end within {timeout} s") from None
        if check and process.returncode:
            raise TestbedError(
                f"{' '.join(map(str, argv))} failed in namespace {self.name} with status"
                f" {process.returncode}: {(err or out or '').strip()}"
            )
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)
