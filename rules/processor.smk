rule processor__study:
    """What loads in virtual time leave out: the processor seconds of each arm and page, by the real clock."""
    input:
        program=ancient(f"{SCRIPTS}/measure_processor.py"),
        certificates=f"{RESULTS}/content/certificates",
        pages=lambda wildcards: hq.sampled_pages(wildcards.study),
    output:
        f"{RESULTS}/processor/{{study}}.csv",
    log:
        f"{RESULTS}/logs/processor/{{study}}.log",
    # Before the guests, which it does not disturb; the least of some loads counts, so that it need not be alone.
    priority: 900000
    resources:
        cpu_percent=90,
        # On a cluster.
        slurm_extra=hq.whole_node,
        cpus_per_task=hq.cpus_per_load,
    params:
        # No input, as in rules/measure.smk.
        plan=hq.plan_path,
        fingerprint=lambda wildcards: hq.samples_fingerprint(wildcards.study),
        results=lambda wildcards: RESULTS,
    shell:
        "exec python3 {input.program:q} --plan {params.plan:q} --results {params.results:q} --output {output}"
        " --fingerprint {params.fingerprint} 2> {log}"
