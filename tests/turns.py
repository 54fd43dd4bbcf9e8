"""Tests side by side (`pytest -n 2`): file by file, and who must be alone waits for its turn.

A test that holds real time to something, counts processes or fills the processors is `alone`: no other test
runs beside it. Those come last, so that nobody waits for them before; of the others what cannot be divided
is first, then what takes long.
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
    "python/testbed",
    "shell",
    "slurm",
)
# Folders whose tests run one after the other, beside those of other folders: they look for free ports of this
# machine's loopback interface, and two at once could find the same.
UNDIVIDED = ("python/programs",)


class Worker:
    """One of those that run tests."""

    def __init__(self, folder: Path) -> None:
        self._neighbours = Neighbours(folder, math.inf)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        with self._neighbours.alone() if is_alone(item) else self._neighbours.beside():
            return (yield)


class Scheduling(LoadFileScheduling):
    """File by file, and what must not be divided as if it were one file."""

    def _split_scope(self, nodeid: str) -> str:
        file = super()._split_scope(nodeid)
        return undivided(self.config.rootpath / file) or file


class Head:
    """Who has workers: it tells them where their locks are."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def pytest_configure_node(self, node) -> None:
        node.workerinput["turns"] = str(self._folder)

    def pytest_xdist_make_scheduler(self, config: pytest.Config, log) -> Scheduling:
        config.option.loadscopereorder = False
        return Scheduling(config, log)


def configure(config: pytest.Config) -> None:
    """Let tests take turns, if there are workers."""
    config.addinivalue_line("markers", ALONE)
    if (given := getattr(config, "workerinput", None)) is not None:
        config.pluginmanager.register(Worker(Path(given["turns"])))
    elif config.getoption("numprocesses", None):
        folder = tempfile.TemporaryDirectory(prefix="turns-")
        config.add_cleanup(folder.cleanup)
        config.pluginmanager.register(Head(Path(folder.name)))


def places(file: Path) -> list[str]:
    """A test file and the folders that it is in, from the tests' own folder."""
    path = file.relative_to(HERE)
    return [place.as_posix() for place in (path, *path.parents)]


def is_alone(item: pytest.Item) -> bool:
    """Whether no other test may run beside a test: as it is marked, or by its place."""
    return item.get_closest_marker("alone") is not None or any(
        place in PLACES for place in places(item.path)
    )


def undivided(file: Path) -> str | None:
    """The folder all of whose tests one worker runs, if a test file is in such a one."""
    return next((place for place in places(file) if place in UNDIVIDED), None)


def put_in_order(
    config: pytest.Config, items: list[pytest.Item], needs: Callable[[pytest.Item], int]
) -> None:
    """If there are workers: first what is not divided, then what needs most, last what must be alone."""
    if hasattr(config, "workerinput"):
        items.sort(key=lambda item: (is_alone(item), undivided(item.path) is None, -needs(item)))
