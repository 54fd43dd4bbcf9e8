"""Tables of loads and of claims: sorted and narrowed down by a reader, whole when asked for."""

from __future__ import annotations

import pytest

from howquick.report.browser import Browser
from report.sample import DETAILED, STUDY, Sample
from report.test_keys import tab_to

METRIC = 3
# Of each row of a table the numbers, or texts, of one column.
COLUMN = """[...document.querySelectorAll('table.loads tbody tr')].map((row) => {
  const cell = row.cells[COLUMN];
  const number = cell.querySelector('.number');
  return number ? (number.dataset.value ?? null) : cell.textContent;
})"""
SORTED = "[...document.querySelectorAll('table.loads th')].map((e) => e.getAttribute('aria-sort'))"


def column(page: Browser, at: int) -> list[str | None]:
    return list(page.run(COLUMN.replace("COLUMN", str(at))))


def find(page: Browser, words: str) -> None:
    """Write words into the box and press Enter, as a reader does."""
    page.run("document.getElementById('find').focus(); document.getElementById('find').select()")
    page.call("Input.insertText", text=words)
    page.press("Enter")
    page.wait(f"parseRoute(location.hash).choices.find === {words!r}")
    page.settle()


def times(sample: Sample) -> list[float]:
    """The metric of the loads of the cell that have one."""
    rows = [row for row in sample.rows if row["cell"] == DETAILED]
    return [float(row["plt_s"]) for row in rows if row["plt_s"]]


def test_a_column_sorts_up_and_down_by_keys_and_by_address(page: Browser, sample: Sample) -> None:
    place = f"{sample.page}#/{STUDY}/{DETAILED}"
    page.open(place)
    before = column(page, METRIC)
    known = times(sample)
    assert len(before) > len(known) > 20 and set(page.run(SORTED)) == {"none"}
    tab_to(page, "#sort-loads-plt_s")
    for order, sign in (("ascending", ""), ("descending", "-")):
        page.press("Enter")
        page.wait(f"parseRoute(location.hash).choices.sort === '{sign}plt_s'")
        page.settle()
        found = column(page, METRIC)
        # What has no number comes last, whatever the direction.
        assert found[len(known) :] == [None] * (len(before) - len(known))
        numbers = [float(str(value)) for value in found[: len(known)]]
        assert numbers == sorted(known, reverse=bool(sign))
        assert page.run(SORTED)[METRIC] == order and page.run(SORTED).count("none") == 8
        assert page.run("document.activeElement.id") == "sort-loads-plt_s"
    address = page.run("location.href")
    page.press("Enter")
    page.wait("!location.hash.includes('sort')")
    page.settle()
    assert column(page, METRIC) == before
    page.open(address)
    assert column(page, METRIC) == found


def test_words_narrow_down_the_loads_and_are_in_the_address(page: Browser, sample: Sample) -> None:
    page.open(f"{sample.page}#/{STUDY}/{DETAILED}")
    arms = column(page, 0)
    one = next(arm["label"] for arm in sample.plan["arms"] if arm["name"] == "spdy-node")
    find(page, one.lower())
    assert column(page, 0) == [arm for arm in arms if one in str(arm)] and len(set(arms)) > 3
    assert f"of {len(arms)}" in page.run("document.querySelector('.found').textContent")
    assert page.run("document.activeElement.id") == "find"
    assert page.run("document.getElementById('find').value") == one.lower()
    find(page, "nothing has this")
    assert column(page, 0) == []
    page.run("history.back()")
    page.wait("!location.hash.includes('nothing')")
    page.settle()
    assert set(column(page, 0)) == {one}


def test_a_hundred_loads_are_shown_and_all_when_asked(page: Browser, sample: Sample) -> None:
    page.open(f"{sample.page}#/{STUDY}?tab=loads&sort=-plt_s")
    first = column(page, 4)
    assert len(first) == 100 < len(sample.rows)
    page.click("a[href*='rows=all']")
    whole = column(page, 4)
    # Sorted before they are cut off.
    assert len(whole) == len(sample.rows) and whole[:100] == first
    numbers = [float(value) for value in whole if value is not None]
    assert numbers == sorted(numbers, reverse=True)


@pytest.mark.parametrize("sign", ["", "-"])
def test_numbers_of_claims_are_sorted_within_their_claim(
    page: Browser, sample: Sample, sign: str
) -> None:
    page.open(f"{sample.page}#/{STUDY}?tab=claims&sort={sign}value")
    shown = page.run(
        "[...document.querySelectorAll('details[data-claim]')].map((e) => [e.dataset.claim,"
        " [...e.querySelectorAll('tr.condition')].map("
        "(row) => row.cells[1].querySelector('.number').dataset.value ?? null)])"
    )
    table = sample.table("claims")
    assert [claim for claim, _ in shown] == list(dict.fromkeys(row["claim"] for row in table))
    for claim, values in shown:
        said = [float(row["value"]) for row in table if row["claim"] == claim and row["value"]]
        known = [float(value) for value in values if value is not None]
        assert known == sorted(said, reverse=bool(sign))
        assert None not in values[: len(known)]


def test_words_narrow_down_the_numbers_of_claims(page: Browser, sample: Sample) -> None:
    page.open(f"{sample.page}#/{STUDY}?tab=claims")
    find(page, DETAILED)
    shown = page.run(
        "[...document.querySelectorAll('tr.condition')].map((e) => e.dataset.condition)"
    )
    table = sample.table("claims")
    said = [
        row for row in table
        if DETAILED in f"{row['what']} {row['note']} {row['cells']} {row['against']}"
    ]  # fmt: skip
    assert len(shown) == len(said) and 0 < len(said) < len(table)
    find(page, "nothing has this")
    assert "No number" in page.run("document.getElementById('main').innerText")
