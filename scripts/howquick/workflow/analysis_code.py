"""Which files of the analysis a program loads: what its result depends on.

Every file of R/ names those it uses in lines `uses("read/runs", …)`, by which R loads them (R/load.R).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

_USES = re.compile(r'^uses\(((?:\s*"[\w/]+",?)+)\s*\)', re.MULTILINE)
LOADER = "load"
# What each kind of figure is drawn by; R/figures/draw.R loads it when such a figure is asked for.
KINDS = "figures/kinds"
# Beside code, the runs are read by their schema (R/read/runs.R).
SCHEMAS = {"read/runs": "config/schemas/runs.schema.json"}


def analysis_code(root: Path, program: str, kind: str | None = None) -> list[str]:
    """The files that decide what a program of R/ writes.

    Args:
        root: folder of the project.
        program: name of a program in R/, e.g. `run_figure.R`.
        kind: of the figure that it is asked for, where it draws one.

    Returns:
        Paths of code and schemas, sorted.

    Raises:
        FileNotFoundError: a file that does not exist is used.
    """
    wanted = [LOADER, program.removesuffix(".R"), *([f"{KINDS}/{kind}"] if kind else [])]
    found: set[str] = set()
    while wanted:
        name = wanted.pop()
        if name not in found:
            found.add(name)
            wanted += _used(root / "R" / f"{name}.R")
    schemas = [root / schema for name, schema in SCHEMAS.items() if name in found]
    return sorted(str(path) for path in [*(root / "R" / f"{name}.R" for name in found), *schemas])


def _used(path: Path) -> Iterator[str]:
    for names in _USES.findall(path.read_text(encoding="utf-8")):
        yield from re.findall(r'"([\w/]+)"', names)
