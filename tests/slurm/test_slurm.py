"""The workflow on a real SLURM cluster: controller, nodes and authentication of the distribution."""

import json
import os
import shutil
import subprocess
import sys
import time

import pytest
from accounting import start_accounting
from cluster import Cluster
from head import Head
from timeline import Timeline

from howquick.errors import ROOT
from workflow.flow import rows
from workflow.looks import ROLES, has_no_rights, planned_look, saw_its_own_and_the_system_alone

CELLS = ("10mbit-18ms-loss0-5obj-small", "10mbit-18ms-loss2-50obj-small")
# How long a service of the cluster is away: several questions of the head process for its jobs.
DOWN_S = 15.0
PLAIN = [
    "--set-resources",
    'measure__block:constraint="plain"',
    'extract__block:constraint="plain"',
]
long_set = pytest.mark.skipif(
    "HOWQUICK_SLURM_LONG" not in os.environ, reason="minutes each: HOWQUICK_SLURM_LONG=1 runs them"
)


@pytest.fixture
def place(tmp_path_factory):
    """An empty folder for a cluster: a test's own has a name too long for the path of a socket."""
    return tmp_path_factory.mktemp("cluster")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """Two nodes alike and one with another processor."""
    with Cluster(tmp_path_factory.mktemp("cluster"), ("plain", "plain", "other")) as running:
        yield running


@pytest.fixture(scope="module")
def prepared(cluster, tmp_path_factory):
    """Results with pages, certificates and calibrated links, and nothing measured."""
    results = tmp_path_factory.mktemp("prepared") / "results"
    head = Head(cluster, results, "prepare")
    assert head.wait() == 0, head.output()[-4000:]
    return results


@pytest.fixture
def results(cluster, prepared, tmp_path):
    """A copy of the prepared results; nothing that a test started outlives it."""
    yield shutil.copytree(prepared, tmp_path / "results")
    Head.kill_all()
    for job in cluster.jobs("PENDING,RUNNING"):
        cluster.run("scancel", job["id"], check=False)
    cluster.wait_for(lambda: not cluster.jobs("PENDING,RUNNING"))


def hosts(head):
    """Node and processor of every finished load."""
    return [json.loads(content)["host"] for content in head.loads().values()]


def table_is_whole(results):
    """Every load of the plan is one row of the table, and none broke with what happened to its job.

    The nodes share one machine here: what they disturb is invalid, and rightly so.
    """
    plan = json.loads((results / "plan/how-quick.json").read_text())
    table = rows(results / "tables/how-quick.csv")
    found = sorted((row["cell"], row["arm"], row["repetition"]) for row in table)
    arms = [arm["name"] for arm in plan["arms"]]
    wanted = sorted((c, a, r) for c in CELLS for a in arms for r in ("0", "1"))
    return found == wanted and {row["status"] for row in table} <= {"ok", "invalid"}


def test_whatever_dies_the_same_command_goes_on(cluster, results):
    """Head killed, job cancelled, job requeued, controller killed, node lost with all that ran on it."""
    line, kept = Timeline(), {}
    targets = ("measure", f"{results}/tables/how-quick.csv", *PLAIN)

    head = Head(cluster, results, *targets)
    kept |= head.wait_for_loads(3)
    head.kill()
    orphans = {job["id"] for job in cluster.jobs()}
    line.say(f"{len(kept)} loads; head process killed, jobs {sorted(orphans)} still running")
    assert orphans

    head = Head(cluster, results, *targets)
    note = results / ".slurm-run"
    before = note.read_text()
    cluster.wait_for(lambda: note.read_text() != before)
    assert not orphans & {job["id"] for job in cluster.jobs()}
    line.say("the same command again; the jobs of the first are gone")

    job = head.running_job()
    kept |= head.wait_for_loads(len(head.loads()) + 2)
    cluster.run("scancel", job["id"])
    line.say(f"{len(kept)} loads; job {job['id']} cancelled")

    kept |= head.wait_for_loads(len(kept) + 3)
    cluster.restart_controller(after_s=DOWN_S)
    line.say(f"{len(kept)} loads; controller killed, and started again after {DOWN_S:.0f} s")

    job = head.running_job()
    cluster.run("scontrol", "requeue", job["id"])
    line.say(f"job {job['id']} put back into the queue")

    job = head.running_job()
    kept |= head.loads()
    cluster.kill_node(job["node"], with_jobs=True)
    line.say(f"{len(kept)} loads; {job['node']} lost with job {job['id']}")

    status = head.wait()
    line.say(f"head process ended with {status}; {len(head.loads())} loads")
    cluster.start_node(job["node"])
    assert status == 0, head.output()[-5000:] + cluster.logs()
    assert table_is_whole(results)
    after = head.loads()
    assert all(
        after[path] == content for path, content in kept.items()
    )  # nothing was measured twice
    # A fast machine has measured everything before the node is lost, perhaps all of it on one.
    assert {host["node"] for host in hosts(head)} <= {"node1", "node2"}
    assert not list(results.rglob(".*.tmp"))


