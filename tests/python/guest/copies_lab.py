"""Run by test_copies.py: a guest that is copied, from outside and from inside."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

from howquick.errors import ROOT
from howquick.guest.copies import original, wait_to_be_copied
from howquick.guest.guest import Boot, Command, GuestFailed, basic_environment, handed_over
from howquick.testbed.sandbox import enter_sandbox

MEMORY_MB = 40
LIMIT_S = 20.0
# Of a guest that is never ready.
NEVER_S = 3.0


def inside() -> int:
    """What a copy sees, does and leaves."""
    memory = bytearray(os.urandom(1 << 20)) * MEMORY_MB
    before, drawn = time.time_ns(), memory[:8].hex()
    if not wait_to_be_copied():
        return 3
    copied = time.time_ns()
    asked = (handed_over() / "asked").read_text()
    left = Path("/tmp/left").exists()
    Path("/tmp/left").write_text(asked)
    memory[0] ^= 1
    time.sleep(5)
    if asked == "fail":
        return 7
    while asked == "loop":
        pass
    child = subprocess.run(["sh", "-c", "echo $$"], capture_output=True, text=True, check=True)
    said = {
        "times": [before, copied, time.time_ns()],
        "drawn": drawn,
        "seen": memory[:8].hex(),
        "random": os.urandom(8).hex(),
        "child": child.stdout,
        "left": left,
        "asked": asked,
    }
    print(json.dumps(said))
    return 0


def outside(asked: list[str], where: str, limit_s: float) -> None:
    """One copy for each SEED:WORD; prints how it ended."""
    enter_sandbox()
    program = [sys.executable, str(Path(__file__).resolve()), where]
    environment = basic_environment() | {"PYTHONPATH": str(ROOT / "scripts")}
    answers: list[object] = []
    with original(Command(program, environment, Path("/")), Boot(1, 0, limit_s=limit_s)) as guest:
        for one in asked:
            seed, word = one.split(":")
            try:
                ended = guest.copy(int(seed), {"asked": word.encode()})
                answers.append([ended.status, ended.output.decode(), ended.errors.decode()])
            except GuestFailed as failure:
                answers.append(str(failure))
    print(json.dumps(answers))


if __name__ == "__main__":
    if sys.argv[1:] == ["inside"]:
        sys.exit(inside())
    if sys.argv[1:] == ["never"]:
        while True:
            pass
    if sys.argv[1] == "--never":
        outside(sys.argv[2:], "never", NEVER_S)
    else:
        outside(sys.argv[1:], "inside", LIMIT_S)
