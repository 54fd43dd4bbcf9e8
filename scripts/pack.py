"""Pack the run folders of measured blocks into one file each, or unpack them again."""

from __future__ import annotations

import argparse
from pathlib import Path

from howquick.errors import run_program
from howquick.extract.packing import pack_block, unpack_block
from howquick.files import read_json


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("pack", "unpack"))
    parser.add_argument(
        "blocks", type=Path, nargs="+", help="results/blocks/<study>/<cell>/<block>.json"
    )
    parser.add_argument("--results", type=Path, default=Path("results"))
    arguments = parser.parse_args()
    change = pack_block if arguments.what == "pack" else unpack_block
    for block in arguments.blocks:
        change(read_json(block), arguments.results)


if __name__ == "__main__":
    run_program(main)
