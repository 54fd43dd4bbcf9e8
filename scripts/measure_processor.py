"""Measure by the real clock what the loads of a study in virtual time cost the processor: its table."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from pathlib import Path

from howquick.errors import run_program
from howquick.files import read_json
from howquick.measure.block import locked
from howquick.processor.measured import measure_samples, sample_blocks
from howquick.processor.samples import sample_plan
from howquick.processor.table import table_rows, write_rows


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plan", type=Path, required=True, help="of the study, as blocks read it")
    parser.add_argument("--results", type=Path, required=True, help="where its pages are")
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--fingerprint", default="", help="of what was asked; not looked at")
    arguments = parser.parse_args()
    # A polite end runs the clean-up; a SIGKILL ends the namespaces and everything in them.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    plan, results = read_json(arguments.plan), arguments.results.resolve()
    session = os.environ.get("HOWQUICK_SESSION", "")
    blocks = sample_blocks(sample_plan(plan), results, session)
    with locked(results / "progress" / f"{plan['study']}.processor.lock"):
        failed = measure_samples(blocks)
        write_rows(table_rows(plan, blocks, failed), arguments.output)
    for (sample, arm), why in failed.items():
        print(f"howquick: {sample}, {arm}: not measured: {why}", file=sys.stderr)


if __name__ == "__main__":
    run_program(main)
