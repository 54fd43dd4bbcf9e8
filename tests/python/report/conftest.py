"""One made-up report for all tests that look at it, and one browser."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from howquick.report.browser import Browser, browser
from howquick.report.server import Results
from report.sample import Sample, make_sample


@pytest.fixture(scope="session")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Sample:
    """A report with statistics by R and details of one load."""
    return make_sample(tmp_path_factory.mktemp("report") / "results")


@pytest.fixture(scope="session")
def served(sample: Sample) -> Iterator[Results]:
    """The same, as scripts/view.py serves it."""
    with Results(sample.folder) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield server
        server.shutdown()


@pytest.fixture
def page() -> Iterator[Browser]:
    """A browser with nothing open, which at its end has nothing to complain of."""
    with browser() as opened:
        opened.size(1280, 900)
        yield opened
        assert opened.complaints == []
