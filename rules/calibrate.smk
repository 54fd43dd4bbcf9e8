rule calibrate__link:
    """Measure what a link really is, before any result of it counts."""
    input:
        program=ancient(f"{SCRIPTS}/calibrate.py"),
    output:
        f"{RESULTS}/calibration/{{link}}.json",
    log:
        f"{RESULTS}/logs/calibration/{{link}}.log",
    # Before the measuring jobs. Probes are few packets; three links side by side on two processors pass as one does.
    priority: 1000000
    resources:
        cpu_percent=60,
        # On a cluster.
        slurm_extra=hq.whole_node,
        cpus_per_task=hq.cpus_per_load,
    params:
        link=lambda wildcards: json.dumps(hq.link_by_name(wildcards.link)),
        clock=lambda wildcards: hq.clock_of_link(wildcards.link),
        code=lambda wildcards: hq.calibration_code(wildcards.link),
    shell:
        "exec python3 {input.program:q} link {params.link:q} --clock {params.clock} --output {output} 2> {log}"
