rule measure__plan:
    """Resolve a study: cells, arms, blocks, seeds and the versions of all programs."""
    input:
        program=ancient(f"{SCRIPTS}/resolve_plan.py"),
    output:
        f"{RESULTS}/plan/{{study}}.json",
    log:
        f"{RESULTS}/logs/plan/{{study}}.log",
    # A second of work: not worth a job of a cluster.
    localrule: True
    params:
        fingerprint=lambda wildcards: hq.plan_fingerprint(wildcards.study),
        selection=hq.selection_arguments,
    shell:
        "exec python3 {input.program:q} --study {wildcards.study} {params.selection}"
        " --output {output} 2> {log}"


rule measure__block:
    """Measure the missing repetitions of one block: one cell, all its arms, in one private testbed."""
    input:
        unpack(hq.block_inputs),
        program=ancient(f"{SCRIPTS}/measure.py"),
    output:
        f"{RESULTS}/blocks/{{study}}/{{cell}}/{{block}}.json",
    log:
        f"{RESULTS}/logs/measure/{{study}}/{{cell}}/{{block}}.log",
    priority: hq.priority
    resources:
        cpu_percent=hq.cpu_percent,
        # On a cluster: the node, its processors, and minutes in the queue.
        slurm_extra=hq.whole_node,
        cpus_per_task=hq.cpus_per_load,
        runtime=lambda wildcards, attempt: time_limit(hq.block(wildcards), attempt),
    params:
        # No input: below a job that has to run Snakemake does not ask whether `fingerprint` changed, and the
        # time stamp of a plan says nothing of one block. This copy is written before the first job starts.
        plan=hq.plan_path,
        fingerprint=hq.fingerprint,
        again=hq.again,
        results=lambda wildcards: RESULTS,
    shell:
        "exec python3 {input.program:q} --plan {params.plan:q} --calibration {input.calibration}"
        " --cell {wildcards.cell} --block {wildcards.block} --results {params.results:q}"
        " --output {output} --again={params.again:q}"
        " --fingerprint={params.fingerprint} 2> {log}"
