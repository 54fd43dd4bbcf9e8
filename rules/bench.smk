BENCHES = [
    "provisioning",
    "overhead",
    "network_share",
    "accuracy",
    "emulator",
    "parallel",
    "dag",
    "extraction",
    "startup",
    "loopback",
    "log_cost",
    "guard",
    "report",
    "virtual_time",
    "fuzz",
]
# Read from a finished study; the others measure something of their own.
FINISHED = ["overhead", "network_share", "accuracy", "extraction", "fuzz"]


rule bench__table:
    """Measure one aspect of what the pipeline costs, alone on the machine."""
    input:
        appendix=lambda wildcards: (
            f"{RESULTS}/appendix.pdf" if wildcards.bench in FINISHED else []
        ),
        program=f"{SCRIPTS}/bench.py",
    output:
        f"{RESULTS}/bench/{{bench}}.csv",
    log:
        f"{RESULTS}/logs/bench/{{bench}}.log",
    wildcard_constraints:
        bench="|".join(BENCHES),
    resources:
        cpu_percent=hq.processors_percent,
    params:
        results=lambda wildcards: RESULTS,
    shell:
        "exec python3 {input.program:q} {wildcards.bench} --results {params.results:q}"
        " --output {output} 2> {log}"


rule bench__plot:
    """Draw the bench tables."""
    input:
        program=f"{ANALYSIS}/run_bench.R",
        tables=expand(f"{RESULTS}/bench/{{bench}}.csv", bench=BENCHES),
        code=hq.code("run_bench.R"),
    output:
        f"{RESULTS}/bench/bench.pdf",
    log:
        f"{RESULTS}/logs/bench/plot.log",
    params:
        folder=lambda wildcards: f"{RESULTS}/bench",
    shell:
        "exec Rscript {input.program:q} --tables {params.folder:q} --output {output} &> {log}"
