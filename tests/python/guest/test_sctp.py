"""The programs on the kernel's SCTP, in a guest, whose kernel has it: the tests of all programs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from howquick.errors import ROOT
from patience import HANG_S

# Of the tests of all programs those that ask one program of its pair.
ASKED = ("test_endpoints.py", "test_fetch_and_body.py")


def test_a_server_and_a_client_on_the_kernels_sctp_do_what_all_programs_do(tmp_path: Path) -> None:
    guest = [
        sys.executable, str(ROOT / "scripts/guest.py"), "--writable", str(tmp_path), "--",
        sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider",
        "--basetemp", str(tmp_path / "inside"),
        # Nothing is encrypted, and nobody's certificate looked at.
        "-k", "sctp-kernel and not authority",
        *(str(ROOT / "tests/python/programs" / name) for name in ASKED),
    ]  # fmt: skip
    done = subprocess.run(
        guest, capture_output=True, text=True, check=False, timeout=HANG_S, cwd=ROOT
    )
    assert done.returncode == 0, done.stdout + done.stderr
    # A load, many objects, a missing one, a stop, a server that goes on, an object again, and the like.
    (passed,) = [line for line in done.stdout.splitlines() if " passed" in line]
    assert int(passed.split()[0]) >= 6, passed
