"""What a change makes stale: the table of docs/architecture.md, row by row, counted by a dry run."""

import re
from collections import Counter
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import pytest
import yaml

from howquick.errors import ROOT
from workflow.finished import CELL, CHOSEN, Finished

STUDY = "config/studies/how-quick.yaml"
CHILDREN = "scripts/howquick/measure/children.py"
LEDGER = "scripts/howquick/plan/methods.tsv"
FIGURES = Counter(one["kind"] for one in yaml.safe_load((ROOT / STUDY).read_text())["figures"])
TYPESET = {"publish__fragments": 1, "publish__appendix": 1}
REPORT = {"publish__report_study": 1, "publish__report": 1}
STATISTICS = {"analyse__statistics": 1, "publish__results_page": 1, **TYPESET, **REPORT}
DRAWN = {"analyse__figure": FIGURES.total()}
ANALYSED = {**STATISTICS, **DRAWN}
EXTRACTED = {"extract__block": 1, "extract__cell": 1, "extract__study": 1, **ANALYSED}
MEASURED = {"measure__block": 1, **EXTRACTED}
RESOLVED = {"measure__plan": 1}
PAGES = {"content__page": 1}
PROBED = {"calibrate__link": 1}
NONE: Mapping[str, Any] = MappingProxyType({})
# In front of the first code of a file.
CODE = ("\n\n\n", "\n\nUNUSED = 1\n\n\n")
WORDS = ('"""', '"""As said: ')


def other_program(name):
    """The environment with another build of a program."""
    return lambda manifest: manifest["programs"][name].update(hash="0" * 16)


def other_package(manifest):
    """The environment with another version of a package of Debian."""
    manifest["debian"]["packages"]["libc6"] += "+other"


class Change(NamedTuple):
    """A change: some words of its row in the table, what is edited, and what a start does then.

    jobs: how many of each rule. missing: loads that are measured, by arm. config: of the start.
    """

    row: str
    jobs: dict[str, int]
    edits: tuple[tuple[str, str, str], ...] = ()
    environment: Callable | None = None
    config: Mapping[str, str] = NONE
    missing: Mapping[str, int] = NONE


