"""howquick: from two commands to the paper's appendix. A table of contents; the stages are in rules/."""

import json
import sys
from pathlib import Path

from snakemake.utils import min_version

min_version("9.20")

sys.path.insert(0, str(Path(workflow.basedir) / "scripts"))

from howquick.workflow import session
from howquick.workflow.cluster import time_limit
from howquick.workflow.interference import COMPARED, REFERENCE
from howquick.workflow.questions import file_list

session.check_configuration(workflow)


configfile: f"{workflow.basedir}/config/config.yaml"


hq = session.prepare(config, workflow)
RESULTS = hq.results
FIGURES = [
    f"{RESULTS}/figures/{study}/{figure}.pdf"
    for study in hq.plans
    for figure in hq.figures(study)
]
SCRIPTS = Path(workflow.basedir) / "scripts"
ANALYSIS = Path(workflow.basedir) / "R"
PAPER = Path(workflow.basedir) / "paper"
BACKGROUND = SCRIPTS / "background.sh"


wildcard_constraints:
    study="[a-z0-9-]+",
    cell="[a-z0-9-]+",
    block=r"\d+",
    link="[a-z0-9.-]+",
    page="[a-z0-9.-]+",
    figure="[a-z0-9-]+",


# What was measured is given: the stages up to the tables would only ask for what an archive leaves out.
if not hq.rebuild:

    include: "rules/content.smk"
    include: "rules/calibrate.smk"
    include: "rules/measure.smk"
    include: "rules/processor.smk"
    include: "rules/extract.smk"


include: "rules/analyse.smk"
include: "rules/publish.smk"
include: "rules/agreement.smk"
include: "rules/bench.smk"


onstart:
    session.begin(hq, workflow)


onsuccess:
    session.finish(hq, workflow)


onerror:
    session.say_how_it_ended(hq)


rule all:
    """The appendix and the reader's report: every figure, table and claim of the selected studies."""
    default_target: True
    input:
        f"{RESULTS}/appendix.pdf",
        f"{RESULTS}/results.md",
        f"{RESULTS}/report/index.html",
        hq.precisions,


rule prepare:
    """Everything that measuring needs: pages, certificates, calibrated links."""
    input:
        [f"{RESULTS}/plan/{study}.json" for study in hq.plans],
        [path for study in hq.plans for path in hq.calibrations(study)],
        hq.pages,
        hq.certificates,


rule measure:
    """All run folders and the plans they belong to; no analysis."""
    input:
        [f"{RESULTS}/plan/{study}.json" for study in hq.plans],
        [
            f"{RESULTS}/blocks/{study}/{cell}/{block}.json"
            for study, cell, block in hq.blocks
        ],
        hq.precisions,


rule analyse:
    """Statistics and figures, also of a table given by --config runs=FILE.csv."""
    input:
        f"{RESULTS}/appendix.pdf",
        FIGURES,


rule results_page:
    """What was found, in one page: claims, pairs of arms, links."""
    input:
        f"{RESULTS}/results.md",


rule report:
    """The reader's report, a folder of plain files from a claim to the packet, and the figures that it leads to."""
    input:
        f"{RESULTS}/report/index.html",
        FIGURES,


rule artifact:
    """One archive for an artifact evaluation: rebuilds every figure without measuring anew."""
    input:
        f"{RESULTS}/artifact.tar.gz",


for study in hq.known_studies:

    rule:
        name:
            hq.target(study)
        input:
            hq.outputs(study),


rule interference:
    """The cells of study aa at -j1 again, at -j8, and without captures and qlogs, against -j1: nothing may move."""
    input:
        expand(f"{RESULTS}/agreement/{{way}}", way=COMPARED),


rule reproduce:
    """A random sample of the loads in virtual time once more: they must be the same in every column."""
    input:
        f"{RESULTS}/agreement/reproduced.csv",


rule bench:
    """What the pipeline itself costs, and how often its statistics err: tables and plots."""
    input:
        f"{RESULTS}/bench/bench.pdf",
        [f"{RESULTS}/error-rates/{study}" for study in hq.plans],
