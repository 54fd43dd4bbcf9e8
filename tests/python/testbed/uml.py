"""Run a function of a test file on another kernel: user-mode Linux, which has netem.

The guest sees the host's files (hostfs) and needs no rights. As a program this is the guest's
init: it loads the modules, runs the function inside the sandbox and switches the machine off.
Its timers are late by a millisecond or so, which is too late to judge rates by.
"""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import subprocess
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

PROGRAM = "linux.uml"
MODULES = ("drivers/net/veth", "net/sched/sch_netem", "net/sched/sch_tbf")
FINIT_MODULE = 313  # its number on x86-64; glibc has no wrapper
ADVICE = "this kernel has no netem, and user-mode-linux, which has it, is not installed"


def available() -> bool:
    return shutil.which(PROGRAM) is not None


def run_on_uml(function: Callable[..., Any], folder: Path) -> Any:
    """What the function returns inside the guest's sandbox; `folder` takes the exchange files."""
    from sandboxed import SCRIPTS, command

    program = shutil.which(PROGRAM)
    assert program is not None
    job = {
        "argv": command(function),
        "result": str(folder / "result"),
        "errors": str(folder / "errors"),
        "modules": str(Path(program).parents[1] / "lib/uml/modules"),
        "environment": {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(SCRIPTS),
            "PYTHONDONTWRITEBYTECODE": "1",
            "HOWQUICK_MANIFEST": os.environ.get("HOWQUICK_MANIFEST", ""),
        },
    }
    (folder / "job.json").write_text(json.dumps(job))
    done = subprocess.run(
        [
            *(program, "mem=1G", "rootfstype=hostfs", "rootflags=/", "rw", "quiet"),
            *("con=null", "con0=null,fd:1", f"uml_dir={folder}/"),
            *(f"init={sys.executable}", "--", str(Path(__file__).resolve()), str(folder)),
        ],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
        check=False,
    )
    errors = folder / "errors"
    said = errors.read_text() if errors.exists() else done.stdout
    assert (folder / "result").exists(), said
    lines = (folder / "result").read_text().splitlines()
    assert lines, said
    return json.loads(lines[-1])


def be_init(folder: Path) -> None:
    """Set the guest up, run the job, switch off."""
    libc = ctypes.CDLL(None, use_errno=True)
    for kind, target in ((b"proc", b"/proc"), (b"sysfs", b"/sys"), (b"tmpfs", b"/run")):
        libc.mount(kind, target, kind, 0, None)
    job = json.loads((folder / "job.json").read_text())
    with Path(job["errors"]).open("w") as errors, Path(job["result"]).open("w") as result:
        try:
            for module in MODULES:
                file = Path(job["modules"], os.uname().release, "kernel", f"{module}.ko")
                descriptor = os.open(file, os.O_RDONLY)
                if libc.syscall(FINIT_MODULE, descriptor, b"", 0):
                    raise OSError(ctypes.get_errno(), f"module {module} cannot be loaded")
            subprocess.run(
                job["argv"], env=job["environment"], stdout=result, stderr=errors, check=False
            )
        except Exception:
            traceback.print_exc(file=errors)
    os.sync()
    Path("/proc/sysrq-trigger").write_text("o")


if __name__ == "__main__":
    be_init(Path(sys.argv[1]))
