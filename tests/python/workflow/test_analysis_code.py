"""A rule of the analysis depends on what its program loads: a colour re-runs no statistics."""

import json
import os
import re
import shutil
import subprocess

import pytest
import yaml

from howquick.errors import ROOT
from howquick.workflow.analysis_code import analysis_code

PROGRAMS = sorted(path.name for path in (ROOT / "R").glob("run_*.R"))
KINDS = sorted(path.stem for path in (ROOT / "R/figures/kinds").glob("*.R"))
PUBLISHED = ROOT / "examples/published/highway"
# Loads what a program loads, and what it does for a figure of each kind; prints what R was asked to read.
TRACED = """
trace(base::sys.source, quote(cat(asked, file, "\\n")), print = FALSE)
asked <- "load"
source("R/load.R")
anew <- function(name, program) {
  asked <<- name
  rm(list = ls(loaded), envir = loaded)
  for (line in parse(program)) if (identical(line[[1]], as.name("uses"))) eval(line)
}
for (program in list.files("R", "^run_", full.names = TRUE)) anew(basename(program), program)
for (kind in figure_kinds()) {
  anew(kind, "R/run_figure.R")
  try(draw_figure(list(kind = kind, name = "figure"), list(), list()), silent = TRUE)
}
"""
CODE = ("R", "rules", "scripts", "config", "envs", "profiles", "paper", "examples")
STUDY = "how-quick"


@pytest.fixture(scope="module")
def loaded():
    """The files that R loads, by program, and by kind of figure."""
    done = subprocess.run(
        ["Rscript", "-e", TRACED], cwd=ROOT, capture_output=True, text=True, check=True
    )
    found = {}
    for asked, path in re.findall(r"^(\S+) (\S+\.R) $", done.stdout, flags=re.MULTILINE):
        found.setdefault(asked, set()).add(path)
    return found


def code(program, kind=None):
    """What a rule depends on, without what every program begins with."""
    begin = {str(ROOT / "R" / name) for name in ("load.R", program)}
    files = set(analysis_code(ROOT, program, kind))
    assert begin <= files
    return {path for path in files - begin if path.endswith(".R")}


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_rule_depends_on_what_its_program_loads(loaded, program):
    assert code(program) == loaded[program]


@pytest.mark.parametrize("kind", KINDS)
def test_a_figure_depends_on_what_its_kind_loads(loaded, kind):
    assert code("run_figure.R", kind) == loaded[kind]


def test_only_the_loader_reads_code():
    """One `source` begins each program; one call names a file that no text does: that of a figure's kind."""
    texts = {path: path.read_text() for path in (ROOT / "R").rglob("*.R")}
    lines = [
        (path.name, line)
        for path, text in texts.items()
        for line in re.sub(r"^uses\([^)]*\)", "", text, flags=re.MULTILINE).splitlines()
        if re.search(r"\b(source|uses|load_file|eval)\(", line.split("#")[0])
    ]
    begin = [line for _, line in lines if line.startswith("source(file.path(dirname(")]
    assert len(begin) == len(PROGRAMS)
    rest = sorted(name for name, line in lines if line not in begin)
    assert rest == ["draw.R", "load.R"], lines


def test_each_kind_of_the_schema_has_its_file():
    schema = json.loads((ROOT / "config/schemas/study.schema.json").read_text())
    assert sorted(schema["$defs"]["figure"]["properties"]["kind"]["enum"]) == KINDS


def test_who_depends_on_what():
    def uses(name, program, kind=None):
        return str(ROOT / "R" / f"{name}.R") in analysis_code(ROOT, program, kind)

    assert not uses("figures/theme", "run_statistics.R")
    assert not any("/figures/" in path for path in analysis_code(ROOT, "run_precision.R"))
    drawn_with_tests = {k for k in KINDS if uses("statistics/location", "run_figure.R", k)}
    assert drawn_with_tests == {"heatmap", "consistency"}
    assert {k for k in KINDS if uses("statistics/tree", "run_figure.R", k)} == {"tree"}


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    """A folder with the code, whose results are all there."""
    folder = tmp_path_factory.mktemp("project")
    for part in CODE:
        shutil.copytree(ROOT / part, folder / part, symlinks=True)
    shutil.copy(ROOT / "Snakefile", folder)
    (folder / "runs.csv").touch()
    summary = snakemake(folder, "--summary").stdout.splitlines()
    outputs = [line.split("\t")[0] for line in summary if line.startswith("results/")]
    # In the order in which they are made: nothing is older than what it is made from.
    stages = ("plan", "statistics", "figures", "appendix/", "appendix.pdf")
    for stage in stages:
        for output in (folder / o for o in outputs if o.startswith(f"results/{stage}")):
            if output.suffix:
                output.parent.mkdir(parents=True, exist_ok=True)
                output.touch()
            else:
                output.mkdir(parents=True, exist_ok=True)
                (output / ".snakemake_timestamp").touch()
    return folder


def snakemake(folder, *arguments):
    config = [f"studies={STUDY}", "scale=smoke", "runs=runs.csv"]
    argv = ["snakemake", "-j1", "analyse", *arguments, "--config", *config]
    done = subprocess.run(argv, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def after_a_change(folder, file):
    """Which statistics and figures a start makes again after a change of a file of R/."""
    path = folder / "R" / file
    before = path.stat()
    path.touch()
    told = snakemake(folder, "-n", "--quiet", "host")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    outputs = re.findall(r"output: results/(\S+)", told.stdout + told.stderr)
    return {name for name in outputs if name.startswith(("statistics/", "figures/"))}


def figures_of(folder, *kinds):
    plan = folder / "config/studies" / f"{STUDY}.yaml"
    figures = yaml.safe_load(plan.read_text())["figures"]
    return {f"figures/{STUDY}/{f['name']}.pdf" for f in figures if not kinds or f["kind"] in kinds}


def test_nothing_is_made_again_without_a_change(drawn):
    assert after_a_change(drawn, "run_precision.R") == set()


def test_a_colour_draws_figures_again_and_computes_nothing(drawn):
    assert after_a_change(drawn, "figures/theme.R") == figures_of(drawn)


def test_a_kind_of_figure_draws_its_own_again(drawn):
    own = figures_of(drawn, "cdf")
    assert own
    assert after_a_change(drawn, "figures/kinds/cdf.R") == own


def test_a_statistic_draws_those_again_that_show_it(drawn):
    own = figures_of(drawn, "tree")
    assert own
    assert after_a_change(drawn, "statistics/tree.R") == {f"statistics/{STUDY}", *own}


def test_a_claim_draws_nothing_again(drawn):
    assert after_a_change(drawn, "statistics/claims.R") == {f"statistics/{STUDY}"}


def test_how_runs_are_read_decides_everything(drawn):
    everything = {f"statistics/{STUDY}", *figures_of(drawn)}
    assert after_a_change(drawn, "read/runs.R") == everything
