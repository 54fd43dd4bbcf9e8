"""What a change makes stale: the table of docs/architecture.md, row by row, counted by a dry run."""

import os
import re
import shutil
import subprocess
import sys

import pytest

from howquick.errors import ROOT
from workflow.flow import command

CELL = "10mbit-18ms-loss0-5obj-small"
CONFIG = [f"cells={CELL}", "arms=h1-nginx-curl,h2-nghttp2", "repetitions=1"]
# The stages whose jobs a row of the table speaks of.
STAGES = (
    "content__page",
    "calibrate__link",
    "measure__block",
    "processor__study",
    "extract__block",
    "analyse__statistics",
)
MEASURED = {"measure__block", "extract__block", "analyse__statistics"}


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """A copy of the checkout with a finished run of one cell, and where its results are."""
    folder = tmp_path_factory.mktemp("borders") / "checkout"
    listed = subprocess.run(
        ["git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).exists():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name, follow_symlinks=False)
    status, output = workflow(folder)
    assert status == 0, output[-4000:]
    assert jobs(folder) == set()
    return folder


def workflow(folder, *arguments):
    """Run the workflow of a copy of the checkout; returns (exit status, output)."""
    argv = [word.replace(str(ROOT), str(folder)) for word in command(
        folder / "results", *arguments, config=CONFIG
    )]  # fmt: skip
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [sys.executable, "-B", *argv[1:]], cwd=folder.parent, env=environment,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, timeout=900,
    )  # fmt: skip
    return done.returncode, done.stdout


def jobs(folder):
    """The stages that a dry run would run a job of."""
    status, output = workflow(folder, "--dry-run")
    assert status == 0, output[-4000:]
    # It names the rules by the reasons why their jobs would run.
    return {stage for stage in STAGES if re.search(rf"\b{stage}\b", output)}


@pytest.fixture
def edit(checkout):
    """Change files of the copy for one test: `edit(name, old, new)`; they are as before afterwards."""
    kept = {}

    def change(name, old, new):
        file = checkout / name
        kept.setdefault(file, (file.read_bytes(), file.stat()))
        text = file.read_text()
        assert old in text, f"{name} no longer has {old!r}"
        file.write_text(text.replace(old, new, 1))

    yield change
    for file, (content, stat) in kept.items():
        file.write_bytes(content)
        os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns))


TESTBED = "scripts/howquick/testbed/link.py"
CHILDREN = "scripts/howquick/measure/children.py"
STUDY = "config/studies/how-quick.yaml"


@pytest.mark.parametrize(
    ("name", "old", "new", "stale"),
    [
        pytest.param(TESTBED, '"""', '"""As said: ', set(), id="a-docstring-of-the-testbed"),
        pytest.param(
            "scripts/howquick/calibrate/packets.py", "TICK_S = ", "# A comment.\nTICK_S = ", set(),
            id="a-comment-in-calibration",
        ),
        pytest.param(
            "scripts/howquick/extract/series.py", '"""', '"""As said: ', set(),
            id="a-docstring-of-extraction",
        ),
        pytest.param(
            "scripts/howquick/extract/tcp.py", "\ndef ", "\nUNUSED = 1\n\n\ndef ",
            {"extract__block", "analyse__statistics"}, id="code-of-extraction",
        ),
        pytest.param(
            "envs/curl/main.c", "#include", "#define UNUSED\n#include", MEASURED, id="a-program-under-test"
        ),
        pytest.param(
            "envs/quiche/src/client/link.rs", "use ", "use std::io as _;\nuse ", set(), id="another-program"
        ),
        pytest.param(
            "envs/curl/endpoint.yaml", "summary: >-", "summary: >-\n  In other words:", set(),
            id="what-is-said-of-a-program",
        ),
        pytest.param(
            CHILDREN, "STOP_TIMEOUT_S = 2.0", "STOP_TIMEOUT_S = 3.0",
            {"content__page", *MEASURED}, id="undeclared-code-of-measuring",
        ),
        pytest.param(
            STUDY, "label: HTTP/1.1", "label: The first", {"analyse__statistics"}, id="a-label"
        ),
        pytest.param(
            "profiles/default/config.yaml", "printshellcmds", "printshellcmds", set(), id="how-it-is-run"
        ),
        pytest.param("docs/formats.md", "#", "##", set(), id="a-document"),
    ],
)  # fmt: skip
def test_a_change_makes_stale_what_the_table_says(checkout, edit, name, old, new, stale):
    edit(name, old, new)
    assert jobs(checkout) == stale


def test_declared_code_of_measuring_that_moves_no_number_makes_nothing_stale(checkout, edit):
    edit(CHILDREN, "STOP_TIMEOUT_S = 2.0", "STOP_TIMEOUT_S = 2.5")
    edit("scripts/howquick/plan/methods.tsv", "# METHOD", "# METHOD")
    subprocess.run(
        [sys.executable, "-B", checkout / "scripts/record_method.py", "same", "a test"], check=True
    )
    assert jobs(checkout) == set()


def test_code_that_probes_links_measures_no_load(checkout, edit):
    edit("scripts/howquick/calibrate/packets.py", "PORT = 7007", "PORT = 7008")
    assert "calibrate__link" in jobs(checkout)
    # Blocks look at the new calibration, and keep every load that they have.
    plan_and_loads = "to measure: 0 of"
    status, output = workflow(checkout, "--dry-run")
    assert status == 0 and plan_and_loads in output
