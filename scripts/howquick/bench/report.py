"""What the reader's report costs of many made-up loads: writing it, its size, how soon a browser shows it."""

from __future__ import annotations

import csv
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from howquick.errors import ROOT
from howquick.extract.columns import SHARE_COLUMNS, run_columns
from howquick.files import write_json
from howquick.plan.plan import plan_study
from howquick.report.browser import Browser, browser
from howquick.study.resolve import Selection

STUDY = "how-quick"
LOADS = 80_000
# Numbers that a load of a page does not have: of bulk transfers, of a player, and of flows beside an arm.
_OTHERS = ("profile", "_buffer_bytes", "startup_s", "stall", "mean_bitrate_mbit", *SHARE_COLUMNS)
# From going to an address until what it says is painted.
_SHOWN = """new Promise((done) => {
  const begin = performance.now();
  location.hash = %s;
  const look = () => (document.getElementById('main').dataset.ready === location.hash
    ? requestAnimationFrame(() => setTimeout(() => done(performance.now() - begin)))
    : setTimeout(look, 2));
  setTimeout(look);
})"""


def many_loads(plan: Mapping[str, Any], loads: int = LOADS) -> list[dict[str, str]]:
    """At least so many rows of a table of runs, in every cell and arm of the plan, with a number in every
    column that a load of a page can have.
    """  # fmt: skip
    factors = {factor["name"] for factor in plan["factors"]}
    columns = run_columns(factors, set())
    repetitions = -(-loads // (len(plan["cells"]) * len(plan["arms"])))
    rows: list[dict[str, str]] = []
    for cell in plan["cells"]:
        for repetition in range(repetitions):
            for order, arm in enumerate(plan["arms"]):
                number = len(rows)
                row = {name: _number(name, number, at) for at, name in enumerate(columns)}
                rows.append(row | {
                    "study": plan["study"], "cell": cell["name"], "arm": arm["name"], "block": "0",
                    "repetition": str(repetition), "order": str(order), "session": "s1",
                    "clock": "real", "status": "failed" if number % 97 == 0 else "ok",
                    "reason": "the connection was closed" if number % 97 == 0 else "",
                    "disturbed": "", "extract_note": "", "attempts": "1", "protocol": arm["protocol"],
                    "machine": "m", "started": f"{1790000000 + number}.500000",
                    "path": f"runs/{plan['study']}/{cell['name']}/{arm['name']}/{repetition:04d}",
                    **{name: str(cell["values"][name]) for name in factors},
                })  # fmt: skip
    return rows


def _number(column: str, row: int, at: int) -> str:
    if any(part in column for part in _OTHERS):
        return ""
    drawn = (row * 7919 + at * 104729) % 1000003
    # Packets of a load are counted, and some hundreds.
    return str(drawn % 1000) if column.startswith("ecn_") else f"{drawn / 1000}"


def report(folder: Path) -> list[dict[str, Any]]:
    """Of a report of made-up loads: processor seconds, bytes, and milliseconds until Chromium shows pages.

    Raises BrowserError where there is no browser.
    """
    shutil.rmtree(folder, ignore_errors=True)
    plan = plan_study(STUDY, Selection("paper", 11, clock="real"))
    runs = many_loads(plan)
    table = folder / "runs.csv"
    folder.mkdir(parents=True)
    with table.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, list(runs[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(runs)
    write_json(folder / "plan.json", plan)
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
        shown = {"first_page_ms": (len(runs), 1000 * (time.monotonic() - begin))}
        for what, place, count in (
            ("study_ms", f"#/{STUDY}", len(runs)),
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
