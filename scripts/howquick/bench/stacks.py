"""Transfers by the stacks of a study, outside a study: start-up, loopback against testbed, cost of logs."""

from __future__ import annotations

import json
import shutil
import statistics
import time
from collections.abc import Collection, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from howquick.bench.loopback import Loopback
from howquick.content.pages import make_certificates, make_page
from howquick.environment.endpoints import load_endpoints
from howquick.environment.versions import version_of
from howquick.measure.bulk import counted
from howquick.measure.captures import FULL_BYTES, Capture
from howquick.measure.children import ProgramFailed
from howquick.measure.client import Client
from howquick.measure.moves import Moves
from howquick.measure.programs import FIRST_PORT, Programs
from howquick.measure.verify import verified_timing
from howquick.model import ROLES, Arm, Cell, Role, Workload
from howquick.study.arms import transport_of
from howquick.study.resolve import Selection, resolve_study
from howquick.study.workload import UNSHAPED, bulk_requests, bulk_sizes, page_name
from howquick.testbed.link import Link
from howquick.testbed.sandbox import enter_sandbox
from howquick.testbed.testbed import Testbed

Row = dict[str, Any]
# Which study's arms stand for the stacks: those of its comparison.
STUDY = "highway"
# The study that has every server and every client.
EVERY_PROGRAM = "arms"
SELECTION = Selection("artifact", 1)
WORKLOAD: Workload = {"bulk": {"seconds": 0.3, "at_most_bytes": 128 << 20}}
# Some servers read what they serve when they start: as little as there can be.
SMALLEST: Workload = {"bulk": {"seconds": 0.3, "at_most_bytes": 8 << 20}}
REPETITIONS = 5
TIMEOUT_S = 20.0
MTU_BYTES = 1500
OFFLOADS = "default"
# Servers of one room have consecutive ports.
PORTS = 100
Bed = Testbed | Loopback
# By name: where, and what is observed there.
Ways = dict[str, tuple[Bed, dict[str, Any]]]


@dataclass(frozen=True)
class Place:
    """What Programs needs of a block: the cell, and where content is."""

    cell: Cell
    results: Path


class Room:
    """Programs in a bed, with or without logs. `number` tells rooms of one bed apart."""

    def __init__(
        self,
        bed: Bed,
        number: int = 0,
        qlog: bool = False,
        captures: bool = False,
        workload: Workload = WORKLOAD,
    ) -> None:
        self.bed, self._captures = bed, captures
        root = enter_sandbox().scratch
        content = root / "content"
        if not (content / page_name(workload)).exists():
            make_page(workload, 1, content / page_name(workload))
        if not (content / "certificates").exists():
            make_certificates(content / "certificates")
        self._scratch = root / f"room{number}"
        self._scratch.mkdir()
        cell = {"workload": workload, "alone": True, "observe": {"qlog": qlog}}
        # Programs asks of a block and of a bed no more than a Place and a Loopback have.
        self.programs = Programs(
            Place(cell, root),  # type: ignore[arg-type]
            self._scratch,
            bed,  # type: ignore[arg-type]
            first_port=FIRST_PORT + PORTS * number,
        )

    def client(self, arm: Arm, wanted: list[Row]) -> Client:
        """A client for one load; its files go to a fresh folder."""
        shutil.rmtree(self._folder, ignore_errors=True)
        self._folder.mkdir()
        return self.programs.client(arm, wanted, self._folder, Moves(self.bed))  # type: ignore[arg-type]

    @property
    def _folder(self) -> Path:
        return self._scratch / "transfer"

    def transfer(self, arm: Arm, size: int) -> float:
        """Seconds of one transfer. Raises ProgramFailed, TimeoutError."""
        wanted = counted(bulk_requests(self.programs.page, size))
        server = self.programs.server(arm)
        server.ensure()
        client = self.client(arm, wanted)
        with ExitStack() as stack:
            stack.callback(client.kill)
            client.prepare()
            if self._captures:
                stack.enter_context(captured(self.bed, self._folder))
            client.go()
            client.wait(TIMEOUT_S)
        server.collect(self._folder, 0)
        timing = verified_timing(client.job.timing, wanted, arm["protocol"])
        return timing.plt_s

    def size_for(self, arm: Arm) -> int:
        """The size whose transfer takes nearest to the time wanted, by two pilots."""
        sizes = bulk_sizes(WORKLOAD)
        size = sizes[0]
        for _ in range(2):
            rate = size / self.transfer(arm, size)
            size = min(sizes, key=lambda s: abs(s / rate - WORKLOAD["bulk"]["seconds"]))
        return size

    def close(self) -> None:
        """End the servers, and free the memory of what they served."""
        self.programs.stop()
        shutil.rmtree(self._scratch)


