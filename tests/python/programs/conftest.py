"""Certificates and pages that the tests of all programs share."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from programs.endpoint_runner import make_certificates, make_page

SMALL_BYTES = 5000
LARGE_BYTES = 1_000_000


@dataclass(frozen=True)
class Page:
    """A folder to serve and the SHA-256 of each file by its path on the server, the HTML first."""

    folder: Path
    hashes: dict[str, str]


@pytest.fixture(scope="session")
def certs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_certificates(tmp_path_factory.mktemp("certs"))


@pytest.fixture(scope="session")
def other_certs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of another authority with the same names."""
    return make_certificates(tmp_path_factory.mktemp("other-certs"))


@pytest.fixture(scope="session")
def page(tmp_path_factory: pytest.TempPathFactory) -> Page:
    """50 small objects and 5 large ones."""
    folder = tmp_path_factory.mktemp("page") / "www"
    return Page(folder, make_page(folder, [SMALL_BYTES] * 50 + [LARGE_BYTES] * 5))


@pytest.fixture(scope="session")
def small_page(tmp_path_factory: pytest.TempPathFactory) -> Page:
    folder = tmp_path_factory.mktemp("small-page") / "www"
    return Page(folder, make_page(folder, [SMALL_BYTES] * 3))
