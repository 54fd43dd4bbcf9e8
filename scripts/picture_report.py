"""Take pictures of the reader's report on the way from a study to the packet a load waited for longest."""

from __future__ import annotations

import argparse
import threading
from pathlib import Path

from howquick.errors import UserError, run_program
from howquick.files import atomic_folder
from howquick.report.browser import Browser, BrowserError, browser
from howquick.report.server import Results

WIDTH, HEIGHT = 1100, 760


def take(page: Browser, address: str, study: str, cell: str, folder: Path) -> None:
    """Go as a reader does, by clicks, and write one picture of every step."""
    page.size(WIDTH, HEIGHT)
    page.open(address)
    page.picture(folder / "report-studies.png")
    page.click(f"section[data-study='{study}'] h2 a")
    page.picture(folder / "report-cells.png")
    page.size(WIDTH, HEIGHT, dark=True)
    page.picture(folder / "report-dark.png")
    page.size(WIDTH, HEIGHT)
    page.settle()
    page.click(f"a.tile[data-cell='{cell}']")
    page.picture(folder / "report-cell.png")
    page.click("a.slowest")
    page.run("document.getElementById('packets').scrollIntoView()")
    page.picture(folder / "report-load.png")
    page.click(".gap-list a")
    page.picture(folder / "report-packet.png")


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("report", type=Path, help="its index.html")
    parser.add_argument("--study", required=True)
    parser.add_argument("--cell", required=True)
    parser.add_argument("--output", type=Path, required=True, help="folder")
    arguments = parser.parse_args()
    try:
        # Served, it does not show where on this machine it lies.
        with (
            Results(arguments.report.parent.parent) as server,
            browser() as page,
            atomic_folder(arguments.output) as folder,
        ):
            threading.Thread(target=server.serve_forever, daemon=True).start()
            take(page, server.address, arguments.study, arguments.cell, folder)
            server.shutdown()
    except BrowserError as error:
        raise UserError(
            f"{arguments.report}: {error}. Name a cell that was measured with captures."
        ) from None


if __name__ == "__main__":
    run_program(main)
