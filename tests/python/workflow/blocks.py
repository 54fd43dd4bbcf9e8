"""Measuring single blocks in tests: real programs, real links, no Snakemake."""

import json
import os
import subprocess
import sys
from pathlib import Path

import yaml

from howquick.content.pages import make_certificates, make_page
from howquick.environment import endpoints
from howquick.environment.versions import version_of
from howquick.errors import ROOT
from howquick.files import write_json
from howquick.plan.fingerprint import GUEST
from howquick.plan.plan import plan_study
from howquick.study import resolve as study_module
from howquick.study.cells import certificates_name
from howquick.study.resolve import Selection
from howquick.study.workload import page_name
from patience import HANG_S

PROGRAMS = Path(__file__).parent / "programs"
CELL = "10mbit-18ms-loss0-5obj-small"
ARM = {"protocol": "h1", "server": "nginx", "client": "curl", "label": "", "group": "g"}


def make_plan(results, monkeypatch, arms, cell=CELL, change=None, clock="real", **scale):
    """Write a plan with these arms (name → changes to HTTP/1.1 over nginx and curl) and its content.

    change: a function that edits the study, which has neither figures nor claims.
    scale: keys of its scale, one repetition unless told.
    """
    monkeypatch.setenv("HOWQUICK_ENVS", str(PROGRAMS))
    endpoints.load_endpoints.cache_clear()
    data = yaml.safe_load((ROOT / "config/studies/how-quick.yaml").read_text())
    data["arms"] = {name: ARM | {"label": name} | change for name, change in arms.items()}
    data["comparison"] |= {"arms": list(arms), "pairs": []}
    data["claims"] = data["figures"] = []
    data["fixed"]["clock"] = clock
    data["scales"]["smoke"] = {
        "repetitions": 1, "timeout_s": 20.0, "block_seconds": 1000, "full_captures": 9,
    } | scale  # fmt: skip
    if change:
        change(data)
    results.mkdir(parents=True, exist_ok=True)
    (results / "how-quick.yaml").write_text(yaml.safe_dump(data, sort_keys=False))
    monkeypatch.setattr(study_module, "STUDIES", results)
    plan = plan_study("how-quick", Selection("smoke", 7, cells=(cell,) if cell else ()))
    plan["versions"] = {
        name: version_of(name) for name in plan["programs"] if name not in ("emulator", GUEST)
    }
    write_json(results / "plan" / "how-quick.json", plan)
    write_json(results / "calibration.json", {"verdict": "pass", "checks": []})
    for one in plan["cells"]:
        page = results / "content" / page_name(one["workload"])
        if not page.exists():
            make_page(one["workload"], 7, page)
        certificates = results / "content" / certificates_name(one)
        if not certificates.exists():
            make_certificates(certificates)
    endpoints.load_endpoints.cache_clear()
    return plan


def start_block(results, cell=CELL, **options):
    """Start scripts/measure.py on block 0; returns the process."""
    argv = [
        sys.executable,
        ROOT / "scripts" / "measure.py",
        "--plan",
        results / "plan/how-quick.json",
    ]
    argv += ["--calibration", results / "calibration.json", "--cell", cell, "--block", "0"]
    argv += ["--results", results, "--output", results / "blocks" / "how-quick" / cell / "0.json"]
    return subprocess.Popen(
        argv,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=dict(os.environ),
        **options,
    )


def measure(results, cell=CELL):
    """Measure block 0; returns (exit status, output, manifest or None)."""
    process = start_block(results, cell)
    output, _ = process.communicate(timeout=HANG_S)
    manifest = results / "blocks" / "how-quick" / cell / "0.json"
    return (
        process.returncode,
        output,
        json.loads(manifest.read_text()) if manifest.exists() else None,
    )


def meta(results, arm, repetition=0, cell=CELL):
    """The meta.json of a run."""
    folder = results / "runs" / "how-quick" / cell / arm / f"{repetition:04}"
    return json.loads((folder / "meta.json").read_text())
