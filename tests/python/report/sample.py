"""Results of a study that nobody measured, with texts in them that want to be more than text."""

from __future__ import annotations

import csv
import json
import random
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from howquick.errors import ROOT
from howquick.extract.columns import DETAIL_COLUMNS, OBJECT_COLUMNS, SERIES_COLUMNS, run_columns
from howquick.plan.plan import plan_study
from howquick.study.cells import calibration_name
from howquick.study.resolve import Selection
from report.sample_details import PATH, of_loads

STUDY = "how-quick"
CELLS = (
    "50mbit-18ms-loss0-5obj-small", "10mbit-18ms-loss0-5obj-small", "10mbit-18ms-loss0-50obj-small",
    "10mbit-18ms-loss2-50obj-small", "2mbit-218ms-loss0-50obj-small", "2mbit-218ms-loss2-50obj-small",
)  # fmt: skip
DETAILED = "2mbit-218ms-loss0-50obj-small"
REPETITIONS = 7
CLOCK = "virtual"
# In every second cell the second arm computes for long.
COSTLY_S, CHEAP_S = 5, 0.001
HOSTILE = '</script><script>window.hostile=1</script><img src=x onerror="window.hostile=2">\'&amp;'
LOST = 23
# What was lost is sent again after a silence.
AGAIN = 35
FRAMES = 3
Row = dict[str, Any]
# Of this arm more than half of the loads in this cell do not end, of that one in that cell one is invalid.
STUCK = ("2mbit-218ms-loss2-50obj-small", "h3-quiche")
INVALID = ("10mbit-18ms-loss2-50obj-small", "spdy-node")
# Here are so few loads that some numbers of claims have no interval.
FEW, FEW_REPETITIONS = "50mbit-18ms-loss0-5obj-small", 4
# No load of this one ends well; of two programs it is known that they cannot.
BROKEN = (DETAILED, "h3-aioquic")
UNSUPPORTED = {
    "protocol": "h3", "server": "aioquic", "client": "curl", "connection": "cold", "why": "curl has no key",
}  # fmt: skip
SERVER_CPU = {
    "column": "cpu_server_s_per_gb",
    "label": "Server's processor time",
    "short": "CPU",
    "unit": "s",
    "better": "lower",
}
SOME = ["h3-quiche", "h1-nginx-curl", "spdy-node"]
# Figures of the kinds that the study has not.
FIGURES = (
    {"name": "clients", "kind": "consistency", "title": "Clients",
     "arms": ["h3-nginx-curl", "h3-quiche", "h3-quiche-0rtt", "h3-aioquic"]},
    {"name": "profile", "kind": "profile", "title": "Processor time", "cells": [DETAILED]},
    {"name": "share", "kind": "share", "title": "Protocols", "cells": [DETAILED]},
    {"name": "bad", "kind": "failures", "title": "Failures"},
    {"name": "order-of-all", "kind": "drift", "title": "Order"},
    {"name": "links", "kind": "calibration", "title": "Links"},
    {"name": "shares-of-loads", "kind": "cdf", "title": "Distributions",
     "arms": [*SOME, "h2-nghttp2"]},
    {"name": "against-loss", "kind": "curves", "title": "Against loss", "x": "loss_percent"},
    {"name": "cpu-against-loss", "kind": "curves", "title": "CPU", "x": "loss_percent", "metric": SERVER_CPU},
    {"name": "bars", "kind": "bars", "title": "Bars"},
    {"name": "cpu-bars", "kind": "bars", "title": "Bars side by side", "x": "loss_percent",
     "facet": "bandwidth_mbit", "metric": SERVER_CPU},
    {"name": "cpu-heatmap", "kind": "heatmap", "title": "CPU", "metric": SERVER_CPU,
     "rows": ["bandwidth_mbit", "loss_percent"], "columns": ["rtt_ms", "objects", "object_size"],
     "silent_percent": 20},
    {"name": "pairs", "kind": "matrix", "title": "Pairs", "cells": [DETAILED]},
    {"name": "sent-again", "kind": "scatter", "title": "Sent again", "x": "retransmitted_packets",
     "cells": [DETAILED]},
    {"name": "object", "kind": "transfer", "title": "One object", "path": PATH, "cells": [DETAILED]},
    {"name": "acknowledged", "kind": "bytes", "title": "Acknowledged", "cells": [DETAILED], "arms": SOME},
    {"name": "senders", "kind": "window", "title": "Senders", "cells": [DETAILED], "arms": SOME},
    {"name": "arrival", "kind": "frames", "title": "Arrival", "cells": [DETAILED], "arms": SOME},
    {"name": "streams-sent", "kind": "streams", "title": "Streams", "cells": [DETAILED], "arms": SOME},
    {"name": "first-packets", "kind": "handshake", "title": "Handshake", "cells": [DETAILED], "arms": SOME},
)  # fmt: skip


