"""How fast captures are read."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from howquick.errors import ROOT
from howquick.files import read_json


def extraction(results: Path) -> list[dict[str, Any]]:
    """Megabytes of capture per second and core that the extract stage gets through."""
    manifests = sorted(results.glob("blocks/*/*/*.json"))
    captures = {
        manifest: sum(
            capture.stat().st_size
            for run in read_json(manifest)["runs"]
            for capture in (results / run["path"]).glob("*.pcapng")
        )
        for manifest in manifests
    }
    rows = []
    # The largest blocks: with small ones the start of the program would be what is measured.
    for manifest in sorted(captures, key=lambda m: captures[m], reverse=True)[:3]:
        output = results / "bench" / "extraction"
        before = os.times()
        argv = [sys.executable, str(ROOT / "scripts" / "extract.py"), "block", str(manifest)]
        subprocess.run([*argv, "--results", str(results), "--output", str(output)], check=True)
        after = os.times()
        cpu = (
            after.children_user
            + after.children_system
            - before.children_user
            - before.children_system
        )
        rows.append(
            {
                "block": str(manifest.relative_to(results / "blocks")),
                "capture_mb": round(captures[manifest] / 1e6, 1),
                "cpu_s": round(cpu, 3),
                "mb_per_cpu_s": round(captures[manifest] / 1e6 / cpu, 1),
            }
        )
        shutil.rmtree(output)
    return rows
