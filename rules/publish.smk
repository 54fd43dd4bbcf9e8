rule publish__fragments:
    """Tables and macros of one study for the appendix."""
    input:
        program=f"{ANALYSIS}/run_appendix.R",
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
        "exec Rscript {input.program:q} --study {input.plan} --runs {input.runs}"
        " --statistics {input.statistics} --figures {params.figures:q}"
        " {params.calibration:q} --manifest {params.manifest:q}"
        " --output {output} &> {log}"


rule publish__appendix:
    """Typeset the appendix."""
    input:
        program=f"{SCRIPTS}/typeset.sh",
        fragments=[f"{RESULTS}/appendix/{study}" for study in hq.plans],
        paper=sorted(PAPER.glob("*.tex")),
    output:
        f"{RESULTS}/appendix.pdf",
    log:
        f"{RESULTS}/logs/publish/appendix.log",
    params:
        paper=PAPER,
    shell:
        "exec bash {input.program:q} {params.paper:q} {output} {input.fragments:q} &> {log}"
