from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture
def started() -> Iterator[list]:
    """Processes put here are killed at the end of the test, whatever happens."""
    processes: list = []
    yield processes
    for process in processes:
        if process.poll() is None:
            process.kill()
        process.wait()
