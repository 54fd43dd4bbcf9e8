"""docs/figures.md: from the figure of a paper to the file, by the study files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from howquick.analysis_model import Figure, Paper, Text
from howquick.documents.markdown import table
from howquick.schemas import load_yaml
from howquick.study.resolve import STUDIES

HEAD = """# From figure to file

Written from `config/studies/*.yaml` by `./enter python3 scripts/write_documents.py documents`.

All figures are in `results/appendix.pdf`. One alone is

    ./enter snakemake -j8 results/figures/STUDY/NAME.pdf

which measures the cells that it shows and no others. Beside it lies `NAME.svg`: what stands for one load in
it leads to the run's folder. Claims and their numbers are in `results/statistics/STUDY/claims.csv`.
"""


def figures_page(studies: Path = STUDIES) -> str:
    """The whole page. Raises ConfigError for a study file that does not follow its schema."""
    parts = [HEAD]
    for path in sorted(studies.glob("*.yaml")):
        study = load_yaml(path, "study")
        parts += [
            f"## {study['study']}\n",
            f"{_source(study)}.\n",
            table(("paper", "shows", "kind", "`NAME`"), map(_row, study["figures"])),
        ]
    return "\n".join(parts)


def _source(study: dict[str, Any]) -> str:
    """The paper, or the study's own title where it has none."""
    if not (paper := study.get("paper")):
        return f"*{study['title']}*"
    also = f". Also: {_cited(paper['also'])}" if "also" in paper else ""
    return f"{_cited(paper)}{also}"


def _cited(text: Paper | Text) -> str:
    year = f", {text['year']}" if "year" in text else ""
    return f"{text['authors']}: *{text['title']}*, {text['venue']}{year}"


def _row(figure: Figure) -> tuple[str, str, str, str]:
    places = filter(None, (figure.get("paper"), figure.get("also")))
    return " / ".join(places) or "—", figure["title"], figure["kind"], f"`{figure['name']}`"
