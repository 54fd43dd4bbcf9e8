"""What a load left as files: the film strip is seen, and commands for captures can be copied."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from howquick.errors import ROOT
from howquick.report.browser import Browser
from howquick.report.server import Results
from report.places import places
from report.sample import FRAMES, STUDY, Sample

SCHEMA = ROOT / "config/schemas/endpoint.schema.json"
PROTOCOLS = json.loads(SCHEMA.read_text())["$defs"]["protocols"]["propertyNames"]["enum"]


@pytest.fixture(params=["disk", "server"])
def address(request: pytest.FixtureRequest, sample: Sample, served: Results) -> str:
    return sample.page if request.param == "disk" else served.address


def test_the_film_strip_is_seen(page: Browser, sample: Sample, address: str) -> None:
    page.open(address + places(sample)["load"])
    page.run("document.querySelector('.film').scrollIntoView()")
    seen = "[...document.querySelectorAll('.film img')].map((e) => e.naturalWidth)"
    page.wait(f"{seen}.every((width) => width > 0)")
    assert page.run(seen) == [8] * FRAMES


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_every_protocol_has_a_filter_that_wireshark_knows(
    page: Browser, sample: Sample, protocol: str, tmp_path: Path
) -> None:
    page.open(sample.page + places(sample)["load"])
    row = {"path": "runs/a b", "protocol": protocol, "study": STUDY, "cell": "c"}
    files = {"files": [["client.pcapng", 1]]}
    commands = page.run(
        f"[...captureSection({json.dumps(row)}, {json.dumps(files)}).querySelectorAll('code')]"
        ".map((e) => e.textContent)"
    )
    known = page.run(f"WIRESHARK[{protocol!r}]")
    ends = [
        f"wireshark -r '{sample.folder}/runs/a b/{end}.pcapng' -Y {known}"
        for end in ("client", "server")
    ]
    assert known and commands == ends
    done = subprocess.run(
        ["tshark", "-Y", known, "-r", "/dev/null"], capture_output=True, text=True, check=False
    )
    assert (
        "isn't a valid display filter" not in done.stderr
        and "neither a field nor" not in done.stderr
    )


def test_a_click_copies_the_command(page: Browser, sample: Sample, address: str) -> None:
    if address.startswith("http"):
        permissions = ["clipboardReadWrite", "clipboardSanitizedWrite"]
        page.call("Browser.grantPermissions", permissions=permissions)
    page.open(address + places(sample)["load"])
    shown = page.run("document.querySelector('.copyable code').textContent")
    assert shown.startswith("wireshark -r ")
    page.click(".copyable button")
    page.wait("document.querySelector('.copyable button').textContent === 'Copied'")
    if address.startswith("http"):
        assert page.run("navigator.clipboard.readText()") == shown
