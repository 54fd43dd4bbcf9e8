"""What the page uses of others, as the environment has it (environment/report/)."""

from __future__ import annotations

from pathlib import Path

from howquick.environment.manifest import prefix_of
from howquick.errors import UserError

PROGRAM = "report"
# One script, its style sheet, and the licences of all that is in them.
_NAMES = ("libraries.js", "libraries.css", "libraries.LICENSE.txt")


def library_files() -> dict[str, Path]:
    """The files by their names in the page. Raises UserError where the environment lacks them."""
    prefix = prefix_of(PROGRAM)
    if prefix is None:
        raise UserError(
            "The environment has nothing that the report can draw with. "
            "Start ./enter anew: it builds what is missing."
        )
    return {name: prefix / "bundle" / name for name in _NAMES}
