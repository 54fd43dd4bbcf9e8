rule extract__block:
    """From run folders to tidy tables: metrics from the client's clock and from the captures."""
    input:
        program=ancient(f"{SCRIPTS}/extract.py"),
        background=ancient(BACKGROUND),
        block=f"{RESULTS}/blocks/{{study}}/{{cell}}/{{block}}.json",
    output:
        runs=f"{RESULTS}/tables/{{study}}/{{cell}}/{{block}}/runs.csv",
        objects=f"{RESULTS}/tables/{{study}}/{{cell}}/{{block}}/objects.csv",
        series=f"{RESULTS}/tables/{{study}}/{{cell}}/{{block}}/series.csv",
        flows=f"{RESULTS}/tables/{{study}}/{{cell}}/{{block}}/flows.csv",
        transport=f"{RESULTS}/tables/{{study}}/{{cell}}/{{block}}/transport.csv",
        window=f"{RESULTS}/tables/{{study}}/{{cell}}/{{block}}/window.csv",
        frames=f"{RESULTS}/tables/{{study}}/{{cell}}/{{block}}/frames.csv",
        handshake=f"{RESULTS}/tables/{{study}}/{{cell}}/{{block}}/handshake.csv",
        packets=f"{RESULTS}/tables/{{study}}/{{cell}}/{{block}}/packets.csv",
    log:
        f"{RESULTS}/logs/extract/{{study}}/{{cell}}/{{block}}.log",
    resources:
        # Idle work, and still a processor of its own: beside blocks that need both of two, loads were repeated
        # that had never been disturbed before (docs/validity.md).
        cpu_percent=90,
        # On a cluster it is in the block's job.
        slurm_extra=hq.whole_node,
    params:
        folder=lambda wildcards, output: Path(output.runs).parent,
        results=lambda wildcards: RESULTS,
        pack="--pack" if hq.pack else "",
        code=hq.extraction_code,
    shell:
        "exec bash {input.background:q} python3 {input.program:q} block {input.block} --results {params.results:q}"
        " --output {params.folder} {params.pack} &> {log}"


rule extract__cell:
    """All repetitions of a cell in one table."""
    input:
        program=ancient(f"{SCRIPTS}/extract.py"),
        background=ancient(BACKGROUND),
        tables=lambda wildcards: [
            f"{RESULTS}/tables/{wildcards.study}/{wildcards.cell}/{block}/runs.csv"
            for block in hq.block_numbers(wildcards.study, wildcards.cell)
        ],
    output:
        f"{RESULTS}/tables/{{study}}/{{cell}}.csv",
    log:
        f"{RESULTS}/logs/extract/{{study}}/{{cell}}.log",
    # A second of work: not worth a job of a cluster.
    localrule: True
    shell:
        "exec bash {input.background:q} python3 {input.program:q} join {input.tables} --output {output} 2> {log}"


rule extract__study:
    """All repetitions of a study in one table."""
    input:
        program=ancient(f"{SCRIPTS}/extract.py"),
        background=ancient(BACKGROUND),
        tables=lambda wildcards: [
            f"{RESULTS}/tables/{wildcards.study}/{cell}.csv"
            for cell in hq.cells(wildcards.study)
        ],
    output:
        f"{RESULTS}/tables/{{study}}.csv",
    log:
        f"{RESULTS}/logs/extract/{{study}}.log",
    # A second of work: not worth a job of a cluster.
    localrule: True
    shell:
        "exec bash {input.background:q} python3 {input.program:q} join {input.tables} --output {output} 2> {log}"
