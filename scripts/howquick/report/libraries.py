"""What the page uses of others, as the environment has it (environment/report/)."""

from __future__ import annotations

from pathlib import Path

from howquick.environment.manifest import prefix_of
from howquick.errors import UserError

PROGRAM = "report"
# Under which name the page has each file; its licence goes with it.
_FILES = {
    "uPlot.js": "dist/uPlot.iife.min.js",
    "uPlot.css": "dist/uPlot.min.css",
    "uPlot.LICENSE.txt": "LICENSE",
}


def library_files() -> dict[str, Path]:
    """The files by their names in the page. Raises UserError where the environment lacks them."""
    prefix = prefix_of(PROGRAM)
    if prefix is None:
        raise UserError(
            "The environment has nothing that the report can draw long series with. "
            "Start ./enter anew: it builds what is missing."
        )
    return {name: prefix / "node_modules/uplot" / path for name, path in _FILES.items()}