@dataclass(frozen=True)
class Sample:
    """A folder of results with a report in it, and the rows that it was made from."""

    folder: Path
    plan: dict[str, Any]
    rows: list[Row]

    @property
    def page(self) -> str:
        """The report's address on the disk."""
        return (self.folder / "report" / "index.html").as_uri()

    def table(self, name: str) -> list[dict[str, str]]:
        """A table of the statistics, as R wrote it."""
        path = self.folder / "statistics" / STUDY / f"{name}.csv"
        with path.open(newline="") as stream:
            return list(csv.DictReader(stream))

    @property
    def slowest(self) -> Row:
        """The load that took longest in the cell with details."""
        rows = (row for row in self.rows if row["cell"] == DETAILED and row["plt_s"])
        return max(rows, key=lambda row: float(row["plt_s"]))


def make_sample(folder: Path) -> Sample:
    """Plan, table of runs, statistics by R, details of one cell, run folder of its slowest load, report."""
    plan = json.loads(json.dumps(plan_study(STUDY, Selection("artifact", 11, CELLS, clock=CLOCK))))
    plan["arms"][0]["label"] = f"HTTP/1.1 {HOSTILE}"
    plan["claims"][0]["text"] = f"Claimed {HOSTILE}"
    for arm in plan["arms"]:
        # Clients of one server can be compared.
        arm["group"] = "one server"
    plan["unsupported"] = [UNSUPPORTED]
    plan["figures"] += [dict(figure) for figure in FIGURES]
    sample = Sample(folder, plan, loads(plan))
    write_json(folder / "plan" / f"{STUDY}.json", plan)
    write_table(runs_file(folder), list(sample.rows[0]), sample.rows)
    _details(sample)
    _run_folder(sample)
    _calibrations(sample)
    costs = folder / "processor" / f"{STUDY}.csv"
    processor = _processor(plan)
    write_table(costs, list(processor[0]), processor)
    given = ("--study", str(folder / "plan" / f"{STUDY}.json"), "--runs", str(runs_file(folder)))
    statistics = folder / "statistics" / STUDY
    program("Rscript", str(ROOT / "R/run_statistics.R"), *given, "--processor", str(costs),
            "--output", str(statistics))  # fmt: skip
    make_report(folder)
    return sample


def runs_file(folder: Path) -> Path:
    """Where the table of runs is."""
    return folder / "tables" / f"{STUDY}.csv"


def make_report(folder: Path) -> None:
    """Write the report as the rules do."""
    plan, runs = folder / "plan" / f"{STUDY}.json", runs_file(folder)
    report, statistics = folder / "report", folder / "statistics" / STUDY
    argv = [sys.executable, str(ROOT / "scripts/write_report.py")]
    program(
        *argv, "study", "--plan", str(plan), "--runs", str(runs), "--statistics", str(statistics),
        "--results", str(folder), "--output", str(report / "data" / STUDY),
    )  # fmt: skip
    program(
        *argv, "index", "--plans", str(plan), "--runs", str(runs), "--statistics", str(statistics),
        "--output", str(report / "index.html"),
    )  # fmt: skip


def program(*argv: str) -> None:
    """Run a program that must work."""
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-4000:]


