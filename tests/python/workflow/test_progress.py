"""What is said while the workflow runs, and of a job that failed."""

import progress
from howquick.files import write_json
from howquick.session import _reason


def test_finished_running_and_waiting_blocks_are_counted(tmp_path):
    blocks = [
        {"cell": "c", "block": n, "repetitions": [0, 1], "arms": 5, "seconds": 100.0}
        for n in range(3)
    ]
    cells = [{"name": "c", "link": {"rtt_ms": 20}}, {"name": "d", "link": {"rtt_ms": 20}}]
    write_json(tmp_path / "plan/blocks/s.json", {"study": "s", "cells": cells, "blocks": blocks})
    assert progress.describe(progress.survey(tmp_path), progress.Survey(), 1.0) == (
        "calibrated 0 of 1 links"
    )
    write_json(tmp_path / "blocks/s/c/0.json", {})
    state = {"study": "s", "cell": "c", "block": 1, "done": 4, "total": 10, "not_ok": 1}
    write_json(tmp_path / "progress/s.c.1.json", state)
    now = progress.survey(tmp_path)
    assert (now.loads, now.total, now.not_ok, now.running) == (14, 30, 1, 1)
    assert (now.done_s, now.left_s) == (140.0, 160.0)
    line = progress.describe(now, progress.Survey(), 140.0)
    assert "measured 47%, 14 of 30 loads (1 not ok" in line and "done about" in line
    assert progress.describe(progress.Survey(), progress.Survey(), 1.0) == ""


def test_the_reason_of_a_failed_job_is_its_sentence_and_its_log(tmp_path):
    log = tmp_path / "log"
    log.write_text("noise\nhowquick: file: key: wrong. Do this\n")
    assert _reason(log) == f"howquick: file: key: wrong. Do this\nhowquick: the whole log is {log}"
    log.write_text("one\ntwo\nthree\nfour\n")
    assert _reason(log).startswith("two\nthree\nfour\n")
    assert str(tmp_path / "none") in _reason(tmp_path / "none")
