"""Run a function of a test file inside the sandbox, in a process of its own.

As a program: `sandboxed.py FILE FUNCTION` enters the sandbox, calls the function with the scratch
folder, and prints what it returned as a line of JSON.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from patience import HANG_S

SCRIPTS = Path(__file__).resolve().parents[3] / "scripts"
SEARCH_PATH = f"{SCRIPTS}:{Path(__file__).resolve().parents[1]}"
ORDINARY = 1000


def command(function: Callable[..., Any]) -> list[str]:
    """argv that runs the function."""
    file = sys.modules[function.__module__].__file__
    assert file is not None
    return [sys.executable, str(Path(__file__).resolve()), file, function.__name__]


def environment(**more: str) -> dict[str, str]:
    """What such a process needs; no bytecode, as an ordinary user could not write it."""
    return {
        **os.environ,
        "PYTHONPATH": SEARCH_PATH,
        "PYTHONDONTWRITEBYTECODE": "1",
        **more,
    }


def _become_ordinary() -> None:
    """Between fork and exec: the same user, but under another number and so without any right."""
    uid, gid = os.geteuid(), os.getegid()
    os.unshare(os.CLONE_NEWUSER)
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{ORDINARY} {uid} 1")
    Path("/proc/self/gid_map").write_text(f"{ORDINARY} {gid} 1")


def identity(ordinary: bool) -> dict[str, Any]:
    """Arguments for subprocess to be an ordinary user, if that is asked for and we are not one.

    Not another user of the machine: that one could not read a cache below root's home.
    """
    return {"preexec_fn": _become_ordinary} if ordinary and os.geteuid() == 0 else {}


def run_inside(function: Callable[[Path], Any], ordinary: bool = False) -> Any:
    """What the function returns inside the sandbox; fails with what it said if it failed."""
    return _result(command(function), ordinary)


def run_in_guest(function: Callable[[Path], Any], *options: str) -> Any:
    """The same on the kernel of virtual time, which has netem anywhere. options: of guest.py."""
    return _result([sys.executable, str(SCRIPTS / "guest.py"), *options, "--", *command(function)])


def _result(argv: list[str], ordinary: bool = False) -> Any:
    done = subprocess.run(
        argv,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=HANG_S,
        check=False,
        **identity(ordinary),
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    """Enter the sandbox, call the function, print its result."""
    from howquick.testbed.sandbox import enter_sandbox

    sandbox = enter_sandbox()
    spec = importlib.util.spec_from_file_location("scenario", sys.argv[1])
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(Path(sys.argv[1]).parent))
    spec.loader.exec_module(module)
    print(json.dumps(getattr(module, sys.argv[2])(sandbox.scratch)), flush=True)


if __name__ == "__main__":
    main()
