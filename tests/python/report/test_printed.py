"""The numbers of the report are those that the appendix prints."""

from __future__ import annotations

import re

import pytest

from howquick.errors import ROOT
from howquick.report.browser import Browser
from report.sample import STUDY, Sample, program, runs_file

# What a page shows of every condition: of its claim the number and the verdict, then itself.
CONDITIONS = """[...document.querySelectorAll('tr.condition')].map((row) => {
  const claim = row.closest('details');
  return {
    claim: claim.dataset.claim, verdict: claim.querySelector('summary .badge').textContent,
    own: row.querySelector('.badge').textContent,
    numbers: [...row.children[1].querySelectorAll('.number')].map((e) => e.dataset.value ?? null),
    n: row.children[5].textContent, decides: row.querySelector('.decides').textContent,
    cost: row.children[7].querySelector('[data-value]')?.dataset.value ?? null,
  };
})"""
SUMMARY = f"""howquick.load('{STUDY}/study').then((study) => howquick.rows(study.tables.summary).map((row) =>
  [row.n, row.median, row.low, row.high].map((value) => value === null ? null : String(value))))"""
# Numbers in LaTeX as R writes them (R/appendix/latex.R): three digits.
WORDS = {"--": None, "$>$ limit": float("inf"), "$<$ $-$limit": float("-inf")}


@pytest.fixture(scope="module")
def printed(sample: Sample, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Fragments of the appendix of the same statistics, by name."""
    folder = tmp_path_factory.mktemp("appendix")
    (folder / "figures").mkdir()
    program(
        "Rscript", str(ROOT / "R/run_appendix.R"), "--study", str(sample.folder / f"plan/{STUDY}.json"),
        "--runs", str(runs_file(sample.folder)), "--statistics", str(sample.folder / "statistics" / STUDY),
        "--figures", str(folder / "figures"), "--output", str(folder / "tex"),
    )  # fmt: skip
    return {path.stem: path.read_text() for path in (folder / "tex").glob("*.tex")}


def lines(fragment: str) -> list[list[str]]:
    """The rows of a table in LaTeX, without its head."""
    body = fragment.split("\\endlastfoot", 1)[1].split("\\end{longtable}", 1)[0]
    # A heading of several columns stands before the row that it belongs to.
    rows = re.split(r"(?<=\\\\)\n", body.replace("\\addlinespace[2pt]\n", "").strip())
    rows = [row.rsplit("\\\\*\n", 1)[-1].removesuffix("\\\\") for row in rows]
    return [[part.strip() for part in re.split(r"(?<!\\)&", row)] for row in rows if row.strip()]


def numbers(text: str) -> list[float | None]:
    """`1.23 [1.10, 1.40]` as numbers; a value without an interval alone."""
    found = re.match(r"(.*?)(?:\s*\[(.*), (.*)\])?$", text.replace("\\,", " "))
    assert found, text
    said = [part for part in found.groups() if part is not None]
    return [WORDS[part] if part in WORDS else float(part.replace("$-$", "-")) for part in said]


def rounded(value: str | None) -> float | None:
    """A number of the page with three digits, and never fewer than those before the point."""
    if value is None:
        return None
    number = float(value)
    if number in (float("inf"), float("-inf")):
        return number
    return float(f"{number:.0f}") if abs(number) >= 100 else float(f"{number:.3g}")


def shown(page: Browser, sample: Sample) -> list[dict[str, object]]:
    page.open(f"{sample.page}#/{STUDY}?tab=claims")
    found = page.run(CONDITIONS)
    assert len(found) > 10
    return list(found)


def test_every_verdict_is_the_printed_one(
    page: Browser, sample: Sample, printed: dict[str, str]
) -> None:
    found = list({row["claim"]: row["verdict"] for row in shown(page, sample)}.values())
    said = [re.sub(r"\\textbf\{(.*)\}", r"\1", row[-1]) for row in lines(printed["claims"])]
    assert found == said


def test_every_number_of_the_claims_is_the_printed_one(
    page: Browser, sample: Sample, printed: dict[str, str]
) -> None:
    found, said = shown(page, sample), lines(printed["numbers"])
    assert len(found) == len(said)
    # The appendix brings together what tells the same quantity; the order within is the same.
    count = {}
    for row in said:
        key = (tuple(numbers(row[-3])), int(row[-2]), row[-1].split(",")[0].split(" \\emph")[0])
        count[key] = count.get(key, 0) + 1
    for one in found:
        values = tuple(rounded(value) for value in one["numbers"])  # type: ignore[attr-defined]
        key = (values, int(str(one["n"])), str(one["own"]))
        assert count.get(key), one
        count[key] -= 1


def test_what_would_decide_is_the_printed_number_of_repetitions(
    page: Browser, sample: Sample, printed: dict[str, str]
) -> None:
    said = sorted(
        int(found[1])
        for row in lines(printed["numbers"])
        if (found := re.search(r", (\d+) would do", row[-1]))
    )
    enough = sorted(int(row["enough"]) for row in sample.table("claims") if row["enough"])
    assert said == enough and said
    for one, row in zip(shown(page, sample), sample.table("claims"), strict=True):
        more = int(row["enough"] or 0) - int(row["n"] or 0)
        text = str(one["decides"])
        if not row["enough"]:
            assert text == ""
        elif more <= 0:
            assert text == "enough loads"
        else:
            assert text == f"{more} more repetition{'s' * (more > 1)} of {row['enough']}"


def test_a_claim_costs_what_its_loads_took(page: Browser, sample: Sample) -> None:
    """Of each condition the loads of its cells and arms, each once."""
    cells = {cell["name"] for cell in sample.plan["cells"]}
    arms = {arm["name"] for arm in sample.plan["arms"]}
    costs = set()
    for one, row in zip(shown(page, sample), sample.table("claims"), strict=True):
        words = f"{row['cells']} {row['arm']} {row['against']}".split()
        took = [
            float(load["wall_s"]) for load in sample.rows
            if load["cell"] in cells.intersection(words) and load["arm"] in arms.intersection(words)
        ]  # fmt: skip
        cost = None if one["cost"] is None else float(str(one["cost"]))
        assert cost == (round(sum(took), 3) if took else None), row
        costs.add(cost)
    assert len(costs) > 2


def test_every_number_of_the_cells_is_the_printed_one(
    page: Browser, sample: Sample, printed: dict[str, str]
) -> None:
    """Of each cell and arm: loads, median and interval."""
    said = lines(printed["cells"])
    labels = [arm["label"] for arm in sample.plan["arms"]]
    assert len(said) == len(sample.table("summary")) > len(labels)
    page.open(f"{sample.page}#/{STUDY}")
    found = page.run(SUMMARY)
    for (n, *values), row in zip(found, said, strict=True):
        known = [rounded(value) for value in values if value is not None]
        assert (int(n), known or [None]) == (int(row[1]), numbers(row[4])), row
