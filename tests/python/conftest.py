"""What the tests of more than one package ask for."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from capture.recordings import PROTOCOLS, Recording
from howquick.capture.pack import pack
from howquick.testbed.sandbox import SPACES
from patience import HANG_S

LAB = Path(__file__).parent / "capture" / "lab.py"


@pytest.fixture(scope="session")
def namespaces() -> None:
    """Skip where this machine allows no namespaces at all, neither to root nor to users."""
    child = os.fork()
    if child == 0:
        for flags in (SPACES, SPACES | os.CLONE_NEWUSER):
            try:
                os.unshare(flags)
            except OSError:
                continue
            os._exit(0)
        os._exit(1)
    if os.waitpid(child, 0)[1]:
        pytest.skip("this machine refuses network namespaces, even with a user namespace")


@pytest.fixture(scope="session")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Recording:
    """Real recordings, made once per test session."""
    folder = tmp_path_factory.mktemp("lab")
    # The namespaces' root is this user, so that nginx and tcpdump can write here.
    done = subprocess.run(
        ["unshare", "--user", "--map-root-user", "--net", "--pid", "--fork", "--mount-proc",
         "--kill-child", sys.executable, str(LAB), str(folder)],
        capture_output=True, text=True, timeout=HANG_S,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    recording = Recording(folder)
    for name in PROTOCOLS:
        for end in ("client", "server"):
            pack(
                recording.pcap(name, end),
                recording.keys(name),
                recording.pcapng(name, end),
                interface=end,
            )
    return recording
