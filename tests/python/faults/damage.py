"""Changing a file of a finished run, and what extraction makes of it."""

import subprocess
import sys

from howquick.errors import ROOT
from workflow.blocks import CELL
from workflow.flow import rows


def extract(results, output, cell=CELL):
    """The rows of block 0 by arm."""
    manifest = results / "blocks/how-quick" / cell / "0.json"
    done = subprocess.run(
        [sys.executable, ROOT / "scripts/extract.py", "block", manifest, "--results", results,
         "--output", output], capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr
    return {row["arm"]: row for row in rows(output / "runs.csv")}


def damaged(results, arm, pattern, change, tmp_path, cell=CELL):
    """The rows before, and while one file of a run is changed by `change(bytes)`."""
    (file,) = (results / "runs/how-quick" / cell / arm / "0000").glob(pattern)
    whole = extract(results, tmp_path / "whole", cell)
    content = file.read_bytes()
    file.write_bytes(change(content))
    try:
        return whole, extract(results, tmp_path / "damaged", cell)
    finally:
        file.write_bytes(content)