@contextmanager
def captured(bed: Bed, folder: Path) -> Iterator[None]:
    """Whole packets are captured at both ends."""
    captures = [
        Capture(end, folder / f"{end.name}.pcap", FULL_BYTES) for end in (bed.client, bed.server)
    ]
    try:
        for capture in captures:
            capture.wait_until_listening()
        yield
        for capture in captures:
            capture.interrupt()
            capture.finish()
    finally:
        for capture in captures:
            capture.kill()


def stacks() -> list[Arm]:
    """The arms that stand for the stacks."""
    study = resolve_study(STUDY, SELECTION)
    return [arm for arm in study["arms"] if arm["name"] in study["comparison"]["arms"]]


def bare() -> Testbed:
    """The testbed without a link. Call it within a sandbox."""
    link = {"bandwidth_mbit": "unshaped", "rtt_ms": 0, "loss_percent": 0, "queue_ms": 0}
    link |= {"mtu_bytes": MTU_BYTES, "offloads": OFFLOADS}
    return Testbed(Link.from_dict(link), scratch=enter_sandbox().scratch)


def loopback() -> list[Row]:
    """Per stack: goodput on plain loopback and on the bare testbed, whose share of the first it has."""
    with bare() as bed, Loopback(MTU_BYTES, OFFLOADS) as plain:
        return [_row(arm, {"loopback": (plain, {}), "testbed": (bed, {})}) for arm in stacks()]


def log_cost(programs: Collection[str] = ()) -> list[Row]:
    """Goodput without logs, with qlogs, with captures of both ends, with both.

    One row per pair of programs that stands for a program in a role over a protocol.

    programs: only these; default: all.
    """
    endpoints = load_endpoints()
    rows = []
    with bare() as bed:
        ways: Ways = {
            "unseen": (bed, {}),
            "qlog": (bed, {"qlog": True}),
            "captures": (bed, {"captures": True}),
            "both": (bed, {"qlog": True, "captures": True}),
        }
        without = {name: way for name, way in ways.items() if "qlog" not in way[1]}
        empty = {
            f"{way}_{what}": "" for way in ways for what in ("mbit", "share") if way not in without
        }
        for arm, its_programs in logged_pairs(programs):
            writes = any(endpoints[arm[role]].declaration[role].get("qlog") for role in ROLES)
            quic = transport_of(arm, endpoints) == "quic"
            row = empty | _row(arm, ways if writes and quic else without)
            row |= {key: arm[key] for key in ("protocol", *ROLES)}
            row["options"] = json.dumps(arm["options"], sort_keys=True)
            row |= {f"{role}_version": version_of(arm[role]) for role in ROLES}
            rows.append(row | {"programs": " ".join(its_programs)})
    return rows


def logged_pairs(programs: Collection[str] = ()) -> list[tuple[Arm, list[str]]]:
    """Arms in which each program has each of its roles over each protocol, and the programs each arm is of.

    A program is paired with itself where it can be, and rather with one that is not slow by itself. The arms
    that stand for the stacks are there besides, with the options that make them fast.
    """
    study = resolve_study(EVERY_PROGRAM, SELECTION)
    endpoints = load_endpoints()
    unshaped = next(c for c in study["cells"] if c["link"]["bandwidth_mbit"] == UNSHAPED)
    impossible = {entry["arm"] for entry in unshaped["not_applicable"]}
    arms = [arm for arm in study["arms"] if arm["name"] not in impossible]

    def order(arm: Arm) -> tuple[bool, bool]:
        slow = any(endpoints[arm[role]].max_rate_mbit for role in ROLES)
        return arm["server"] != arm["client"], slow

    found = []
    seen: set[tuple[str, str, str]] = set()
    for arm in sorted(arms, key=order):
        new = {(role, arm[role], arm["protocol"]) for role in ROLES} - seen
        its_programs = {name for _, name, _ in new if not programs or name in programs}
        if its_programs:
            seen |= new
            found.append((arm, sorted(its_programs)))
    known = [_behaviour(arm) for arm, _ in found]
    for arm in stacks():
        its_programs = {arm[role] for role in ROLES if not programs or arm[role] in programs}
        if its_programs and _behaviour(arm) not in known:
            found.append((arm, sorted(its_programs)))
    return found


