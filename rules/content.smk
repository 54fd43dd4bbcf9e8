rule content__certificates:
    """Make the test CA and the server's certificate."""
    input:
        program=ancient(f"{SCRIPTS}/make_content.py"),
    output:
        directory(f"{RESULTS}/content/certificates"),
    log:
        f"{RESULTS}/logs/content/certificates.log",
    # A second of work: not worth a job of a cluster.
    localrule: True
    params:
        method=hq.method,
    shell:
        "exec python3 {input.program:q} certificates --output {output} 2> {log}"


rule content__certificates_virtual:
    """The same for loads in virtual time: valid by the guests' clock, with keys from the seed."""
    input:
        program=ancient(f"{SCRIPTS}/make_content.py"),
    output:
        directory(f"{RESULTS}/content/certificates-virtual"),
    log:
        f"{RESULTS}/logs/content/certificates-virtual.log",
    # A second of work: not worth a job of a cluster.
    localrule: True
    params:
        seed=hq.selection.seed,
        method=hq.method,
        code=hq.guest_code,
    shell:
        "exec python3 {input.program:q} certificates --clock virtual --seed {params.seed}"
        " --output {output} 2> {log}"


rule content__page:
    """Make one page: an HTML file and its objects, from the seed."""
    input:
        program=ancient(f"{SCRIPTS}/make_content.py"),
    output:
        f"{RESULTS}/content/{{page}}/page.json",
    log:
        f"{RESULTS}/logs/content/{{page}}.log",
    # A second of work: not worth a job of a cluster.
    localrule: True
    params:
        workload=lambda wildcards: json.dumps(hq.workload_by_name(wildcards.page)),
        seed=hq.selection.seed,
        method=hq.method,
    shell:
        "exec python3 {input.program:q} page --workload {params.workload:q}"
        " --seed {params.seed} --output {output} 2> {log}"
