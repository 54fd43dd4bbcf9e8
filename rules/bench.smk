BENCHES = [
    "provisioning",
    "overhead",
    "network_share",
    "accuracy",
    "emulator",
    "parallel",
    "dag",
    "extraction",
]


rule bench__table:
    """Measure one aspect of what the pipeline costs, alone on the machine."""
    input:
        # Overhead and accuracy are read from a finished study.
        f"{RESULTS}/appendix.pdf",
    output:
        f"{RESULTS}/bench/{{bench}}.csv",
    wildcard_constraints:
        bench="|".join(BENCHES),
    log:
        f"{RESULTS}/logs/bench/{{bench}}.log",
    resources:
        cpu_percent=hq.processors_percent,
    shell:
        "exec python3 {SCRIPTS:q}/bench.py {wildcards.bench} --results {RESULTS:q}"
        " --output {output} 2> {log}"


rule bench__plot:
    """Draw the bench tables."""
    input:
        tables=expand(f"{RESULTS}/bench/{{bench}}.csv", bench=BENCHES),
        code=sorted(ANALYSIS.glob("*.R")),
    output:
        f"{RESULTS}/bench/bench.pdf",
    params:
        folder=f"{RESULTS}/bench",
    log:
        f"{RESULTS}/logs/bench/plot.log",
    shell:
        "exec Rscript {ANALYSIS:q}/run_bench.R --tables {params.folder:q} --output {output} &> {log}"
