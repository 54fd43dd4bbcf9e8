"""The two sides of a comparison: what R draws of a figure, and what the page shows of it."""

from __future__ import annotations

import csv
import io
import json
import subprocess
from itertools import pairwise
from pathlib import Path
from typing import Any

from howquick.errors import ROOT
from howquick.report.browser import Browser
from report.sample import STUDY, Sample, runs_file

Rows = list[dict[str, str]]
Points = list[tuple[float, float]]
# Where a line's points are in its drawing.
PLACES = """(path) => path.getAttribute('d').match(/[-\\d.e]+,[-\\d.e]+/g)
  .map((pair) => pair.split(',').map(Number))"""
# Of every wanted line how far its points are from where they have to be, in pixels; or what is wrong with it.
FARTHEST = """((place, wanted) => wanted.map(({ data, points }) => {
  const found = [...document.querySelectorAll(`${place} .line path`)]
    .filter((e) => Object.entries(data).every(([name, value]) => e.dataset[name] === value));
  if (found.length !== 1) return `${found.length} lines`;
  const [X, Y] = ['x', 'y'].map((name) => found[0].ownerSVGElement.scale(name).apply);
  const places = (PLACES)(found[0]);
  if (places.length !== points.length) return `${places.length} points for ${points.length}`;
  const off = ([x, y], at) => [Math.abs(x - X(points[at][0])), Math.abs(y - Y(points[at][1]))];
  return Math.max(...places.flatMap(off));
}))""".replace("PLACES", PLACES)
# Places are written with three decimals.
ROUNDED = 0.0011


def asked_of_r(sample: Sample, figure: str) -> Rows:
    """The table that a figure is drawn from."""
    files = [str(path) for path in sorted((sample.folder / "calibration").glob("*.json"))]
    plan = sample.folder / "plan" / f"{STUDY}.json"
    costs = sample.folder / "processor" / f"{STUDY}.csv"
    argv = [str(plan), str(runs_file(sample.folder)), ",".join(files), str(costs), figure]
    program = Path(__file__).with_name("ask.R")
    done = subprocess.run(
        ["Rscript", str(program), *argv], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert rows, figure
    return rows


def open_figure(page: Browser, sample: Sample, figure: str) -> str:
    """Show a figure; returns what selects its drawing."""
    page.open(f"{sample.page}#/{STUDY}?tab=figures&figure={figure}")
    return f"#figure-{figure} .drawing"


def shown(
    page: Browser, sample: Sample, figure: str, *names: str, every: str = "value"
) -> list[Any]:
    """What the page shows: the named data attributes of every element that has the attribute `every`."""
    place = open_figure(page, sample, figure)
    found = page.run(
        f"[...document.querySelectorAll('{place} [data-{every}]')].map((e) => {list(names)}.map("
        "(name) => e.closest(`[data-${name}]`)?.getAttribute(`data-${name}`) ?? null))"
    )
    assert found, page.run("document.getElementById('main').innerText")
    return list(found)


def assert_lines(
    page: Browser, place: str, wanted: dict[tuple[tuple[str, str], ...], Points]
) -> None:
    """The lines below `place` are these: of each its data attributes, and its points."""
    asked = [{"data": dict(data), "points": points} for data, points in wanted.items()]
    far = page.run(f"{FARTHEST}({json.dumps(place)}, {json.dumps(asked)})")
    wrong = [
        (data, one)
        for data, one in zip(wanted, far, strict=True)
        if isinstance(one, str) or one > ROUNDED
    ]
    assert wrong == []
    drawn = page.run(f"document.querySelectorAll({json.dumps(place + ' .line path')}).length")
    assert drawn == len(wanted)


def steps(points: Points) -> Points:
    """A line that holds each value until the next."""
    found = list(points[:1])
    for before, (x, y) in pairwise(points):
        found += [(x, before[1]), (x, y)]
    return found


def by(rows: Rows, *names: str) -> dict[tuple[str, ...], Rows]:
    """Rows in groups, in the order of the first of each."""
    found: dict[tuple[str, ...], Rows] = {}
    for row in rows:
        found.setdefault(tuple(row[name] for name in names), []).append(row)
    return found
