"""Versions of the programs under test, asked of the programs themselves."""

from __future__ import annotations

import os
import subprocess
from functools import cache

from howquick.environment.endpoints import load_endpoints
from howquick.environment.manifest import prefix_of
from howquick.errors import UserError

TIMEOUT_S = 20


@cache
def version_of(program: str) -> str:
    """The first line a program prints about its version.

    Raises UserError when the program is not there: nothing could be measured with it.
    """
    endpoint = load_endpoints()[program]
    argv = [
        word.replace("{env}", str(endpoint.folder)).replace("{prefix}", str(prefix_of(program)))
        for word in endpoint.declaration["version"]
    ]
    try:
        done = subprocess.run(
            argv, capture_output=True, text=True, timeout=TIMEOUT_S, check=False,
            env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        output = (done.stdout.strip() or done.stderr.strip()).splitlines()
        if done.returncode or not output:
            raise OSError(0, f"exit status {done.returncode}")
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UserError(
            f"envs/{program}/endpoint.yaml: version: {argv[0]} does not run ({error}). "
            "Start ./enter anew so that it is built, or correct the command."
        ) from None
    return output[0].strip()
