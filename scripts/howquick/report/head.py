"""What the first page says of each study: question, state, scale, when and where, and its claims."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from howquick.report.encode import Table, read_rows, table

Row = Mapping[str, str]
# Of a study's plan, what the pages show; the rest is in results/plan/STUDY.json.
_PLAN = (
    "study",
    "title",
    "question",
    "paper",
    "scale",
    "seed",
    "repetitions",
    "timeout_s",
    "precision",
    "fixed",
)


def study_head(plan: dict[str, Any], runs: Sequence[Row], statistics: Path) -> dict[str, Any]:
    """Of one study. `statistics` is results/statistics/STUDY."""
    return {
        **{key: plan.get(key) for key in _PLAN},
        "metric": plan["comparison"]["metric"],
        "measured": list(dict.fromkeys(row["cell"] for row in runs)),
        "planned": len(plan["cells"]),
        "arms": len({row["arm"] for row in runs}),
        "states": dict(Counter(row["status"] for row in runs)),
        "times": _times(runs),
        "machines": sorted({row["machine"] for row in runs if row.get("machine")}),
        "clocks": sorted({row.get("clock") or "real" for row in runs}) if runs else [],
        "disturbed": sum(_is_above(row.get("attempts"), 1) for row in runs),
        "seconds": _seconds(runs),
        "claims": claims(plan, runs, statistics),
    }


def _times(runs: Iterable[Row]) -> list[float]:
    """Unix time of the first and the last load; by the clock of a guest it is always the same day."""
    times = [float(r["started"]) for r in runs if r.get("started") and r.get("clock") != "virtual"]
    return [min(times), max(times)] if times else []


def _is_above(text: str | None, bound: float) -> bool:
    return bool(text) and float(text or 0) > bound


def _seconds(runs: Iterable[Row]) -> float:
    """What the loads took: by the wall where it is known, else by the network."""
    return round(sum(float(row.get("wall_s") or row.get("network_s") or 0) for row in runs), 3)


def claims(plan: dict[str, Any], runs: Sequence[Row], statistics: Path) -> Table:
    """claims.csv, and of each condition the seconds that its loads took."""
    by_place: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in runs:
        by_place[row["cell"], row["arm"]].append(row)
    cells = {cell["name"] for cell in plan["cells"]}
    arms = {arm["name"] for arm in plan["arms"]}
    rows: list[dict[str, Any]] = []
    for row in read_rows(statistics / "claims.csv"):
        words = f"{row.get('cells', '')} {row.get('arm', '')} {row.get('against', '')}".split()
        places = [(c, a) for c in words if c in cells for a in words if a in arms]
        loads = [load for place in dict.fromkeys(places) for load in by_place.get(place, ())]
        rows.append({**row, "cost_s": _seconds(loads) if loads else None, "loads": len(loads)})
    return table(rows)
