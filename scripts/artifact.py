"""Pack what an artifact evaluation needs: code, locks, tables, figures, guide, checksums, metadata."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import yaml

from howquick.archive import contents, crate, guide
from howquick.archive.contents import Member
from howquick.errors import ROOT, run_program
from howquick.files import read_json
from howquick.report.place import archived


def selection(chosen: dict[str, Any]) -> bytes:
    """artifact.yaml: what was measured, in the words of config/config.yaml, to be rebuilt from its tables."""
    text = yaml.safe_dump(chosen | {"rebuild": True}, sort_keys=False, default_flow_style=None)
    return f"# What this archive holds: snakemake --configfile {guide.SELECTION}\n{text}".encode()


def time_of_data(results: Path, studies: list[str]) -> int:
    """Unix time of the newest data of the studies, as their appendices have it."""
    return max(int((results / "appendix" / study / "epoch").read_text()) for study in studies)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "selection", type=json.loads, help="studies, scale, seed, cells, arms, as JSON"
    )
    parser.add_argument("--results", type=Path, required=True)
    parser.add_argument("--manifest", type=Path, required=True, help="of the environment")
    parser.add_argument("--output", type=Path, required=True, help="the archive, NAME.tar.gz")
    arguments = parser.parse_args()
    results, studies = arguments.results, arguments.selection["studies"]
    plans = {study: read_json(results / "plan" / f"{study}.json") for study in studies}

    top = "howquick-artifact"
    made = contents.published(results, studies)
    code = list(contents.code())
    contents.check_studies(code, studies)
    members = [
        *code,
        *contents.measured(results, studies, arguments.manifest),
        *made,
        *contents.report(results, studies, archived(contents.PUBLISHED, guide.AGAIN, guide.ANEW)),
        Member(contents.SUMS, contents.sums(made, f"{contents.PUBLISHED}/", "results/")),
        Member(guide.SELECTION, selection(arguments.selection)),
        Member("ARTIFACT.md", guide.guide(results, plans, top).encode()),
    ]  # fmt: skip
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    metadata = crate.crate(members, citation, plans, time_of_data(results, studies))
    members.append(Member("ro-crate-metadata.json", f"{json.dumps(metadata, indent=1)}\n".encode()))
    members.append(Member(contents.ALL_SUMS, contents.sums(members)))
    contents.pack(members, top, arguments.output)


if __name__ == "__main__":
    run_program(main)
