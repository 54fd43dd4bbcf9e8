"""Resolve one study to its plan: results/plan/<study>.json."""

from __future__ import annotations

import argparse
from pathlib import Path

from howquick.errors import run_program
from howquick.plan.plan import plan_study, write_plan
from howquick.study.resolve import Selection


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--study", required=True)
    parser.add_argument("--scale", required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--cells", nargs="*", default=[])
    parser.add_argument("--arms", nargs="*", default=[])
    parser.add_argument("--results", default="", help="where it is measured, for its precision")
    parser.add_argument("--unobserved", action="store_true", help="no captures and no qlogs")
    parser.add_argument("--repetitions", type=int, help="only so many of each cell")
    parser.add_argument("--clock", choices=("real", "virtual"), help="in place of the study's own")
    parser.add_argument("--output", type=Path, required=True)
    arguments = parser.parse_args()
    selection = Selection(
        arguments.scale,
        arguments.seed,
        tuple(arguments.cells),
        tuple(arguments.arms),
        observe=not arguments.unobserved,
        clock=arguments.clock,
        repetitions=arguments.repetitions,
    )
    write_plan(plan_study(arguments.study, selection, arguments.results), arguments.output)


if __name__ == "__main__":
    run_program(main)
