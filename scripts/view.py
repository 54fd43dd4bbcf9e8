"""Serve the reader's report, and all results beside it, to a browser on this machine; ends with Ctrl-C."""

from __future__ import annotations

import argparse
from pathlib import Path

from howquick.errors import UserError, run_program
from howquick.report.server import PAGE, Results


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "results", type=Path, nargs="?", default=Path("results"), help="folder (default: results)"
    )
    folder = parser.parse_args().results
    if not (folder / PAGE).is_file():
        raise UserError(f"{folder / PAGE}: not there. Make it: ./enter snakemake -j8 report")
    with Results(folder) as server:
        print(server.address, flush=True)
        server.serve_forever()


if __name__ == "__main__":
    run_program(main)
