"""The whole workflow at smoke scale: real programs, packets, statistics, figures, LaTeX."""

import contextlib
import json
import os
import random
import re
import shutil
import signal
import subprocess
import time
from collections import defaultdict
from pathlib import Path

import pytest

from howquick.workflow.interference import turns
from patience import HANG_S, wait_until
from workflow.flow import descendants, rows, run, start

SMOKE_CELLS = {"10mbit-18ms-loss0-5obj-small", "10mbit-18ms-loss2-50obj-small"}


@pytest.fixture(scope="session")
def smoke(tmp_path_factory):
    """A finished run at smoke scale."""
    results = tmp_path_factory.mktemp("smoke") / "results"
    status, output = run(results)
    assert status == 0, output[-6000:]
    return results


def test_the_appendix_is_a_pdf_that_names_what_ran(smoke):
    text = subprocess.run(
        ["pdftotext", "-layout", smoke / "appendix.pdf", "-"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert "How quick is QUIC?" in text
    for word in ("HTTP/1.1", "SPDY", "nginx", "quiche", "node-spdy", "rattan", "CUBIC"):
        assert word.lower() in text.lower(), word


def test_every_load_of_every_arm_is_a_row(smoke):
    plan = json.loads((smoke / "plan/how-quick.json").read_text())
    table = rows(smoke / "tables/how-quick.csv")
    arms = {arm["name"] for arm in plan["arms"]}
    expected = {(cell, arm, str(r)) for cell in SMOKE_CELLS for arm in arms for r in (0, 1)}
    assert {(row["cell"], row["arm"], row["repetition"]) for row in table} == expected
    not_ok = [
        (row["arm"], row["cell"], row["status"], row["reason"])
        for row in table
        if row["status"] != "ok"
    ]
    assert not not_ok


def test_client_clock_and_capture_agree(smoke):
    differences = defaultdict(list)
    for row in rows(smoke / "tables/how-quick.csv"):
        differences[row["arm"]].append(abs(float(row["plt_s"]) - float(row["plt_capture_s"])))
    # A busy machine may delay a client's clock reading; a client that reads it wrongly does so in every load.
    best = {arm: min(loads) for arm, loads in differences.items()}
    assert max(best.values()) <= 0.005, differences


def test_frames_stay_within_the_mtu(smoke):
    assert all(
        0 < int(row["longest_frame_bytes"]) <= 1514 for row in rows(smoke / "tables/how-quick.csv")
    )


def test_losses_reach_only_the_cell_that_has_them(smoke):
    for row in rows(smoke / "tables/how-quick.csv"):
        if row["cell"] == "10mbit-18ms-loss0-5obj-small":
            assert (row["link_lost_up"], row["link_lost_down"]) == ("0", "0"), row
    lossy = [row for row in rows(smoke / "tables/how-quick.csv") if "loss2" in row["cell"]]
    assert sum(int(row["link_lost_down"]) for row in lossy) > 0


def test_captures_decrypt(smoke):
    for arm, want in (
        ("h2-nghttp2", "http2.type"),
        ("h3-quiche", "http3.frame_type"),
        ("h3-aioquic", "http3.frame_type"),
    ):
        capture = smoke / f"runs/how-quick/10mbit-18ms-loss0-5obj-small/{arm}/0000/client.pcapng"
        found = subprocess.run(
            ["tshark", "-r", capture, "-Y", want,
             "-d", "udp.port==14433-14450,quic", "-d", "tcp.port==14433-14450,tls"],
            capture_output=True, text=True, check=False,
        ).stdout  # fmt: skip
        assert found.strip(), arm


def test_connections_were_resumed_where_the_arm_says_so(smoke):
    for row in rows(smoke / "tables/how-quick.csv"):
        if row["arm"] == "h3-quiche-0rtt":
            assert (row["resumed"], row["early_data"]) == ("true", "true")
        elif row["arm"] == "h3-quiche":
            assert (row["resumed"], row["early_data"]) == ("false", "false")


def test_nothing_is_left_to_do(smoke):
    status, output = run(smoke, "--dry-run")
    assert status == 0
    assert "measure__block" not in output and "analyse__figure" not in output


def test_one_figure_can_be_asked_for(smoke):
    figure = smoke / "figures/how-quick/figure-4.pdf"
    before = figure.stat().st_mtime_ns
    figure.unlink()
    status, output = run(smoke, str(figure))
    assert status == 0, output[-3000:]
    assert figure.stat().st_mtime_ns > before


def test_figures_are_the_same_bytes_when_drawn_again(smoke, tmp_path):
    """Two builds of the analysis from the same table."""
    table = tmp_path / "table.csv"
    shutil.copy(smoke / "tables/how-quick.csv", table)
    outputs = []
    for name in ("first", "second"):
        results = tmp_path / name
        status, output = run(results, "analyse", config=[f"runs={table}"])
        assert status == 0, output[-4000:]
        assert f"from the loads in {table}" in output and "to measure" not in output
        outputs.append(
            {
                path.name: path.read_bytes()
                for path in [*results.glob("figures/*/*.pdf"), *results.glob("statistics/*/*.csv")]
            }
        )
        assert not (results / "runs").exists()  # nothing was measured
        assert (results / "appendix.pdf").stat().st_size > 10_000
    assert outputs[0].keys() == outputs[1].keys() and len(outputs[0]) > 8
    assert [name for name in outputs[0] if outputs[0][name] != outputs[1][name]] == []


def traces():
    """What a killed run could leave on the machine: network namespaces, mounts, interfaces."""
    namespaces = set()
    for link in Path("/proc").glob("[0-9]*/ns/net"):
        with contextlib.suppress(OSError):
            namespaces.add(str(link.readlink()))
    mounts = Path("/proc/self/mountinfo").read_text().count("\n")
    return len(namespaces), mounts, sorted(path.name for path in Path("/sys/class/net").iterdir())


def strike(victim, process, family):
    """Kill -9: the workflow alone, its whole process group, or one of its blocks."""
    if victim == "workflow":
        os.kill(process.pid, signal.SIGKILL)
    elif victim == "group":
        os.killpg(process.pid, signal.SIGKILL)
    else:
        blocks = []
        for pid in family:
            with contextlib.suppress(OSError):
                if b"measure.py" in Path(f"/proc/{pid}/cmdline").read_bytes():
                    blocks.append(pid)
        with contextlib.suppress(ProcessLookupError):
            os.kill(random.choice(blocks or [process.pid]), signal.SIGKILL)


# Two kills each in the test suite; HOWQUICK_KILLS=20 for a campaign.
# It counts the namespaces of the machine.
@pytest.mark.alone
@pytest.mark.parametrize("victim", ["workflow", "group", "block"])
def test_kill_9_and_the_same_command_again(tmp_path, victim):
    """Whatever is killed: no process stays, nothing finished is measured again, the table is whole."""
    results = tmp_path / "results"
    before = traces()
    finished = 0
    for _ in range(int(os.environ.get("HOWQUICK_KILLS", "2"))):
        process = start(results, "measure")
        wanted = finished + random.randint(1, 3)
        wait_until(
            lambda n=wanted, p=process: (
                len(list(results.glob("runs/*/*/*/[0-9]*/meta.json"))) >= n or p.poll() is not None
            )
        )
        time.sleep(random.random() / 2)  # anywhere in a repetition
        family = descendants(process.pid)
        strike(victim, process, family)
        process.wait(timeout=HANG_S)
        assert wait_until(lambda f=family: not any(Path(f"/proc/{pid}").exists() for pid in f))
        assert wait_until(lambda: traces() == before), (before, traces())
        kept = {path: path.read_bytes() for path in results.glob("runs/*/*/*/[0-9]*/meta.json")}
        assert len(kept) >= finished
        finished = len(kept)
    status, output = run(results, "measure", f"{results}/tables/how-quick.csv")
    assert status == 0, output[-3000:]
    assert all(path.read_bytes() == content for path, content in kept.items())
    table = rows(results / "tables/how-quick.csv")
    arms = {
        arm["name"] for arm in json.loads((results / "plan/how-quick.json").read_text())["arms"]
    }
    expected = {(cell, arm, r) for cell in SMOKE_CELLS for arm in arms for r in ("0", "1")}
    assert sorted((row["cell"], row["arm"], row["repetition"]) for row in table) == sorted(expected)
    assert not list(results.rglob(".*.tmp"))


def test_a_second_start_on_the_same_results_is_refused(tmp_path):
    results = tmp_path / "results"
    first = start(results, "measure")
    assert wait_until(lambda: (results / "calibration").exists())
    second = tmp_path / "second"
    second.mkdir()
    done = subprocess.run(first.args, cwd=second, capture_output=True, text=True, check=False)
    os.killpg(first.pid, signal.SIGKILL)
    first.wait()
    assert done.returncode == 1
    assert "works here already" in done.stderr + done.stdout


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ("scale=huge", "config/config.yaml: scale: 'huge' is not one of"),
        ("cells=10mbit", "no cell is called '10mbit'. Did you mean"),
        ("arms=h3-quich", "no arm is called 'h3-quich'. Did you mean h3-quiche"),
        ("studies=how-fast", "config/studies/how-fast.yaml: no such file"),
        ("sed=1", "Known keys here"),
        ("runs=nothing.csv", "runs: no file nothing.csv"),
    ],
)
def test_bad_configuration_is_one_message(tmp_path, config, said):
    status, output = run(tmp_path / "results", "--dry-run", config=[config])
    assert status == 1
    assert said in output
    assert "Traceback" not in output and len(output.splitlines()) < 6


