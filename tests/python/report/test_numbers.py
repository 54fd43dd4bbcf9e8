"""One source of numbers: what the page shows is what R's tables say."""

from __future__ import annotations

import csv
import math

import pytest

from howquick.report.browser import Browser
from report.sample import CELLS, DETAILED, STUDY, Sample, make_report, runs_file


def same(shown: str | None, said: str) -> bool:
    if said in ("", "NA"):
        return shown is None
    try:
        return shown is not None and math.isclose(float(shown), float(said), rel_tol=1e-15)
    except ValueError:
        return shown == said


def test_every_number_of_the_claims(page: Browser, sample: Sample) -> None:
    page.open(f"{sample.page}#/{STUDY}?tab=claims")
    shown = page.run(
        "[...document.querySelectorAll('tr.condition')].map((row) => ["
        "row.closest('details').dataset.claim, row.querySelector('.what').firstChild.data,"
        "[...row.querySelectorAll('.number')].map((e) => e.dataset.value ?? null),"
        "row.querySelector('.badge').textContent])"
    )
    table = sample.table("claims")
    assert len(shown) == len(table) > 10
    for (claim, what, numbers, verdict), row in zip(shown, table, strict=True):
        assert (claim, what, verdict) == (row["claim"], row["what"], row["verdict"])
        said = [
            row["value"],
            *([row["low"], row["high"]] if row["low"] and row["high"] else []),
            row["n"],
        ]
        assert len(numbers) == len(said)
        assert all(same(a, b) for a, b in zip(numbers, said, strict=True)), row


def test_every_tile_of_the_heatmap(page: Browser, sample: Sample) -> None:
    seen = 0
    for a, b in sample.plan["comparison"]["pairs"]:
        page.open(f"{sample.page}#/{STUDY}?a={a}&b={b}")
        tiles = page.run(
            "Object.fromEntries([...document.querySelectorAll('.tile[data-cell]')].map("
            "(e) => [e.dataset.cell, e.dataset.value ?? null]))"
        )
        rows = [row for row in sample.table("comparisons") if (row["a"], row["b"]) == (a, b)]
        rows = [row for row in rows if row["state"] != "not measured"]
        assert set(tiles) == {row["cell"] for row in rows} == set(CELLS)
        for row in rows:
            assert same(tiles[row["cell"]], row["difference_percent"]), row
            seen += tiles[row["cell"]] is not None
    assert seen > len(CELLS)


def test_every_mark_of_an_arm_that_computes_for_long(page: Browser, sample: Sample) -> None:
    """Of tiles, where one arm of the pair does; of a cell's table, its own rows."""
    shares = {
        (row["cell"], row["arm"]): float(row["processor_share"] or 0)
        for row in sample.table("summary")
    }
    costly = {place for place, share in shares.items() if share > 0.1}
    assert costly and len(costly) < len(shares) / 2
    marks = (
        "[...document.querySelectorAll('{}')].filter((e) => e.textContent.includes('†'))"
        ".map((e) => e.dataset.{})"
    )
    pairs = sample.plan["comparison"]["pairs"]
    for a, b in [*pairs, (pairs[0][0], "-")]:
        page.open(f"{sample.page}#/{STUDY}?a={a}&b={b}")
        marked = page.run(marks.format(".tile[data-cell]", "cell"))
        assert set(marked) == {cell for cell, arm in costly if arm in (a, b)}
    page.open(f"{sample.page}#/{STUDY}/{DETAILED}")
    marked = page.run(marks.format("table.summary tr[data-arm]", "arm"))
    assert set(marked) == {arm for cell, arm in costly if cell == DETAILED}


def test_every_number_of_the_arms_of_a_cell(page: Browser, sample: Sample) -> None:
    page.open(f"{sample.page}#/{STUDY}/{DETAILED}")
    shown = page.run(
        "Object.fromEntries([...document.querySelectorAll('table.summary tr[data-arm]')].map((row) =>"
        " [row.dataset.arm, [...row.querySelectorAll('.number')].map((e) => e.dataset.value ?? null)]))"
    )
    rows = [row for row in sample.table("summary") if row["cell"] == DETAILED]
    assert set(shown) == {row["arm"] for row in rows}
    for row in rows:
        interval = [row["low"], row["high"]] if row["low"] and row["high"] else []
        said = [
            row["n"],
            row["median"],
            *interval,
            row["mean"],
            row["min"],
            row["max"],
            row["repetitions_needed"],
        ]
        assert all(same(a, b) for a, b in zip(shown[row["arm"]], said, strict=True)), row


def test_every_column_of_one_load(page: Browser, sample: Sample) -> None:
    slow = sample.slowest
    page.open(f"{sample.page}#/{STUDY}/{DETAILED}/{slow['arm']}/{slow['repetition']}")
    shown = page.run(
        "Object.fromEntries([...document.querySelectorAll('[data-column]')].map("
        "(e) => [e.dataset.column, e.dataset.value]))"
    )
    with runs_file(sample.folder).open(newline="") as stream:
        row = next(r for r in csv.DictReader(stream) if r["path"] == slow["path"])
    assert set(shown) == {name for name, value in row.items() if value}
    assert all(same(shown[name], row[name]) for name in shown)
    # 64 bits: rounded, it would be another seed.
    assert shown["loss_seed_up"] == row["loss_seed_up"]


@pytest.mark.usefixtures("sample")
def test_another_number_is_another_page(page: Browser, sample: Sample) -> None:
    table = sample.folder / "statistics" / STUDY / "comparisons.csv"
    before = table.read_text()
    a, b = sample.plan["comparison"]["pairs"][0]
    try:
        rows = list(csv.DictReader(before.splitlines()))
        for row in rows:
            row["difference_percent"] = "-12.5"
        with table.open("w", newline="") as stream:
            writer = csv.DictWriter(stream, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
        make_report(sample.folder)
        page.open(f"{sample.page}#/{STUDY}?a={a}&b={b}")
        values = page.run(
            "[...document.querySelectorAll('.tile[data-cell]')].map((e) => e.dataset.value)"
        )
        assert values == ["-12.5"] * len(CELLS)
    finally:
        table.write_text(before)
        make_report(sample.folder)
