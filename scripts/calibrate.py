"""Measure what a link really does (docs/formats.md, section 7), or what this machine can do."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from howquick.calibrate.calibration import calibrate
from howquick.errors import run_program
from howquick.files import write_json
from howquick.guest.guest import Boot, await_prepared, run_script
from howquick.guest.processors import take_processor
from howquick.testbed import probe
from howquick.testbed.link import Link
from howquick.testbed.sandbox import enter_sandbox

# Of a guest: which losses it draws decides nothing.
SEED = 1


CAUSE = (
    "Other work on the processors is the usual cause: free the machine of it and calibrate again."
)
CAUSE_IN_A_GUEST = (
    "In virtual time nothing else can be the cause: the guest's kernel makes no such link."
    " Change the link in the study file, or measure it by --config clock=real."
)


def main() -> int:
    """Command line. Exit status 1: the link is not as asked for, or could not be made."""
    parser = argparse.ArgumentParser(description=__doc__)
    what = parser.add_subparsers(dest="what", required=True)
    what.add_parser("probe", help="print which backends and settings work here, and why")
    link = what.add_parser("link", help="make a link and measure it")
    link.add_argument("link", help="the link as JSON (docs/formats.md, section 3), or its file")
    link.add_argument("--output", type=Path, required=True, help="its stem names the link")
    link.add_argument("--backend", choices=("netem", "rattan"), help="instead of the probe's")
    link.add_argument("--clock", choices=("real", "virtual"), default="real")
    link.add_argument("--exact", action="store_true", help="this is a guest in virtual time")
    arguments = parser.parse_args()
    if arguments.what == "probe":
        enter_sandbox()
        print(json.dumps(probe.probe_all(), indent=2))
        return 0
    if arguments.clock == "virtual":
        return calibrate_in_guest(arguments.link, arguments.output)
    asked = Link.from_json(arguments.link)
    sandbox = enter_sandbox()
    if arguments.exact:
        await_prepared()
    result = calibrate(asked, arguments.backend, sandbox.scratch, arguments.exact)
    write_json(arguments.output, {"name": arguments.output.stem, **result})
    return report(arguments.output, result, CAUSE_IN_A_GUEST if arguments.exact else CAUSE)


def calibrate_in_guest(link: str, output: Path) -> int:
    """Do it in virtual time; gives the exit status. System calls are free: the link is what is measured."""
    words = ["link", link, "--exact", "--backend", "netem", "--output", str(output.resolve())]
    processor = take_processor()
    boot = Boot(SEED, processor.number, syscall_ns=0, wakeup_ns=0)
    return run_script(Path(__file__), words, output.parent, boot)


def report(path: Path, result: dict[str, Any], cause: str) -> int:
    """Say in a sentence each what is not as asked for, and why that may be; gives the exit status."""
    for check in result["checks"]:
        if check["verdict"] != "pass":
            print(
                f"howquick: {path}: {check['quantity']} ({check['direction']}) was measured as"
                f" {check['measured']:.5g} (99 % interval {check['low']:.5g} … {check['high']:.5g})"
                f" but {check['asked']:g} was asked for. {cause}",
                file=sys.stderr,
            )
    return 0 if result["verdict"] == "pass" else 1


if __name__ == "__main__":
    run_program(main)
