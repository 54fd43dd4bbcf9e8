"""Write the reader's report: the data of one study, or the page that shows those of all."""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

from howquick.documents.study_files import ask_for_studies, given_studies
from howquick.errors import run_program
from howquick.files import atomic_folder, atomic_text, read_json
from howquick.report import place
from howquick.report.encode import read_rows, write_data
from howquick.report.head import study_head
from howquick.report.libraries import library_files
from howquick.report.study import Study, write_study

PAGE = Path(__file__).with_name("howquick") / "report" / "page"
INDEX = "index.html"


def study(arguments: argparse.Namespace) -> None:
    """Write the folder data/STUDY of the report."""
    plan = read_json(arguments.plan)
    one = Study(plan, arguments.runs, arguments.statistics, arguments.results)
    with atomic_folder(arguments.output) as folder:
        write_study(one, folder)


def index(arguments: argparse.Namespace) -> None:
    """Write the page and the list of studies; index.html comes last."""
    folder = arguments.output.parent
    heads = []
    for one in given_studies(arguments):
        rows = [row for row in read_rows(one.runs) if row["study"] == one.plan["study"]]
        heads.append(study_head({**one.plan}, rows, one.statistics))
    write_data(folder / "data", "index", {"studies": heads})
    write_data(folder / "data", place.KEY, place.PLACE)
    with atomic_folder(folder / "page") as page:
        for file in sorted(PAGE.iterdir()):
            if file.name != INDEX:
                shutil.copyfile(file, page / file.name)
        for name, file in library_files().items():
            shutil.copyfile(file, page / name)
    with atomic_text(arguments.output) as stream:
        stream.write((PAGE / INDEX).read_text(encoding="utf-8"))


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(required=True)
    one = commands.add_parser("study", help="the data of one study")
    one.add_argument("--plan", type=Path, required=True, help="results/plan/STUDY.json")
    one.add_argument("--runs", type=Path, required=True, help="its table of runs")
    one.add_argument("--statistics", type=Path, required=True, help="results/statistics/STUDY")
    one.add_argument("--results", type=Path, required=True, help="what paths of runs are in")
    one.set_defaults(write=study)
    page = commands.add_parser("index", help="the page and the list of studies")
    ask_for_studies(page)
    page.set_defaults(write=index)
    for command in (one, page):
        command.add_argument("--output", type=Path, required=True)
    arguments = parser.parse_args()
    arguments.write(arguments)


if __name__ == "__main__":
    run_program(main)