BOTH = {"h1-nginx-curl": 1, "h2-nghttp2": 1}
CHANGES = {
    "words": Change("docstring or formatting", {}, (
        ("scripts/howquick/testbed/link.py", *WORDS),
        ("scripts/howquick/calibrate/packets.py", "TICK_S = ", "# A comment.\nTICK_S = "),
        ("scripts/howquick/extract/series.py", *WORDS),
    )),
    "undeclared-code": Change("or not declared", {
        **PAGES, "content__certificates": 1, **MEASURED,
    }, ((CHILDREN, "STOP_TIMEOUT_S = 2.0", "STOP_TIMEOUT_S = 3.0"),), missing=BOTH),
    "probes": Change("makes or probes links", {**PROBED, **MEASURED}, (
        ("scripts/howquick/calibrate/packets.py", "PORT = 7007", "PORT = 7008"),
    )),
    "emulator": Change("the emulator", {
        **RESOLVED, **PROBED, **MEASURED,
    }, environment=other_program("rattan"), missing=BOTH),
    "extraction": Change("extraction (", EXTRACTED, (("scripts/howquick/extract/tcp.py", *CODE),)),
    "schema-of-logs": Change("extraction (", EXTRACTED, (
        ("config/schemas/qlog-1.0.schema.json", '"$defs"', '"title": "another", "$defs"'),
    )),
    "program": Change("sources, comments too", {**RESOLVED, **MEASURED}, (
        ("envs/curl/main.c", "#include", "#define UNUSED\n#include"),
    ), missing={"h1-nginx-curl": 1}),
    "contract": Change("sources, comments too", {**RESOLVED, **MEASURED}, (
        ("envs/contract/c/gate.c", "#include", "/* A comment. */\n#include"),
    ), missing={"h1-nginx-curl": 1}),
    "another-program": Change("sources, comments too", {}, (
        ("envs/quiche/src/client/link.rs", "use ", "use std::io as _;\nuse "),
    )),
    "words-of-a-program": Change("text of `summary`", {}, (
        ("envs/curl/endpoint.yaml", "summary: >-", "summary: >-\n  In other words:"),
        ("envs/curl/package.nix", "{", "{ # Another.\n"),
        ("envs/curl/wheels.json", "", "{}"),
    )),
    "licence": Change("`licence`", {**RESOLVED, **ANALYSED}, (
        ("envs/curl/endpoint.yaml", "licence: curl", "licence: MIT"),
    )),
    "cost-of-logs": Change("`licence`", {**RESOLVED, **ANALYSED}, (
        ("envs/nginx/log_cost.json", '"captures": 0.', '"captures": 0.0'),
    )),
    "packages-of-the-workflow": Change(
        "own Python packages", TYPESET, environment=other_program("workflow")
    ),
    "package-of-debian": Change(
        "a Debian package", {**RESOLVED, **MEASURED}, environment=other_package, missing=BOTH
    ),
    "new-arm": Change(
        "a new arm", {**RESOLVED, **MEASURED},
        config={"arms": f"{CHOSEN['arms']},h2-nginx-curl"}, missing={"h2-nginx-curl": 1},
    ),
    "new-level": Change("a new level", {**RESOLVED, **PROBED, **MEASURED}, (
        (STUDY, "18ms: 18, ", "18ms: 18, 118ms: 118, "),
        (STUDY, f"cells: [{CELL}", f"cells: [{CELL.replace('18ms', '118ms')}, {CELL}"),
    ), config={"cells": f"{CELL},{CELL.replace('18ms', '118ms')}"}, missing=BOTH),
    "repetitions": Change(
        "more repetitions", {**RESOLVED, **MEASURED}, config={"repetitions": "2"}, missing=BOTH
    ),
    "fixed": Change("`timeout_s`", {**RESOLVED, **PROBED, **MEASURED}, (
        (STUDY, "queue_ms: 200", "queue_ms: 250"),
    ), missing=BOTH),
    "timeout": Change("`timeout_s`", {**RESOLVED, **MEASURED}, (
        (STUDY, "timeout_s: 60", "timeout_s: 61"),
    ), missing=BOTH),
    "label": Change("label or group", {**RESOLVED, **ANALYSED}, (
        (STUDY, "label: HTTP/1.1", "label: The first"),
    )),
    "seed": Change(
        "`seed`", {**RESOLVED, **PAGES, **MEASURED}, config={"seed": "7"}, missing=BOTH
    ),
    "kind-of-figure": Change("a colour", {"analyse__figure": FIGURES["cdf"], **TYPESET}, (
        ("R/figures/kinds/cdf.R", "#", "# Another.\n#"),
    )),
    "colour": Change("a colour", {**DRAWN, **TYPESET}, (("R/figures/theme.R", "#", "# Another.\n#"),)),
    "statistic": Change("a statistic", STATISTICS, (
        ("R/statistics/claims.R", "#", "# Another.\n#"),
    )),
    "reading": Change("`base/`", ANALYSED, (("R/read/runs.R", "#", "# Another.\n#"),)),
    "paper": Change("`paper/*.tex`", {"publish__appendix": 1}, (
        ("paper/appendix.tex", "\\begin{document}", "% Another.\n\\begin{document}"),
    )),
    "report": Change("`scripts/howquick/report/`", REPORT, (
        ("scripts/howquick/report/study.py", *WORDS),
    )),
    "page-of-the-report": Change("`scripts/howquick/report/`", {"publish__report": 1}, (
        ("scripts/howquick/report/page/main.js", "\n", "\n// Another.\n"),
    )),
    "clock": Change("`clock`", {
        **RESOLVED, **PROBED, "content__certificates_virtual": 1, "processor__study": 1, **MEASURED,
    }, config={"clock": "virtual"}, missing=BOTH),
    "no-part-of-it": Change("`docs/`, `tests/`", {}, (
        ("docs/formats.md", "#", "##"),
        ("tests/conftest.py", *WORDS),
        ("profiles/default/config.yaml", "printshellcmds: false", "printshellcmds: true"),
        ("scripts/howquick/bench/report.py", *CODE),
    )),
}  # fmt: skip
# In virtual time; of the analysis the statistics alone are made.
GUEST_MEASURED = {
    **RESOLVED, **PROBED, "content__certificates_virtual": 1, "measure__block": 1, "extract__block": 1,
    "extract__cell": 1, "extract__study": 1, "analyse__statistics": 1,
}  # fmt: skip
VIRTUAL_CHANGES = {
    "kernel": Change(
        "the kernel of virtual time", GUEST_MEASURED, environment=other_program("kernel"), missing=BOTH
    ),
    "guest": Change("the kernel of virtual time", GUEST_MEASURED, (
        ("scripts/howquick/guest/guest.py", *CODE),
    ), missing=BOTH),
    "processor": Change(
        "howquick/processor/", {"processor__study": 1, "analyse__statistics": 1},
        (("scripts/howquick/processor/samples.py", "LOADS = 3", "LOADS = 4"),),
    ),
    "reading-of-processor-seconds": Change("howquick/processor/", {"analyse__statistics": 1}, (
        ("R/read/processor.R", "#", "# Another.\n#"),
    )),
    "emulator": Change(
        "the emulator", {**RESOLVED, "analyse__statistics": 1}, environment=other_program("rattan")
    ),
}  # fmt: skip
DECLARED = "declared `same`"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A finished run of one cell in real time."""
    return Finished(tmp_path_factory.mktemp("borders") / "checkout")


@pytest.fixture(scope="module")
def made_virtual(tmp_path_factory):
    """The same in virtual time, up to the statistics."""
    folder = tmp_path_factory.mktemp("borders") / "checkout"
    return Finished(folder, f"{folder}/results/statistics/how-quick", clock="virtual")


@pytest.fixture
def finished(made):
    yield made
    made.undo()


@pytest.fixture
def finished_virtual(made_virtual):
    yield made_virtual
    made_virtual.undo()


def check(run, change):
    for edit in change.edits:
        run.edit(*edit)
    if change.environment:
        run.edit_manifest(change.environment)
    jobs = run.jobs(**change.config)
    del jobs["loads"]
    assert jobs == change.jobs
    # Blocks look for themselves which of their loads are still valid.
    if "measure__block" in change.jobs:
        assert run.missing(**change.config) == change.missing


def test_nothing_is_stale_without_a_change(finished, finished_virtual):
    assert finished.jobs() == finished_virtual.jobs() == {"loads": 0}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_makes_stale_what_the_table_says(finished, name):
    check(finished, CHANGES[name])


@pytest.mark.parametrize("name", VIRTUAL_CHANGES)
def test_the_same_in_virtual_time(finished_virtual, name):
    check(finished_virtual, VIRTUAL_CHANGES[name])


def test_declared_code_of_measuring_that_moves_no_number_makes_nothing_stale(finished):
    finished.edit(CHILDREN, "STOP_TIMEOUT_S = 2.0", "STOP_TIMEOUT_S = 2.5")
    finished.keep(LEDGER)
    before = (finished.folder / LEDGER).read_text()
    finished.say_that_no_number_moves()
    assert (finished.folder / LEDGER).read_text().startswith(before)
    assert finished.jobs() == {"loads": 0}


def test_every_row_of_the_table_is_counted():
    text = (ROOT / "docs/architecture.md").read_text().split("\n## What a change measures")[1]
    table = re.findall(r"^\| (.+?) \|", text.split("\n## ")[0], re.MULTILINE)[1:]
    rows = [row for row in table if row.strip("-: ")]
    words = {DECLARED, *(one.row for one in (*CHANGES.values(), *VIRTUAL_CHANGES.values()))}
    assert len(rows) > 20
    of_row = {row: [word for word in words if word in row] for row in rows}
    assert [row for row, found in of_row.items() if not found] == []
    assert sorted(word for found in of_row.values() for word in found) == sorted(words)
