"""Lines, bars and marks of figures lie where R's numbers say."""

from __future__ import annotations

import pytest

from howquick.report.browser import Browser
from report.asking import PLACES, Points, asked_of_r, assert_lines, by, open_figure, shown, steps
from report.sample import CELLS, DETAILED, SOME, STUCK, Sample
from report.test_figures import same

# Of each panel and bar how long one unit is, and how far its interval's ends are from where they have to be.
LENGTHS = """[...document.querySelectorAll('PLACE figure')].map((e) => {
  const X = e.querySelector('svg').scale('x');
  return [...e.querySelectorAll('a[data-value]')].map((a) => {
    const { cell, arm, bar, low, high, value } = a.dataset;
    const line = [...e.querySelectorAll('.interval-of-bar line')]
      .find(({ dataset }) => dataset.cell === cell && dataset.arm === arm && dataset.bar === bar);
    const end = high === 'Inf' ? X.domain[1] : Number(high);
    const off = line && Math.max(...[['x1', Number(low)], ['x2', end]].map(([name, at]) =>
      Math.abs(line[name].baseVal.value - X.apply(at))));
    return [a.querySelector('rect').width.baseVal.value / Number(value), off ?? null];
  });
})"""
COURSES = """[...document.querySelectorAll('#figure-order-of-all .line path')].map((e) => {
  const [X, Y] = ['x', 'y'].map((name) => e.ownerSVGElement.scale(name));
  const places = (PLACES)(e);
  return [e.dataset.arm, places.map(([x, y]) => [X.invert(x), Y.invert(y)])];
})""".replace("PLACES", PLACES)
Line = tuple[tuple[str, str], ...]


def test_distributions_count_loads_that_did_not_finish(page: Browser, sample: Sample) -> None:
    said = by(asked_of_r(sample, "shares-of-loads"), "cell", "arm")
    place = open_figure(page, sample, "shares-of-loads")
    # All panels have one axis, whose end a curve below 1 goes on to.
    ends = page.run(
        f"[...document.querySelectorAll('{place} svg.plot')].map((svg) =>"
        " svg.scale('x').invert(svg.viewBox.baseVal.width - 14))"
    )
    assert len(ends) == len(CELLS) and max(ends) - min(ends) < 1e-9 * max(ends)
    wanted: dict[Line, Points] = {}
    below = 0
    for (cell, arm), rows in said.items():
        points = [(float(row["value"]), float(row["share"])) for row in rows]
        if points[-1][1] < 1:
            points.append((ends[0], points[-1][1]))
            below += 1
        wanted[("cell", cell), ("arm", arm), ("n", rows[0]["n"])] = steps(points)
    assert below >= len(CELLS) - 1 and len(wanted) > 2 * len(CELLS)
    assert_lines(page, place, wanted)


@pytest.mark.parametrize("figure", ["against-loss", "cpu-against-loss"])
def test_curves_are_medians_of_r_in_panels_of_their_own(
    page: Browser, sample: Sample, figure: str
) -> None:
    rows = asked_of_r(sample, figure)
    said = {(row["cell"], row["arm"]): (row["median"], row["high"]) for row in rows}
    found = {
        (c, a): (v, h) for c, a, v, h in shown(page, sample, figure, "cell", "arm", "value", "high")
    }
    assert found.keys() == said.keys()
    for key, (median, high) in said.items():
        assert same(found[key][0], median) and same(found[key][1], high), key
    if figure == "against-loss":
        assert said[STUCK][0] == "Inf"
    place = f"#figure-{figure} .drawing"
    cells = page.run(
        f"[...document.querySelectorAll('{place} figure')].map((e) =>"
        " [...new Set([...e.querySelectorAll('[data-cell]')].map((m) => m.dataset.cell))].sort())"
    )
    panels = [sorted({row["cell"] for row in some}) for some in by(rows, "panel").values()]
    assert sorted(cells) == sorted(panels) and len(panels) > 1
    for index, some in enumerate(cells):
        top = page.run(
            f"document.querySelectorAll('{place} svg.plot')[{index}].scale('y').invert(10)"
        )
        own = [row for row in rows if row["cell"] in some]
        assert_lines(
            page, f"{place} figure:nth-of-type({index + 1})",
            {
                (("arm", arm),): sorted(
                    (float(row["loss_percent"]), min(float(row["median"]), top)) for row in lines
                )
                for (arm,), lines in by(own, "arm").items()
            },
        )  # fmt: skip


