"""What earlier starts and copies of folders leave: notes of jobs, pins of processors."""

import shutil
from types import SimpleNamespace

import pytest

from howquick.errors import UserError
from howquick.files import write_json
from howquick.measure import cpu_model
from howquick.measure.block import Block, locked
from howquick.measure.cpu_model import PIN, claim_processor
from howquick.workflow import cluster
from howquick.workflow.cluster import NOTE, explain, noted_run, write_note
from workflow.blocks import CELL, make_plan

RUN = "0b7cf7ea-9c5d-4d4e-b0ee-3ed8a4bd2b53"


def test_a_copied_folder_cancels_nobodys_jobs(tmp_path):
    mine = tmp_path / "results"
    mine.mkdir()
    write_note(mine / NOTE, RUN)
    assert noted_run(mine / NOTE) == RUN
    shutil.copytree(mine, tmp_path / "copy")
    assert noted_run(tmp_path / "copy" / NOTE) is None
    # Also where the copy has taken the place of the first.
    mine.rename(tmp_path / "moved")
    (tmp_path / "copy").rename(mine)
    assert noted_run(mine / NOTE) is None


def test_a_start_ends_the_jobs_of_its_own_folder_alone(tmp_path, monkeypatch):
    ended = []
    monkeypatch.setattr(cluster, "end_jobs", ended.append)
    monkeypatch.setattr(cluster, "node_command", lambda *_: "")
    for name in ("_jobs", "check_requests", "mend"):
        monkeypatch.setattr(cluster, name, lambda *_: None)
    workflow = SimpleNamespace(
        scheduler=SimpleNamespace(_executor=SimpleNamespace(run_uuid=RUN)),
        remote_execution_settings=SimpleNamespace(),
    )
    mine, copy = tmp_path / "results", tmp_path / "copy"
    mine.mkdir()
    cluster.take_over(workflow, mine)
    shutil.copytree(mine, copy)
    cluster.take_over(workflow, copy)
    assert ended == []
    cluster.take_over(workflow, mine)
    assert ended == [RUN]


@pytest.mark.parametrize("text", ["", RUN, f"{RUN},others\n", "*\n", "\0"])
def test_a_note_that_is_none_is_not_believed(tmp_path, text):
    (tmp_path / NOTE).write_text(text)
    assert noted_run(tmp_path / NOTE) is None
    assert noted_run(tmp_path / "nothing" / NOTE) is None


def test_a_fact_that_slurm_does_not_tell_is_no_traceback(monkeypatch):
    monkeypatch.setattr(
        cluster, "_slurm", lambda *_: "JobId=1 JobState=PENDING Reason=BadConstraints NumCPUs=2"
    )
    told = explain(SimpleNamespace(aux={"external_jobid": "1"}))
    assert "(2 CPUs, memory unknown, features unknown)" in told


def pinned(results, monkeypatch, number=0):
    """A block of a cell whose pin names another model of processor."""
    plan = make_plan(results, monkeypatch, {"one": {}}, repetitions=2, block_seconds=1)
    pin = results / "runs" / plan["study"] / CELL / PIN
    pin.parent.mkdir(parents=True)
    pin.write_text("Another 8080\n")
    (results / "progress").mkdir()
    left = results / "progress" / f"{plan['study']}.{CELL}.{number}.json"
    write_json(left, {})
    return Block(plan, CELL, 0, results), pin, left.with_suffix(".lock")


def test_a_blocks_own_leftover_does_not_refuse_it(tmp_path, monkeypatch):
    block, pin, lock = pinned(tmp_path, monkeypatch)
    with locked(lock):
        claim_processor(block)
    assert pin.read_text().strip() == cpu_model.describe_host()["cpu"]


def test_another_block_counts_while_it_lives(tmp_path, monkeypatch):
    block, pin, lock = pinned(tmp_path, monkeypatch, number=1)
    if len(block.plan["blocks"]) < 2:
        block.plan["blocks"].append(block.plan["blocks"][0] | {"block": 1})
    with locked(lock), pytest.raises(UserError, match="has been measured on 'Another 8080'"):
        claim_processor(block)
    claim_processor(block)
    assert pin.read_text().strip() == cpu_model.describe_host()["cpu"]