def test_jobs_that_the_controller_forgot_are_sent_again(cluster, results):
    """The controller's machine is lost with its state, as with a job that was not saved yet."""
    head = Head(cluster, results, "measure", *PLAIN)
    kept = head.wait_for_loads(2)
    lost = head.running_job()["id"]
    cluster.restart_controller(after_s=1, forgetful=True)
    assert head.wait() == 0, head.output()[-5000:] + cluster.logs()
    assert f"SLURM no longer knows job {lost}:" in head.output()
    after = head.loads()
    assert all(after[path] == content for path, content in kept.items())


def test_accounting_tells_how_jobs_ended(prepared, tmp_path, place):
    """With slurmdbd: sacct in place of squeue; a job cancelled and slurmdbd dead for some seconds."""
    results = shutil.copytree(prepared, tmp_path / "results")
    with Cluster(place, accounting=True) as cluster:
        head = Head(
            cluster, results, "measure", f"{results}/tables/how-quick.csv",
            "--slurm-status-command=sacct",
        )  # fmt: skip
        kept = head.wait_for_loads(2)
        run = (results / ".slurm-run").read_text().split()[0]
        cancelled = head.running_job()["id"]
        cluster.run("scancel", cancelled)
        kept |= head.wait_for_loads(len(kept) + 3)
        cluster.kill_daemon("slurmdbd")
        time.sleep(DOWN_S)
        kept |= head.loads()
        start_accounting(cluster)
        assert head.wait() == 0, head.output()[-4000:] + cluster.logs()
        assert table_is_whole(results)
        after = head.loads()
        assert all(after[path] == content for path, content in kept.items())
        fields = ["--noheader", "--allocations", "--parsable2", "--format=jobid,state"]
        ends = dict(
            line.split("|") for line in cluster.run("sacct", f"--name={run}", *fields).splitlines()
        )
        assert ends.pop(cancelled).startswith("CANCELLED")
        assert len(ends) >= 2 and set(ends.values()) == {"COMPLETED"}, ends


def test_blocks_of_one_job_run_side_by_side(cluster, results):
    head = Head(cluster, results, "measure", *PLAIN, "--group-components", "block=2")
    assert head.wait() == 0, head.output()[-3000:]
    run = (results / ".slurm-run").read_text().split()[0]
    assert len([job for job in cluster.jobs("ALL") if job["name"] == run]) == 1
    starts = {cell: [] for cell in CELLS}
    for content in head.loads().values():
        meta = json.loads(content)
        starts[meta["cell"]].append(meta["started"])
    one, other = starts.values()
    assert max(min(one), min(other)) < min(max(one), max(other))


def whole_nodes(cluster, results):
    """Whether the jobs of the last start had their nodes for themselves; one answer each."""
    run = (results / ".slurm-run").read_text().split()[0]
    own = [job["id"] for job in cluster.jobs("ALL") if job["name"] == run]
    return {
        dict(
            word.partition("=")[::2] for word in cluster.run("scontrol", "show", "job", one).split()
        )["OverSubscribe"]
        == "NO"
        for one in own
    }


def test_only_loads_in_real_time_have_a_node_for_themselves(cluster, results):
    arm = [f"cells={CELLS[0]}", "arms=h1-nginx-curl"]
    for clock, own in (("real", True), ("virtual", False)):
        head = Head(cluster, results, "measure", *PLAIN, config=[*arm, f"clock={clock}"])
        assert head.wait() == 0, head.output()[-3000:]
        assert whole_nodes(cluster, results) == {own}


