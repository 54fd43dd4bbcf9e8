"""The artifact run, all four studies, on a real SLURM cluster that loses a node on the way."""

import json
import os
from collections import Counter
from pathlib import Path

import pytest
from cluster import Cluster
from head import Head
from timeline import Timeline

from howquick.study.cells import arms_of, find
from workflow.flow import rows

STUDIES = ["how-quick", "production-quic", "web-streaming", "highway"]
HOURS = 3.0
# The nodes share this machine: a licence that one job has at a time keeps their blocks from each other.
ALONE = "\"'--licenses=testbed:1'\""
RULES = ("calibrate__link", "measure__block", "extract__block")


def wanted(plan):
    """Cell, arm and repetition of every load of a plan."""
    return sorted(
        (block["cell"], arm["name"], str(repetition))
        for block in plan["blocks"]
        for arm in arms_of(plan, find(plan["cells"], block["cell"]))
        for repetition in block["repetitions"]
    )


@pytest.mark.skipif(
    "HOWQUICK_SLURM_ARTIFACT" not in os.environ,
    reason="an hour: HOWQUICK_SLURM_ARTIFACT=FOLDER runs it and keeps its results",
)
def test_the_artifact_run_goes_through(tmp_path_factory):
    results, line = Path(os.environ["HOWQUICK_SLURM_ARTIFACT"]).absolute() / "results", Timeline()
    results.parent.mkdir(parents=True, exist_ok=True)
    plans = [results / f"plan/{study}.json" for study in STUDIES]
    with Cluster(tmp_path_factory.mktemp("cluster")) as cluster:
        head = Head(
            cluster, results,
            "--group-components", "block=40", "calibration=100",
            "--set-resources", *(f"{rule}:slurm_extra={ALONE}" for rule in RULES),
            config=["scale=artifact", f"studies=[{','.join(STUDIES)}]"],
        )  # fmt: skip
        cluster.wait_for(lambda: all(plan.exists() for plan in plans))
        loads = sum(len(wanted(json.loads(plan.read_text()))) for plan in plans)
        line.say(f"{loads} loads to be measured")
        # Seldom: looking takes time from what is measured on the same machine.
        kept = head.wait_for_loads(loads // 2, HOURS * 3600, poll_s=10)
        job = head.running_job()
        cluster.kill_node(job["node"], with_jobs=True)
        line.say(f"{len(kept)} loads; {job['node']} lost with job {job['id']}")
        cluster.wait_for(lambda: cluster.node_states()[job["node"]].startswith("down"))
        # On the other one: this one stays away until then.
        other = head.running_job()
        assert other["node"] != job["node"]
        line.say(f"job {other['id']} goes on on {other['node']}")
        cluster.start_node(job["node"])
        line.say(f"{job['node']} is back")
        status = head.wait(HOURS * 3600)
        line.say(f"head process ended with {status}; {len(head.loads())} loads")
        assert status == 0, head.output()[-5000:] + cluster.logs()
    after = head.loads()
    assert all(after[path] == content for path, content in kept.items())  # nothing measured twice
    assert {json.loads(content)["host"]["node"] for content in after.values()} == {"node1", "node2"}
    assert (results / "appendix.pdf").stat().st_size > 100_000
    for study, plan in zip(STUDIES, plans, strict=True):
        table = rows(results / f"tables/{study}.csv")
        line.say(f"{study}: {dict(Counter(row['status'] for row in table))}")
        found = sorted((row["cell"], row["arm"], row["repetition"]) for row in table)
        assert found == wanted(json.loads(plan.read_text()))
