"""Run haproxy in front of an nginx that serves the files over a Unix socket in STATE.

Reads the environment of docs/formats.md, section 2. Exits with 127 for what haproxy cannot do.
"""

import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any, NoReturn

import configuration
from contract import Environment, Refusal, read_settings
from contract import run as run_program

POLL_S = 0.02
START_PATIENCE_S = 10.0
STOP_PATIENCE_S = 1.0


class Stopped(Exception):
    """Somebody asked for the end."""


def start(argv: list[str], env: dict[str, str]) -> subprocess.Popen[bytes]:
    """Start a child in this process group: it dies with the group."""
    return subprocess.Popen(argv, env=env, stdin=subprocess.DEVNULL)


def await_socket(child: subprocess.Popen[bytes], socket: Path) -> None:
    """Return once nginx has made its socket. Raises Refusal if it ends or is too slow."""
    deadline = time.monotonic() + START_PATIENCE_S
    while not socket.exists():
        if child.poll() is not None:
            raise Refusal(f"the nginx behind it ended with status {child.returncode}")
        if time.monotonic() > deadline:
            raise Refusal(f"the nginx behind it does not start within {START_PATIENCE_S:.0f} s")
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


def run(variables: dict[str, str]) -> int:
    """Run both programs until one ends (returns its status, at least 1) or we are asked to end (0)."""
    env = Environment(variables)
    settings = read_settings(env, configuration.ABLE)
    options = configuration.read_options(env)
    files = configuration.write(settings, options)
    children: list[subprocess.Popen[bytes]] = []
    signal.signal(signal.SIGTERM, on_signal)
    try:
        children.append(start(files.nginx_argv, variables))
        await_socket(children[0], files.socket)
        # nginx without TLS needs no cipher, haproxy may be told to compute AES slowly.
        children.append(start(files.haproxy_argv, variables | options.aes))
        while all(child.poll() is None for child in children):
            time.sleep(POLL_S)
        return max(1, *(abs(child.returncode or 0) for child in children))
    except Stopped:
        return 0
    finally:
        for child in reversed(children):
            end(child)
        end_group()


if __name__ == "__main__":
    run_program("haproxy", lambda: run(dict(os.environ)))
