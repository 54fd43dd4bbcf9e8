"""What a program consists of is in the hash of what it makes, or is named here with the reason why not."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from howquick.code import covered_files
from howquick.errors import ROOT
from howquick.extract.code import TABLES
from howquick.plan.calibration import LINKS
from howquick.plan.fingerprint import GUEST_CODE
from howquick.plan.method import DECIDES
from imports import closure

# Of every program.
PLAIN = {
    "errors.py": "words of refusals; where the checkout is",
    "files.py": "reads and writes files, whole or not at all",
}
MACHINE = {"environment/manifest.py": "where a program is; its hash is in fingerprints"}
IN_THE_PLAN = (
    "what it decides is in the plan, of which the fingerprint has all that a load follows from"
)
DECLARED = "what programs declare; as it is understood, it is in their hashes"
PACKED = "puts a finished capture into its file; a change makes the tables anew"
FINGERPRINT = "what a fingerprint is: another one measures anew by itself"
LOADS = {
    **PLAIN,
    **MACHINE,
    "capture/buffer.py": PACKED,
    "capture/errors.py": PACKED,
    "capture/pack.py": PACKED,
    "capture/pcap.py": PACKED,
    "capture/pcapng.py": PACKED,
    "code.py": FINGERPRINT,
    "plan/fingerprint.py": FINGERPRINT,
    "plan/method.py": FINGERPRINT,
    "environment/endpoints.py": DECLARED,
    "schemas.py": DECLARED,
    "analysis_model.py": "forms for the type checker",
    "model.py": "forms for the type checker, and the names of the two roles",
    "study/arms.py": IN_THE_PLAN,
    "study/cells.py": IN_THE_PLAN,
    "study/host.py": IN_THE_PLAN,
    "study/player.py": IN_THE_PLAN,
}
PROBES = {
    **PLAIN,
    **MACHINE,
    "guard/machine.py": "the pressure on the processors, noted beside a probe; no verdict follows from it",
}
EXTRACTION = {**PLAIN, "schemas.py": "where the schemas are, which are covered"}
# A hash of what decides a guest stands beside those of loads and links.
HASHES = {
    "loads": (
        ("measure.py", "measure_load.py", "make_content.py", "interop_endpoint.py"),
        (*DECIDES, *GUEST_CODE),
        LOADS,
    ),
    "links": (("calibrate.py",), (*LINKS, *GUEST_CODE), PROBES),
    "tables": (("extract.py",), TABLES, EXTRACTION),
}


def says_nothing(file: Path) -> bool:
    """Whether there is no code in it, as in the files that make folders packages."""
    body = ast.parse(file.read_text(encoding="utf-8")).body
    return all(isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) for node in body)


@pytest.mark.parametrize("of", HASHES)
def test_what_a_hash_leaves_out_is_named_with_a_reason(of: str) -> None:
    programs, covered, reasons = HASHES[of]
    left_out = closure(*programs) - covered_files(covered)
    library = ROOT / "scripts/howquick"
    assert {str(f.relative_to(library)) for f in left_out if not says_nothing(f)} == set(reasons)


def test_every_schema_of_logs_is_covered() -> None:
    schemas = set((ROOT / "config/schemas").glob("qlog-*"))
    assert schemas and schemas <= covered_files(TABLES)
