"""Tests side by side (`pytest -n 2`): file by file, and who must be alone waits for its turn.

A test that holds real time to something, counts processes or fills the processors is `alone`: no other test
runs beside it. Those come last, so that nobody waits for them before; of the others what takes long is first.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from xdist.scheduler import LoadFileScheduling

from howquick.measure.neighbours import Neighbours

HERE = Path(__file__).parent
ALONE = "alone: no other test runs beside it"
# Folders and files whose tests are.
PLACES = (
    "python/calibrate",
    "python/faults",
    "python/guest/test_guest.py",
    "python/interop",
    "python/measure/test_block.py",
    "python/processor/test_measured.py",
    "python/programs",
    "python/testbed",
    "shell",
    "slurm",
)


class Worker:
    """One of those that run tests."""

    def __init__(self, folder: Path) -> None:
        self._neighbours = Neighbours(folder, math.inf)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        with self._neighbours.alone() if is_alone(item) else self._neighbours.beside():
            return (yield)


class Head:
    """Who has workers: it tells them where their locks are."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def pytest_configure_node(self, node) -> None:
        node.workerinput["turns"] = str(self._folder)

    def pytest_xdist_make_scheduler(self, config: pytest.Config, log) -> LoadFileScheduling:
        config.option.loadscopereorder = False
        return LoadFileScheduling(config, log)


def configure(config: pytest.Config) -> None:
    """Let tests take turns, if there are workers."""
    config.addinivalue_line("markers", ALONE)
    if (given := getattr(config, "workerinput", None)) is not None:
        config.pluginmanager.register(Worker(Path(given["turns"])))
    elif config.getoption("numprocesses", None):
        folder = tempfile.TemporaryDirectory(prefix="turns-")
        config.add_cleanup(folder.cleanup)
        config.pluginmanager.register(Head(Path(folder.name)))


def is_alone(item: pytest.Item) -> bool:
    """Whether no other test may run beside a test: as it is marked, or by its place."""
    path = item.path.relative_to(HERE)
    return item.get_closest_marker("alone") is not None or any(
        place.as_posix() in PLACES for place in (path, *path.parents)
    )


def put_in_order(
    config: pytest.Config, items: list[pytest.Item], needs: Callable[[pytest.Item], int]
) -> None:
    """Put what needs most first, and those that must be alone behind the others, if there are workers."""
    if hasattr(config, "workerinput"):
        items.sort(key=lambda item: (is_alone(item), -needs(item)))
