"""Start and drive the programs of ``envs/<program>/endpoint.yaml`` as docs/formats.md, section 2, says.

The tests of every implementation use it. It needs the ``openssl`` command and, for programs that are
built, the manifest named by ``HOWQUICK_MANIFEST`` (JSON, ``programs.<name>.prefix``).
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import random
import secrets
import selectors
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NoReturn

import yaml

from howquick import interop
from patience import HANG_S

REPOSITORY = Path(__file__).resolve().parents[3]
HOST = "server.test"
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
STOP_PATIENCE_S = 2.0


class EndpointError(Exception):
    """A program did not do what its endpoint.yaml or docs/formats.md promises."""


@dataclass(frozen=True)
class Endpoint:
    """One implementation: its definition, its folder and the folder it was built into."""

    name: str
    folder: Path
    prefix: Path | None
    definition: dict[str, Any]

    def argv(self, role: str) -> list[str]:
        """Return the argument vector of ``role`` (or of ``version``) with {env} and {prefix} filled in."""
        template = (
            self.definition["version"]
            if role == "version"
            else interop.command_for(self.definition, role)
        )
        if self.prefix is None and any("{prefix}" in part for part in template):
            raise EndpointError(f"{self.name}: not in HOWQUICK_MANIFEST; build it first")
        prefix = str(self.prefix or "")
        return [p.replace("{env}", str(self.folder)).replace("{prefix}", prefix) for p in template]

    def options(self) -> dict[str, Any]:
        """Return the default of every knob."""
        return {name: knob["default"] for name, knob in self.definition.get("options", {}).items()}


@dataclass(frozen=True)
class Load:
    """What one page load or one server is asked to do.

    ``variables``: further ones of the environment, as a guest sets them.
    """

    protocol: str
    certs: Path
    port: int
    congestion_control: str = "cubic"
    connection: str = "cold"
    address: str = "127.0.0.1"
    options: dict[str, Any] = field(default_factory=dict)
    keys: Path | None = None
    qlog: Path | None = None
    variables: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Outcome:
    """How a client ended: exit status, what it printed, its TIMING (None if it wrote none)."""

    status: int
    stdout: str
    stderr: str
    timing: dict[str, Any] | None
    go: float

    @property
    def reason(self) -> str:
        """Return the last line of stderr, which is what a user is shown."""
        lines = self.stderr.strip().splitlines()
        return lines[-1] if lines else ""

    def page(self) -> dict[str, Any]:
        """Return TIMING of a successful load. Raises EndpointError otherwise."""
        if self.status != 0 or self.timing is None:
            raise EndpointError(f"client failed with status {self.status}: {self.stderr[-2000:]}")
        return self.timing


def endpoint_names() -> list[str]:
    """Return the names of all implementations, sorted."""
    return sorted(path.parent.name for path in REPOSITORY.glob("envs/*/endpoint.yaml"))


@functools.cache
def load_endpoint(name: str) -> Endpoint:
    """Read ``envs/<name>/endpoint.yaml`` and find where it was built."""
    folder = REPOSITORY / "envs" / name
    definition = yaml.safe_load((folder / "endpoint.yaml").read_text())
    manifest = os.environ.get("HOWQUICK_MANIFEST")
    programs = json.loads(Path(manifest).read_text())["programs"] if manifest else {}
    prefix = programs.get(name, {}).get("prefix")
    return Endpoint(name, folder, Path(prefix) if prefix else None, definition)


def _openssl(*arguments: str) -> None:
    done = subprocess.run(["openssl", *arguments], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise EndpointError(f"openssl {arguments[0]}: {done.stderr.strip()}")


def make_certificates(folder: Path) -> Path:
    """Make a P-256 authority and a leaf for the test names in ``folder``; return ``folder``.

    Files: ``ca.pem``, ``ca.key``, ``cert.pem`` (leaf, then authority) and ``priv.key``.
    """
    folder.mkdir(parents=True, exist_ok=True)
    new_key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "3650")
    authority, leaf = folder / "ca.pem", folder / "leaf.pem"
    authority_key = folder / "ca.key"
    _openssl(
        "req", "-x509", *new_key, "-keyout", str(authority_key), "-out", str(authority),
        "-subj", f"/CN=howquick test authority {secrets.token_hex(4)}",
        "-addext", "basicConstraints=critical,CA:TRUE", "-addext", "keyUsage=critical,keyCertSign",
    )  # fmt: skip
    _openssl(
        "req", "-x509", *new_key, "-keyout", str(folder / "priv.key"), "-out", str(leaf),
        "-CA", str(authority), "-CAkey", str(authority_key), "-subj", f"/CN={HOST}",
        "-addext", f"subjectAltName=DNS:{HOST},DNS:localhost,IP:127.0.0.1,IP:10.0.2.1",
        "-addext", "basicConstraints=critical,CA:FALSE",
        "-addext", "keyUsage=critical,digitalSignature", "-addext", "extendedKeyUsage=serverAuth",
    )  # fmt: skip
    (folder / "cert.pem").write_text(leaf.read_text() + authority.read_text())
    return folder


def make_page(folder: Path, sizes: list[int], seed: int = 1) -> dict[str, str]:
    """Write page.html and one object per size (bytes) into ``folder``.

    Returns the SHA-256 of every file by its path on the server, the HTML first.
    """
    (folder / "objects").mkdir(parents=True)
    generator = random.Random(seed)
    names = [f"objects/{number:03d}.jpg" for number in range(len(sizes))]
    images = "\n".join(f'<img src="{name}" alt="">' for name in names)
    head = "<!DOCTYPE html>\n<html><head><title>page</title></head><body>\n"
    (folder / "page.html").write_text(f"{head}{images}\n</body></html>\n")
    for name, size in zip(names, sizes, strict=True):
        (folder / name).write_bytes(generator.randbytes(size))
    return {
        f"/{p}": hashlib.sha256((folder / p).read_bytes()).hexdigest()
        for p in ["page.html", *names]
    }


def free_port() -> int:
    """Return a port that is free for TCP and UDP on the loopback address."""
    for _ in range(100):
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as tcp:
            tcp.bind(("127.0.0.1", 0))
            port = int(tcp.getsockname()[1])
            udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            with udp, contextlib.suppress(OSError):
                udp.bind(("127.0.0.1", port))
                return port
    raise EndpointError("no port is free for both TCP and UDP")


def asked_of_client(client: str, load: Load, **options: Any) -> Load:
    """Return the load as a client is asked for it: with its first congestion control, and options."""
    known = load_endpoint(client).definition["client"]["protocols"][load.protocol]
    return replace(load, congestion_control=known["congestion_control"][0], options=options)


def environment(endpoint: Endpoint, role: str, load: Load, state: Path) -> dict[str, str]:
    """Return the documented, otherwise minimal environment of a program."""
    values = {
        "PATH": PATH, "LC_ALL": "C.UTF-8", "HOME": str(state), "TMPDIR": str(state),
        "ROLE": role, "PROTOCOL": load.protocol, "CONGESTION_CONTROL": load.congestion_control,
        "CONNECTION": load.connection, "HOST": HOST, "ADDRESS": load.address,
        "PORT": str(load.port), "CERTS": str(load.certs), "STATE": str(state),
    }  # fmt: skip
    if load.keys:
        values["SSLKEYLOGFILE"] = str(load.keys)
    if load.qlog:
        load.qlog.mkdir(parents=True, exist_ok=True)
        values["QLOGDIR"] = str(load.qlog)
    for name, value in {**endpoint.options(), **load.options}.items():
        values[f"OPTION_{name.upper()}"] = str(value)
    return values | load.variables


def answers(transport: str, address: str, port: int) -> bool:
    """Tell whether a server listens; leaves no connection behind.

    QUIC is probed by a long packet of a version that nobody speaks: RFC 9000, section 6, has the server
    answer with a Version Negotiation packet and keep no state.
    """
    if transport == "tcp":
        with contextlib.suppress(OSError), socket.create_connection((address, port), timeout=0.5):
            return True
        return False
    if transport == "sctp-kernel":
        ends = Path("/proc/net/sctp/eps").read_text().splitlines()[1:]
        return any(line.split()[5] == str(port) for line in ends)
    if transport == "sctp":
        # An association would have to be begun and ended; that the port is bound is enough.
        bound = Path("/proc/net/udp").read_text().splitlines()[1:]
        return any(line.split()[1].endswith(f":{port:04X}") for line in bound)
    probe = b"\xc0" + bytes.fromhex("1a2a3a4a") + b"\x08" + secrets.token_bytes(8) + b"\x08"
    probe += secrets.token_bytes(8)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
        udp.settimeout(0.1)
        udp.connect((address, port))
        with contextlib.suppress(OSError):
            udp.send(probe.ljust(1200, b"\0"))
            return len(udp.recv(2048)) > 0
    return False


def _group_lives(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def end_group(group: int) -> None:
    """Kill whatever is left of a process group that this module started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)


