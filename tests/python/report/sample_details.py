"""Tables of single loads for the sample: what figures of every kind are drawn from."""

from __future__ import annotations

import random
from typing import Any

Row = dict[str, Any]
KEY = ("study", "cell", "arm", "block", "repetition")
PATH = "/1"
# Of a load that has not all; the arm's second has.
LATE_TABLE = "window"


def of_loads(rows: list[Row], cell: str, but: str) -> dict[str, list[Row]]:
    """Details of each arm's first two loads in a cell, but not of the load whose path is `but`."""
    some = [
        row
        for row in rows
        if row["cell"] == cell
        and row["repetition"] in ("0", "1")
        and row["path"] != but
        and row["status"] == "ok"
    ]
    found: dict[str, list[Row]] = {
        "series": [],
        "window": [],
        "frames": [],
        "handshake": [],
        "transport": [],
    }
    for place, row in enumerate(some):
        key = {name: row[name] for name in KEY}
        chance = random.Random(f"{row['arm']} {row['repetition']}")
        for name, made in _of_load(row, chance).items():
            # The first load of one arm has no log: figures show its second.
            if not (name == LATE_TABLE and place == 0):
                found[name] += [key | one for one in made]
    return found


def _of_load(row: Row, chance: random.Random) -> dict[str, list[Row]]:
    times = sorted(chance.uniform(0, 0.8) for _ in range(25))
    return {
        "series": _series(times, chance), "window": _window(times, row["protocol"], chance),
        "frames": _frames(times, chance), "handshake": _handshake(chance),
        "transport": [
            {"time_s": f"{time:.6f}", "direction": way, "event": event, "packets": 1, "bytes": 1200,
             "total_bytes": (1200 if event == "sent" else 1000) * (step + 1), "source": source}
            for step, time in enumerate(times) for event in ("sent", "acknowledged")
            for way, source in (("down", "capture"), ("up", "capture"), ("down", "qlog"))
        ],
    }  # fmt: skip


def _series(times: list[float], chance: random.Random) -> list[Row]:
    received, rows = 0, []
    for step, time in enumerate(times):
        received += chance.randrange(1000, 9000)
        # The first acknowledgement comes later than the first byte.
        acknowledged = "" if step == 0 else received - chance.randrange(1000)
        rows.append(
            {
                "time_s": f"{time:.6f}",
                "received_bytes": received,
                "acknowledged_bytes": acknowledged,
            }
        )
    return rows


def _window(times: list[float], protocol: str, chance: random.Random) -> list[Row]:
    """What a log tells and what a capture tells, at times of their own."""
    logged = [
        {"time_s": f"{time:.6f}", "cwnd_bytes": chance.randrange(12000, 90000), "bytes_in_flight": 5,
         "smoothed_rtt_ms": round(chance.uniform(18, 60), 3), "source": "qlog",
         # One protocol's log tells no rate of delivery.
         "delivery_rate_mbit": "" if protocol == "h1" else round(chance.uniform(1, 10), 3),
         "pacing_rate_mbit": round(chance.uniform(1, 20), 3)}
        for time in times
    ]  # fmt: skip
    captured = [
        {"time_s": f"{time + 0.0003:.6f}", "bytes_in_flight": chance.randrange(60000),
         "delivery_rate_mbit": round(chance.uniform(1, 10), 3), "source": "capture"}
        for time in times
    ]  # fmt: skip
    return sorted(logged + captured, key=lambda row: float(row["time_s"]))


def _frames(times: list[float], chance: random.Random) -> list[Row]:
    rows = []
    for time in times:
        stream = chance.choice([0, 4, 8, 3])
        # Streams of control have no path, and lost pieces no time.
        path = "" if stream == 3 else f"/images/{stream}-with-a-name-that-is-long.png"
        lost = chance.random() < 0.1
        came = time + chance.uniform(0, 0.05)
        rows.append(
            {"sent_s": f"{time - 0.01:.6f}", "time_s": "" if lost else f"{came:.6f}",
             "stream": stream, "path": path, "offset": 0, "bytes": 1000, "lost": "true" if lost else "false"}
        )  # fmt: skip
    return rows


def _handshake(chance: random.Random) -> list[Row]:
    rows, time = [], 0.0
    for number in range(20):
        # Some follow so closely that they are one flight.
        time += chance.choice([0.0002, 0.0009, 0.05, 0.11]) if number else 0
        way = chance.choice(["up", "down"])
        rows.append(
            {"time_s": f"{time:.6f}", "direction": way, "bytes": chance.choice([0, 1200, 300]),
             "label": chance.choice(["Initial", "Handshake"])}
        )  # fmt: skip
    return rows
