"""Run haproxy in front of an nginx that serves the files over a Unix socket in STATE.

Reads the environment of docs/formats.md, section 2. Exits with 127 for what haproxy cannot do.
"""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NoReturn

import configuration

POLL_S = 0.02
START_PATIENCE_S = 10.0
STOP_PATIENCE_S = 1.0
# OPENSSL_ia32cap(3): without AES-NI and PCLMULQDQ, and without VAES and VPCLMULQDQ.
NO_AES = {"OPENSSL_ia32cap": "~0x200000200000000:~0x60000000000", "OPENSSL_armcap": "0x1"}


class Stopped(Exception):
    """Somebody asked for the end."""


def refuse(status: int, reason: str) -> NoReturn:
    """Print why this cannot be served and exit with ``status``."""
    print(f"haproxy: {reason}", file=sys.stderr)
    sys.exit(status)


def check(env: dict[str, str]) -> None:
    """Exit with 127 unless haproxy can do what is asked."""
    protocol = env.get("PROTOCOL", "")
    if protocol not in ("h1", "h2", "h3"):
        refuse(127, f"PROTOCOL {protocol} is not supported; use h1, h2 or h3")
    quic = protocol == "h3"
    congestion, connection = env.get("CONGESTION_CONTROL"), env.get("CONNECTION")
    if quic and congestion not in configuration.CONGESTION_CONTROL:
        known = " or ".join(configuration.CONGESTION_CONTROL)
        refuse(127, f"CONGESTION_CONTROL {congestion} is not supported with h3; use {known}")
    kinds = ("cold", "resumed") if quic else ("cold", "resumed", "0rtt")
    if connection not in kinds:
        refuse(127, f"CONNECTION {connection} is not supported; use {' or '.join(kinds)}")


def start(argv: list[str], env: dict[str, str]) -> subprocess.Popen[bytes]:
    """Start a child in this process group: it dies with the group."""
    return subprocess.Popen(argv, env=env, stdin=subprocess.DEVNULL)


def await_socket(child: subprocess.Popen[bytes], socket: Path) -> None:
    """Return once nginx has made its socket; exit with its status if it ends."""
    deadline = time.monotonic() + START_PATIENCE_S
    while not socket.exists():
        if child.poll() is not None:
            refuse(1, f"the nginx behind it ended with status {child.returncode}")
        if time.monotonic() > deadline:
            refuse(1, f"the nginx behind it does not start within {START_PATIENCE_S:.0f} s")
        time.sleep(POLL_S)


def end(child: subprocess.Popen[bytes]) -> None:
    """Stop a child, by force if it does not go."""
    child.terminate()
    try:
        child.wait(STOP_PATIENCE_S)
    except subprocess.TimeoutExpired:
        child.kill()


def end_group() -> None:
    """End what is left of this process group: nginx's worker, if its master was killed."""
    if os.getpgrp() == os.getpid():
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        os.killpg(0, signal.SIGTERM)


def on_signal(_number: int, _frame: Any) -> NoReturn:
    """Turn a signal into an exception."""
    raise Stopped


def run(env: dict[str, str]) -> int:
    """Run both programs until one ends (returns its status, at least 1) or we are asked to end (0)."""
    state = Path(env["STATE"])
    files = configuration.write(env, state)
    # nginx without TLS needs no cipher, haproxy may be told to compute AES slowly.
    child_env = env | (NO_AES if configuration.slow_aes(env) else {})
    children: list[subprocess.Popen[bytes]] = []
    signal.signal(signal.SIGTERM, on_signal)
    try:
        children.append(start(files.nginx_argv, env))
        await_socket(children[0], files.socket)
        children.append(start(files.haproxy_argv, child_env))
        while all(child.poll() is None for child in children):
            time.sleep(POLL_S)
        return max(1, *(abs(child.returncode or 0) for child in children))
    except Stopped:
        return 0
    finally:
        for child in reversed(children):
            end(child)
        end_group()


def main() -> NoReturn:
    """Check what is asked, configure, run."""
    env = dict(os.environ)
    check(env)
    try:
        sys.exit(run(env))
    except (KeyError, ValueError) as problem:
        refuse(1, f"environment variable missing or wrong: {problem}")
    except OSError as problem:
        refuse(1, str(problem))


if __name__ == "__main__":
    main()
