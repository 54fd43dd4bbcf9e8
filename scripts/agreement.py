"""Measure the cells of study aa in several ways, in turn; the tables of the ways are then compared.

A machine is not the same an hour later: its host's other guests, its clock rate. So the ways take turns,
a few repetitions each, and every way is first, second, … once. One way is there twice: what those two
differ by is what the machine does by itself.
"""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

from howquick.errors import run_program
from howquick.files import atomic_folder, atomic_text
from howquick.study.resolve import Selection, resolve_study
from howquick.testbed.system import die_with_parent
from howquick.workflow.command import snakemake
from howquick.workflow.interference import INTERFERENCE_STUDY, WAYS, Way, turns


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--repetitions", type=int, help="only so many; default: the scale's")
    parser.add_argument("--folder", type=Path, required=True, help="where results go: FOLDER/<way>")
    parser.add_argument("--output", type=Path, required=True, help="tables: OUTPUT/<way>.csv")
    arguments = parser.parse_args()
    # The workflows that it starts must not outlive the one that asked.
    die_with_parent()
    selection = Selection(arguments.scale, arguments.seed, repetitions=arguments.repetitions)
    repetitions = resolve_study(INTERFERENCE_STUDY, selection)["repetitions"]
    config = [f"studies={INTERFERENCE_STUDY}", f"scale={arguments.scale}", f"seed={arguments.seed}"]
    folder = arguments.folder.resolve()
    # Pages and calibrated links first: they are not what is compared, and the same for all ways.
    first, *others = (folder / way.name for way in WAYS)
    snakemake(first, 1, "prepare", config=config)
    for results in others:
        for part in ("content", "calibration"):
            if not (results / part).exists():
                with atomic_folder(results / part) as copy:
                    shutil.copytree(first / part, copy, dirs_exist_ok=True)
    for way, until in turns(repetitions):
        results = folder / way.name
        target = str(_table(results)) if way.beside else "measure"
        so_many = [*_config(way, config), f"repetitions={until}"]
        snakemake(results, way.jobs, target, config=so_many)
    for way in WAYS:
        table = _table(folder / way.name)
        so_many = [*_config(way, config), f"repetitions={repetitions}"]
        snakemake(folder / way.name, 8, str(table), config=so_many)
        with atomic_text(arguments.output / f"{way.name}.csv") as copy, table.open() as stream:
            shutil.copyfileobj(stream, copy)


def _config(way: Way, config: list[str]) -> list[str]:
    return config if way.observe else [*config, "observe=false"]


def _table(results: Path) -> Path:
    return results / "tables" / f"{INTERFERENCE_STUDY}.csv"


if __name__ == "__main__":
    run_program(main)