def write_json(path: Path, value: Any) -> None:
    """A JSON file, with its folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value))


def write_table(path: Path, columns: list[str], rows: list[Row]) -> None:
    """A CSV file, with its folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, columns, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def loads(plan: dict[str, Any], repetitions: int = REPETITIONS) -> list[Row]:
    """Made-up loads of all arms in all cells; the fifth of some arms failed, with a reason."""
    chance = random.Random(7)
    parameters = {"bandwidth_mbit", "rtt_ms", "loss_percent", "objects", "object_size"}
    columns = run_columns(parameters, set())
    rows = []
    for number, cell in enumerate(plan["cells"]):
        # The first arm is the fastest but where packets are lost.
        slower = 8 if cell["values"]["loss_percent"] else 1
        for repetition in range(FEW_REPETITIONS if cell["name"] == FEW else repetitions):
            for order, arm in enumerate(plan["arms"]):
                place = (cell["name"], arm["name"])
                failed = (
                    (repetition == 4 and order == 2)
                    or (place == STUCK and repetition > 1)
                    or place == BROKEN
                )
                invalid = place == INVALID and repetition == 1
                value = (
                    f"{0.1 * (order + 1 if order else slower) * chance.lognormvariate(1, 0.2):.6f}"
                )
                row = dict.fromkeys(columns, "") | {
                    "study": STUDY, "cell": cell["name"], "arm": arm["name"], "block": 0,
                    "repetition": repetition, "order": order, "session": "s1", "clock": CLOCK,
                    "status": "failed" if failed else "invalid" if invalid else "ok",
                    "reason": HOSTILE if failed else "",
                    "plt_s": "" if failed else value, "ttlb_s": "" if failed else value,
                    **{key: cell["values"][key] for key in parameters},
                    "protocol": arm["protocol"], "attempts": 1 + (repetition == 3),
                    "disturbed": "the server waited 30 ms" if repetition == 3 else "",
                    "loss_seed_up": chance.getrandbits(64), "machine": "m", "wall_s": "1.250000",
                    "started": f"{1790000000 + number * 700 + repetition * 100 + order}.500000",
                    "retransmitted_packets": chance.randrange(30),
                    "cpu_server_s_per_gb": chance.randrange(1, 9), "cpu_client_s_per_gb": "2.5",
                    "profile_server_crypto_percent": "40", "profile_server_kernel_percent": "59.5",
                    "profile_server_unknown_percent": "0.5",
                    "path": f"runs/{STUDY}/{cell['name']}/{arm['name']}/{repetition:04d}",
                }  # fmt: skip
                rows.append({name: str(value) for name, value in row.items()})
    return rows


def _processor(plan: dict[str, Any]) -> list[Row]:
    """What server and client use of a processor by the real clock."""
    return [
        {"study": STUDY, "cell": cell["name"], "arm": arm["name"], "machine": "m",
         "cpu_server_s": COSTLY_S if order == 1 and place % 2 else CHEAP_S, "cpu_client_s": CHEAP_S}
        for place, cell in enumerate(plan["cells"]) for order, arm in enumerate(plan["arms"])
    ]  # fmt: skip


def _details(sample: Sample) -> None:
    """The tables of the slowest load, whose packet LOST of the server never arrives."""
    slow = sample.slowest
    key = {name: slow[name] for name in ("study", "cell", "arm", "block", "repetition")}
    packets = []
    for number in range(1, 241):
        down, lost = number % 2 == 1, number == LOST
        sent = 0.004 * number + (0.3 if number > LOST + 10 else 0)
        packets.append(
            key | {
                "number": number, "receiver_number": "" if lost else number,
                "direction": "down" if down else "up", "connection": 0, "sent_s": f"{sent:.6f}",
                "received_s": "" if lost else f"{sent + 0.009:.6f}", "bytes": 1200 if down else 66,
                "payload": 1158 if down else 0, "label": "1-RTT",
                "content": f"#{LOST if number == AGAIN else number} STREAM",
                "streams": 4 * (number % 5) if down else "", "again": "true" if number == AGAIN else "false",
                "fate": "queue" if lost else "arrived",
            }
        )  # fmt: skip
    times = [f"{0.02 * step:.6f}" for step in range(1, 40)]
    one = {
        "path": f"/{HOSTILE}",
        "bytes": 900,
        "start_s": "0.01",
        "first_byte_s": "0.05",
        "end_s": "0.2",
    }
    first = {"time_s": "0", "direction": "up", "bytes": 1200, "label": "Initial"}
    rows: dict[str, list[Row]] = {
        "objects": [key | one],
        "handshake": [key | first],
        "packets": packets,
    }
    rows["objects"] += [
        {name: row[name] for name in key}
        | {
            "path": f"/{number}",
            "bytes": 100,
            "start_s": f"{0.01 + number / 100 + int(row['repetition']) / 1000:.6f}",
            "first_byte_s": "" if number == 2 else f"{0.05 + order / 1000:.6f}",
            "end_s": f"{0.1 + int(row['repetition']) ** 2 / 100:.6f}",
            "protocol": "h3" if number or order else "h2",
        }
        for order, row in enumerate(sample.rows)
        if row["cell"] == DETAILED and row["path"] != slow["path"] and row["status"] == "ok"
        for number in range(3)
    ]
    rows["series"] = [
        key | {"time_s": time, "received_bytes": 900 * step, "acknowledged_bytes": 800 * step}
        for step, time in enumerate(times)
    ]
    rows["window"] = [
        key | {"time_s": time, "cwnd_bytes": 14000 + step, "smoothed_rtt_ms": 18, "source": "qlog"}
        for step, time in enumerate(times)
    ]
    for name, more in of_loads(sample.rows, DETAILED, slow["path"]).items():
        rows[name] = rows.get(name, []) + more
    columns = {"objects": OBJECT_COLUMNS, "series": SERIES_COLUMNS, **DETAIL_COLUMNS}
    place = sample.folder / "tables" / STUDY / DETAILED / "0"
    for name, names in columns.items():
        write_table(place / f"{name}.csv", list(names), rows.get(name, []))


