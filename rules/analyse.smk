rule analyse__statistics:
    """Per cell and arm: n, failures, medians and intervals, tests, the paper's rule, claims."""
    input:
        program=f"{ANALYSIS}/run_statistics.R",
        background=ancient(BACKGROUND),
        plan=f"{RESULTS}/plan/{{study}}.json",
        runs=lambda wildcards: hq.study_table(wildcards.study),
        processor=lambda wildcards: hq.processor(wildcards.study),
        code=hq.code("run_statistics.R"),
    output:
        directory(f"{RESULTS}/statistics/{{study}}"),
    log:
        f"{RESULTS}/logs/analyse/{{study}}.log",
    resources:
        cpu_percent=90,
    params:
        processor=lambda wildcards, input: file_list("--processor", input.processor),
    shell:
        "exec bash {input.background:q} Rscript {input.program:q} --study {input.plan} --runs {input.runs}"
        " {params.processor:q} --output {output} &> {log}"


rule analyse__figure:
    """Draw one figure from the cells it shows."""
    input:
        program=f"{ANALYSIS}/run_figure.R",
        background=ancient(BACKGROUND),
        plan=f"{RESULTS}/plan/{{study}}.json",
        runs=lambda wildcards: hq.figure_tables(wildcards.study, wildcards.figure),
        calibration=lambda wildcards: hq.figure_calibration(
            wildcards.study, wildcards.figure
        ),
        processor=lambda wildcards: hq.figure_processor(
            wildcards.study, wildcards.figure
        ),
        code=lambda wildcards: hq.figure_code(wildcards.study, wildcards.figure),
    output:
        f"{RESULTS}/figures/{{study}}/{{figure}}.pdf",
    log:
        f"{RESULTS}/logs/analyse/{{study}}/{{figure}}.log",
    resources:
        cpu_percent=90,
    params:
        runs=lambda wildcards, input: ",".join(input.runs),
        calibration=lambda wildcards, input: file_list(
            "--calibration", input.calibration
        ),
        processor=lambda wildcards, input: file_list("--processor", input.processor),
    shell:
        "exec bash {input.background:q} Rscript {input.program:q} --study {input.plan} --figure {wildcards.figure}"
        " --runs {params.runs:q} {params.calibration:q} {params.processor:q} --output {output} &> {log}"


rule analyse__precision:
    """How many repetitions each cell should have for the study's precision: {cell: repetitions}."""
    input:
        program=f"{ANALYSIS}/run_precision.R",
        background=ancient(BACKGROUND),
        plan=f"{RESULTS}/plan/{{study}}.json",
        runs=lambda wildcards: hq.study_table(wildcards.study),
        code=hq.code("run_precision.R"),
    output:
        f"{RESULTS}/precision/{{study}}.json",
    log:
        f"{RESULTS}/logs/analyse/{{study}}/precision.log",
    resources:
        cpu_percent=90,
    shell:
        "exec bash {input.background:q} Rscript {input.program:q} --study {input.plan} --runs {input.runs}"
        " --output {output} &> {log}"


rule analyse__error_rates:
    """False positives of the tests and coverage of the intervals, by simulation and by shuffled labels."""
    input:
        program=f"{ANALYSIS}/run_statistics_bench.R",
        background=ancient(BACKGROUND),
        plan=f"{RESULTS}/plan/{{study}}.json",
        runs=lambda wildcards: hq.study_table(wildcards.study),
        plans=[f"{RESULTS}/plan/{study}.json" for study in hq.plans],
        code=hq.code("run_statistics_bench.R"),
    output:
        directory(f"{RESULTS}/error-rates/{{study}}"),
    log:
        f"{RESULTS}/logs/analyse/{{study}}/error-rates.log",
    resources:
        cpu_percent=90,
    params:
        plans=lambda _, input: ",".join(input.plans),
    shell:
        "exec bash {input.background:q} Rscript {input.program:q} --study {input.plan} --runs {input.runs}"
        " --plans {params.plans} --output {output} &> {log}"
