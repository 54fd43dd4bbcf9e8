"""Run a command in virtual time: `guest.py [OPTION…] -- COMMAND [ARGUMENT…]` (docs/virtual-time.md)."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from howquick.errors import run_program
from howquick.guest.guest import SYSCALL_NS, WAKEUP_NS, Boot, Command, basic_environment, run_guest
from howquick.guest.processors import take_processor


def main() -> int:
    """Command line. The exit status is the command's."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1, help="of all randomness in the guest")
    parser.add_argument("--syscall-ns", type=int, default=SYSCALL_NS, metavar="NS")
    parser.add_argument("--wakeup-ns", type=int, default=WAKEUP_NS, metavar="NS")
    parser.add_argument("--memory-mb", type=int, default=2048, metavar="MB")
    parser.add_argument("--limit-s", type=float, default=600.0, metavar="S", help="of real time")
    parser.add_argument(
        "--writable",
        type=Path,
        action="append",
        default=[],
        help="a folder where the command may write; its other changes are lost",
    )
    parser.add_argument("command", nargs="+")
    arguments = parser.parse_args()
    processor = take_processor()
    ended = run_guest(
        Command(arguments.command, basic_environment(), Path.cwd(), arguments.writable),
        Boot(
            arguments.seed,
            processor.number,
            syscall_ns=arguments.syscall_ns,
            wakeup_ns=arguments.wakeup_ns,
            memory_mb=arguments.memory_mb,
            limit_s=arguments.limit_s,
        ),
    )
    sys.stdout.buffer.write(ended.output)
    sys.stderr.buffer.write(ended.errors)
    return ended.status


if __name__ == "__main__":
    run_program(main)
