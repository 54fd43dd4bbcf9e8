"""Change the rates of a link as its traces say, in the router's namespace (howquick.testbed.wire).

Standard input: a line of JSON with a description of each direction, then commands. It ends with its input.
"""

from __future__ import annotations

import json
import sys

from howquick.errors import run_program
from howquick.testbed.wire import Player, Wire


def main() -> None:
    """Prints `ready` once it listens."""
    wires = [Wire(description) for description in json.loads(sys.stdin.readline())]
    player = Player(wires, sys.stdin.fileno(), sys.stdout)
    print("ready", flush=True)
    player.run()


if __name__ == "__main__":
    run_program(main)
