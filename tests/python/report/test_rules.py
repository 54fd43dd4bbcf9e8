"""The rules that make the report, of somebody else's table."""

from __future__ import annotations

import csv
import json
from pathlib import Path

from howquick.progress.survey import JOBS
from howquick.report.browser import Browser
from report.sample import CELLS, STUDY, Sample, runs_file
from workflow.flow import run


def test_a_table_of_others_becomes_a_report(page: Browser, sample: Sample, tmp_path: Path) -> None:
    with runs_file(sample.folder).open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    table = tmp_path / "theirs.csv"
    wanted = ["study", "cell", "arm", "block", "repetition", "order", "session", "status", "reason"]
    factors = ["bandwidth_mbit", "rtt_ms", "loss_percent", "objects", "object_size"]
    with table.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, [*wanted, "plt_s", *factors], extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)
    results = tmp_path / "results"
    config = [f"studies={STUDY}", "scale=artifact", f"runs={table}", f"cells={','.join(CELLS)}"]
    status, output = run(results, "report", config=config)
    assert status == 0, output[-4000:]
    assert not (results / "runs").exists()
    # Of each of its jobs the next start knows how long it takes.
    stages = json.loads((results / JOBS).read_text())["stages"]
    assert {"analyse__statistics", "publish__report"} <= set(stages)
    assert all(one["ended"] == one["jobs"] and one["seconds"] > 0 for one in stages.values())
    page.open((results / "report" / "index.html").as_uri())
    page.click(f"section[data-study='{STUDY}'] h2 a")
    page.click(f"a.tile[data-cell='{CELLS[0]}']")
    page.click("a.slowest")
    shown = page.run("document.getElementById('main').innerText")
    assert "not in this folder" in shown and "Its row of the table of runs" in shown
