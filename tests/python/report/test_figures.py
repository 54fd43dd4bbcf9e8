"""Figures in the browser: every kind that the appendix has, from the numbers that R draws."""

from __future__ import annotations

import math

from howquick.errors import ROOT
from howquick.report.browser import Browser
from howquick.study.figures import READS
from report.asking import asked_of_r, open_figure, shown
from report.sample import CELLS, STUCK, STUDY, Sample

# Of each tile pair, cell, number, value, kinds, words, column and row.
TILES = """[...document.querySelectorAll('PLACE .tile')].map((e) => {
  const heads = e.closest('table').querySelectorAll('tbody tr:first-child th').length;
  return [e.closest('[data-pair]').dataset.pair, e.dataset.cell, e.dataset.text ?? '', e.dataset.value ?? '',
    e.className, e.textContent, e.closest('td').cellIndex - heads + 1, e.closest('tr').rowIndex];
})"""
KINDS = sorted(path.stem for path in (ROOT / "R/figures/kinds").glob("*.R"))


def same(one: str | None, other: str) -> bool:
    """Two numbers as texts; an empty one is not known."""
    if other == "" or one in (None, ""):
        return other == "" and one in (None, "")
    return math.isclose(float(str(one)), float(other), rel_tol=1e-9, abs_tol=1e-12)


def test_the_page_draws_every_kind_that_the_appendix_draws(page: Browser, sample: Sample) -> None:
    page.open(sample.page)
    assert page.run("Object.keys(DRAWN).sort()") == KINDS == sorted(READS)
    assert {figure["kind"] for figure in sample.plan["figures"]} == set(KINDS)


def test_every_figure_of_the_study_is_a_drawing(page: Browser, sample: Sample) -> None:
    page.open(f"{sample.page}#/{STUDY}?tab=figures")
    for figure in sample.plan["figures"]:
        place = f"#figure-{figure['name']} .drawing"
        drawn = page.run(f"document.querySelectorAll('{place} :is(svg.plot, table, .tree)').length")
        said = page.run(f"document.querySelector('{place} .empty')?.innerText ?? ''")
        # Not every cell has loads.
        assert drawn or "None of its cells" in said, figure["name"]
    # What the library says of itself in a sheet of styles, the page's policy forbids.
    assert page.run("document.querySelectorAll('main style').length") == 0


def test_clients_differ_as_r_says(page: Browser, sample: Sample) -> None:
    said = {
        (row["cell"], row["arm"]): row["percent"]
        for row in asked_of_r(sample, "clients")
        if row["percent"] and int(row["clients"]) > 1
    }
    found = {
        (c, a): value for c, a, value in shown(page, sample, "clients", "cell", "arm", "value")
    }
    assert len(said) > len(CELLS)
    for key, percent in said.items():
        assert same(found[key], percent), key


def test_shares_of_processor_time_are_those_of_r(page: Browser, sample: Sample) -> None:
    found = sorted(
        (part, round(float(value), 9))
        for part, value in shown(page, sample, "profile", "part", "value")
        if part
    )
    said = sorted(
        (row["part"], round(float(row["share"]), 9)) for row in asked_of_r(sample, "profile")
    )
    assert len(said) > 10 and found == said


def test_shares_of_protocols_are_those_of_r(page: Browser, sample: Sample) -> None:
    found = sorted(
        (part, round(float(value), 9))
        for part, value in shown(page, sample, "share", "part", "value")
    )
    said = sorted(
        (row["protocol"], round(100 * float(row["share"]), 9))
        for row in asked_of_r(sample, "share")
    )
    assert len({protocol for protocol, _ in said}) == 2 and found == said


def test_failures_are_those_of_r(page: Browser, sample: Sample) -> None:
    found = {(c, a): int(v) for c, a, v in shown(page, sample, "bad", "cell", "arm", "value")}
    said = {(row["cell"], row["arm"]): int(row["bad"]) for row in asked_of_r(sample, "bad")}
    assert said[STUCK] == 5 and {key for key, bad in said.items() if not bad}
    assert all(found.get(key, 0) == bad for key, bad in said.items())


