"""What a study says of itself is what the plan of the scale says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from howquick.errors import ConfigError
from howquick.model import ResolvedStudy
from howquick.schemas import load_yaml
from howquick.study.declarations import Declarations, Scaled, size_text, workload_text
from howquick.study.resolve import STUDIES, Selection, known_studies, resolve_study
from howquick.study.sites import SITES
from howquick.study.workload import BULK_OBJECT, kind_of, normalised

HERE = Path("a.yaml")
STUDY: dict[str, Any] = {
    "factors": {
        "rtt_ms": {"unit": "ms", "levels": {"a": 18, "b": 218, "c": 400}},
        "workload": {
            "unit": "", "levels": {"file": {"object": 5_000_000}, "page": {"site": "web"}},
            "labels": {"file": "a file"},
        },
    },
    "fixed": {"queue_ms": 200, "bandwidth_mbit": "unshaped", "loss_percent": 0},
}  # fmt: skip
CELLS: Any = [{"levels": {"rtt_ms": rtt, "workload": "file"}} for rtt in ("b", "a")]
OWN = Scaled(STUDY, {"repetitions": 3, "timeout_s": 60}, CELLS)
OTHER = Scaled(STUDY, {"repetitions": 100, "timeout_s": 60}, CELLS[:1])
SCALES = [
    (study, scale)
    for study in known_studies()
    for scale in load_yaml(STUDIES / f"{study}.yaml", "study")["scales"]
]
# A list of numbers or ranges and what they are counted in: `2, 10 and 50 Mbit/s`, `4.7 to 5 MB`.
NUMBER = r"\d+(?:\.\d+)?"
QUANTITY = re.compile(
    rf"(?<![\w.-])({NUMBER}(?:(?:, | and | to |-){NUMBER})*) "
    r"(ms|Mbit/s|%|bytes|KB|MB|GB|MiB|GiB|seeks|resources|objects|reconnections|repetitions|s)\b(?![\w/])"
    rf"|(?<![\w.-])({NUMBER}(?:(?:, | and | to |-){NUMBER})*) (%)"
)
SIZES = {"bytes": 1, "KB": 1e3, "MB": 1e6, "GB": 1e9, "MiB": 2**20, "GiB": 2**30}


def declarations() -> Declarations:
    return Declarations(HERE, OWN, {"paper": OTHER}.__getitem__)


def say(text: str) -> str:
    differences = [{"paper": "p", "here": text, "why": "w"}]
    return declarations().differences(differences)[0]["here"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("RTT of {rtt_ms}", "RTT of 18 and 218 ms"),
        ("{rtt_ms:b}", "218 ms"),
        ("{rtt_ms:c}, {paper/rtt_ms:a}", "not measured, not measured"),
        ("{workload:file}, {workload}", "an object of 5 MB, a file"),
        ("queue of {queue_ms}, {bandwidth_mbit}", "queue of 200 ms, unshaped Mbit/s"),
        ("{repetitions} and {paper/repetitions}; {paper/rtt_ms}", "3 and 100; 218 ms"),
        ("no braces", "no braces"),
    ],
)
def test_braces_stand_for_what_the_scale_has(text: str, said: str) -> None:
    assert say(text) == said


def test_repetitions_are_those_of_each_cells_clock() -> None:
    scale = {"repetitions": 3, "timeout_s": 60, "virtual": {"repetitions": 6}}
    cells: Any = [{"clock": "virtual", "exact": True}, {"clock": "virtual"}]
    for some, said in ((cells, "3 to 6"), (cells[1:], "6"), (cells[:1], "3"), ([{}], "3")):
        filled = Declarations(HERE, Scaled(STUDY, scale, some), {}.__getitem__)
        assert filled.filled("key", "{repetitions} loads") == f"{said} loads"


@pytest.mark.parametrize("text", ["{rtt}", "{rtt_ms:d}", "{}", "{none/rtt_ms}", "{queue_ms:a}"])
def test_what_names_nothing_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match=r"differences.0.here.*names no factor.*\{rtt_ms\}"):
        say(text)
    with pytest.raises(ConfigError, match=r"claims.1.text.*names no factor"):
        declarations().claims([{"id": "1", "text": text}])


def test_workloads_in_words() -> None:
    assert workload_text(normalised({"page": {"objects": 5, "bytes": [400, 8000]}})) == (
        "5 objects of 0.4 to 8 KB"
    )
    assert workload_text(normalised({"segments": {"bytes": [47_000, 50_000], "seeks": 2}})) == (
        "2 seeks in segments of 47 to 50 KB"
    )
    assert workload_text(normalised({"site": "web"})) == "a page of 8 resources, 1.5 MB"
    assert size_text(131_072) == "131.072 KB"
    assert size_text(1 << 34) == "16 GiB"
    assert size_text(900) == "900 bytes"


@pytest.mark.parametrize(("study", "scale"), SCALES)
def test_every_scale_declares_its_own_numbers(study: str, scale: str) -> None:
    """No brace is left, and each number with a unit is one of the plan of a scale that the text names."""
    resolved = resolve_study(study, Selection(scale, 1))
    assert not any(set("{}") & set(claim["text"]) for claim in resolved["claims"])
    for difference in resolved["differences"]:
        here = difference["here"]
        assert not set("{}") & set(here)
        named = re.findall(r"scale `(\w+)`", here)
        plans = [resolved, *(resolve_study(study, Selection(name, 1)) for name in named)]
        known = {
            unit: set().union(*(of_plan(p)[unit] for p in plans)) for unit in of_plan(resolved)
        }
        for number, unit in quantities(here):
            assert any(number == pytest.approx(n) for n in known[unit]), (
                here,
                number,
                unit,
                known[unit],
            )


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("2, 10 and 50 Mbit/s", [(2, "Mbit/s"), (10, "Mbit/s"), (50, "Mbit/s")]),
        ("RTT of 20 ms, 0.1 %", [(20, "ms"), (0.1, "%")]),
        ("4.7 to 5 MB, 6 MiB; 30 seeks", [(4.7e6, "size"), (5e6, "size"), (6 << 20, "size"), (30, "seeks")]),
        ("QUIC version 1 of 2021, RFC 9218, section 4.2", []),
    ],
)  # fmt: skip
def test_numbers_are_found_in_text(text: str, found: list[tuple[float, str]]) -> None:
    assert sorted(quantities(text)) == [(pytest.approx(n), unit) for n, unit in sorted(found)]


def quantities(text: str) -> list[tuple[float, str]]:
    """Every number of a text that has a unit; sizes in bytes, as `size`."""
    found = []
    for match in QUANTITY.finditer(text):
        unit = match[2] or match[4]
        for number in re.findall(NUMBER, match[1] or match[3]):
            size = SIZES.get(unit)
            found.append((float(number) * (size or 1), "size" if size else unit))
    return found


def of_plan(study: ResolvedStudy) -> dict[str, set[float]]:
    """What a plan has of each unit, from its cells and arms alone."""
    units = (
        "ms",
        "Mbit/s",
        "%",
        "size",
        "seeks",
        "resources",
        "objects",
        "reconnections",
        "repetitions",
        "s",
    )
    known: dict[str, set[float]] = {unit: set() for unit in units}
    known["repetitions"].add(study["repetitions"])
    for cell in study["cells"]:
        link, workload = cell["link"], cell["workload"]
        known["ms"] |= {link["rtt_ms"], link["queue_ms"]}
        known["%"].add(link["loss_percent"])
        known["reconnections"].add(cell.get("moves", 0))
        known["size"] |= {link["mtu_bytes"], link.get("burst_bytes", 0)}
        known["size"] |= {v for k, v in cell.get("options", {}).items() if k.endswith("_bytes")}
        if isinstance(link["bandwidth_mbit"], int | float):
            known["Mbit/s"].add(link["bandwidth_mbit"])
        match kind_of(workload):
            case "page":
                known["objects"].add(workload["objects"])
                sizes = workload["object_size"]["bytes"]
            case "segments":
                known["seeks"].add(workload["segments"]["seeks"])
                sizes = workload["segments"]["bytes"]
            case "bulk":
                known["s"].add(workload["bulk"]["seconds"])
                sizes = [workload["bulk"]["at_most_bytes"], BULK_OBJECT]
            case "player":
                player = workload["segments"]["player"]
                known["Mbit/s"] |= set(player["ladder_mbit"])
                known["s"] |= {player["segment_s"], player["buffer_s"]}
                sizes = []
            case "site":
                site = SITES[workload["site"]]
                known["resources"].add(site.resources)
                # In words a page is told to a tenth of a megabyte.
                sizes = round(site.total_bytes, -5)
            case _:
                sizes = workload["object"]
        known["size"] |= set(sizes) if isinstance(sizes, list) else {sizes}
    for arm in study["arms"]:
        for options in ({**arm["options"]}, *arm.get("own_options", {}).values()):
            sizes = [v for name, v in options.items() if name.endswith(("_bytes", "_data"))]
            known["size"] |= {size for size in sizes if isinstance(size, int)}
            # The first probe timeout is three times the assumed round-trip time (RFC 9002, section 6.2.2).
            timeout_ms = round(3 * options.get("initial_rtt_ms", 0), -1)
            known["ms"].add(timeout_ms)
            known["s"].add(timeout_ms / 1000)
    return known