def _behaviour(arm: Arm) -> Row:
    return {key: value for key, value in arm.items() if key not in ("name", "label", "group")}


def _row(arm: Arm, ways: Ways) -> Row:
    """Median goodput of an arm in each way, Mbit/s, and each as a share of the first way's."""
    names = list(ways)
    row: Row = {"arm": arm["name"], "bytes": ""} | {f"{name}_mbit": "" for name in names}
    row |= {f"{name}_share": "" for name in names[1:]} | {"reason": ""}
    with ExitStack() as stack:
        rooms = {}
        for number, (name, (bed, logs)) in enumerate(ways.items()):
            rooms[name] = stack.enter_context(closing(Room(bed, number, **logs)))
        try:
            size = rooms[names[0]].size_for(arm)
            rates = _interleaved(rooms, arm, size)
        except (ProgramFailed, TimeoutError) as failure:
            return row | {"reason": str(failure)}
    row |= {"bytes": size} | {f"{name}_mbit": round(rate, 1) for name, rate in rates.items()}
    return row | {f"{name}_share": round(rates[name] / rates[names[0]], 3) for name in names[1:]}


def _interleaved(rooms: dict[str, Room], arm: Arm, size: int) -> dict[str, float]:
    """Medians per room; a transfer in each in turn, so that what disturbs the machine hits all alike."""
    seconds: dict[str, list[float]] = {name: [] for name in rooms}
    for _ in range(REPETITIONS):
        for name, room in rooms.items():
            seconds[name].append(room.transfer(arm, size))
    return {name: 8 * size / statistics.median(times) / 1e6 for name, times in seconds.items()}


def startup() -> list[Row]:
    """Per program and role: seconds from its start to ready (port open, or the gate's line)."""
    arms = resolve_study(EVERY_PROGRAM, SELECTION)["arms"]
    cold = [arm for arm in reversed(arms) if arm["connection"] == "cold"]
    wanted = [(role, arm) for role in ROLES for arm in {arm[role]: arm for arm in cold}.values()]
    rows = []
    with bare() as bed:
        for _ in range(REPETITIONS):
            with closing(Room(bed, workload=SMALLEST)) as room:
                rows += [_start(room, role, arm) for role, arm in wanted]
    return [_median_start(rows, arm[role], role) for role, arm in wanted]


def _start(room: Room, role: Role, arm: Arm) -> Row:
    row: Row = {"program": arm[role], "role": role, "protocol": arm["protocol"], "seconds": None}
    row["reason"] = ""
    client = room.client(arm, room.programs.page)
    server = room.programs.server(arm)
    try:
        begin = time.monotonic()
        server.ensure()
        if role == "client":
            if not client.gate:
                return row | {"reason": "no gate: its start is before the load's"}
            begin = time.monotonic()
            client.prepare()
        row["seconds"] = time.monotonic() - begin
    except ProgramFailed as failure:
        row["reason"] = str(failure)
    finally:
        client.kill()
    return row


def _median_start(rows: list[Row], program: str, role: str) -> Row:
    mine = [row for row in rows if (row["program"], row["role"]) == (program, role)]
    times = [row["seconds"] for row in mine if row["seconds"] is not None]
    reasons = [row["reason"] for row in mine if row["reason"]]
    seconds = round(statistics.median(times), 3) if times else ""
    return mine[0] | {"seconds": seconds, "n": len(times), "reason": reasons[0] if reasons else ""}
