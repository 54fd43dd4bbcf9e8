"""Loads by the programs in Go and C that change the client's address on the way."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from patience import HANG_S
from programs import endpoint_runner as runner
from programs.endpoint_runner import Endpoint, Load

# Every way in which a client says that it can go on from another address.
MOVES = [
    (program, protocol, way)
    for program in ("quic-go", "sctp", "tls")
    for protocol, ability in runner.load_endpoint(program).definition["client"]["protocols"].items()
    for way in ability.get("moves", [])
]


def load_of(endpoint: Endpoint, protocol: str, certs: Path, **changes: Any) -> Load:
    """Return a load by the first congestion control of the program, on a free port."""
    control = endpoint.definition["server"]["protocols"][protocol]["congestion_control"][0]
    return Load(
        protocol, certs, **{"port": runner.free_port(), "congestion_control": control, **changes}
    )


def moving_load(
    endpoint: Endpoint,
    load: Load,
    paths: list[str],
    state: Path,
    moves: Sequence[Callable[[], str]] = (),
    start: Callable[..., subprocess.Popen[bytes]] = subprocess.Popen,
    **more: str,
) -> dict[str, Any]:
    """Load ``paths`` and return TIMING; each of ``moves`` makes a change and returns the new address.

    ``start`` starts the client, ``more`` are further variables of its environment.
    Raises EndpointError if the client fails.
    """
    state.mkdir()
    values = runner.environment(endpoint, "client", load, state) | more
    values["REQUESTS"] = " ".join(f"https://{runner.HOST}:{load.port}{path}" for path in paths)
    values |= {"TIMING": str(state / "timing.json"), "MOVES": str(len(moves))}
    argv = ["timeout", "--signal=KILL", str(HANG_S), *endpoint.argv("client")]
    pipe = subprocess.PIPE
    with start(argv, env=values, stdin=pipe, stdout=pipe, stderr=pipe, bufsize=0) as client:
        assert client.stdin and client.stdout and client.stderr
        left = list(moves)
        for line in client.stdout:
            if line == b"ready\n":
                client.stdin.write(b"go\n")
            elif line == b"move\n":
                assert left, "the client moves more often than it was told to"
                client.stdin.write(f"moved {left.pop(0)()}\n".encode())
            else:
                raise runner.EndpointError(f"client printed {line!r}")
        said = client.stderr.read().decode()
    if client.returncode != 0:
        raise runner.EndpointError(f"client ended with {client.returncode}: {said}")
    timing: dict[str, Any] = json.loads((state / "timing.json").read_text())
    assert not left
    return timing
