"""Programs that are killed or stopped in the middle of a load."""

import json
import os
import signal
import time
from pathlib import Path

import pytest

from faults.inject import LONG_CELL, Injected
from patience import HANG_S, wait_until
from workflow.blocks import make_plan, measure, meta
from workflow.flow import descendants, run, start

# Of the scale smoke; its loads are many, so that the kill falls between two of them.
SMOKE_CELL = "10mbit-18ms-loss2-50obj-small"
PLT_S = 2.5  # 640 KB of objects at 2 Mbit/s: no load can be faster
KEPT = "all finished loads"


def plan(results, monkeypatch, repetitions=2):
    """Two arms with a server each."""
    arms = {"one": {}, "two": {"protocol": "h2"}}
    make_plan(results, monkeypatch, arms, LONG_CELL, repetitions=repetitions)


def states(results):
    """{(arm, repetition): meta}"""
    found = {}
    for path in results.glob(f"runs/how-quick/{LONG_CELL}/*/[0-9]*/meta.json"):
        arm, repetition = path.parent.parent.name, int(path.parent.name)
        found[arm, repetition] = meta(results, arm, repetition, LONG_CELL)
    return found


@pytest.mark.parametrize(
    ("fault", "program", "told"),
    [
        ("server killed", "nginx", "server nginx was killed by SIGKILL"),
        ("client killed", "page-client", "client curl"),
    ],
)
def test_a_killed_program_is_a_failed_load(tmp_path, monkeypatch, outcome, fault, program, told):
    plan(tmp_path, monkeypatch)
    injected = Injected(tmp_path)
    injected.wait_for_load()
    injected.signal(program, signal.SIGKILL)
    status, output = injected.end()
    assert status == 0, output
    injected.assert_kept()
    found = states(tmp_path)
    bad = {key: m for key, m in found.items() if m["status"] != "ok"}
    assert len(bad) == 1, {key: (m["status"], m["reason"]) for key, m in found.items()}
    (failed,) = bad.values()
    assert failed["status"] == "failed" and told in failed["reason"], failed["reason"]
    assert all(m["network_s"] > PLT_S for m in found.values() if m["status"] == "ok")
    outcome(
        fault, f"the load's row: {failed['reason']}", KEPT, "failed; censored in the statistics"
    )


def test_a_killed_capture_is_no_failure_of_the_arm(tmp_path, monkeypatch, outcome):
    plan(tmp_path, monkeypatch)
    injected = Injected(tmp_path)
    injected.wait_for_load()
    injected.signal("tcpdump", signal.SIGKILL)
    status, output = injected.end()
    assert status == 0, output
    injected.assert_kept()
    found = states(tmp_path)
    assert {m["status"] for m in found.values()} == {"ok"}
    (again,) = [m for m in found.values() if m["attempts"] > 1]
    assert "tcpdump ended" in again["disturbed"][0]
    outcome(
        "capture killed",
        f"in meta.json: {again['disturbed'][0].strip()}",
        KEPT,
        "invalid, measured again",
    )


def test_a_killed_emulator_ends_the_block(tmp_path, monkeypatch, outcome):  # fmt: skip
    plan(tmp_path, monkeypatch)
    injected = Injected(tmp_path)
    injected.wait_for_load()
    injected.signal("link-emulator", signal.SIGKILL)
    status, output = injected.end()
    assert status == 1
    last = output.strip().splitlines()[-1]
    assert last.startswith("howquick: ") and "emulator" in last and "same command" in last
    injected.assert_kept()
    assert len(injected.metas()) == len(injected.finished)
    status, output, manifest = measure(tmp_path, LONG_CELL)
    assert status == 0, output
    assert manifest["kept"] == len(injected.finished)
    assert manifest["statuses"] == {"ok": 4}
    outcome("emulator killed", last, KEPT, "none; measured at the next start")


@pytest.mark.rights
@pytest.mark.parametrize(
    ("fault", "signum"),
    [("block killed", signal.SIGKILL), ("block ended", signal.SIGTERM), ("Ctrl-C", signal.SIGINT)],
)
def test_a_killed_block_leaves_nothing(tmp_path, monkeypatch, outcome, fault, signum):
    plan(tmp_path, monkeypatch)
    injected = Injected(tmp_path)
    injected.wait_for_load()
    if signum == signal.SIGINT:
        os.killpg(injected.block.pid, signum)  # as a terminal does
    else:
        os.kill(injected.block.pid, signum)
    assert injected.block.wait(timeout=HANG_S) != 0
    injected.assert_gone()
    injected.assert_kept()
    # The load that it was in the middle of takes longer than any program needs to end.
    assert len(injected.metas()) == len(injected.finished)
    status, output, manifest = measure(tmp_path, LONG_CELL)
    assert status == 0, output
    assert manifest["kept"] == len(injected.finished) and manifest["statuses"] == {"ok": 4}
    injected.assert_kept()
    injected.end()
    outcome(
        fault, "the workflow names the block and its log", KEPT, "none; measured at the next start"
    )


@pytest.mark.parametrize(
    ("fault", "program", "told"),
    [
        ("server stopped for 2 s", "nginx", "the server stood still"),
        ("client stopped for 2 s", "page-client", "the client stood still"),
        ("emulator stopped for 2 s", "link-emulator", "the emulator stood still"),
        ("capture stopped for 2 s", "tcpdump", "capture stood still"),
    ],
)
def test_a_stopped_program_makes_no_number(tmp_path, monkeypatch, outcome, fault, program, told):
    """SIGSTOP, and SIGCONT two seconds later: without a guard a load of 2.6 s would count as 4.6 s."""
    plan(tmp_path, monkeypatch, repetitions=1)
    injected = Injected(tmp_path)
    injected.wait_for_load()
    injected.signal(program, signal.SIGSTOP)
    time.sleep(2)
    injected.signal(program, signal.SIGCONT)
    status, output = injected.end()
    assert status == 0, output
    injected.assert_kept()
    found = states(tmp_path)
    again = [m for m in found.values() if m["attempts"] > 1]
    assert len(again) == 1, {
        key: (m["status"], m["reason"], m["guard"]) for key, m in found.items()
    }
    assert told in again[0]["disturbed"][0]
    assert {m["status"] for m in found.values()} == {"ok"}
    calm = [m["network_s"] for m in found.values() if m["attempts"] == 1]
    assert again[0]["network_s"] < max(calm) + 1, json.dumps(again[0]["guard"])
    outcome(fault, f"in meta.json: {again[0]['disturbed'][0]}", KEPT, "invalid, measured again")


def test_a_killed_workflow_leaves_nothing(tmp_path, outcome):
    """Snakemake alone is killed, and everything that it started ends with it."""
    results = tmp_path / "results"
    config = [f"cells={SMOKE_CELL}", "arms=h1-nginx-curl,h2-nginx-curl"]
    process = start(results, "measure", config=config)

    def finished():
        return {p: p.read_bytes() for p in results.glob("runs/*/*/*/[0-9]*/meta.json")}

    assert wait_until(lambda: finished() or process.poll() is not None)
    assert process.poll() is None, process.output.read_text()
    family = descendants(process.pid)
    os.kill(process.pid, signal.SIGKILL)
    process.wait(timeout=HANG_S)
    assert wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in family))
    kept = finished()
    status, output = run(results, "measure", config=config)
    assert status == 0, output
    now = finished()
    assert len(now) == 4 > len(kept) > 0
    assert all(now[path] == content for path, content in kept.items())
    assert not list(results.rglob(".*.tmp"))
    outcome("snakemake killed", "nothing: it is gone", KEPT, "none; measured at the next start")
