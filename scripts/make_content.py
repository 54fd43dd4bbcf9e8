"""Make what the servers serve: one page of a study, or the test certificates."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from howquick.content.pages import make_certificates, make_page
from howquick.errors import run_program
from howquick.guest.guest import Boot, run_script
from howquick.guest.processors import take_processor
from howquick.seeds import derive_seed


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    what = parser.add_subparsers(dest="what", required=True)
    page = what.add_parser("page", help="one page")
    page.add_argument("--workload", type=json.loads, required=True, help="of a cell, as JSON")
    page.add_argument("--seed", type=int, required=True)
    page.add_argument("--output", type=Path, required=True, help="its page.json")
    certificates = what.add_parser("certificates", help="test CA and server certificate")
    certificates.add_argument("--output", type=Path, required=True, help="folder to make")
    certificates.add_argument("--clock", choices=("real", "virtual"), default="real")
    certificates.add_argument("--seed", type=int, default=0, help="of a virtual clock's keys")
    arguments = parser.parse_args()
    if arguments.what == "certificates":
        if arguments.clock == "virtual":
            return make_in_guest(arguments.output, arguments.seed)
        make_certificates(arguments.output)
        return 0
    make_page(arguments.workload, arguments.seed, arguments.output.parent)
    return 0


def make_in_guest(folder: Path, seed: int) -> int:
    """Certificates that are valid by the guests' clock, their keys from a seed; gives the exit status.

    Whoever has the seed has the keys: nothing outside of a load's own namespaces ever trusts them.
    """
    words = ["certificates", "--output", str(folder.resolve())]
    processor = take_processor()
    boot = Boot(derive_seed(seed, "certificates"), processor.number)
    return run_script(Path(__file__), words, folder.parent, boot)


if __name__ == "__main__":
    run_program(main)
