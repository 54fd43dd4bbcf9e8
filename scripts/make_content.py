"""Make what the servers serve: one page of a study, or the test certificates."""

from __future__ import annotations

import argparse
from pathlib import Path

from howquick.content import make_certificates, make_page
from howquick.errors import UserError, run_program
from howquick.files import read_json
from howquick.workload import page_name


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    what = parser.add_subparsers(dest="what", required=True)
    page = what.add_parser("page", help="one page")
    page.add_argument(
        "--plan", type=Path, nargs="+", required=True, help="results/plan/<study>.json"
    )
    page.add_argument("--name", required=True, help="name of the page, as 50x131072")
    page.add_argument("--output", type=Path, required=True, help="its page.json")
    certificates = what.add_parser("certificates", help="test CA and server certificate")
    certificates.add_argument("--output", type=Path, required=True, help="folder to make")
    arguments = parser.parse_args()
    if arguments.what == "certificates":
        make_certificates(arguments.output)
        return
    for plan in map(read_json, arguments.plan):
        for cell in plan["cells"]:
            if page_name(cell["workload"]) == arguments.name:
                make_page(cell["workload"], plan["seed"], arguments.output.parent)
                return
    raise UserError(
        f"no cell of the plan has the page {arguments.name!r}. See `workload` in the plan."
    )


if __name__ == "__main__":
    run_program(main)