def test_links_deviate_as_r_says(page: Browser, sample: Sample) -> None:
    open_figure(page, sample, "links")
    found = page.run(
        f"howquick.load('{STUDY}/study').then((study) =>"
        " [...deviations(study.links)].flatMap(([panel, rows]) => rows.map((row) => [panel, row.deviation])))"
    )
    said = sorted(
        (row["panel"], round(float(row["deviation"]), 6)) for row in asked_of_r(sample, "links")
    )
    assert len(said) > len(CELLS)
    assert sorted((panel, round(value, 6)) for panel, value in found) == said


def test_a_matrix_says_what_r_says(page: Browser, sample: Sample) -> None:
    """Of every pair of programs whether it worked, how fast, and why not."""
    said = sorted(
        (row["server"], row["client"], row["arm"], row["state"],
         row["median"] and round(float(row["median"]), 9))
        for row in asked_of_r(sample, "pairs")
    )  # fmt: skip
    found = sorted(
        (server, client, arm or "", state, value and round(float(value), 9))
        for server, client, arm, state, value in shown(
            page, sample, "pairs", "server", "client", "arm", "state", "value", every="state"
        )
    )
    assert {row[3] for row in said} >= {"worked", "failed", "not supported"} and found == said
    reasons = {row["reason"] for row in asked_of_r(sample, "pairs") if row["reason"]}
    text = page.run("document.querySelector('#figure-pairs').textContent")
    assert reasons and all(reason in text for reason in reasons)


def test_tiles_are_those_of_r(page: Browser, sample: Sample) -> None:
    for figure in ("heatmap", "cpu-heatmap"):
        said = {
            (f"{row['a']} {row['b']}", row["cell"]): row
            for row in asked_of_r(sample, figure)
            if row["kind"] != "not measured"
        }
        place = open_figure(page, sample, figure)
        found = page.run(TILES.replace("PLACE", place))
        tiles = {
            (pair, cell): rest for pair, cell, *rest in found if "state-not-measured" not in rest[2]
        }
        assert set(tiles) == set(said) and len(said) > len(CELLS)
        columns, rows = ranks(said, "column"), ranks(said, "row")
        for key, (text, value, kind, words, column, line) in tiles.items():
            row = said[key]
            assert text == row["text"].removesuffix("*"), key
            assert (column, line) == (columns[row["column"]], rows[row["row"]]), key
            if row["kind"] == "value":
                assert same(value, row["difference_percent"]), key
                assert ("decided" in kind) == (row["decided"] == "TRUE"), key
                assert ("†" in words) == (row["costly"] == "TRUE"), key
                assert ("*" in words) == (row["significant"] == "TRUE"), key
                assert ("lower" in kind) == (float(row["shade"]) < 0), key
            else:
                assert "state-failed" in kind, key
        assert {row["kind"] for row in said.values()} == {"value", "failed"}


def ranks(said: dict[tuple[str, str], dict[str, str]], name: str) -> dict[str, int]:
    """Places among those that are shown: R counts levels of cells that were not measured too."""
    places = sorted({int(row[name]) for row in said.values()})
    return {str(place): number for number, place in enumerate(places, 1)}


def test_a_tree_splits_as_r_says(page: Browser, sample: Sample) -> None:
    tree = next(figure["name"] for figure in sample.plan["figures"] if figure["kind"] == "tree")
    said = sorted((row["right"], row["n"]) for row in asked_of_r(sample, tree))
    place = open_figure(page, sample, tree)
    texts = page.run(
        f"[...document.querySelectorAll('{place} .tree li > small')].map((e) => e.textContent)"
    )
    found = sorted(
        tuple(text.removeprefix(" in ").removesuffix(" cells").split(" of ")) for text in texts
    )
    assert len(said) > 1 and found == said
