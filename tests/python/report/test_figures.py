"""Figures in the browser: every kind that the appendix has, from the numbers that R draws."""

from __future__ import annotations

import csv
import io
import math
import subprocess
from typing import Any

from howquick.errors import ROOT
from howquick.report.browser import Browser
from howquick.study.figures import READS
from report.sample import CELLS, STUDY, Sample, runs_file

KINDS = sorted(path.stem for path in (ROOT / "R/figures/kinds").glob("*.R"))
# What R draws of a figure of the study, as a table on the standard output.
ASK_R = """
source("R/load.R")
uses("read/study", "figures/draw", "figures/kinds/consistency", "figures/kinds/profile",
  "figures/kinds/share", "figures/kinds/failures", "figures/kinds/calibration")
given <- commandArgs(TRUE)
study <- read_study(given[1])
data <- figure_data(study, list(runs = given[2], calibration = given[3]))
figure <- find_figure(study, given[4])
runs <- data$runs()
arms <- figure_arms(figure, if (figure$kind == "failures") study$arm_table$arm else study$comparison$arms)
cells <- select_cells(study, figure$cells, "figure")$cell
own <- pick(runs, runs$cell %in% cells & runs$arm %in% arms)
table <- switch(figure$kind,
  consistency = consistency_table(study, runs, cells, arms),
  profile = profile_table(pick(own, own$status == "ok")),
  share = {
    rows <- details_of_figure(figure, study, data, "objects", arms, first = FALSE)
    rows$panel <- "all"
    protocol_shares(rows)
  },
  failures = failure_counts(failure_table(own), own),
  calibration = calibration_deviation(data$calibration())
)
options(digits = 17)
write.csv(as.data.frame(table), row.names = FALSE)
"""
Rows = list[dict[str, str]]


def asked_of_r(sample: Sample, figure: str) -> Rows:
    """The table that a figure is drawn from."""
    files = [str(path) for path in sorted((sample.folder / "calibration").glob("*.json"))]
    plan = sample.folder / "plan" / f"{STUDY}.json"
    argv = [str(plan), str(runs_file(sample.folder)), ",".join(files), figure]
    done = subprocess.run(
        ["Rscript", "-e", ASK_R, *argv], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return list(csv.DictReader(io.StringIO(done.stdout)))


def shown(page: Browser, sample: Sample, figure: str, attributes: str) -> list[list[Any]]:
    """What the page shows of a figure: the named data attributes of every element that has a number."""
    page.open(f"{sample.page}#/{STUDY}?tab=figures&figure={figure}")
    found = page.run(
        f"[...document.querySelectorAll('#figure-{figure} [data-value]')].map((e) =>"
        f" {attributes}.map((name) => e.closest(`[data-${{name}}]`)?.dataset[name] ?? null))"
    )
    assert found, page.run("document.getElementById('main').innerText")
    return list(found)


def test_the_page_draws_every_kind_that_the_appendix_draws(page: Browser, sample: Sample) -> None:
    page.open(sample.page)
    assert page.run("Object.keys(DRAWN).sort()") == KINDS == sorted(READS)


def test_every_figure_of_the_study_is_a_drawing(page: Browser, sample: Sample) -> None:
    page.open(f"{sample.page}#/{STUDY}?tab=figures")
    for figure in sample.plan["figures"]:
        place = f"#figure-{figure['name']} .drawing"
        drawn = page.run(f"document.querySelectorAll('{place} :is(svg.plot, table, .tree)').length")
        said = page.run(f"document.querySelector('{place} .empty')?.innerText ?? ''")
        # One load alone has details here, and not every cell has loads.
        assert drawn or "details" in said or "None of its cells" in said, figure["name"]


def test_clients_differ_as_r_says(page: Browser, sample: Sample) -> None:
    said = {
        (row["cell"], row["arm"]): row["percent"]
        for row in asked_of_r(sample, "clients")
        if row["percent"] != "NA" and int(row["clients"]) > 1
    }
    found = {
        (c, a): value for c, a, value in shown(page, sample, "clients", "['cell', 'arm', 'value']")
    }
    assert len(said) > len(CELLS)
    for key, percent in said.items():
        assert math.isclose(float(found[key]), float(percent), rel_tol=1e-9, abs_tol=1e-9), key


def test_shares_of_processor_time_are_those_of_r(page: Browser, sample: Sample) -> None:
    found = sorted(
        (part, round(float(value), 9))
        for part, value in shown(page, sample, "profile", "['part', 'value']")
        if part
    )
    said = sorted(
        (row["part"], round(float(row["share"]), 9)) for row in asked_of_r(sample, "profile")
    )
    assert len(said) > 10 and found == said


def test_shares_of_protocols_are_those_of_r(page: Browser, sample: Sample) -> None:
    found = sorted(
        (part, round(float(value), 9))
        for part, value in shown(page, sample, "share", "['part', 'value']")
    )
    said = sorted(
        (row["protocol"], round(100 * float(row["share"]), 9))
        for row in asked_of_r(sample, "share")
    )
    assert len({protocol for protocol, _ in said}) == 2 and found == said


def test_failures_are_those_of_r(page: Browser, sample: Sample) -> None:
    found = {(c, a): int(v) for c, a, v in shown(page, sample, "bad", "['cell', 'arm', 'value']")}
    said = {(row["cell"], row["arm"]): int(row["bad"]) for row in asked_of_r(sample, "bad")}
    assert sum(said.values()) == len(CELLS) and found == said


def test_links_deviate_as_r_says(page: Browser, sample: Sample) -> None:
    page.open(f"{sample.page}#/{STUDY}?tab=figures&figure=links")
    found = page.run(
        f"howquick.load('{STUDY}/study').then((study) =>"
        " [...deviations(study.links)].flatMap(([panel, rows]) => rows.map((row) => [panel, row.deviation])))"
    )
    said = sorted(
        (row["panel"], round(float(row["deviation"]), 6)) for row in asked_of_r(sample, "links")
    )
    assert len(said) > len(CELLS)
    assert sorted((panel, round(value, 6)) for panel, value in found) == said
