"""A guest that is made ready once and copied for each load: boot, imports and testbed are paid for once."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from howquick.guest.guest import (
    Boot,
    Command,
    Ended,
    GuestFailed,
    end_kernel,
    hand_over,
    how_it_ended,
    own_folder,
    start_kernel,
    too_long,
)

# In the guest; who writes to it goes on in each copy, and has written nothing once no more is asked for.
COPIES = Path("/proc/copies")


class Original:
    """A guest that stands where its program asked to be copied.

    Each copy goes on from there with the same memory and the same clock and a seed of its own. So what it
    does follows from the original and the seed, and from no other copy.
    """

    def __init__(self, own: Path, boot: Boot) -> None:
        self._own, self._boot = own, boot
        asked, self._ask = os.pipe()
        self._told, tell = os.pipe()
        try:
            self._kernel = start_kernel(own, boot, (asked, tell))
        finally:
            os.close(asked)
            os.close(tell)
        self._read = b""

    def copy(self, seed: int, files: Mapping[str, bytes]) -> Ended:
        """Copy it, with further files handed over; how its program ends in the copy.

        Raises GuestTooLong, GuestFailed, as run_guest does; after the first it can be copied again.
        """
        for name in ("status", "stdout", "stderr"):
            with contextlib.suppress(FileNotFoundError):
                os.truncate(self._own / name, 0)
        hand_over(self._own, files)
        with contextlib.suppress(BrokenPipeError):
            os.write(self._ask, b"%d\n" % seed)
        deadline = time.monotonic() + self._boot.limit_s
        pid = self._number(deadline)
        if pid is None:
            # No copy can come of it, this one or another.
            raise GuestFailed(
                f"the guest was not ready to be copied within {self._boot.limit_s:g} s of real time."
            )
        if pid < 0:
            raise GuestFailed(
                "the guest could not be copied: the machine has no room for a process."
            )
        if self._number(deadline) is None:
            # Its programs' processes die with it.
            os.kill(pid, signal.SIGKILL)
            self._number(None)
            raise too_long(self._boot.limit_s)
        return how_it_ended(self._own)

    def _number(self, deadline: float | None) -> int | None:
        """The next number that the kernel says; None at the deadline. Raises GuestFailed at its end."""
        while b"\n" not in self._read:
            left_s = None if deadline is None else max(0.0, deadline - time.monotonic())
            if not select.select([self._told], [], [], left_s)[0]:
                return None
            got = os.read(self._told, 64)
            if not got:
                self._kernel.wait()
                ended = how_it_ended(self._own)
                said = ended.errors.decode(errors="replace").strip()
                raise GuestFailed(
                    f"the guest ended with {ended.status} before it was copied: {said}"
                )
            self._read += got
        line, _, self._read = self._read.partition(b"\n")
        return int(line)

    def close(self) -> None:
        """End it, and what is left of a copy."""
        os.close(self._ask)
        end_kernel(self._kernel)
        os.close(self._told)


@contextlib.contextmanager
def original(command: Command, boot: Boot) -> Iterator[Original]:
    """Boot, inside the sandbox, a guest whose program calls `wait_to_be_copied`.

    boot.limit_s: of each copy.
    """
    with own_folder(command) as own:
        guest = Original(own, boot)
        try:
            yield guest
        finally:
            guest.close()


def wait_to_be_copied() -> bool:
    """In the guest: go on in each copy (true), and in the original once no more is asked for (false)."""
    descriptor = os.open(COPIES, os.O_WRONLY)
    try:
        return os.write(descriptor, b"1") == 1
    finally:
        os.close(descriptor)
