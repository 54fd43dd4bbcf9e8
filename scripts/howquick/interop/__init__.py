"""End points written for the QUIC Interop Runner, driven through that runner's contract.

The contract: environment variables ROLE, TESTCASE, REQUESTS, SSLKEYLOGFILE, QLOGDIR; folders /www,
/downloads, /certs and /logs; a server on UDP port 443; exit status 127 for a test case that is not supported
(https://github.com/quic-interop/quic-interop-runner, README). An `endpoint.yaml` with
`contract: interop-runner` names only the program (`command`) or the container image (`image`).
"""

from __future__ import annotations

import json
import sys
from typing import Any

from howquick.errors import ROOT

CONTRACT = "interop-runner"
# The variable that tells the bridge which folders its program may see, separated by colons.
SHOWN = "HOWQUICK_SHOWN"


def command_for(declaration: dict[str, Any], role: str) -> list[str]:
    """The argument vector that runs `role` of an end point under howquick's own contract.

    For an interop-runner end point it is the bridge's, for others the declared one. {env} and {prefix} are
    left for the caller to fill in. An image may be given for a role or for both.
    """
    if declaration.get("contract") != CONTRACT:
        return list(declaration[role]["command"])
    bridge = [sys.executable, "-B", str(ROOT / "scripts" / "interop_endpoint.py")]
    # The contract has no words for these: the program would do as it always does.
    bridge += ["--can", json.dumps(declaration[role]["protocols"], separators=(",", ":"))]
    image = declaration[role].get("image", declaration.get("image"))
    if image:
        return [*bridge, "--image", image]
    return [*bridge, "--", *declaration[role]["command"]]
