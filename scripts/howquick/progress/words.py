"""Progress and end in words: the plain line, and the five lines at the end."""

from __future__ import annotations

import csv
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from howquick.files import read_json
from howquick.model import Plan
from howquick.progress.survey import Survey

OPEN = "open"
HELD, FELL = "supported", "not supported"


def plain_line(now: Survey, left_s: float | None) -> str:
    """The progress as one line; empty while nothing is calibrated or measured."""
    if not now.running:
        # Links are calibrated before the first block starts.
        begun = now.calibrated < now.links and not now.loads
        return f"calibrated {now.calibrated} of {now.links} links" if begun else ""
    text = f"measured {now.share:.0%}, {now.loads} of {now.total} loads"
    if not_ok := sum(one.not_ok for one in now.running):
        text += f" ({not_ok} not ok in the running blocks)"
    if left_s is not None:
        text += f", done about {clock(left_s)}"
    return f"{text}; {len(now.running)} blocks running"


def clock(left_s: float) -> str:
    """The time of day in so many seconds."""
    return time.strftime("%H:%M", time.localtime(time.time() + left_s))


def duration(seconds: float) -> str:
    """A time span for people: `45 s`, `12 min`, `3 h 05 min`."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60:02} min"


def last_lines(results: Path, plans: Mapping[str, Plan]) -> list[str]:
    """Five lines: what was measured, what failed, which claims held, where report and appendix are.

    plans: by study. What does not exist is said to be missing.
    """
    statuses = _statuses(results, plans)
    disturbed = statuses.pop("invalid", 0)
    loads = sum(statuses.values())
    failed = loads - statuses["ok"]
    parts = [
        f"{count} {status}"
        for status, count in sorted(statuses.items())
        if status != "ok" and count
    ]
    failures = f"{failed} of {loads} loads" + (f" ({', '.join(parts)})" if parts else "")
    if disturbed:
        failures += f"; {disturbed} stayed disturbed and count nowhere"
    rows = {
        "measured": f"{loads} loads of {', '.join(plans)} in {results}",
        "failed": failures,
        "claims": _claims(results, plans),
        "report": _place(results / "report" / "index.html"),
        "appendix": _place(results / "appendix.pdf"),
    }
    return [f"{name:<9} {text}" for name, text in rows.items()]


def _statuses(results: Path, plans: Mapping[str, Plan]) -> Counter[str]:
    """How the loads of all blocks that there are ended."""
    found: Counter[str] = Counter()
    for study, plan in plans.items():
        for block in plan["blocks"]:
            file = results / "blocks" / study / block["cell"] / f"{block['block']}.json"
            if file.exists():
                found.update(read_json(file)["statuses"])
    return found


def _claims(results: Path, plans: Mapping[str, Plan]) -> str:
    verdicts: dict[tuple[str, str], str] = {}
    for study in plans:
        file = results / "statistics" / study / "claims.csv"
        if file.exists():
            with file.open(newline="", encoding="utf-8") as stream:
                rows = csv.DictReader(stream)
                verdicts |= {(study, row["claim"]): row["claim_verdict"] for row in rows}
    counts = Counter(v if v in (HELD, FELL) else OPEN for v in verdicts.values())
    if not verdicts:
        return "none tested by this start"
    held = [f"{study} {claim}" for (study, claim), verdict in verdicts.items() if verdict == HELD]
    named = f" ({', '.join(held)})" if held else ""
    return f"{counts[HELD]} of {len(verdicts)} held{named}, {counts[FELL]} did not, {counts[OPEN]} {OPEN}"


def _place(file: Path) -> str:
    return str(file) if file.exists() else f"{file} is not made by this start"
