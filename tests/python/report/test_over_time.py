"""A load over time, and two of them on one axis."""

from __future__ import annotations

import csv

import pytest

from howquick.report.browser import Browser
from report.asking import Points, by, steps
from report.sample import DETAILED, STUDY, Sample

Row = dict[str, str]
# Of each drawing its title, its time axis, and of its lines name, whether of the load beside, and points.
DRAWN_LINES = """[...document.querySelectorAll('.over-time')].map((section) => {
  const svg = section.querySelector('svg.plot');
  const { X, Y } = SCALES.get(svg);
  const title = section.querySelector('h2').textContent;
  const ends = [66, svg.viewBox.baseVal.width - 14].map((x) => X.invert(x));
  const unit = [X.invert(1) - X.invert(0), Math.abs(Y.invert(1) - Y.invert(0))];
  const places = (e) => e.getAttribute('points').split(' ').map((pair) => pair.split(',').map(Number));
  const lines = [...svg.querySelectorAll('polyline')].map((e) => [e.dataset.line, e.dataset.beside === 'yes',
    places(e).map(([x, y]) => [X.invert(x), Y.invert(y)])]);
  return { title, ends, unit, lines };
})"""


def table(sample: Sample, name: str, arm: str, repetition: str) -> list[Row]:
    """Rows of one load in a table of details."""
    path = sample.folder / "tables" / STUDY / DETAILED / "0" / f"{name}.csv"
    with path.open(newline="") as stream:
        rows = csv.DictReader(stream)
        return [row for row in rows if (row["arm"], row["repetition"]) == (arm, repetition)]


def points(rows: list[Row], column: str, times: float = 1) -> Points:
    """Seconds and value of the rows that have the column."""
    return steps(
        [(float(row["time_s"]), times * float(row[column])) for row in rows if row[column]]
    )


def wanted(sample: Sample, arm: str, repetition: str) -> dict[str, dict[str, Points]]:
    """Per drawing and line what is known of a load."""
    window = by(table(sample, "window", arm, repetition), "source")
    events = by(table(sample, "transport", arm, repetition), "direction", "source", "event")
    series = table(sample, "series", arm, repetition)
    said: dict[str, dict[str, Points]] = {"Bytes": {"received": points(series, "received_bytes")}}
    said["Bytes"] |= {
        event: points(rows, "total_bytes")
        for (way, source, event), rows in events.items() if (way, source) == ("down", "capture")
    }  # fmt: skip
    said["Bytes"].setdefault("acknowledged", points(series, "acknowledged_bytes"))
    columns = ("cwnd_bytes", "bytes_in_flight", "ssthresh_bytes")
    said["Window"] = {
        f"{column} {source}": points(rows, column)
        for (source,), rows in window.items() for column in columns
    }  # fmt: skip
    said["Round"] = {
        f"smoothed_rtt_ms {source}": points(rows, "smoothed_rtt_ms")
        for (source,), rows in window.items()
    }
    return {title: {name: at for name, at in lines.items() if at} for title, lines in said.items()}


def two(sample: Sample) -> tuple[tuple[str, str], tuple[str, str]]:
    """Two loads with all details, of arms with logs."""
    return ("h3-quiche", "0"), ("spdy-node", "0")


def assert_drawn(drawings: list[dict], sample: Sample, loads: list[tuple[str, str]]) -> None:
    said = [wanted(sample, *load) for load in loads]
    assert [one["title"].split()[0] for one in drawings] == ["Bytes", "Window", "Round"]
    ends = {tuple(round(end, 9) for end in one["ends"]) for one in drawings}
    assert len(ends) == 1, "one time axis"
    for one in drawings:
        lines = [load[one["title"].split()[0]] for load in said]
        names = [(name, beside > 0) for beside, own in enumerate(lines) for name in own]
        assert sorted((name, beside) for name, beside, _ in one["lines"]) == sorted(names)
        for name, beside, places in one["lines"]:
            own = lines[1 if beside else 0][name]
            assert len(places) == len(own), name
            for (x, y), (time, value) in zip(places, own, strict=True):
                assert abs(x - time) < 0.06 * one["unit"][0], name
                assert abs(y - value) < 0.06 * one["unit"][1], name


@pytest.fixture
def place(sample: Sample) -> str:
    (arm, repetition), _ = two(sample)
    return f"{sample.page}#/{STUDY}/{DETAILED}/{arm}/{repetition}"


def test_every_line_of_a_load_is_its_tables(page: Browser, sample: Sample, place: str) -> None:
    page.open(place)
    assert_drawn(page.run(DRAWN_LINES), sample, [two(sample)[0]])


def test_two_loads_have_one_time_axis_and_all_lines(
    page: Browser, sample: Sample, place: str
) -> None:
    arm, repetition = two(sample)[1]
    page.open(f"{place}?with={arm}~{repetition}")
    assert_drawn(page.run(DRAWN_LINES), sample, list(two(sample)))
    text = page.run("document.querySelector('.over-time .legend').textContent")
    assert "received: SPDY/3.1, repetition 0" in text and "acknowledged: SPDY/3.1" in text
    assert page.run("document.querySelector('.beside-note')") is None


def test_a_load_without_details_says_so(page: Browser, sample: Sample, place: str) -> None:
    detailed = set()
    for name in ("objects", "series"):
        path = sample.folder / "tables" / STUDY / DETAILED / "0" / f"{name}.csv"
        with path.open(newline="") as stream:
            detailed |= {(row["arm"], row["repetition"]) for row in csv.DictReader(stream)}
    rows = [row for row in sample.rows if row["cell"] == DETAILED]
    missing = [row for row in rows if (row["arm"], row["repetition"]) not in detailed]
    # Of one load there are its objects alone.
    partial = next(row for row in rows if row["repetition"] == "5")
    page.open(f"{place}?with={partial['arm']}~5")
    notes = page.run("[...document.querySelectorAll('.over-time > p')].map((e) => e.textContent)")
    assert len(notes) == 3 and all("repetition 5" in note for note in notes)
    row = missing[0]
    page.open(f"{place}?with={row['arm']}~{row['repetition']}")
    said = page.run("document.querySelector('.beside-note').textContent")
    assert "its row of the table alone" in said
