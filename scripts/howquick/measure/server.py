"""A server under test, which runs for a whole block."""

from __future__ import annotations

import contextlib
import shutil
import signal
import subprocess
import time
from pathlib import Path

from howquick.measure.children import (
    ProgramFailed,
    describe_exit,
    last_line,
    signal_group,
    stop,
)
from howquick.measure.cpu_time import group_cpu_s
from howquick.measure.job import READY_TIMEOUT_S, Job
from howquick.testbed.namespace import Namespace

# Its logs are collected after every repetition: at the end nothing is left to wait for.
SERVER_GRACE_S = 0.2
QLOG_PATIENCE_S = 0.3


class Server:
    """A server that runs for a whole block and is started anew if it dies."""

    def __init__(self, job: Job, namespace: Namespace) -> None:
        self.job = job
        self.namespace = namespace
        self.process: subprocess.Popen[bytes] | None = None
        self._log_read = 0

    def ensure(self) -> None:
        """Start the server unless it runs; returns when its port is open. Raises ProgramFailed."""
        if self.process and self.process.poll() is None:
            return
        if self.process is not None:
            # What the dead one had started may live on and hold the port.
            signal_group(self.process, signal.SIGKILL)
        with self.job.log.open("ab") as log:
            self.process = self.job.start(
                self.namespace, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
        deadline = time.monotonic() + READY_TIMEOUT_S
        while not self._listens():
            if self.process.poll() is not None:
                raise ProgramFailed(self._died())
            if time.monotonic() > deadline:
                self.stop()
                raise ProgramFailed(
                    f"server {self.job.endpoint.name} opened no port in {READY_TIMEOUT_S:.0f} s"
                )
            time.sleep(0.005)

    def cpu_s(self, fine: bool) -> float:
        """CPU seconds of all its processes so far; `fine` as for `group_cpu_s`."""
        return group_cpu_s(self.process.pid, fine) if self.process else 0.0

    def check(self) -> None:
        """Raise ProgramFailed if the server has died."""
        if self.process is None or self.process.poll() is not None:
            raise ProgramFailed(self._died())

    def _died(self) -> str:
        status = self.process.returncode if self.process else None
        return f"server {self.job.endpoint.name} {describe_exit(status)}: {last_line(self.job.log)}"

    def _listens(self) -> bool:
        """Whether a socket of the server's namespace is bound to its port (no packet is sent)."""
        assert self.process is not None
        transport = self.job.endpoint.declaration["server"]["protocols"][self.job.arm["protocol"]][
            "transport"
        ]
        if transport == "sctp-kernel":
            return self._listens_by_sctp()
        kind, state = ("tcp", "0A") if transport == "tcp" else ("udp", None)
        # A socket for both versions of IP stands in the table of IPv6.
        tables = [Path(f"/proc/{self.process.pid}/net/{kind}{version}") for version in ("", "6")]
        try:
            texts = [table.read_text() for table in tables if table.exists()]
        except OSError:
            return False
        lines = [line for text in texts for line in text.splitlines()[1:]]
        wanted = f":{self.job.port:04X}"
        return any(
            columns[1].endswith(wanted) and state in (None, columns[3])
            for columns in (line.split() for line in lines)
        )

    def _listens_by_sctp(self) -> bool:
        """The same for the kernel's SCTP, whose table has ports as decimal numbers in the sixth column."""
        assert self.process is not None
        try:
            lines = Path(f"/proc/{self.process.pid}/net/sctp/eps").read_text().splitlines()[1:]
        except OSError:
            return False
        return any(line.split()[5] == str(self.job.port) for line in lines)

    def collect(self, scratch: Path, patience_s: float) -> None:
        """Move what the server wrote since the last time to `scratch`: `server.log`, `qlog/server/`.

        Waits at most `patience_s` and a little for qlogs that the server has not finished: it hears
        of the connection's end only after half a round trip.
        """
        if self.job.log.exists():
            with self.job.log.open("rb") as log:
                log.seek(self._log_read)
                (scratch / "server.log").write_bytes(log.read())
                self._log_read = log.tell()
        if self.job.qlog is None or not self.job.endpoint.declaration["server"].get("qlog"):
            return
        deadline = time.monotonic() + patience_s + QLOG_PATIENCE_S
        while not self._qlogs_finished() and time.monotonic() < deadline:
            time.sleep(0.01)
        for file in self._qlogs():
            (scratch / "qlog" / "server").mkdir(parents=True, exist_ok=True)
            shutil.move(file, scratch / "qlog" / "server" / file.name)

    def _qlogs(self) -> list[Path]:
        """What the server has left in its folder of qlogs; it may have removed that itself."""
        assert self.job.qlog is not None
        try:
            return list(self.job.qlog.iterdir())
        except OSError:
            return []

    def _qlogs_finished(self) -> bool:
        """Whether there are qlogs and the server has none of them open."""
        assert self.job.qlog is not None
        if self.process is None or self.process.poll() is not None:
            return True
        open_files = []
        try:
            for descriptor in Path(f"/proc/{self.process.pid}/fd").iterdir():
                # Others may be closed while these are read, which says nothing about the qlogs.
                with contextlib.suppress(FileNotFoundError):
                    open_files.append(descriptor.readlink())
        except OSError:
            return True
        return bool(self._qlogs()) and not any(
            name.is_relative_to(self.job.qlog) for name in open_files
        )

    def ask_to_stop(self) -> None:
        """Send the server the signal on which it ends gently."""
        if self.process is not None and self.process.poll() is None:
            name = self.job.endpoint.declaration["server"]["stop_signal"]
            signal_group(self.process, getattr(signal, name))

    def stop(self) -> None:
        """End the server; by force if it was asked and did not end soon."""
        if self.process is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(timeout=SERVER_GRACE_S)
            stop(self.process, signal.SIGKILL)
            self.process = None
