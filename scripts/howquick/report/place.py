"""Where a report's figures and run folders are: `data/place.js`, which an archive has of its own."""

from __future__ import annotations

from typing import Any

from howquick.report.encode import script

KEY = "place"
# Of a report in a folder of results: everything lies beside it.
PLACE: dict[str, Any] = {"published": "../", "runs": True}


def archived(published: str, again: str, anew: str) -> bytes:
    """The script of a report in an archive, which lies beside the folder `published` and has no run folders.

    again: the folder of results that a measurement with the arguments `anew` ends in.
    """
    place = {"published": f"../{published}/", "runs": False, "again": again, "anew": anew}
    return script(KEY, place).encode()