def test_a_table_of_somebody_elses_belongs_to_one_study(tmp_path):
    (tmp_path / "runs.csv").write_text("study,cell,arm\n")
    asked = ["studies=how-quick,highway", f"runs={tmp_path}/runs.csv"]
    status, output = run(tmp_path / "results", "--dry-run", config=asked)
    assert status == 1
    assert "runs: is the table of one study" in output and "studies=NAME" in output


def test_the_dry_run_says_what_is_to_come(tmp_path):
    status, output = run(tmp_path / "results", "--dry-run", config=["scale=paper"])
    assert status == 0
    line = next(line for line in output.splitlines() if line.startswith("how-quick (paper):"))
    for word in ("48 cells", "blocks", "loads", "min", "MB"):
        assert word in line


def test_another_choice_of_arms_is_measured_at_once(tmp_path):
    results, cell = tmp_path / "results", "10mbit-18ms-loss0-5obj-small"

    def measured(arms):
        status, output = run(results, "measure", config=[f"arms={arms}", f"cells={cell}"])
        assert status == 0, output
        manifest = json.loads((results / f"blocks/how-quick/{cell}/0.json").read_text())
        return {load["arm"] for load in manifest["runs"]}, manifest, output

    assert measured("h1-nginx-curl")[0] == {"h1-nginx-curl"}
    arms, manifest, output = measured("h1-nginx-curl,h2-nginx-curl")
    assert "to measure: 1 of 1 blocks" in output
    assert arms == {"h1-nginx-curl", "h2-nginx-curl"}
    assert manifest["kept"] == manifest["measured"] == 2
    assert "to measure: 0 of 1 blocks" in measured("h1-nginx-curl,h2-nginx-curl")[2]


