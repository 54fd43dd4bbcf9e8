"""Make what the servers serve: one page of a study, or the test certificates."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from howquick.content import make_certificates, make_page
from howquick.errors import run_program


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    what = parser.add_subparsers(dest="what", required=True)
    page = what.add_parser("page", help="one page")
    page.add_argument("--workload", type=json.loads, required=True, help="of a cell, as JSON")
    page.add_argument("--seed", type=int, required=True)
    page.add_argument("--output", type=Path, required=True, help="its page.json")
    certificates = what.add_parser("certificates", help="test CA and server certificate")
    certificates.add_argument("--output", type=Path, required=True, help="folder to make")
    arguments = parser.parse_args()
    if arguments.what == "certificates":
        make_certificates(arguments.output)
        return
    make_page(arguments.workload, arguments.seed, arguments.output.parent)


if __name__ == "__main__":
    run_program(main)
