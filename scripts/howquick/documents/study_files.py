"""What pages read of studies, as a command line gives it."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

from howquick.files import read_json
from howquick.model import Plan


@dataclass(frozen=True)
class StudyFiles:
    """What a page reads of one study: its plan, the table of runs, the folder of statistics."""

    plan: Plan
    runs: Path
    statistics: Path


def ask_for_studies(parser: argparse.ArgumentParser) -> None:
    """Add the options that `given_studies` reads."""
    for name, what in (
        ("plans", "results/plan/STUDY.json of each study"),
        ("runs", "the table of runs of each, in the same order"),
        ("statistics", "the folder of statistics of each, in the same order"),
    ):
        parser.add_argument(f"--{name}", type=Path, nargs="+", required=True, help=what)


def given_studies(arguments: argparse.Namespace) -> list[StudyFiles]:
    """The studies of a command line. Raises ValueError if there is not one of each for each."""
    given = zip(arguments.plans, arguments.runs, arguments.statistics, strict=True)
    return [StudyFiles(read_json(plan), runs, folder) for plan, runs, folder in given]
