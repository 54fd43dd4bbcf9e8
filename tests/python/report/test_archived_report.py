"""The report as an archive has it: beside the published figures, and without run folders."""

from __future__ import annotations

from pathlib import Path

import pytest

from howquick.archive import contents, guide
from howquick.report.browser import Browser
from howquick.report.place import archived
from report.places import places
from report.sample import DETAILED, STUDY, Sample
from report.walk import files_shown, missing


@pytest.fixture
def unpacked(sample: Sample, tmp_path: Path) -> str:
    """The address of the sample's report in an archive."""
    figures = sample.folder / "figures" / STUDY
    figures.mkdir(parents=True, exist_ok=True)
    for figure in sample.plan["figures"]:
        (figures / f"{figure['name']}.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")
    place = archived(contents.PUBLISHED, guide.AGAIN, guide.ANEW)
    kept = [
        member
        for member in contents.published(sample.folder, [STUDY])
        if Path(member.name).suffix == ".svg"
    ]
    for member in (*kept, *contents.report(sample.folder, [STUDY], place)):
        file = tmp_path / member.name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(member.content())
    return (tmp_path / "report" / "index.html").as_uri()


def test_every_link_and_picture_is_in_the_archive(
    page: Browser, sample: Sample, unpacked: str
) -> None:
    found = files_shown(page, unpacked, places(sample).values())
    assert any("/published/figures/" in file for file in found)
    assert missing(found) == []


def test_what_needs_run_folders_says_how_they_are_made_again(
    page: Browser, sample: Sample, unpacked: str
) -> None:
    shown = {}
    for name in ("load", "packet"):
        page.open(unpacked + places(sample)[name])
        shown[name] = page.run(
            "[...document.querySelectorAll('.copyable code')].map((e) => e.textContent)"
        )
        assert shown[name][0] == f"./enter snakemake -j8 how_quick {guide.ANEW} cells={DETAILED}"
        assert page.run("document.querySelectorAll('.film img, a.har').length") == 0
    # In virtual time the packets are the same.
    capture = f"wireshark -r {guide.AGAIN}/{sample.slowest['path']}/server.pcapng -Y "
    assert len(shown["load"]) == 1 and shown["packet"][1].startswith(capture)


def test_in_a_folder_of_results_everything_lies_beside_it(
    page: Browser, sample: Sample, unpacked: str
) -> None:
    found = files_shown(page, sample.page, places(sample).values())
    assert any("/runs/" in file for file in found)
    assert missing(found) == []
