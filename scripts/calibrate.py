"""Measure what a link really does (docs/formats.md, section 7), or what this machine can do."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from howquick.errors import run_program
from howquick.files import write_json
from howquick.testbed import probe
from howquick.testbed.calibration import calibrate
from howquick.testbed.link import Link
from howquick.testbed.sandbox import enter_sandbox


def main() -> int:
    """Command line. Exit status 1: the link is not as asked for, or could not be made."""
    parser = argparse.ArgumentParser(description=__doc__)
    what = parser.add_subparsers(dest="what", required=True)
    what.add_parser("probe", help="print which backends and settings work here, and why")
    link = what.add_parser("link", help="make a link and measure it")
    link.add_argument("link", help="the link as JSON (docs/formats.md, section 3), or its file")
    link.add_argument("--output", type=Path, required=True, help="its stem names the link")
    link.add_argument("--backend", choices=("netem", "rattan"), help="instead of the probe's")
    arguments = parser.parse_args()
    if arguments.what == "probe":
        enter_sandbox()
        print(json.dumps(probe.probe_all(), indent=2))
        return 0
    asked = Link.from_json(arguments.link)
    sandbox = enter_sandbox()
    result = calibrate(asked, arguments.backend, sandbox.scratch)
    write_json(arguments.output, {"name": arguments.output.stem, **result})
    return report(arguments.output, result)


def report(path: Path, result: dict[str, Any]) -> int:
    """Say in a sentence each what is not as asked for; gives the exit status."""
    for check in result["checks"]:
        if check["verdict"] != "pass":
            print(
                f"howquick: {path}: {check['quantity']} ({check['direction']}) was measured as"
                f" {check['measured']:.5g} (99 % interval {check['low']:.5g} … {check['high']:.5g})"
                f" but {check['asked']:g} was asked for. Other work on the processors is the usual"
                " cause: free the machine of it and calibrate again.",
                file=sys.stderr,
            )
    return 0 if result["verdict"] == "pass" else 1


if __name__ == "__main__":
    run_program(main)
