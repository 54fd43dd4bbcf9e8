rule measure__plan:
    """Resolve a study: cells, arms, blocks, seeds and the versions of all programs."""
    output:
        f"{RESULTS}/plan/{{study}}.json",
    log:
        f"{RESULTS}/logs/plan/{{study}}.log",
    params:
        fingerprint=lambda wildcards: hq.plan_fingerprint(wildcards.study),
        selection=hq.selection_arguments,
    shell:
        "exec python3 {SCRIPTS:q}/resolve_plan.py --study {wildcards.study} {params.selection}"
        " --output {output} 2> {log}"


rule measure__block:
    """Measure the missing repetitions of one block: one cell, all its arms, in one private testbed."""
    input:
        unpack(hq.block_inputs),
        # Its content is in `fingerprint`; a new time stamp alone changes nothing.
        plan=ancient(f"{RESULTS}/plan/{{study}}.json"),
        certificates=f"{RESULTS}/content/certificates",
    output:
        f"{RESULTS}/blocks/{{study}}/{{cell}}/{{block}}.json",
    log:
        f"{RESULTS}/logs/measure/{{study}}/{{cell}}/{{block}}.log",
    priority: hq.priority
    resources:
        cpu_percent=hq.cpu_percent,
    params:
        fingerprint=hq.fingerprint,
    shell:
        "exec python3 {SCRIPTS:q}/measure.py --plan {input.plan} --calibration {input.calibration}"
        " --cell {wildcards.cell} --block {wildcards.block} --results {RESULTS:q}"
        " --output {output} 2> {log}"
