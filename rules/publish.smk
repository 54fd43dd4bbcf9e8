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
        code=hq.code("run_appendix.R"),
    output:
        directory(f"{RESULTS}/appendix/{{study}}"),
    log:
        f"{RESULTS}/logs/publish/{{study}}.log",
    resources:
        cpu_percent=90,
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
    resources:
        cpu_percent=90,
    params:
        paper=PAPER,
    shell:
        "exec bash {input.background:q} bash {input.program:q} {params.paper:q} {output} {input.fragments:q} &> {log}"


rule publish__results_page:
    """What was found, in one page of Markdown: claims, pairs of arms, links."""
    input:
        program=f"{SCRIPTS}/write_documents.py",
        background=ancient(BACKGROUND),
        code=sorted((SCRIPTS / "howquick" / "documents").glob("*.py")),
        plans=[f"{RESULTS}/plan/{study}.json" for study in hq.plans],
        runs=[hq.study_table(study) for study in hq.plans],
        statistics=[f"{RESULTS}/statistics/{study}" for study in hq.plans],
        calibrations=sorted(
            {path for study in hq.plans for path in hq.calibrations(study)}
        ),
    output:
        f"{RESULTS}/results.md",
    log:
        f"{RESULTS}/logs/publish/results.log",
    # A second of work: not worth a job of a cluster.
    localrule: True
    params:
        calibrations=lambda wildcards, input: (
            ["--calibrations", *input.calibrations] if input.calibrations else []
        ),
    shell:
        "exec bash {input.background:q} python3 {input.program:q} results --plans {input.plans:q} --runs {input.runs:q}"
        " --statistics {input.statistics:q} {params.calibrations:q} --output {output} &> {log}"


rule publish__report_study:
    """What the reader's report says of one study: its cells, and a file for each load."""
    input:
        program=f"{SCRIPTS}/write_report.py",
        background=ancient(BACKGROUND),
        code=hq.report_code("*.py"),
        plan=f"{RESULTS}/plan/{{study}}.json",
        runs=lambda wildcards: hq.study_table(wildcards.study),
        statistics=f"{RESULTS}/statistics/{{study}}",
        calibrations=lambda wildcards: hq.calibrations(wildcards.study),
    output:
        directory(f"{RESULTS}/report/data/{{study}}"),
    log:
        f"{RESULTS}/logs/publish/report/{{study}}.log",
    resources:
        cpu_percent=90,
    params:
        results=lambda wildcards: RESULTS,
    shell:
        "exec bash {input.background:q} python3 {input.program:q} study --plan {input.plan} --runs {input.runs}"
        " --statistics {input.statistics} --results {params.results:q} --output {output} &> {log}"


rule publish__report:
    """The reader's report: a page that opens from the disk, beside the data of all studies."""
    input:
        program=f"{SCRIPTS}/write_report.py",
        background=ancient(BACKGROUND),
        code=hq.report_code("*.py"),
        page=hq.report_code("page/*"),
        libraries=lambda wildcards: hq.report_libraries,
        plans=[f"{RESULTS}/plan/{study}.json" for study in hq.plans],
        runs=[hq.study_table(study) for study in hq.plans],
        statistics=[f"{RESULTS}/statistics/{study}" for study in hq.plans],
        data=[f"{RESULTS}/report/data/{study}" for study in hq.plans],
    output:
        f"{RESULTS}/report/index.html",
    log:
        f"{RESULTS}/logs/publish/report.log",
    # Seconds of work: not worth a job of a cluster.
    localrule: True
    shell:
        "exec bash {input.background:q} python3 {input.program:q} index --plans {input.plans:q} --runs {input.runs:q}"
        " --statistics {input.statistics:q} --output {output} &> {log}"


rule publish__report_pictures:
    """What the report shows on the way to a packet of one cell: the pictures in docs/."""
    input:
        program=f"{SCRIPTS}/picture_report.py",
        background=ancient(BACKGROUND),
        report=f"{RESULTS}/report/index.html",
    output:
        directory(f"{RESULTS}/report-pictures/{{study}}/{{cell}}"),
    log:
        f"{RESULTS}/logs/publish/report-pictures/{{study}}/{{cell}}.log",
    resources:
        cpu_percent=90,
    shell:
        "exec bash {input.background:q} python3 {input.program:q} {input.report} --study {wildcards.study}"
        " --cell {wildcards.cell} --output {output} &> {log}"


rule publish__artifact:
    """Pack what an artifact evaluation needs: every figure can be rebuilt from it without measuring."""
    input:
        program=f"{SCRIPTS}/artifact.py",
        background=ancient(BACKGROUND),
        appendix=f"{RESULTS}/appendix.pdf",
        results_page=f"{RESULTS}/results.md",
        report=f"{RESULTS}/report/index.html",
        tables=[f"{RESULTS}/tables/{study}.csv" for study in hq.plans],
        calibration=[path for study in hq.plans for path in hq.calibrations(study)],
        processor=[path for study in hq.plans for path in hq.processor(study)],
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