def _calibrations(sample: Sample) -> None:
    """Of each link a rate that is a little too low, and packets out of order that nobody asked for."""
    for number, cell in enumerate(sample.plan["cells"]):
        name = calibration_name(cell)
        rate = cell["link"]["bandwidth_mbit"]
        checks = [
            {"quantity": "rate_mbit", "direction": "down", "asked": rate, "measured": rate * 0.99,
             "low": rate * 0.98, "high": rate, "n": 5, "tolerance": 2, "verdict": "pass"},
            {"quantity": "reordered", "direction": "both", "asked": 0, "measured": number, "n": 5,
             "tolerance": 0, "verdict": "fail" if number else "pass"},
        ]  # fmt: skip
        made = {"name": name, "link": cell["link"], "backend": "made up", "checks": checks}
        write_json(sample.folder / "calibration" / f"{name}.json", made)


def jpeg() -> bytes:
    """A grey square of 8 pixels, the least that is a picture: one block, of which nothing differs."""
    parts = [
        (0xDB, bytes([0] + [1] * 64)),
        (0xC0, bytes([8, 0, 8, 0, 8, 1, 1, 0x11, 0])),
        (0xC4, bytes([0x00, 1] + [0] * 16)),
        (0xC4, bytes([0x10, 1] + [0] * 16)),
        (0xDA, bytes([1, 1, 0, 0, 63, 0])),
    ]
    segments = [bytes([0xFF, kind]) + (len(b) + 2).to_bytes(2) + b for kind, b in parts]
    return b"\xff\xd8" + b"".join(segments) + b"\x3f\xff\xd9"


def _run_folder(sample: Sample) -> None:
    folder = sample.folder / sample.slowest["path"]
    folder.mkdir(parents=True)
    link = {"bandwidth_mbit": 10, "rtt_ms": 18, "loss_percent": 2}
    host = {"node": HOSTILE, "cpu": "c", "cpus": 2, "kernel": "k"}
    meta = {"order": 1, "link": link, "clock": CLOCK, "attempts": 1, "host": host}
    write_json(folder / "meta.json", meta)
    (folder / "client.log").write_text(f"said {HOSTILE}\n")
    (folder / "server.log").write_bytes(b"\xff\xfe not text\n" * 4000)
    (folder / "client.pcapng").write_bytes(b"x" * 100)
    # Nothing in a name of a file can be a folder of its own, or end it.
    name = HOSTILE.replace("/", "\u2215")
    (folder / name).write_text("a file")
    write_json(folder / "artifacts" / "har.json", {"log": {"version": "1.2", "entries": []}})
    for number in range(FRAMES):
        frame = folder / "artifacts" / "filmstrip" / f"{number:04d}.jpg"
        frame.parent.mkdir(exist_ok=True)
        frame.write_bytes(jpeg())
    qlog = folder / "qlog" / "server"
    qlog.mkdir(parents=True)
    trace = {"vantage_point": {"type": "server"}}
    head = {"qlog_version": "0.3", "qlog_format": "JSON-SEQ", "trace": trace}
    event = {
        "time": 1.5,
        "name": "transport:packet_sent",
        "data": {"header": {"packet_type": "1RTT"}},
    }
    (qlog / "one.sqlog").write_text("".join(f"\x1e{json.dumps(r)}\n" for r in (head, event)))