def test_numbers_across_that_have_no_room_are_left_out(page: Browser, sample: Sample) -> None:
    open_figure(page, sample, "against-loss")
    sizes = [104_000 * 2**power for power in range(7)]
    axis = f"{{ domain: [0, {1.04 * sizes[-1]}] }}"
    assert page.run(f"withRoom({sizes}, {axis}, 400)") == [sizes[0], *sizes[3:]]
    assert page.run(f"withRoom({sizes}, {axis}, 4000)") == sizes


@pytest.mark.parametrize("figure", ["bars", "cpu-bars"])
def test_bars_and_their_intervals_are_those_of_r(
    page: Browser, sample: Sample, figure: str
) -> None:
    rows = asked_of_r(sample, figure)
    said = {(row["cell"], row["arm"]): row for row in rows}
    found = shown(page, sample, figure, "cell", "arm", "value", "low", "high")
    assert len(found) == len(said) > len(CELLS)
    for cell, arm, *numbers in found:
        row = said[cell, arm]
        assert all(
            same(a, row[name]) for a, name in zip(numbers, ("median", "low", "high"), strict=True)
        ), row
    # One length stands for one number in all of a panel.
    place = f"#figure-{figure} .drawing"
    lengths = page.run(LENGTHS.replace("PLACE", place))
    assert len(lengths) == len(by(rows, "panel"))
    for panel in lengths:
        scales = [scale for scale, _ in panel]
        assert max(scales) - min(scales) < 1e-6 * max(scales)
    intervals = sum(bool(row["low"]) for row in rows)
    drawn = [off for panel in lengths for _, off in panel if off is not None]
    assert intervals == len(drawn) > 0 and max(drawn) < 1e-3


def test_acknowledged_bytes_are_those_of_r(page: Browser, sample: Sample) -> None:
    place = open_figure(page, sample, "acknowledged")
    wanted = {
        (("arm", arm),): [
            (float(row["time_s"]), float(row["acknowledged_bytes"]) / 1e6) for row in rows
        ]
        for (arm,), rows in by(asked_of_r(sample, "acknowledged"), "arm").items()
    }
    assert {line[0][1] for line in wanted} == set(SOME)
    assert_lines(page, place, wanted)


def test_the_sender_s_state_is_told_by_one_source_each(page: Browser, sample: Sample) -> None:
    columns = {
        "Congestion window (kB)": "cwnd_bytes", "In flight (kB)": "bytes_in_flight",
        "Delivered (Mbit/s)": "delivery_rate_mbit", "Estimated (Mbit/s)": "estimate_mbit",
    }  # fmt: skip
    rows = asked_of_r(sample, "senders")
    assert {row["by"] for row in rows} >= {"delivery_rate_mbit", "pacing_rate_mbit"}
    place = open_figure(page, sample, "senders")
    wanted = {
        (("arm", arm), ("quantity", columns[quantity])): [
            (float(row["time_s"]), float(row["value"])) for row in some
        ]
        for (arm, quantity), some in by(rows, "arm", "quantity").items()
    }
    assert len(wanted) >= 4 * (len(SOME) - 1)
    assert_lines(page, place, wanted)


