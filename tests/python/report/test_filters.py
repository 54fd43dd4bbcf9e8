"""What is shown of a study can be narrowed down to loads that failed."""

from __future__ import annotations

from howquick.report.browser import Browser
from report.sample import CELLS, STUDY, Sample

TILES = "[...document.querySelectorAll('.tile[data-cell]')].map((e) => e.dataset.cell)"
# Of one cell all loads are made to have finished, and of another one load to have run into its limit.
OTHERWISE = f"""howquick.load('{STUDY}/study').then((study) => {{
  for (const row of howquick.rows(study.runs)) if (row.cell === '{CELLS[0]}') row.status = 'ok';
  howquick.rows(study.runs).find((row) => row.cell === '{CELLS[1]}').status = 'timeout';
  study.states.timeout = 1;
}})"""


def choose(page: Browser, value: str) -> list[str]:
    page.run(
        "(() => { const select = document.getElementById('choose-cells-with-loads-that');"
        f" select.value = {value!r}; select.dispatchEvent(new Event('change')); }})()"
    )
    page.wait(f"location.hash.endsWith('status={value}')")
    page.settle()
    return list(page.run(TILES))


def test_cells_with_loads_that_are_not_ok(page: Browser, sample: Sample) -> None:
    page.open(f"{sample.page}#/{STUDY}")
    page.run(OTHERWISE)
    page.run("show()")
    page.settle()
    assert set(page.run(TILES)) == set(CELLS)
    assert set(choose(page, "not-ok")) == set(CELLS[1:])
    assert choose(page, "timeout") == [CELLS[1]]
    assert set(choose(page, "failed")) == set(CELLS[1:])
    # The list of loads narrows with it.
    page.click(".tabs a[href*='tab=loads']")
    # The table below it counts all that did not finish.
    statuses = page.run(
        "[...document.querySelector('main table').querySelectorAll('tbody .badge')].map((e) => e.textContent)"
    )
    assert set(statuses) == {"failed"}


def test_what_a_study_asks_stands_below_its_title(page: Browser, sample: Sample) -> None:
    page.open(sample.page)
    shown = page.run(f"document.querySelector(\"section[data-study='{STUDY}'] .lead\").textContent")
    assert shown == sample.plan["question"]
    page.open(f"{sample.page}#/{STUDY}")
    assert page.run("document.querySelector('h1 + .lead').textContent") == shown
