"""What is said while the workflow runs and at its end, and of a job that failed."""

import fcntl
import logging
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import time
from types import SimpleNamespace

import pytest
from snakemake_interface_logger_plugins.common import LogEvent

from howquick.errors import ROOT
from howquick.files import write_json
from howquick.progress.pace import left_s
from howquick.progress.stages import each_s
from howquick.progress.survey import JOBS, Piece, Stage, Survey, survey
from howquick.progress.words import duration, last_lines, plain_line
from howquick.workflow.jobs import Jobs
from howquick.workflow.session import _reason
from howquick.workflow.start import start_file, where
from patience import HANG_S

# Writes by itself and by a job, and says at last that stderr is what it was.
WATCHED = """
import os, subprocess, sys, time
from pathlib import Path
from howquick.workflow.display import Display
before = os.ttyname(2)
display = Display(sys.argv[1], Path(sys.argv[2]))
print("from the workflow", file=sys.stderr, flush=True)
subprocess.run(["sh", "-c", "echo from a job >&2"], check=True)
time.sleep(3)
if sys.argv[3] == "kill":
    display._process.kill()
    time.sleep(1)
    print("after its end", "x" * (1 << 17), file=sys.stderr, flush=True)
display.close()
assert os.ttyname(2) == before
print("at the end", file=sys.stderr, flush=True)
"""


def task(file, **more):
    return {"file": str(file), "before": file.stat().st_mtime_ns if file.exists() else None} | more


def one_start(folder):
    """A start of three blocks: one made, one of which half of a load's loads are there, one to come."""
    made = [folder / f"blocks/s/c/{n}.json" for n in range(3)]
    link = folder / "calibration/l.json"
    # The first block was measured before; four of its ten loads are missing now.
    write_json(made[0], {})
    blocks = [
        task(
            file,
            study="s",
            cell="c",
            block=n,
            loads=4 if n == 0 else 10,
            seconds=100.0,
            alone=False,
        )
        for n, file in enumerate(made)
    ]
    write_json(start_file(folder), {"links": [task(link)], "blocks": blocks})
    return made, link, blocks


def under_way(folder):
    made, link, blocks = one_start(folder)
    write_json(link, {})
    write_json(made[1], {"wall_s": 200.0})
    state = {
        "study": "s", "cell": "c", "block": 0, "done": 7, "total": 10, "not_ok": 1, "disturbed": 2,
        "running": "h3-arm #4", "started": time.time() - 50,
    }  # fmt: skip
    write_json(folder / "progress/s.c.0.json", state)
    return blocks


def test_what_this_start_measures_is_counted_and_nothing_else(tmp_path):
    _, _, blocks = one_start(tmp_path)
    # Plans of other starts are of no interest.
    write_json(tmp_path / "plan/blocks/old.json", {"study": "old", "cells": [], "blocks": blocks})
    begin = survey(tmp_path, start_file(tmp_path), time.time())
    assert (begin.loads, begin.total) == (0, 24)
    assert plain_line(begin, None) == "calibrated 0 of 1 links"
    under_way(tmp_path)
    now = survey(tmp_path, start_file(tmp_path), time.time())
    # The first block was noted anew, as it stood.
    assert (now.loads, now.total, len(now.running)) == (11, 24, 1)
    assert now.share == pytest.approx(125 / 300)
    line = plain_line(now, 60.0)
    assert "measured 42%, 11 of 24 loads (1 not ok" in line and "done about" in line
    assert plain_line(Survey(), None) == ""


def run_of(factors, width, blocks=20, planned_s=60.0):
    """Surveys of a run whose blocks take another time than was planned: (elapsed, survey), and when it ends.

    factors: by study, seconds taken for each planned one. width: how many blocks run at once.
    """
    queue = [
        (study, planned_s * factor) for _ in range(blocks) for study, factor in factors.items()
    ]
    free, ends = [0.0] * width, []
    for _, seconds in queue:
        begin = min(free)
        free[free.index(begin)] = begin + seconds
        ends.append((begin, begin + seconds))
    last = max(end for _, end in ends)

    def at(elapsed):
        pieces = []
        for (study, seconds), (begin, end) in zip(queue, ends, strict=True):
            done = min(10, max(0, int(10 * (elapsed - begin) / seconds)))
            spent = min(elapsed, end) - begin if elapsed > begin else None
            pieces.append(Piece(study, False, 10, planned_s, done, elapsed >= end, spent))
        return Survey(pieces)

    return at, last


@pytest.mark.parametrize("width", [1, 4])
@pytest.mark.parametrize("factors", [{"a": 1.0, "b": 1.0}, {"a": 0.5, "b": 3.0}])
def test_the_time_left_does_not_drift(factors, width):
    at, end = run_of(factors, width)
    for share in (0.25, 0.5, 0.75):
        told = left_s(at(share * end), share * end)
        # Whoever trusted it looks again when it is over, and not a third of the run later.
        assert share * end + told == pytest.approx(end, rel=0.12)


