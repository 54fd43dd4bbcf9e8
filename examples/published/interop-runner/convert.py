#!/usr/bin/env python3
"""Convert the measurements of a QUIC Interop Runner (its `result.json`) into a plan and a table of runs.

usage: convert.py RESULT.json FOLDER

Writes FOLDER/plan.json (docs/formats.md, section 8) and FOLDER/runs.csv (section 6). The runner publishes
no single transfers but `mean (± standard deviation) kbps` of several, and only if all of them worked. So
each pair of server and client has one row per measurement: the mean, with the deviation beside it.
Nothing is made up: no repetition that was not published, hence no interval and no test.
"""

import csv
import json
import re
import sys
from pathlib import Path

STUDY = "interop-runner"
# The runner's own scenario: simple-p2p --delay=15ms --bandwidth=10Mbps --queue=25 (packets of 1500 bytes).
LINK = {"bandwidth_mbit": 10, "rtt_ms": 30, "queue_ms": 30}
DETAILS = re.compile(r"(?P<mean>\d+) \(± (?P<deviation>\d+)\) kbps")
COLUMNS = [
    "study",
    "cell",
    "arm",
    "block",
    "repetition",
    "order",
    "session",
    "status",
    "reason",
    "goodput_mbit",
    "published_deviation_mbit",
    "measurement",
    "protocol",
    "server",
    "client",
    *LINK,
]


class InputError(Exception):
    """What is wrong with the input, in one sentence for the user."""


def arm_name(server: str, client: str) -> str:
    """Name of a pair as the schemas allow it: lower-case letters, digits and hyphens."""
    return re.sub(r"[^a-z0-9-]", "-", f"hq-{server}-{client}".lower())


def pairs(result: dict) -> list[tuple[str, str]]:
    """(server, client) in the order of `measurements`: for each client, every server."""
    return [(server, client) for client in result["clients"] for server in result["servers"]]


def outcome(measurement: dict, place: str) -> dict | None:
    """Status and goodput of one entry; None for what was not supported or not run."""
    match measurement["result"]:
        case "succeeded":
            found = DETAILS.fullmatch(measurement["details"])
            if found is None:
                problem = f"{place}: cannot read {measurement['details']!r}."
                raise InputError(f"{problem} Expected: 'MEAN (± DEVIATION) kbps'.")
            return {
                "status": "ok",
                "goodput_mbit": int(found["mean"]) / 1000,
                "published_deviation_mbit": int(found["deviation"]) / 1000,
            }
        case "failed":
            return {"status": "failed", "reason": "as published: failed"}
        case "unsupported" | None:
            return None
        case other:
            raise InputError(
                f"{place}: unknown result {other!r}. Known: succeeded, failed, unsupported."
            )


def table_of_runs(result: dict) -> list[dict]:
    """One row per pair and measurement that was run."""
    rows = []
    for (server, client), entries in zip(pairs(result), result["measurements"], strict=True):
        for entry in entries:
            name = result["tests"][entry["abbr"]]["name"]
            found = outcome(entry, f"measurements of {server} and {client}, {name}")
            if found is not None:
                place = {"cell": name, "measurement": name, "arm": arm_name(server, client)}
                common = {"study": STUDY, "block": 0, "repetition": 0, "order": 0, **LINK}
                rows.append(
                    common | place | {"protocol": "hq", "server": server, "client": client} | found
                )
    return rows


def plan_of(result: dict, rows: list[dict]) -> dict:
    """The resolved study: one factor, the measurement; one arm per pair; servers against the first."""
    names = [result["tests"][abbr]["name"] for abbr in result["tests"]]
    measured = [name for name in names if any(row["cell"] == name for row in rows)]
    known = {(row["cell"], row["arm"]) for row in rows}
    arms = [
        {"name": arm_name(server, client), "label": f"{server}, {client}", "group": server}
        | {"protocol": "hq", "server": server, "client": client}
        for server, client in pairs(result)
    ]
    first = result["servers"][0]
    compared = [
        [arm_name(server, client), arm_name(first, client)]
        for server, client in pairs(result)
        if server != first
    ]
    return {
        "study": STUDY,
        "title": "Goodput of QUIC implementations in the QUIC Interop Runner",
        "paper": {
            "authors": "Marten Seemann, Jana Iyengar",
            "title": "Automating QUIC Interoperability Testing",
            "venue": "EPIQ",
            "year": 2020,
        },
        "scale": "published",
        "seed": 1,
        "repetitions": 1,
        "timeout_s": 60,
        "factors": [
            {
                "name": "measurement",
                "label": "Measurement",
                "unit": "",
                "levels": [{"name": name, "value": name} for name in measured],
            }
        ],
        "fixed": LINK,
        "cells": [
            {
                "name": name,
                "values": {"measurement": name},
                "levels": {"measurement": name},
                "not_applicable": [
                    {"arm": arm["name"], "why": "as published: not supported or not run"}
                    for arm in arms
                    if (name, arm["name"]) not in known
                ],
            }
            for name in measured
        ],
        "arms": arms,
        "comparison": {
            "metric": {
                "column": "goodput_mbit",
                "label": "Goodput",
                "short": "goodput",
                "unit": "Mbit/s",
                "better": "higher",
            },
            "arms": [arm["name"] for arm in arms],
            "pairs": compared,
            "rule": {"share": 0.7, "margin": 0.1},
            "design": "independent",
        },
        "figures": [
            {
                "name": "heatmap",
                "kind": "heatmap",
                "title": "Every server against the first, by client",
            },
            {"name": "failures", "kind": "failures", "title": "What failed", "arms": "all"},
        ],
        "claims": [],
        "differences": [],
    }


def main(arguments: list[str]) -> int:
    """Convert one file; the exit status is 1 with one line on stderr if it is not what it should be."""
    if len(arguments) != 2:
        print("usage: convert.py RESULT.json FOLDER", file=sys.stderr)
        return 2
    source, folder = Path(arguments[0]), Path(arguments[1])
    try:
        result = json.loads(source.read_text(encoding="utf-8"))
        rows = table_of_runs(result)
        plan = plan_of(result, rows)
    except (OSError, InputError, ValueError) as error:
        print(f"error: {source}: {error}", file=sys.stderr)
        return 1
    except KeyError as error:
        print(
            f"error: {source}: has no {error}. Give a result.json of the runner.", file=sys.stderr
        )
        return 1
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "plan.json").write_text(
        json.dumps(plan, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
    )
    with (folder / "runs.csv").open("w", newline="", encoding="utf-8") as stream:
        table = csv.DictWriter(stream, COLUMNS, lineterminator="\n")
        table.writeheader()
        table.writerows(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
