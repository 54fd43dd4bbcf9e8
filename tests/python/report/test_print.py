"""The report on paper: light whatever the theme, and nothing folded."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from howquick.report.browser import Browser
from report.places import places
from report.sample import Sample

COLOURS = """['--ground', '--card', '--text', '--rule'].map(
  (name) => getComputedStyle(document.documentElement).getPropertyValue(name))"""


def printed(page: Browser, file: Path) -> str:
    page.paper(file)
    argv = ["pdftotext", "-layout", str(file), "-"]
    return subprocess.run(argv, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("dark", ["chosen", "preferred"])
def test_paper_is_light(page: Browser, sample: Sample, dark: str) -> None:
    page.open(sample.page)
    light = page.run(COLOURS)
    page.size(1280, 900, dark=dark == "preferred")
    if dark == "chosen":
        page.run("setTheme('dark')")
    assert page.run(COLOURS) != light
    page.call("Emulation.setEmulatedMedia", media="print")
    assert page.run(COLOURS) == light


def test_what_is_folded_is_printed(page: Browser, sample: Sample, tmp_path: Path) -> None:
    page.open(sample.page)
    folded = page.run("document.querySelectorAll('details:not([open])').length")
    assert folded > 1 and page.run("document.querySelectorAll('tr.condition').length") == 0
    # Layout breaks lines, and names of cells too.
    said = "".join(printed(page, tmp_path / "studies.pdf").split())
    for row in sample.table("claims"):
        assert row["verdict"].replace(" ", "") in said and row["bound"].split()[-1] in said, row
    # On the screen it is as it was.
    assert page.run("document.querySelectorAll('details:not([open])').length") >= folded
    page.open(sample.page + places(sample)["load"])
    text = printed(page, tmp_path / "load.pdf")
    assert "loss_seed_up" in text and "fingerprint" not in text
    assert "theme:" not in text and "To the content" not in text


def test_nothing_is_cut_off_by_the_edge_of_the_paper(page: Browser, sample: Sample) -> None:
    # Between the margins of A4 there are so many pixels.
    page.size(718, 1000)
    for name, place in places(sample).items():
        page.open(sample.page + place)
        page.call("Emulation.setEmulatedMedia", media="print")
        page.run("unfold()")
        wide = page.run(
            "[...document.querySelectorAll('main *')].filter((e) => e.getBoundingClientRect().right > 719)"
            ".map((e) => e.outerHTML.slice(0, 100))"
        )
        assert wide == [], name
        page.call("Emulation.setEmulatedMedia", media="")