def test_a_cell_stays_on_one_kind_of_processor(cluster, results):
    """A block that comes to a node with another processor than its cell's first is refused there."""
    cell = [f"cells={CELLS[0]}", "arms=h1-nginx-curl"]
    first = Head(cluster, results, "measure", *PLAIN, config=cell)
    assert first.wait() == 0, first.output()[-3000:]
    lost = next(iter(first.loads()))
    shutil.rmtree(lost.parent)
    shutil.rmtree(results / "blocks")
    other = ["--set-resources", 'measure__block:constraint="other"', "--restart-times=0"]
    second = Head(cluster, results, "measure", *other, config=cell)
    assert second.wait() == 1
    assert "and this machine (node3) has 'Another Processor'" in second.output()
    assert not lost.exists()
    third = Head(cluster, results, "measure", *PLAIN, config=cell)
    assert third.wait() == 0, third.output()[-3000:]
    assert lost.exists() and len({host["cpu"] for host in hosts(third)}) == 1


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("measure__block:mem_mb=9999999", "would not run measure__block"),
        ("measure__block:slurm_extra=\"'--licenses=nothing:1'\"", "Invalid license"),
        ("extract__block:slurm_partition=nothing", "Invalid partition"),
    ],
)
def test_what_slurm_would_refuse_is_said_before_anything_is_sent(cluster, results, asked, said):
    before = len(cluster.jobs("ALL"))
    head = Head(cluster, results, f"{results}/tables/how-quick.csv", "--set-resources", asked)
    assert head.wait() == 1
    assert said in head.output()
    assert "Traceback" not in head.output()
    assert len(cluster.jobs("ALL")) == before


def test_a_program_in_a_job_reaches_no_more_than_elsewhere(cluster, tmp_path):
    """A block in a job of its own, whose server and client look around (docs/isolation.md)."""
    before = len(cluster.jobs("ALL"))
    with planned_look(tmp_path) as look:
        reached = look.measured_in(cluster.command("srun", "--constraint=plain", "--"))
    assert len(cluster.jobs("ALL")) > before
    meta = json.loads((look.run / "meta.json").read_text())
    assert meta["host"]["node"] in cluster.names
    for role in ROLES:
        has_no_rights(reached[role])
        saw_its_own_and_the_system_alone(reached[role])


def test_no_controller_is_one_message(prepared, tmp_path):
    """Outside of the cluster: the same command where no SLURM answers."""
    command = [sys.executable, "-m", "snakemake", "-s", ROOT / "Snakefile", "measure"]
    profile = ["--workflow-profile", ROOT / "profiles/slurm", "--config", f"results={tmp_path}/r"]
    done = subprocess.run(
        [*command, *profile, "scale=smoke"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "login node" in done.stderr and "Traceback" not in done.stderr


@long_set
def test_the_whole_workflow_ends_in_the_appendix(cluster, results):
    head = Head(cluster, results, *PLAIN)
    assert head.wait() == 0, head.output()[-4000:]
    assert (results / "appendix.pdf").stat().st_size > 10_000
    names = {job["name"] for job in cluster.jobs("ALL")}
    assert (results / ".slurm-run").read_text().split()[0] in names
    again = Head(cluster, results, "--dry-run", *PLAIN)
    before = len(head.output())
    assert again.wait() == 0
    assert "measure__block" not in again.output()[before:]


@long_set
def test_nodes_take_the_environment_from_an_image(tmp_path, place):
    """Nodes with empty disks of their own: calibration, blocks and appendix come from what they unpack."""
    with Cluster(place, own_disks=True) as cluster:
        head = Head(cluster, tmp_path / "results", nodes="image")
        assert head.wait(1800) == 0, head.output()[-4000:] + cluster.logs()
        assert table_is_whole(head.results)
        assert (head.results / "appendix.pdf").stat().st_size > 10_000
        (image,) = head.results.glob("environment-*.tar.gz")
        manifest = image.name.replace("environment", "manifest").replace(".tar.gz", ".json")
        for node in {host["node"] for host in hosts(head)}:
            assert (cluster.disk(node) / manifest).exists()


@long_set
def test_a_licence_keeps_blocks_one_after_another(cluster, results):
    licence = "\"'--licenses=testbed:1'\""
    head = Head(
        cluster, results, "measure", "--set-resources", f"measure__block:slurm_extra={licence}",
        f"extract__block:slurm_extra={licence}", config=["arms=h1-nginx-curl,h3-quiche"],
    )  # fmt: skip
    together = 0
    while head.process.poll() is None:
        together = max(together, sum("measure" in job["comment"] for job in cluster.jobs()))
        time.sleep(0.3)
    assert head.process.returncode == 0, head.output()[-3000:]
    assert together == 1