def test_pieces_arrive_as_r_says(page: Browser, sample: Sample) -> None:
    said = sorted(
        (row["arm"], row["path"], round(float(row["time_s"]), 9))
        for row in asked_of_r(sample, "arrival")
    )
    found = sorted(
        (a, p, round(float(v), 9))
        for a, p, v in shown(page, sample, "arrival", "arm", "path", "value")
    )
    assert len(said) > 20 and found == said


def test_streams_are_numbered_as_r_numbers_them(page: Browser, sample: Sample) -> None:
    said = sorted(
        (row["arm"], int(row["number"]), int(row["stream_number"]))
        for row in asked_of_r(sample, "streams-sent")
    )
    found = sorted(
        (a, int(n), int(v))
        for a, n, v in shown(page, sample, "streams-sent", "arm", "number", "value")
    )
    assert len(said) > 20 and found == said


def test_the_first_packets_are_flights_as_r_says(page: Browser, sample: Sample) -> None:
    said = []
    for row in asked_of_r(sample, "first-packets"):
        server = float(row["to_ms"] if row["direction"] == "up" else row["from_ms"])
        times = (round(float(row["client_ms"]), 6), round(server, 6))
        said.append((row["arm"], row["direction"], row["label"], int(row["packets"]), *times))
    names = ("arm", "direction", "label", "packets", "client", "server")
    found = [
        (arm, way, label, int(packets), round(float(client), 6), round(float(server), 6))
        for arm, way, label, packets, client, server in shown(
            page, sample, "first-packets", *names, every="client"
        )
    ]
    assert any(packets > 1 for *_, packets, _, _ in said) and found == said


def test_an_object_s_transfer_is_r_s_median_of_all_loads(page: Browser, sample: Sample) -> None:
    said = {row["arm"]: row for row in asked_of_r(sample, "object")}
    found = shown(page, sample, "object", "arm", "start", "first", "value", every="start")
    assert {arm for arm, *_ in found} == set(said) and len(said) > 2
    for arm, *times in found:
        assert all(
            same(a, said[arm][name])
            for a, name in zip(times, ("start", "first", "end"), strict=True)
        ), arm


def test_a_correlation_is_r_s_and_so_is_its_line(page: Browser, sample: Sample) -> None:
    said = {row["arm"]: row for row in asked_of_r(sample, "sent-again")}
    found = shown(page, sample, "sent-again", "arm", "value", "low", "high")
    assert {arm for arm, *_ in found} == {arm for arm, row in said.items() if row["rho"]} and found
    for arm, *numbers in found:
        assert all(
            same(a, said[arm][name])
            for a, name in zip(numbers, ("rho", "low", "high"), strict=True)
        ), arm
    wanted: dict[Line, Points] = {}
    for arm, row in said.items():
        loads = [
            float(one["retransmitted_packets"]) for one in sample.rows
            if (one["cell"], one["arm"], one["status"]) == (DETAILED, arm, "ok")
        ]  # fmt: skip
        wanted[(("arm", arm),)] = [
            (x, float(row["intercept"]) + float(row["slope"]) * x) for x in (min(loads), max(loads))
        ]
    assert_lines(page, "#figure-sent-again .drawing", wanted)


def test_running_quartiles_are_those_of_r(page: Browser, sample: Sample) -> None:
    said = {
        arm: [(float(row["position"]), float(row["middle"])) for row in rows]
        for (arm,), rows in by(asked_of_r(sample, "order-of-all"), "arm").items()
    }
    open_figure(page, sample, "order-of-all")
    # Minutes or hours: the axis says which.
    hours = "(h)" in page.run(
        "document.querySelector('#figure-order-of-all [aria-label=\"x-axis label\"]').textContent"
    )
    found = page.run(COURSES)
    assert {arm for arm, _ in found} == set(said) and said
    for arm, points in found:
        for (x, y), (position, middle) in zip(points, said[arm], strict=True):
            assert abs(x * (1 if hours else 1 / 60) - position) < 0.01 * max(position, 0.01), arm
            assert abs(y / middle - 1) < 0.01, arm
