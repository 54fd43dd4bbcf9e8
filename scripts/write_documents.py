"""Write pages that follow from other files: of docs/ from studies and programs, or the page of results."""

from __future__ import annotations

import argparse
from pathlib import Path

from howquick.documents.abilities import PARTS
from howquick.documents.figures import figures_page
from howquick.documents.markdown import replace_part
from howquick.documents.results import results_page
from howquick.documents.study_files import ask_for_studies, given_studies
from howquick.environment.endpoints import ENVS, load_endpoints
from howquick.errors import ROOT, run_program
from howquick.files import atomic_text

FIGURES = Path("docs", "figures.md")
IMPLEMENTATIONS = Path("docs", "implementations.md")


def documents() -> dict[Path, str]:
    """The pages of docs/ that are written from other files, by their path in the checkout."""
    endpoints = {n: e for n, e in load_endpoints().items() if e.folder.parent == ENVS}
    text = (ROOT / IMPLEMENTATIONS).read_text(encoding="utf-8")
    for part, make in PARTS.items():
        text = replace_part(text, part, make(endpoints))
    return {FIGURES: figures_page(), IMPLEMENTATIONS: text}


def write_documents(_: argparse.Namespace) -> None:
    """Write the pages of docs/."""
    for path, text in documents().items():
        with atomic_text(ROOT / path) as stream:
            stream.write(text)


def write_results(arguments: argparse.Namespace) -> None:
    """Write the page of results."""
    with atomic_text(arguments.output) as stream:
        stream.write(results_page(given_studies(arguments), arguments.calibrations))


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(required=True)
    pages = commands.add_parser("documents", help="of docs/, from studies and programs")
    pages.set_defaults(write=write_documents)
    results = commands.add_parser("results", help="what was found, from tables and statistics")
    ask_for_studies(results)
    results.add_argument("--calibrations", type=Path, nargs="*", default=[], help="of the links")
    results.add_argument("--output", type=Path, required=True)
    results.set_defaults(write=write_results)
    arguments = parser.parse_args()
    arguments.write(arguments)


if __name__ == "__main__":
    run_program(main)
