"""Captures of both ends during one repetition, by tcpdump."""

from __future__ import annotations

import re
import signal
import subprocess
from pathlib import Path

from howquick.measure.children import ProgramFailed, stop
from howquick.testbed.namespace import Namespace

# Enough for Ethernet, IPv4, TCP with options, and the head of a QUIC packet.
HEADERS_BYTES = 128
FULL_BYTES = 65535
# After so long without immediate mode tcpdump has got every packet (its ring's timeout is a second).
RING_S = 1.5


class Capture:
    """One tcpdump at one end.

    prompt: it is woken for each packet. Otherwise it gets them within RING_S, which is time that a load in
    virtual time can wait, and being woken is not.
    """

    def __init__(self, namespace: Namespace, file: Path, snaplen: int, prompt: bool = True) -> None:
        self.file = file
        self._listening = False
        # Without it the last packets stay in the ring when tcpdump ends at once.
        immediate = ["--immediate-mode"] if prompt else []
        self._process = namespace.popen(
            [
                "tcpdump", "-i", namespace.interface, "-w", str(file), "-s", str(snaplen), "-n",
                "--time-stamp-precision=nano", *immediate, "-B", "16384", "-Z", "root",
            ],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        )  # fmt: skip

    @property
    def pid(self) -> int:
        """Of tcpdump."""
        return self._process.pid

    def wait_until_listening(self) -> None:
        """Return once packets are captured. Raises ProgramFailed if tcpdump cannot."""
        assert self._process.stderr is not None
        if self._listening:
            return
        for line in self._process.stderr:
            if b"listening on" in line:
                self._listening = True
                return
        raise ProgramFailed(f"tcpdump ended with status {self._process.wait()}")

    def interrupt(self) -> None:
        """Ask tcpdump to end; not before it has begun, or it would leave half a file."""
        self.wait_until_listening()
        self._process.send_signal(signal.SIGINT)

    def finish(self) -> int:
        """Wait for the end of tcpdump; returns the packets that the kernel dropped from the capture."""
        assert self._process.stderr is not None
        text = self._process.stderr.read().decode(errors="replace")
        self._process.wait()
        dropped = re.search(r"(\d+) packets? dropped by kernel", text)
        if self._process.returncode or not dropped:
            raise ProgramFailed(
                f"tcpdump ended with status {self._process.returncode}: {text.strip()}"
            )
        return int(dropped.group(1))

    def kill(self) -> None:
        """End tcpdump by force."""
        stop(self._process, signal.SIGKILL)