def test_blocks_that_run_alone_are_not_side_by_side():
    measured = [Piece("a", False, 1, 60.0, 1, True, 60.0) for _ in range(4)]
    rest = [Piece("a", alone, 1, 60.0, 0, False) for alone in (True, False, False, False, False)]
    # Four at once took a minute: so do the other four, and the one that is alone takes its own.
    assert left_s(Survey(measured + rest), 60.0) == pytest.approx(120)
    assert left_s(Survey(rest), 60.0) is None


# Seconds of a job of each later stage, here a third more than are planned for it, and how many there are.
LATER = {
    "analyse__statistics": (8.0, 2),
    "analyse__figure": (8.0, 60),
    "publish__appendix": (5.0, 1),
}
TABLE_S = 8.0


def whole_run(width, beside):
    """Surveys of a run with all its stages: (elapsed, survey), when the last block ends, and when all does.

    beside: tables are made as soon as their blocks are measured; else all of them after the last block.
    """
    at_blocks, measured = run_of({"a": 1.0, "b": 2.0}, width)
    blocks = len(at_blocks(0.0).pieces)

    def waves(since, seconds, jobs):
        """When each of so many jobs ends, width at once."""
        return [since + seconds * (1 + number // width) for number in range(jobs)]

    ends = {}
    if not beside:
        ends["extract__block"] = waves(measured, TABLE_S, blocks)
    since = ends["extract__block"][-1] if ends else measured + TABLE_S
    for rule, (seconds, jobs) in LATER.items():
        ends[rule] = waves(since, seconds, jobs)
        since = ends[rule][-1]
    each = {rule: seconds for rule, (seconds, _) in LATER.items()} | {"extract__block": TABLE_S}

    def at(elapsed):
        now = at_blocks(elapsed)
        done = {rule: sum(end <= elapsed for end in times) for rule, times in ends.items()}
        if beside:
            done["extract__block"] = sum(
                piece.ended for piece in at_blocks(elapsed - TABLE_S).pieces
            )
        jobs = {rule: len(times) for rule, times in ends.items()} | {"extract__block": blocks}
        stages = [Stage(rule, jobs[rule], n, n * each[rule]) for rule, n in done.items()]
        return Survey(now.pieces, stages=stages, width=width)

    return at, measured, since


@pytest.mark.parametrize("width", [2, 4])
@pytest.mark.parametrize("beside", [True, False])
def test_the_time_left_is_until_all_is_made(width, beside):
    at, measured, end = whole_run(width, beside)
    # What comes after the last block is no trifle.
    assert end > 1.1 * measured
    for share in (0.25, 0.5, 0.75):
        told = left_s(at(share * measured), share * measured)
        assert share * measured + told == pytest.approx(end, rel=0.12)
    for share in (0.1, 0.5, 0.9):
        now = measured + share * (end - measured)
        assert now + left_s(at(now), now) == pytest.approx(end, rel=0.05)
    assert left_s(at(end), end) == 0


def test_links_that_are_still_probed_come_first():
    pieces = [Piece("a", False, 1, 60.0, 1, True, 60.0), Piece("a", False, 1, 60.0, 0, False)]
    plain = left_s(Survey(pieces), 60.0)
    stages = [Stage("calibrate__link", 6, 2, 40.0), Stage("measure__block", 2, 1, 60.0)]
    # Two took 20 s each: so will four, of which two run at once, if a little less was planned for one.
    assert left_s(Survey(pieces, stages=stages, width=2), 60.0) - plain == pytest.approx(32)


def test_what_jobs_took_is_noted_for_whoever_looks(tmp_path):
    def event(kind, **more):
        record = logging.makeLogRecord({"event": kind, **more})
        jobs.hear(record)

    class Job:
        rule = SimpleNamespace(name="analyse__figure")

    jobs = Jobs(tmp_path, [Job(), Job(), Job()], 2)
    event(LogEvent.JOB_INFO, jobid=7, rule_name="analyse__figure")
    event(LogEvent.JOB_INFO, jobid=8, rule_name="analyse__figure")
    event(LogEvent.JOB_FINISHED, job_id=7)
    event(LogEvent.SHELLCMD)
    now = survey(tmp_path, start_file(tmp_path), time.time())
    assert (now.jobs, now.width) == ((2, 3), 2)
    (stage,) = now.stages
    assert (stage.rule, stage.jobs, stage.ended, stage.usual_s) == ("analyse__figure", 3, 1, None)
    assert 0 <= stage.seconds < HANG_S
    # The next start knows it, and the one after it as well, though nothing of it ends between.
    for _ in range(2):
        jobs = Jobs(tmp_path, [Job()], 2)
        (again,) = survey(tmp_path, start_file(tmp_path), time.time()).stages
        assert (again.ended, again.usual_s) == (0, stage.seconds)
        assert each_s(again) == stage.seconds


@pytest.mark.parametrize(("seconds", "said"), [(20, "20 s"), (300, "5 min"), (7500, "2 h 05 min")])
def test_spans_of_time_in_words(seconds, said):
    assert duration(seconds) == said


def test_the_last_five_lines(tmp_path):
    plans = {"s": {"blocks": [{"cell": "c", "block": 0}, {"cell": "c", "block": 1}]}}
    write_json(tmp_path / "blocks/s/c/0.json", {"statuses": {"ok": 7, "timeout": 2, "invalid": 1}})
    assert last_lines(tmp_path, plans)[2] == "claims    none tested by this start"
    (tmp_path / "statistics/s").mkdir(parents=True)
    claims = (
        "claim,claim_verdict\n1-a,supported\n1-a,supported\n2-b,not supported\n3-c,too few loads\n"
    )
    (tmp_path / "statistics/s/claims.csv").write_text(claims)
    (tmp_path / "appendix.pdf").touch()
    assert last_lines(tmp_path, plans) == [
        f"measured  9 loads of s in {tmp_path}",
        "failed    2 of 9 loads (2 timeout); 1 stayed disturbed and count nowhere",
        "claims    1 of 3 held (s 1-a), 1 did not, 1 open",
        f"report    {tmp_path}/report/index.html is not made by this start",
        f"appendix  {tmp_path}/appendix.pdf",
    ]


def on_a_terminal(*argv):
    """What a program writes to a terminal of 100 columns; its exit status."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(sys.executable, [sys.executable, *map(str, argv)])
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
    seen = b""
    deadline = time.monotonic() + HANG_S
    while time.monotonic() < deadline:
        try:
            part = os.read(terminal, 1 << 16)
        except OSError:
            break
        if not part:
            break
        seen += part
    os.close(terminal)
    return seen.decode(), os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


@pytest.mark.parametrize("end", ["gently", "kill"])
def test_bars_and_messages_share_a_terminal(tmp_path, end, monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "scripts"))
    under_way(tmp_path)
    write_json(tmp_path / JOBS, {"begun": 3, "total": 9})
    seen, status = on_a_terminal("-c", WATCHED, tmp_path, start_file(tmp_path), end)
    assert status == 0, seen
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", seen).replace("\r", "\n")
    lines = text.split("\n")
    assert any(re.match(r"s +\S+ +11 of 24 loads", line) for line in lines), text
    assert any(
        re.match(r" +c +h3-arm #4 +8 of 10 +1 not ok, 2 disturbed", line) for line in lines
    ), text
    assert any(
        re.match(r"1 blocks running, .* left, done about .*, job 3 of 9", line) for line in lines
    ), text
    # Each once, whole, and the last below all bars.
    for said in ("from the workflow", "from a job", "at the end"):
        assert text.count(said) == 1, text
    assert text.rstrip().endswith("at the end")
    assert ("after its end" in text) is (end == "kill")


def test_without_a_terminal_there_are_plain_lines(tmp_path):
    under_way(tmp_path)
    program = [sys.executable, ROOT / "scripts/show_progress.py", tmp_path, start_file(tmp_path)]
    owner = subprocess.Popen(["sleep", "2"])
    # Who has ended is a zombie until it is waited for: that counts as an end.
    done = subprocess.run(
        [*program, str(owner.pid)], capture_output=True, text=True, check=True, timeout=HANG_S,
        env=os.environ | {"PYTHONPATH": str(ROOT / "scripts")},
    )  # fmt: skip
    owner.wait()
    assert re.fullmatch(
        r"howquick: measured 42%, 11 of 24 loads .*; 1 blocks running\n", done.stderr
    )


def test_the_end_names_what_was_asked_for(tmp_path):
    class Job:
        def __init__(self, output=(), files=()):
            self.output, self.input = output, files

    for name in ("a/1.pdf", "a/2.pdf", "a/3.pdf", "b.csv", "appendix.pdf"):
        write_json(tmp_path / name, {})
    assert where([Job(files=[f"{tmp_path}/appendix.pdf"])]) == f"{tmp_path}/appendix.pdf"
    study = Job(files=[f"{tmp_path}/{n}" for n in ("b.csv", "a/1.pdf", "a/2.pdf", "a/3.pdf", "no")])
    assert where([study]) == f"{tmp_path}/b.csv, {tmp_path}/a/ (3 files)"
    assert where([Job(output=[f"{tmp_path}/b.csv"], files=["x"])]) == f"{tmp_path}/b.csv"


def test_the_reason_of_a_failed_job_is_its_sentence_and_its_log(tmp_path):
    log = tmp_path / "log"
    log.write_text("noise\nhowquick: file: key: wrong. Do this\n")
    assert _reason(log) == f"howquick: file: key: wrong. Do this\nhowquick: the whole log is {log}"
    log.write_text("one\ntwo\nthree\nfour\n")
    assert _reason(log).startswith("two\nthree\nfour\n")
    assert str(tmp_path / "none") in _reason(tmp_path / "none")
