"""ARTIFACT.md: what an evaluator does, for each claim, with the time and disk that it took here."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import Any

from howquick.archive.contents import ALL_SUMS, PUBLISHED, SUMS
from howquick.archive.cost import Cost, MeasuredBlock, cost_of, measured_blocks
from howquick.model import Plan
from howquick.study.cells import needs_guests

TEXT = Path(__file__).with_name("ARTIFACT.md")
SELECTION = "artifact.yaml"
# More names than that are no help on a command line: the whole study is measured instead.
MOST_CELLS = 12
AGAIN = "again"
ANEW = f"--configfile {SELECTION} --config rebuild=false results={AGAIN}"

# Of loads in virtual time, which are the same wherever they are measured.
CHECKED = f"""
## Checked: some loads again, in every column

    ./enter snakemake -j2 reproduce --configfile {SELECTION}

draws cells in virtual time at random, measures the first load of each arm again and compares every column of
its row with the tables of this archive. It takes minutes on any x86-64 machine, whatever else runs there, and
fails by name and column if one differs.
"""


@dataclass(frozen=True)
class Claim:
    """One claim of a paper, as the statistics judged it."""

    text: str
    where: str
    verdict: str
    numbers: list[str]
    cells: list[str]


def read_claims(table: Path, known_cells: Iterable[str]) -> list[Claim]:
    """The claims of a study with all conditions of each, from results/statistics/STUDY/claims.csv."""
    known = set(known_cells)
    claims: dict[str, Claim] = {}
    with table.open(encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream):
            claim = claims.setdefault(
                row["claim"],
                Claim(row["text"], row["where"], row["claim_verdict"], [], []),
            )
            claim.numbers.append(_numbers(row))
            for cell in f"{row['cells']} {row['against']}".split():
                if cell in known and cell not in claim.cells:
                    claim.cells.append(cell)
    return list(claims.values())


def _numbers(row: dict[str, str]) -> str:
    """A condition in one line: what is compared, what it must be, what came out."""
    value = f"{float(row['value']):.3g}" if row["value"] else "no value"
    if row["low"] and row["high"]:
        value += f" ({float(row['low']):.3g} to {float(row['high']):.3g})"
    return f"{row['what']}: must be {row['bound']}, is {value}, n = {row['n']}: {row['verdict']}"


def guide(results: Path, plans: dict[str, Plan], top: str) -> str:
    """The text of ARTIFACT.md. Raises UserError if a block of the studies is not measured."""
    blocks = {study: measured_blocks(results, plan) for study, plan in plans.items()}
    parts = [_head(plans, blocks, top)]
    parts += [_study(results, plan, blocks[study]) for study, plan in plans.items()]
    return "\n".join(parts)


def _head(plans: dict[str, Plan], blocks: dict[str, list[MeasuredBlock]], top: str) -> str:
    costs = {study: cost_of(measured) for study, measured in blocks.items()}
    rows = [
        f"| {plans[study]['title']} (`{study}`) | {cost.loads} | {cost.minutes:.0f} | {cost.megabytes:.0f} |"
        for study, cost in costs.items()
    ]
    hosts = {_machine(block.host) for measured in blocks.values() for block in measured}
    return Template(TEXT.read_text(encoding="utf-8")).substitute(
        titles="; ".join(plan["title"] for plan in plans.values()),
        scale=next(iter(plans.values()))["scale"],
        loads=sum(cost.loads for cost in costs.values()),
        gigabytes=f"{sum(cost.megabytes for cost in costs.values()) / 1000:.1f}",
        costs="\n".join(rows),
        machine="; ".join(sorted(hosts)),
        top=top,
        anew=ANEW,
        selection=SELECTION,
        checked=CHECKED if any(needs_guests(plan["cells"]) for plan in plans.values()) else "",
        published=PUBLISHED,
        sums=SUMS,
        all_sums=ALL_SUMS,
    )


def _machine(host: dict[str, Any]) -> str:
    return f"{host['cpus']} processors ({host['cpu']}), Linux {host['kernel']}"


def _study(results: Path, plan: Plan, blocks: list[MeasuredBlock]) -> str:
    study = plan["study"]
    names = [cell["name"] for cell in plan["cells"]]
    claims = read_claims(results / "statistics" / study / "claims.csv", names)
    lines = [f"## {plan['title']}", ""]
    if not claims:
        return "\n".join([*lines, "This study claims nothing.", ""])
    for number, claim in enumerate(claims, 1):
        cost = cost_of(block for block in blocks if block.cell in claim.cells)
        lines += [
            f"### {study}, claim {number}: {claim.verdict}",
            "",
            f"{claim.text}{f' ({claim.where})' if claim.where else ''}",
            "",
            *(f"* {numbers}" for numbers in claim.numbers),
            "",
            _again(study, claim, cost, len(names)),
            "",
            f"Look at: {_look_at(study, plan, claim)}",
            "",
        ]
    return "\n".join(lines)


def _again(study: str, claim: Claim, cost: Cost, of: int) -> str:
    """How the loads behind one claim are measured anew."""
    if not claim.cells:
        return "None of its cells was measured at this scale; a larger one has them."
    some = len(claim.cells) < of and len(claim.cells) <= MOST_CELLS
    cells = f" cells={','.join(claim.cells)}" if some else ""
    target = study.replace("-", "_")
    took = f"{cost.minutes:.1f} min, {cost.megabytes:.0f} MB" + (
        "" if some else " for its cells alone"
    )
    return f"Again ({took}):\n\n    ./enter snakemake -j8 {target} {ANEW}{cells}"


def _look_at(study: str, plan: Plan, claim: Claim) -> str:
    """Files in which the claim can be seen: the paper's figures that it names, and the table of claims."""
    named = set(claim.where.replace(",", " ").split()) - {"and"}
    shown = [
        f"`results/figures/{study}/{figure['name']}.pdf`"
        for figure in plan["figures"]
        # "Figures 4a and 4b" names "Figure 4a".
        if named & set((figure.get("paper") or "").replace(",", " ").split()[1:])
    ]
    return ", ".join([*shown, f"`results/statistics/{study}/claims.csv`"])
