rule publish__fragments:
    """Tables and macros of one study for the appendix."""
    input:
        program=f"{ANALYSIS}/run_appendix.R",
        background=ancient(BACKGROUND),
        plan=f"{RESULTS}/plan/{{study}}.json",
        runs=lambda wildcards: hq.study_table(wildcards.study),
        statistics=f"{RESULTS}/statistics/{{study}}",
        figures=lambda wildcards: [
            f"{RESULTS}/figures/{wildcards.study}/{figure}.pdf"
            for figure in hq.figures(wildcards.study)
        ],
        calibration=lambda wildcards: hq.calibrations(wildcards.study),
        code=sorted(ANALYSIS.glob("*.R")),
    output:
        directory(f"{RESULTS}/appendix/{{study}}"),
    log:
        f"{RESULTS}/logs/publish/{{study}}.log",
    params:
        figures=lambda wildcards: f"{RESULTS}/figures/{wildcards.study}",
        calibration=lambda wildcards, input: file_list(
            "--calibration", input.calibration
        ),
        manifest=hq.manifest,
    shell:
        "exec bash {input.background:q} Rscript {input.program:q} --study {input.plan} --runs {input.runs}"
        " --statistics {input.statistics} --figures {params.figures:q}"
        " {params.calibration:q} --manifest {params.manifest:q}"
        " --output {output} &> {log}"


rule publish__appendix:
    """Typeset the appendix."""
    input:
        program=f"{SCRIPTS}/typeset.sh",
        background=ancient(BACKGROUND),
        fragments=[f"{RESULTS}/appendix/{study}" for study in hq.plans],
        paper=sorted(PAPER.glob("*.tex")),
    output:
        f"{RESULTS}/appendix.pdf",
    log:
        f"{RESULTS}/logs/publish/appendix.log",
    params:
        paper=PAPER,
    shell:
        "exec bash {input.background:q} bash {input.program:q} {params.paper:q} {output} {input.fragments:q} &> {log}"


rule publish__artifact:
    """Pack what an artifact evaluation needs: every figure can be rebuilt from it without measuring."""
    input:
        program=f"{SCRIPTS}/artifact.py",
        background=ancient(BACKGROUND),
        appendix=f"{RESULTS}/appendix.pdf",
        tables=[f"{RESULTS}/tables/{study}.csv" for study in hq.plans],
        calibration=[path for study in hq.plans for path in hq.calibrations(study)],
        manifest=hq.manifest,
        code=sorted((SCRIPTS / "howquick" / "archive").glob("*.*")),
    output:
        f"{RESULTS}/artifact.tar.gz",
    log:
        f"{RESULTS}/logs/publish/artifact.log",
    # Seconds of work: not worth a job of a cluster.
    localrule: True
    params:
        results=lambda wildcards: RESULTS,
        selection=json.dumps(hq.chosen),
    shell:
        "exec bash {input.background:q} python3 {input.program:q} {params.selection:q} --results {params.results:q}"
        " --manifest {input.manifest:q} --output {output} &> {log}"