def test_a_damaged_manifest_is_one_message(tmp_path):
    manifest = tmp_path / "results/blocks/how-quick/10mbit-18ms-loss0-5obj-small/0.json"
    manifest.parent.mkdir(parents=True)
    manifest.write_text('{"study": "how-qu')
    status, output = run(tmp_path / "results", "--dry-run")
    assert status == 1
    assert f"{manifest}: damaged" in output and "Remove it" in output
    assert "Traceback" not in output and len(output.splitlines()) < 6


def test_interference_speaks_of_its_own_study_only(tmp_path):
    status, output = run(tmp_path / "results", "interference", "--dry-run")
    assert status == 0, output
    assert re.findall(r"^([\w-]+) \(\w+\): \d+ cells", output, re.MULTILINE) == ["aa"]


@pytest.mark.parametrize("repetitions", [3, 6, 20])
def test_the_ways_of_interference_take_turns(repetitions):
    measured = {}
    for way, until in turns(repetitions):
        # Each has every repetition once all have had their turn, and none is ahead by more than a round.
        assert until >= measured.get(way.name, 0)
        measured[way.name] = until
    assert set(measured.values()) == {repetitions}
    rounds = [[way.name for way, _ in turns(repetitions)][n : n + 4] for n in range(0, 16, 4)]
    assert all(len(set(place)) == 4 for place in zip(*rounds, strict=True))


def test_a_pilot_measures_the_first_repetitions_only(tmp_path):
    words = ["studies=aa", "repetitions=2"]
    status, output = run(tmp_path / "results", "--dry-run", config=words)
    assert status == 0, output
    assert "6 arms, 2 repetitions" in output


def test_the_workflows_of_interference_end_with_the_one_that_started_them(tmp_path):
    results = tmp_path / "results"
    process = start(results, "interference")
    measured = results / "agreement/measured"
    assert wait_until(lambda: list(measured.glob("*/runs/*/*/*/[0-9]*/meta.json")))
    family = descendants(process.pid)
    process.kill()
    process.wait(timeout=HANG_S)
    assert wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in family))
