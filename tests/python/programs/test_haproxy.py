"""What only haproxy is asked to do: it is two programs, one behind the other."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest

from patience import HANG_S, SOON_S, wait_until
from programs.conftest import Page
from programs.endpoint_runner import (
    EndpointError,
    Load,
    Server,
    free_port,
    load_endpoint,
    running_server,
    start_server,
)


def children(server: Server) -> list[int]:
    """The processes that serve.py started: nginx, then haproxy."""
    pid = server.process.pid
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def asked(certs: Path, **more: Any) -> Load:
    return Load("h3", certs, free_port(), **more)


@pytest.mark.parametrize("which", [0, 1], ids=["nginx", "haproxy"])
def test_neither_lives_without_the_other(
    which: int, certs: Path, small_page: Page, tmp_path: Path
) -> None:
    load = asked(certs)
    with running_server(
        load_endpoint("haproxy"), load, small_page.folder, tmp_path / "server"
    ) as server:
        os.kill(children(server)[which], signal.SIGKILL)
        assert server.process.wait(timeout=HANG_S) != 0
        assert wait_until(lambda: not server.leaves_process(), SOON_S)


@pytest.mark.parametrize(
    "options",
    [
        {"hystart": True, "max_congestion_window_bytes": 2_000_000, "send_buffers": 500},
        {"socket_buffer_bytes": 1_000_000, "max_streams": 10, "idle_timeout_s": 30},
    ],
)
def test_options_are_taken(
    options: dict[str, Any], certs: Path, small_page: Page, tmp_path: Path
) -> None:
    load = asked(certs, options=options)
    with running_server(load_endpoint("haproxy"), load, small_page.folder, tmp_path / "server"):
        log = (tmp_path / "server.log").read_text()
        assert "WARNING" not in log and "ALERT" not in log


@pytest.mark.parametrize(
    "option", [{"cipher": "rot13"}, {"hystart": "perhaps"}, {"max_streams": "x"}]
)
def test_wrong_option_is_named(
    option: dict[str, str], certs: Path, small_page: Page, tmp_path: Path
) -> None:
    load = asked(certs, options=option)
    server = start_server(load_endpoint("haproxy"), load, small_page.folder, tmp_path / "server")
    with pytest.raises(EndpointError, match=next(iter(option.values()))) as failure:
        server.wait_ready(load)
    server.stop()
    assert "Traceback" not in str(failure.value)
