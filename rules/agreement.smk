rule agreement__same_arm:
    """The same arm under two names: a heatmap that must stay grey."""
    input:
        program=f"{ANALYSIS}/run_compare.R",
        background=ancient(BACKGROUND),
        plan=f"{RESULTS}/plan/{{study}}.json",
        runs=lambda wildcards: hq.study_table(wildcards.study),
        code=hq.code("run_compare.R"),
    output:
        directory(f"{RESULTS}/agreement/{{study}}/{{first}}+{{second}}"),
    log:
        f"{RESULTS}/logs/agreement/{{study}}/{{first}}+{{second}}.log",
    wildcard_constraints:
        first="[a-z0-9-]+",
        second="[a-z0-9-]+",
    resources:
        cpu_percent=90,
    shell:
        "exec bash {input.background:q} Rscript {input.program:q} --study {input.plan} --runs {input.runs}"
        " --arms {wildcards.first},{wildcards.second} --output {output} &> {log}"


rule agreement__measure:
    """The cells of study aa in several ways that take turns, alone on the machine."""
    input:
        program=f"{SCRIPTS}/agreement.py",
    output:
        expand(f"{RESULTS}/agreement/runs/{{way}}.csv", way=[REFERENCE, *COMPARED]),
    log:
        f"{RESULTS}/logs/agreement/measure.log",
    resources:
        cpu_percent=hq.processors_percent,
    params:
        folder=f"{RESULTS}/agreement/measured",
        tables=lambda wildcards: f"{RESULTS}/agreement/runs",
        scale=hq.selection.scale,
        seed=hq.selection.seed,
        repetitions=hq.repetitions_arguments,
    shell:
        "exec python3 {input.program:q} --scale {params.scale} --seed {params.seed} {params.repetitions}"
        " --folder {params.folder:q} --output {params.tables:q} 2> {log}"


rule agreement__compare:
    """Another way of measuring against one job at a time: a heatmap that must stay grey."""
    input:
        program=f"{ANALYSIS}/run_compare.R",
        background=ancient(BACKGROUND),
        reference=f"{RESULTS}/agreement/runs/{REFERENCE}.csv",
        runs=f"{RESULTS}/agreement/runs/{{way}}.csv",
        code=hq.code("run_compare.R"),
    output:
        directory(f"{RESULTS}/agreement/{{way}}"),
    log:
        f"{RESULTS}/logs/agreement/{{way}}-compared.log",
    wildcard_constraints:
        way="|".join(COMPARED),
    resources:
        cpu_percent=90,
    params:
        reference=REFERENCE,
    shell:
        "exec bash {input.background:q} Rscript {input.program:q} --runs {input.reference} --runs {input.runs}"
        " --labels {params.reference},{wildcards.way} --output {output} &> {log}"


rule agreement__reproduce:
    """Loads in virtual time measured again, some at random: every column of their rows must be the same."""
    input:
        program=f"{SCRIPTS}/reproduce.py",
        plans=[f"{RESULTS}/plan/{study}.json" for study in hq.studies_in_virtual_time],
        tables=[hq.study_table(study) for study in hq.studies_in_virtual_time],
    output:
        f"{RESULTS}/agreement/reproduced.csv",
    log:
        f"{RESULTS}/logs/agreement/reproduced.log",
    resources:
        cpu_percent=hq.processors_percent,
    params:
        studies=hq.studies_in_virtual_time,
        results=lambda wildcards: RESULTS,
        folder=f"{RESULTS}/agreement/again",
        cells=hq.reproduced_cells,
        # Each start draws anew.
        start=hq.start,
    shell:
        "exec python3 {input.program:q} {params.studies} --results {params.results:q} --cells {params.cells}"
        " --jobs 2 --folder {params.folder:q} --output {output} 2> {log}"
