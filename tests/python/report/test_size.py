"""How much there is to load: of many loads, and of script."""

from __future__ import annotations

import json
from pathlib import Path

from howquick.bench.report import LOADS, many_loads
from howquick.plan.plan import plan_study
from howquick.report.study import Study, write_study
from howquick.study.resolve import Selection
from report.sample import STUDY, write_table

PAGE = Path(__file__).parents[3] / "scripts/howquick/report/page"


def test_eighty_thousand_loads_are_below_sixty_megabytes(tmp_path: Path) -> None:
    plan = json.loads(json.dumps(plan_study(STUDY, Selection("paper", 11, clock="real"))))
    rows = many_loads(plan)
    assert len(rows) >= LOADS
    write_table(tmp_path / "runs.csv", list(rows[0]), rows)
    study = Study(plan, tmp_path / "runs.csv", tmp_path / "statistics", tmp_path)
    write_study(study, tmp_path / "report")
    sizes = [file.stat().st_size for file in (tmp_path / "report").rglob("*.js")]
    assert len(sizes) > len(plan["cells"])
    assert sum(sizes) < 60e6
    assert (tmp_path / "report" / "study.js").stat().st_size < 10e6


def test_the_script_is_small() -> None:
    assert sum(file.stat().st_size for file in PAGE.glob("*.js")) <= 600_000
