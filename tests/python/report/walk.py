"""What a page of the report links to and shows, seen by a browser."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from urllib.parse import unquote, urlsplit

from howquick.report.browser import Browser

# Addresses within the page are its own; those that another site answers are not on the disk.
FILES = """[...document.querySelectorAll('[href], [src]')]
  .map((e) => e.getAttribute('href') ?? e.getAttribute('src'))
  .filter((to) => !/^(#|data:|https:)/.test(to)).map((to) => new URL(to, location.href.split('#')[0]).href)"""
ONWARD = """[...document.querySelectorAll('main a')].map((e) => e.getAttribute('href'))
  .filter((to) => to.startsWith('#/'))
  .filter((to) => parseRoute(to).parts.length > parseRoute(location.hash).parts.length)"""


def files_shown(page: Browser, address: str, places: Iterable[str]) -> set[str]:
    """The files that these pages of a report on the disk lead to or show, itself among them."""
    found: set[str] = set()
    for place in places:
        page.open(address + place)
        page.run("unfold()")
        assert "Not here" not in page.run("document.getElementById('main').innerText"), place
        found |= set(page.run(FILES))
    return found


def onward(page: Browser, address: str) -> list[str]:
    """Places one level down, of a page of the report."""
    page.open(address)
    return list(dict.fromkeys(page.run(ONWARD)))


def missing(files: Iterable[str]) -> list[str]:
    """Those of them that are not on the disk."""
    return [file for file in files if not Path(unquote(urlsplit(file).path)).is_file()]
