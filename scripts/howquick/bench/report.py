"""What the reader's report costs of many made-up loads: writing it, its size, how soon a browser shows it."""

from __future__ import annotations

import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from howquick.bench.many_loads import LOADS, many_loads, write_runs, write_statistics
from howquick.errors import ROOT
from howquick.files import write_json
from howquick.plan.plan import plan_study
from howquick.report.browser import Browser, browser
from howquick.study.resolve import Selection

STUDY = "how-quick"
# From going to an address until what it says is painted.
_SHOWN = """new Promise((done) => {
  const begin = performance.now();
  location.hash = %s;
  const look = () => (document.getElementById('main').dataset.ready === location.hash
    ? requestAnimationFrame(() => setTimeout(() => done(performance.now() - begin)))
    : setTimeout(look, 2));
  setTimeout(look);
})"""


def report(folder: Path) -> list[dict[str, Any]]:
    """Of a report of made-up loads: processor seconds, bytes, and milliseconds until Chromium shows pages.

    Raises BrowserError where there is no browser.
    """
    shutil.rmtree(folder, ignore_errors=True)
    plan = plan_study(STUDY, Selection("paper", 11, clock="real"))
    runs = many_loads(plan, LOADS)
    table = folder / "runs.csv"
    write_runs(runs, table)
    write_json(folder / "plan.json", plan)
    write_statistics(folder / "plan.json", runs, folder / "statistics")
    cpu_s = _write(folder, table)
    written = sum(file.stat().st_size for file in (folder / "report").rglob("*.js"))
    cell = plan["cells"][0]["name"]
    loads = sum(row["cell"] == cell for row in runs)
    rows = [
        {"what": "cpu_s", "loads": len(runs), "value": round(cpu_s, 1)},
        {"what": "bytes", "loads": len(runs), "value": written},
    ]
    with browser() as page:
        page.size(1280, 900)
        page.call("Performance.enable", timeDomain="threadTicks")
        begin = time.monotonic()
        page.open((folder / "report" / "index.html").as_uri())
        shown = {
            "first_page_ms": (len(runs), 1000 * (time.monotonic() - begin)),
            "first_page_cpu_ms": (len(runs), _busy_ms(page)),
        }
        for what, place, count in (
            ("study_ms", f"#/{STUDY}", len(runs)),
            ("claims_ms", f"#/{STUDY}?tab=claims", len(runs)),
            ("cell_ms", f"#/{STUDY}/{cell}", loads),
        ):
            before = _busy_ms(page)
            shown[what] = (count, page.run(_SHOWN % repr(place)))
            shown[what.replace("_ms", "_cpu_ms")] = (count, _busy_ms(page) - before)
    return rows + [
        {"what": what, "loads": count, "value": round(ms)} for what, (count, ms) in shown.items()
    ]


def _busy_ms(page: Browser) -> float:
    """Processor time of the thread that runs scripts and lays pages out, since the page was opened."""
    found = page.call("Performance.getMetrics")["metrics"]
    return 1000 * float(next(one["value"] for one in found if one["name"] == "TaskDuration"))


def _write(folder: Path, table: Path) -> float:
    """Write the report as the rules do; returns the seconds of processor time."""
    program = [sys.executable, str(ROOT / "scripts/write_report.py")]
    plan, statistics = folder / "plan.json", folder / "statistics"
    output = folder / "report"
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [*program, "study", "--plan", plan, "--runs", table, "--statistics", statistics,
         "--results", folder, "--output", output / "data" / STUDY], check=True,
    )  # fmt: skip
    subprocess.run(
        [*program, "index", "--plans", plan, "--runs", table, "--statistics", statistics,
         "--output", output / "index.html"], check=True,
    )  # fmt: skip
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
