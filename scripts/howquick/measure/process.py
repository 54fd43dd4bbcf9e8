"""Starting and stopping the programs under test (docs/formats.md, 2)."""

from __future__ import annotations

import contextlib
import os
import select
import selectors
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from howquick.content import SERVER_NAME
from howquick.endpoints import Endpoint
from howquick.manifest import prefix_of
from howquick.testbed.errors import TestbedError
from howquick.testbed.namespace import Namespace

READY_TIMEOUT_S = 30.0
STOP_TIMEOUT_S = 2.0
# Its logs are collected after every repetition: at the end nothing is left to wait for.
SERVER_GRACE_S = 0.2
QLOG_PATIENCE_S = 0.3
NOT_SUPPORTED = 127


class ProgramFailed(Exception):
    """A program did not do its part; the text is the reason that the result records."""


@dataclass
class Job:
    """What a program is asked to do: becomes its environment."""

    endpoint: Endpoint
    role: str
    arm: dict[str, Any]
    address: str
    port: int
    certificates: Path
    state: Path
    log: Path
    qlog: Path | None = None
    keys: Path | None = None
    extra: dict[str, str] = field(default_factory=dict)

    def environment(self) -> dict[str, str]:
        """The documented variables and nothing of the user's own environment but the search path."""
        variables = {
            "PATH": os.environ["PATH"],
            "LC_ALL": "C.UTF-8",
            "HOME": str(self.state),
            "ROLE": self.role,
            "PROTOCOL": self.arm["protocol"],
            "CONGESTION_CONTROL": self._congestion_control(),
            "CONNECTION": self.arm["connection"],
            "HOST": SERVER_NAME,
            "ADDRESS": self.address,
            "PORT": str(self.port),
            "CERTS": str(self.certificates),
            "STATE": str(self.state),
        }
        for name, value in self.arm["options"].items():
            variables[f"OPTION_{name.upper()}"] = str(value)
        if self.keys:
            variables["SSLKEYLOGFILE"] = str(self.keys)
        if self.qlog and self.endpoint.declaration[self.role].get("qlog"):
            self.qlog.mkdir(parents=True, exist_ok=True)
            variables["QLOGDIR"] = str(self.qlog)
        return variables | self.extra

    def _congestion_control(self) -> str:
        """The arm's, where the program has it in this role.

        It is the server's that decides a download; a client without it uses its first.
        """
        able = self.endpoint.declaration[self.role]["protocols"][self.arm["protocol"]]
        wanted: str = self.arm["congestion_control"]
        return wanted if wanted in able["congestion_control"] else able["congestion_control"][0]

    def argv(self) -> list[str]:
        """The command with `{env}` and `{prefix}` filled in."""
        prefix = prefix_of(self.endpoint.name)
        return [
            word.replace("{env}", str(self.endpoint.folder)).replace("{prefix}", str(prefix))
            for word in self.endpoint.declaration[self.role]["command"]
        ]

    def start(self, namespace: Namespace, **streams: Any) -> subprocess.Popen[bytes]:
        """Start the program in a namespace; raises ProgramFailed when it is missing."""
        self.state.mkdir(parents=True, exist_ok=True)
        try:
            return namespace.popen(self.argv(), env=self.environment(), cwd=self.state, **streams)
        except TestbedError as error:
            raise ProgramFailed(
                f"{self.endpoint.name}: {error}; is it built? See envs/{self.endpoint.name}/"
            ) from None


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
        kind, state = ("udp", None) if transport == "quic" else ("tcp", "0A")
        try:
            lines = Path(f"/proc/{self.process.pid}/net/{kind}").read_text().splitlines()[1:]
        except OSError:
            return False
        wanted = f":{self.job.port:04X}"
        return any(
            columns[1].endswith(wanted) and state in (None, columns[3])
            for columns in (line.split() for line in lines)
        )

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
        for file in self.job.qlog.iterdir():
            (scratch / "qlog" / "server").mkdir(parents=True, exist_ok=True)
            shutil.move(file, scratch / "qlog" / "server" / file.name)

    def _qlogs_finished(self) -> bool:
        """Whether there are qlogs and the server has none of them open."""
        assert self.job.qlog is not None
        if self.process is None or self.process.poll() is not None:
            return True
        folder = str(self.job.qlog)
        try:
            open_files = [
                str(entry.readlink()) for entry in Path(f"/proc/{self.process.pid}/fd").iterdir()
            ]
        except OSError:
            return True
        return any(self.job.qlog.iterdir()) and not any(
            name.startswith(folder) for name in open_files
        )

    def ask_to_stop(self) -> None:
        """Send the server the signal on which it ends gently."""
        if self.process is not None and self.process.poll() is None:
            name = self.job.endpoint.declaration["server"]["stop_signal"]
            _signal_group(self.process, getattr(signal, name))

    def stop(self) -> None:
        """End the server; by force if it was asked and did not end soon."""
        if self.process is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(timeout=SERVER_GRACE_S)
            stop(self.process, signal.SIGKILL)
            self.process = None


class Client:
    """One load by a client: `prepare` up to the gate, then `go`."""

    def __init__(self, job: Job, namespace: Namespace) -> None:
        self.job = job
        self.namespace = namespace
        self.gate: bool = job.endpoint.declaration["client"].get("gate", False)
        self.process: subprocess.Popen[bytes] | None = None

    def prepare(self) -> None:
        """Start a gated client and wait until it says `ready`. Raises ProgramFailed."""
        if not self.gate:
            return
        self._start()
        assert self.process is not None and self.process.stdout is not None
        line = _read_line(self.process, READY_TIMEOUT_S)
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
        assert self.process is not None and self.process.stdin is not None
        try:
            self.process.stdin.write(b"go\n")
            self.process.stdin.close()
        except BrokenPipeError:
            pass  # it died at the gate; wait() tells why

    def wait(self, timeout_s: float) -> None:
        """Wait for the end of the load. Raises TimeoutError after `timeout_s`, ProgramFailed on failure."""
        assert self.process is not None
        # Popen.wait with a timeout polls up to every 50 ms; a pidfd tells at once.
        descriptor = os.pidfd_open(self.process.pid)
        try:
            ended, _, _ = select.select([descriptor], [], [], timeout_s)
        finally:
            os.close(descriptor)
        if not ended:
            self.kill()
            raise TimeoutError(f"not loaded within {timeout_s:g} s")
        status = self.process.wait()
        if status:
            raise ProgramFailed(self._failure())

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


def stop(process: subprocess.Popen[bytes], signum: int) -> None:
    """Send a signal to a process group we started, then SIGKILL, and reap it."""
    if process.poll() is None:
        _signal_group(process, signum)
        try:
            process.wait(timeout=STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            _signal_group(process, signal.SIGKILL)
            process.wait()


def _signal_group(process: subprocess.Popen[bytes], signum: int) -> None:
    try:
        os.killpg(process.pid, signum)
    except ProcessLookupError:
        process.send_signal(signum)


def _read_line(process: subprocess.Popen[bytes], timeout_s: float) -> bytes | None:
    """The next line of a process's stdout, b"" at its end, None after the timeout."""
    assert process.stdout is not None
    deadline = time.monotonic() + timeout_s
    line = b""
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while not line.endswith(b"\n"):
            if not selector.select(max(0.0, deadline - time.monotonic())):
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
