from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from howquick.testbed.sandbox import SPACES


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


@pytest.fixture
def started() -> Iterator[list]:
    """Processes put here are killed at the end of the test, whatever happens."""
    processes: list = []
    yield processes
    for process in processes:
        if process.poll() is None:
            process.kill()
        process.wait()
