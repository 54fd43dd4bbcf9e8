"""What the link emulator costs."""

from __future__ import annotations

import json
import os
import subprocess
import time
from pathlib import Path
from typing import Any

from howquick.testbed.link import Link
from howquick.testbed.sandbox import enter_sandbox
from howquick.testbed.testbed import Testbed

EMULATOR_RATES_MBIT = (10, 50, 100)

EMULATOR_SECONDS = 5


def emulator() -> list[dict[str, Any]]:
    """CPU seconds of the link emulator per second of a saturating TCP flow, per rate."""
    sandbox = enter_sandbox()
    rows = []
    for rate in EMULATOR_RATES_MBIT:
        link = Link(bandwidth_mbit=rate, rtt_ms=20, loss_percent=0, queue_ms=100)
        with Testbed(link, scratch=sandbox.scratch / f"rate{rate}") as bed:
            server = bed.server.popen(["iperf3", "-s", "-1"], stdout=subprocess.DEVNULL)
            time.sleep(0.5)
            before = _cpu_seconds("link-emulator")
            out = bed.client.run(
                [
                    "iperf3",
                    "-c",
                    bed.server.address,
                    "-t",
                    str(EMULATOR_SECONDS),
                    "-R",
                    "-f",
                    "m",
                    "-J",
                ]
            ).stdout
            cpu = _cpu_seconds("link-emulator") - before
            server.wait()
            reached = _json_path(out, "end", "sum_received", "bits_per_second") / 1e6
            rows.append(
                {
                    "backend": bed.backend.name,
                    "rate_mbit": rate,
                    "goodput_mbit": round(reached, 2),
                    "cpu_s_per_s": round(cpu / EMULATOR_SECONDS, 3),
                    "cpu_s_per_gbit": round(cpu / (reached * EMULATOR_SECONDS / 1000), 3),
                }
            )
    return rows


def _json_path(text: str, *keys: str) -> float:
    value: Any = json.loads(text)
    for key in keys:
        value = value[key]
    return float(value)


def _cpu_seconds(name: str) -> float:
    """User and system time of the processes with this name that we can see, seconds."""
    total = 0.0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            head, tail = stat.read_text().rsplit(")", 1)
        except OSError:
            continue
        if head.split("(", 1)[1].startswith(name[:15]):
            total += sum(map(int, tail.split()[11:13])) / os.sysconf("SC_CLK_TCK")
    return total
