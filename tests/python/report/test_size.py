"""How much there is to load: of many loads with all their statistics, and of script."""

from __future__ import annotations

import json
from pathlib import Path

from howquick.bench.many_loads import LOADS, many_loads, write_runs, write_statistics
from howquick.errors import ROOT
from howquick.plan.plan import plan_study
from howquick.report.encode import write_data
from howquick.report.head import study_head
from howquick.report.study import Study, write_study
from howquick.schemas import load_yaml
from howquick.study.resolve import Selection
from report.sample import STUDY, write_json

PAGE = ROOT / "scripts/howquick/report/page"


def made_up(
    folder: Path, name: str, selection: Selection, loads: int | None = None
) -> dict[str, int]:
    """Bytes of each script of a study's part of the report, and of its part of the first page (`index`)."""
    plan = json.loads(json.dumps(plan_study(name, selection)))
    asked = loads or sum(len(block["repetitions"]) * block["arms"] for block in plan["blocks"])
    rows = many_loads(plan, loads)
    write_json(folder / "plan.json", plan)
    write_runs(rows, folder / "runs.csv")
    write_statistics(folder / "plan.json", rows, folder / "statistics")
    write_study(Study(plan, folder / "runs.csv", folder / "statistics", folder), folder / "data")
    write_data(
        folder / "data", "index", {"studies": [study_head(plan, rows, folder / "statistics")]}
    )
    assert len(rows) >= asked and (folder / "statistics" / "claims.csv").is_file()
    return {
        str(file.relative_to(folder / "data")): file.stat().st_size
        for file in (folder / "data").rglob("*.js")
    }


def script_bytes() -> int:
    return sum(file.stat().st_size for file in PAGE.iterdir())


def test_eighty_thousand_loads_are_below_sixty_megabytes(tmp_path: Path) -> None:
    sizes = made_up(tmp_path, STUDY, Selection("paper", 11, clock="real"), LOADS)
    assert sum(sizes.values()) + script_bytes() < 60e6
    # What is loaded before anything is chosen, and with the study.
    assert sizes["index.js"] < 1e6 and sizes["study.js"] < 10e6


def test_four_studies_of_an_artifact_are_below_ten_megabytes(tmp_path: Path) -> None:
    """Without details of packets, which no made-up load has."""
    studies = load_yaml(ROOT / "config/config.yaml", "config")["studies"]
    sizes = [made_up(tmp_path / name, name, Selection("artifact", 11)) for name in studies]
    assert sum(sum(size.values()) for size in sizes) + script_bytes() < 10e6
    assert sum(size["index.js"] for size in sizes) < 1e6


def test_the_script_is_small() -> None:
    assert sum(file.stat().st_size for file in PAGE.glob("*.js")) <= 600_000
