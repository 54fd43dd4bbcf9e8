"""ro-crate-metadata.json: the archive described for machines (RO-Crate 1.1, with its Workflow profile)."""

from __future__ import annotations

import mimetypes
from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import Any

from howquick.archive.contents import Member
from howquick.model import Plan

CONTEXT = "https://w3id.org/ro/crate/1.1/context"
CRATE = "https://w3id.org/ro/crate/1.1"
WORKFLOW_PROFILE = "https://w3id.org/workflowhub/workflow-ro-crate/1.0"
SNAKEMAKE = "https://w3id.org/workflowhub/workflow-ro-crate#snakemake"
MAIN = "Snakefile"


def crate(
    members: list[Member],
    citation: dict[str, Any],
    plans: dict[str, Plan],
    finished: float,
) -> dict[str, Any]:
    """The metadata as JSON-LD: the archive, its files, its workflow, and one action per study that was run.

    citation: the content of CITATION.cff; finished: Unix time of the data.
    """
    authors = [
        {"@id": f"#{_word(a['name'])}", "@type": "Organization", "name": a["name"]}
        for a in citation["authors"]
    ]
    licence = f"https://spdx.org/licenses/{citation['license']}"
    date = datetime.fromtimestamp(finished, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    root = {
        "@id": "./",
        "@type": "Dataset",
        "name": "Artifact: " + ", ".join(plan["title"] for plan in plans.values()),
        "description": "Code, locks, tidy tables, figures and appendix of measurements made by howquick",
        "datePublished": date,
        "license": {"@id": licence},
        "author": [{"@id": author["@id"]} for author in authors],
        "keywords": ", ".join(citation["keywords"]),
        "mainEntity": {"@id": MAIN},
        "hasPart": [{"@id": member.name} for member in members],
        "mentions": [{"@id": f"#run-{study}"} for study in plans],
    }  # fmt: skip
    descriptor = {
        "@id": "ro-crate-metadata.json",
        "@type": "CreativeWork",
        "conformsTo": [{"@id": CRATE}, {"@id": WORKFLOW_PROFILE}],
        "about": {"@id": "./"},
    }
    language = {
        "@id": SNAKEMAKE,
        "@type": "ComputerLanguage",
        "name": "Snakemake",
        "url": {"@id": "https://snakemake.readthedocs.io"},
    }
    terms = {
        "@id": licence,
        "@type": "CreativeWork",
        "name": citation["license"],
    }
    actions = [_action(study, plan, members, date) for study, plan in plans.items()]
    files = [_file(member, authors) for member in members]
    return {
        "@context": CONTEXT,
        "@graph": [descriptor, root, language, terms, *authors, *actions, *files],
    }


def _word(name: str) -> str:
    return "".join(c if c.isalnum() else "-" for c in name.lower())


def _file(member: Member, authors: list[dict[str, Any]]) -> dict[str, Any]:
    """One file; the Snakefile is the workflow."""
    guess = {".csv": "text/csv", ".md": "text/markdown", ".yaml": "application/yaml"}
    suffix = PurePosixPath(member.name).suffix
    kind = guess.get(suffix) or mimetypes.guess_type(member.name)[0] or "text/plain"
    entity: dict[str, Any] = {
        "@id": member.name,
        "@type": "File",
        "encodingFormat": kind,
        "contentSize": str(member.size()),
        "sha256": member.sha256,
    }
    if member.name == MAIN:
        entity |= {
            "@type": ["File", "SoftwareSourceCode", "ComputationalWorkflow"],
            "name": "howquick",
            "programmingLanguage": {"@id": SNAKEMAKE},
            "author": [{"@id": author["@id"]} for author in authors],
        }
    return entity


def _action(study: str, plan: Plan, members: list[Member], date: str) -> dict[str, Any]:
    """The run of one study: from its file to its table, figures and statistics."""
    made = (
        f"results/tables/{study}.csv",
        f"published/figures/{study}/",
        f"published/statistics/{study}/",
    )
    return {
        "@id": f"#run-{study}",
        "@type": "CreateAction",
        "name": f"{plan['title']}, scale {plan['scale']}, seed {plan['seed']}",
        "endTime": date,
        "instrument": {"@id": MAIN},
        "object": [{"@id": f"config/studies/{study}.yaml"}, {"@id": f"results/plan/{study}.json"}],
        "result": [{"@id": m.name} for m in members if m.name.startswith(made)],
    }
