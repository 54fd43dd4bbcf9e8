"""The program that howquick starts for an interop-runner end point: it translates, runs, looks, reports."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any, NoReturn

from howquick import interop
from howquick.interop import container, ports, room
from howquick.interop.contract import Refusal, refuse
from howquick.interop.downloads import timing
from howquick.interop.request import PORT, Refused, Request, translate

NOT_SUPPORTED = 127


def _in_child(prepare: Callable[[], None]) -> None:
    """Prepare the process that will become the program; end it with a reason if that fails."""
    try:
        prepare()
    except OSError as error:
        os.write(2, f"interop: cannot make the end point's surroundings: {error}\n".encode())
        os._exit(1)


def _start(argv: list[str], request: Request, view: bool) -> subprocess.Popen[bytes]:
    """Start the program; with `view`, in the private view of the file system (a container has its own)."""
    here, there = socket.socketpair()
    lead = request.role == "server" and request.settings.port != PORT
    (root := request.state / "room").mkdir()
    # From the runner (measure/job.py): what the program may see beside what the contract gives it.
    shown = [path for path in os.environ.get(interop.SHOWN, "").split(":") if path]
    own = [str(request.state)]

    def prepare() -> None:
        if view:
            room.enter(root, request.mounts, shown, own)
        if lead:
            ports.install(there)

    environment = request.environment if view else dict(os.environ)
    with here, there:
        try:
            process = _spawn(argv, environment, prepare, lambda: _watch(here, there, lead, request))
        except FileNotFoundError:
            raise Refused(1, f"{argv[0]}: no such program") from None
    return process


def _spawn(
    argv: list[str],
    environment: dict[str, str],
    prepare: Callable[[], None],
    started: Callable[[], None],
) -> subprocess.Popen[bytes]:
    """Start a process in this group and call `started` once it is prepared."""
    process = subprocess.Popen(
        argv, env=environment, stdin=subprocess.DEVNULL, stdout=sys.stderr,
        preexec_fn=lambda: _in_child(prepare),
    )  # fmt: skip
    started()
    return process


def _watch(here: socket.socket, there: socket.socket, lead: bool, request: Request) -> None:
    there.close()
    if lead:
        ports.watch(here, request.settings.port)


def _end_group(process: subprocess.Popen[bytes]) -> None:
    """Ask the program, and what a script of its started, to end."""
    if os.getpgrp() == os.getpid():
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        os.killpg(0, signal.SIGTERM)
    else:
        process.terminate()


def _serve(process: subprocess.Popen[bytes]) -> int:
    """Wait until the server ends (returns its status) or we are asked to end (0)."""

    class Stopped(Exception):
        pass

    def stop(_number: int, _frame: Any) -> NoReturn:
        raise Stopped

    signal.signal(signal.SIGTERM, stop)
    try:
        return process.wait()
    except Stopped:
        _end_group(process)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=1.5)
        return 0


def _finish(status: int, request: Request) -> None:
    if status == NOT_SUPPORTED:
        raise Refused(NOT_SUPPORTED, f"the program does not support TESTCASE {request.testcase}")
    if status:
        raise Refused(1, f"the program ended with status {status} in TESTCASE {request.testcase}")


def run(env: dict[str, str], can: dict[str, Any], image: str | None, command: list[str]) -> None:
    """Do what `env` asks by an image or a command. Raises Refusal or OSError."""
    request = translate(env, can)
    if image:
        room.prepare_for_containers()
    argv = container.argv(request, image) if image else command
    started = time.time()
    process = _start(argv, request, view=image is None)
    if request.load is None:
        _finish(_serve(process), request)
        return
    _finish(process.wait(), request)
    timing(request, request.load, started).write(request.load.timing)


def main() -> None:
    """Command line: `--can ABILITIES`, `--image IMAGE` or `-- COMMAND…`; the environment has the rest."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--image", help="name of a container image, or an archive of one")
    parser.add_argument("command", nargs="*", help="program in the form of the Interop Runner")
    parser.add_argument(
        "--can", type=json.loads, required=True, help="`protocols` of its endpoint.yaml, as JSON"
    )
    arguments = parser.parse_args()
    if bool(arguments.image) == bool(arguments.command):
        parser.error("give either --image or a command")
    try:
        run(dict(os.environ), arguments.can, arguments.image, arguments.command)
    except Refusal as refused:
        refuse("interop", refused.status, str(refused))
    except OSError as problem:
        refuse("interop", 1, str(problem))
