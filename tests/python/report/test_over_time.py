"""A load over time, and two of them on one axis."""

from __future__ import annotations

import csv
import json

import pytest

from howquick.report.browser import Browser
from report.asking import Points, by
from report.sample import DETAILED, STUDY, Sample

Row = dict[str, str]
# What a line holds: [seconds, value].
KNOWN = """(one, at) => one.data[0].map((time, index) => [time, one.data[at + 1][index]])
  .filter(([, value]) => value != null)"""
# Of each drawing its title, its time axis, and of its lines name, whether of the load beside, and points.
CHARTS = f"""timeCharts.map((one) => ({{
  title: one.root.closest('section').querySelector('h2').textContent,
  shown: [one.scales.x.min, one.scales.x.max],
  lines: one.lines.map((line, at) => [line.name, Boolean(line.beside), ({KNOWN})(one, at)]),
}}))"""
# Of each line whether something of its colour is where its longest step is.
PAINTED = f"""timeCharts.flatMap((one) => {{
  const {{ width, height }} = one.ctx.canvas;
  const {{ data }} = one.ctx.getImageData(0, 0, width, height);
  return one.lines.map((line, at) => {{
    const known = ({KNOWN})(one, at);
    const lengths = known.slice(1).map(([time], index) => time - known[index][0]);
    const [begin, next] = known.slice(lengths.indexOf(Math.max(...lengths)));
    const [from, to] = [begin, next].map(([time]) => Math.round(one.valToPos(time, 'x', true)));
    const y = Math.round(one.valToPos(begin[1], 'y', true));
    const wanted = [1, 3, 5].map((digit) => parseInt(line.colour.slice(digit, digit + 2), 16));
    for (let x = from; x <= to; x += 1) {{
      for (let near = Math.max(y - 2, 0); near <= Math.min(y + 2, height - 1); near += 1) {{
        const place = 4 * (near * width + x);
        const same = wanted.every((part, index) => Math.abs(part - data[place + index]) < 30);
        if (same && data[place + 3] > 200) return true;
      }}
    }}
    return `${{line.label}} is not at ${{begin}}`;
  }});
}})"""
RANGES = "timeCharts.map((one) => [one.scales.x.min, one.scales.x.max])"


def table(sample: Sample, name: str, arm: str, repetition: str) -> list[Row]:
    """Rows of one load in a table of details."""
    path = sample.folder / "tables" / STUDY / DETAILED / "0" / f"{name}.csv"
    with path.open(newline="") as stream:
        rows = csv.DictReader(stream)
        return [row for row in rows if (row["arm"], row["repetition"]) == (arm, repetition)]


def points(rows: list[Row], column: str) -> Points:
    """Seconds and value of the rows that have the column; of several at one time the last."""
    return sorted({float(row["time_s"]): float(row[column]) for row in rows if row[column]}.items())


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


def assert_drawn(page: Browser, sample: Sample, loads: list[tuple[str, str]]) -> None:
    said = [wanted(sample, *load) for load in loads]
    drawings = page.run(CHARTS)
    assert [one["title"].split()[0] for one in drawings] == ["Bytes", "Window", "Round"]
    assert len({tuple(one["shown"]) for one in drawings}) == 1, "one time axis"
    for one in drawings:
        lines = [load[one["title"].split()[0]] for load in said]
        found = {
            (name, beside): [tuple(place) for place in places]
            for name, beside, places in one["lines"]
        }
        assert found == {
            (name, at > 0): places for at, own in enumerate(lines) for name, places in own.items()
        }
        assert one["shown"][0] == 0
        assert one["shown"][1] >= max(time for places in found.values() for time, _ in places)
    painted = page.run(PAINTED)
    assert len(painted) > 6 and set(painted) == {True}


@pytest.fixture
def place(sample: Sample) -> str:
    (arm, repetition), _ = two(sample)
    return f"{sample.page}#/{STUDY}/{DETAILED}/{arm}/{repetition}"


def test_every_line_of_a_load_is_its_tables(page: Browser, sample: Sample, place: str) -> None:
    page.open(place)
    assert_drawn(page, sample, [two(sample)[0]])


def test_two_loads_have_one_time_axis_and_all_lines(
    page: Browser, sample: Sample, place: str
) -> None:
    arm, repetition = two(sample)[1]
    page.open(f"{place}?with={arm}~{repetition}")
    assert_drawn(page, sample, list(two(sample)))
    text = page.run("document.querySelector('.over-time .u-legend').textContent")
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


def test_a_part_of_the_time_is_shown_by_all_drawings(page: Browser, place: str) -> None:
    """By the pointer, and by keys."""
    page.open(place)
    whole = page.run(RANGES)
    page.run("timeCharts[0].over.scrollIntoView({ block: 'center' })")
    box = page.run(
        "(({ x, y, width, height }) => [x, y, width, height])(timeCharts[0].over.getBoundingClientRect())"
    )
    for kind, share in (
        ("mousePressed", 0.25),
        ("mouseMoved", 0.4),
        ("mouseMoved", 0.5),
        ("mouseReleased", 0.5),
    ):
        page.call(
            "Input.dispatchMouseEvent", type=kind, x=box[0] + share * box[2], y=box[1] + box[3] / 2,
            button="left", buttons=1, clickCount=1,
        )  # fmt: skip
    page.wait(
        f"JSON.stringify({RANGES}) !== {json.dumps(json.dumps(whole, separators=(',', ':')))}"
    )
    shown = page.run(RANGES)
    end = whole[0][1]
    for low, high in shown:
        assert abs(low - 0.25 * end) < 0.01 * end and abs(high - 0.5 * end) < 0.01 * end
    press = (
        "[...document.querySelectorAll('.time-controls button')]"
        ".find((e) => e.textContent.includes('{}')).click()"
    )
    page.run(press.format("farther"))
    farther = page.wait(
        f"(() => {{ const now = {RANGES}; return now[0][1] - now[0][0] > {0.45 * end} && now; }})()"
    )
    assert len({tuple(one) for one in farther}) == 1
    page.run(press.format("all"))
    page.wait(f"{RANGES}.every(([low, high]) => low === 0 && high === {end})")


def test_what_others_made_comes_with_its_licence_and_is_small(sample: Sample) -> None:
    folder = sample.folder / "report/page"
    licences = (folder / "libraries.LICENSE.txt").read_text()
    for name in ("@observablehq/plot", "@tanstack/table-core", "d3-shape", "uplot"):
        assert f"{name}/LICENSE\n" in licences, name
    scripts = [file.stat().st_size for file in folder.glob("*.js")]
    assert (folder / "libraries.js").stat().st_size > 10_000 and sum(scripts) <= 600_000


def test_drawings_of_pages_that_are_left_are_taken_away(
    page: Browser, sample: Sample, place: str
) -> None:
    page.open(place)
    assert page.run("timeCharts.length") == 3
    (arm, repetition) = two(sample)[1]
    page.run(f"location.hash = '#/{STUDY}/{DETAILED}/{arm}/{repetition}'")
    page.wait(
        "location.hash.includes('spdy') && document.getElementById('main').dataset.ready === location.hash"
    )
    assert page.run("timeCharts.length") == 3
    assert page.run("timeCharts.every((one) => document.contains(one.root))")
