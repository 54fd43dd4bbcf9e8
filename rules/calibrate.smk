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
    params:
        link=lambda wildcards: json.dumps(hq.link_by_name(wildcards.link)),
        emulator=hq.emulator,
    shell:
        "exec python3 {input.program:q} link {params.link:q} --output {output} 2> {log}"