@dataclass
class Server:
    """A running server program."""

    endpoint: Endpoint
    process: subprocess.Popen[bytes]
    log: Path

    @property
    def stop_signal(self) -> signal.Signals:
        """Return the signal that asks it to end gently."""
        return signal.Signals[self.endpoint.definition["server"]["stop_signal"]]

    def wait_ready(self, load: Load, patience_s: float = HANG_S) -> None:
        """Return once the port answers. Raises EndpointError if the program ends or never answers."""
        transport = self.endpoint.definition["server"]["protocols"][load.protocol]["transport"]
        deadline = time.monotonic() + patience_s
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                self._fail(f"ended with status {self.process.returncode}")
            if answers(transport, load.address, load.port):
                return
            time.sleep(0.02)
        self._fail(f"does not answer within {patience_s} s")

    def _fail(self, what: str) -> NoReturn:
        raise EndpointError(f"server {self.endpoint.name} {what}: {self.log.read_text()[-2000:]}")

    def stop(self) -> int:
        """Stop it gently, then by force. Returns its status (negative: the signal that ended it)."""
        if self.process.poll() is None:
            self.process.send_signal(self.stop_signal)
        try:
            return self.process.wait(STOP_PATIENCE_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()
        finally:
            end_group(self.process.pid)

    def leaves_process(self) -> bool:
        """Tell whether any process of the server still lives."""
        return _group_lives(self.process.pid)


def start_server(endpoint: Endpoint, load: Load, www: Path, state: Path) -> Server:
    """Start a server without waiting for it; ``state`` is created and holds its log."""
    state.mkdir(parents=True)
    values = {**environment(endpoint, "server", load, state), "WWW": str(www)}
    log = state.with_name(f"{state.name}.log")
    with log.open("wb") as sink:
        process = subprocess.Popen(
            endpoint.argv("server"), env=values, cwd=state, stdin=subprocess.DEVNULL,
            stdout=sink, stderr=subprocess.STDOUT, process_group=0,
        )  # fmt: skip
    return Server(endpoint, process, log)


@contextlib.contextmanager
def running_server(endpoint: Endpoint, load: Load, www: Path, state: Path) -> Iterator[Server]:
    """Run a server that answers for the time of a ``with`` block."""
    server = start_server(endpoint, load, www, state)
    try:
        server.wait_ready(load)
        yield server
    finally:
        server.stop()


def _await_ready(process: subprocess.Popen[bytes], patience_s: float) -> None:
    """Read standard output up to the line ``ready``; return early if the program ends."""
    assert process.stdout is not None
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        if selector.select(patience_s) and process.stdout.readline() not in (b"ready\n", b""):
            raise EndpointError("client printed something else than ready")


def run_client(
    endpoint: Endpoint,
    load: Load,
    paths: list[str],
    state: Path,
    patience_s: float = HANG_S,
    word: str = "go\n",
) -> Outcome:
    """Load the page ``paths`` (the HTML first) by one client and return how it ended.

    A client with a gate is sent ``word`` once it is ready.

    Raises EndpointError if it takes longer than ``patience_s``.
    """
    state.mkdir(parents=True)
    timing = state.with_name(f"{state.name}.timing.json")
    values = environment(endpoint, "client", load, state)
    values["REQUESTS"] = " ".join(f"https://{HOST}:{load.port}{path}" for path in paths)
    values["TIMING"] = str(timing)
    gate = endpoint.definition["client"]["gate"]
    with subprocess.Popen(
        endpoint.argv("client"), env=values, cwd=state, stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, process_group=0, bufsize=0,
    ) as process:  # fmt: skip
        try:
            if gate:
                _await_ready(process, patience_s)
            go = time.time()
            stdout, stderr = process.communicate(
                word.encode() if gate else None, timeout=patience_s
            )
        except subprocess.TimeoutExpired as late:
            raise EndpointError(f"client {endpoint.name} hangs: {late.stderr!r}") from late
        finally:
            end_group(process.pid)
    written = json.loads(timing.read_text()) if timing.exists() else None
    return Outcome(process.returncode, stdout.decode(), stderr.decode(), written, go)
