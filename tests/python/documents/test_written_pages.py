"""Pages that are written from other files: they are up to date, and say what those say."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

import write_documents
from howquick.documents.markdown import replace_part, table
from howquick.documents.results import (
    StudyFiles,
    links_table,
    loads_text,
    processor_text,
    results_page,
)
from howquick.errors import ROOT, UserError

CLAIM = {
    "claim": "1-a", "text": "A is sooner", "where": "Figure 1", "claim_verdict": "supported", "cells": "c0",
    "against": "", "what": "ratio", "bound": "< 1", "value": "0.5", "low": "0.4", "high": "0.6", "n": "3",
    "verdict": "supported",
}  # fmt: skip
SECOND = {"claim": "2-b", "claim_verdict": "undecided", "verdict": "not supported"}
OVERALL = {
    "a": "x", "b": "y", "cells": "1", "a_wins": "1", "b_wins": "0", "ties": "0",
    "ratio": "0.5", "low": "", "high": "",
}  # fmt: skip
SUMMARY = [
    {"cell": "c0", "arm": "x", "median": "0.5", "n": "3"},
    {"cell": "c0", "arm": "y", "median": "14800.4", "n": "3"},
    {"cell": "c1", "arm": "y", "median": "Inf", "n": "3"},
]
RUNS = [
    {"cell": "c0", "arm": "x", "status": "ok", "started": "86400"},
    {"cell": "c0", "arm": "y", "status": "timeout", "started": "0"},
]
PLAN = {
    "study": "s", "title": "A study", "scale": "smoke", "cells": [{"name": "c0"}],
    "arms": [{"name": "x", "label": "X|x"}, {"name": "y", "label": "Y"}],
    "comparison": {"metric": {"column": "plt_s", "label": "Time", "short": "time", "unit": "s"}},
}  # fmt: skip


@pytest.mark.parametrize("path", sorted(write_documents.documents()), ids=str)
def test_pages_are_as_their_sources_say(path: Path) -> None:
    assert (ROOT / path).read_text(encoding="utf-8") == write_documents.documents()[path], (
        "Run ./enter python3 scripts/write_documents.py documents"
    )


def test_every_figure_and_program_is_there() -> None:
    figures = (ROOT / "docs/figures.md").read_text(encoding="utf-8")
    programs = (ROOT / "docs/implementations.md").read_text(encoding="utf-8")
    assert (
        "| Figure 4 / Figure 4 | Few small objects on a good network | cdf | `figure-4` |"
        in figures
    )
    assert "| `nginx` | server: h3 | reno | its own |" in programs
    assert "| `nginx` | server: h1, h2 | cubic, bbr, reno | the kernel's |" in programs


def write(path: Path, rows: list[dict[str, str]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def study(folder: Path) -> StudyFiles:
    write(folder / "claims.csv", [CLAIM, CLAIM | SECOND])
    write(folder / "overall.csv", [OVERALL])
    write(folder / "summary.csv", SUMMARY)
    write(folder / "runs.csv", RUNS)
    return StudyFiles(PLAN, folder / "runs.csv", folder)


def test_the_page_of_results_says_what_the_tables_say(tmp_path: Path) -> None:
    page = results_page([study(tmp_path)], [])
    assert "1970-01-01 to 1970-01-02: 2 loads (1 ok, 1 timeout) of 2 arms in 1 cells" in page
    assert (
        "Claims: 1 supported, 0 not supported, 1 undecided, 0 too few loads, 0 not tested at this scale, "
        "0 not applicable." in page
    )
    assert "| A is sooner | Figure 1 | undecided | 0 of 1 |" in page
    assert "| X\\|x | Y | 1 | 1 | 0 | 0 | 0.5 |" in page
    assert "| A is sooner | Figure 1 | supported | 1 of 1 |" in page
    # What did not finish has no median to speak of.
    assert "from 0.5 s (X|x, `c0`, n = 3) to 14800 s (Y, `c0`, n = 3)" in page
    assert "## Links" not in page


def test_another_number_is_another_page(tmp_path: Path) -> None:
    before = results_page([study(tmp_path)], [])
    write(tmp_path / "overall.csv", [OVERALL | {"ratio": "0.75", "low": "0.7", "high": "0.8"}])
    after = results_page([study_of(tmp_path)], [])
    assert before != after and "0.75 (0.7 to 0.8)" in after


def study_of(folder: Path) -> StudyFiles:
    return StudyFiles(PLAN, folder / "runs.csv", folder)


def test_what_the_processor_would_add_is_told_where_it_is_left_out() -> None:
    def row(arm: str, share: str) -> dict[str, str]:
        return {"cell": "c", "arm": arm, "processor_share": share}

    text = processor_text([row("a", "0.04"), row("b", "0.314"), row("d", "")], {"b": "HTTP/3"})
    assert text is not None
    assert "more than 10 % of their load" in text
    assert "in 1 of 2 pairs of cell and arm; at most 31 % (HTTP/3, `c`)" in text
    assert processor_text([row("a", "")], {}) is None
    assert processor_text([{"cell": "c", "arm": "a"}], {}) is None


def test_links_by_quantity() -> None:
    def check(quantity: str, asked: float, measured: float, verdict: str) -> dict[str, object]:
        return {"quantity": quantity, "asked": asked, "measured": measured, "verdict": verdict}

    first = {"checks": [check("rtt_ms", 20, 20.1, "pass"), check("reordered", 0, 0, "pass")]}
    second = {"checks": [check("rtt_ms", 100, 98, "fail")]}
    text = links_table([first, second])
    assert "| `rtt_ms` | 2 | 1 | 2 % |" in text
    assert "| `reordered` | 1 | 1 | 0 |" in text


def test_the_program_writes_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = study(tmp_path)
    plan, output = tmp_path / "plan.json", tmp_path / "out" / "results.md"
    plan.write_text(json.dumps(PLAN))
    argv = [
        "write_documents.py", "results", "--plans", plan, "--runs", files.runs,
        "--statistics", tmp_path, "--output", output,
    ]  # fmt: skip
    monkeypatch.setattr("sys.argv", [str(word) for word in argv])
    write_documents.main()
    assert output.read_text(encoding="utf-8") == results_page([files], [])


def test_a_part_without_a_place_is_named() -> None:
    with pytest.raises(UserError, match="no place for 'abilities'"):
        replace_part("# Page", "abilities", table(("a",), []))


def test_loads_in_virtual_time_are_called_so_and_have_no_day() -> None:
    plan = {"scale": "smoke"}
    row = {"status": "ok", "cell": "c", "arm": "a", "started": "1798761664"}
    virtual = loads_text(plan, [row | {"clock": "virtual"}] * 2)
    assert virtual == "Scale `smoke`, in virtual time: 2 loads (2 ok) of 1 arms in 1 cells.\n"
    both = loads_text(plan, [row | {"clock": "virtual"}, row | {"clock": "real"}])
    assert "2026-12-31" not in both and "2027-01-01, 1 of them in virtual time:" in both
    assert loads_text(plan, [row]) == (
        "Scale `smoke`, 2027-01-01: 1 loads (1 ok) of 1 arms in 1 cells.\n"
    )
