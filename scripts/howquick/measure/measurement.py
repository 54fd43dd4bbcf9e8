"""A block while it is measured: testbed, servers, and one repetition after the other."""

from __future__ import annotations

import contextlib
import random
import shutil
import time
from collections import deque
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from howquick.environment.endpoints import ECN, load_endpoints
from howquick.errors import UserError
from howquick.guard.bounds import judges_delays
from howquick.measure.block import Block
from howquick.measure.bulk import BulkSize, counted
from howquick.measure.description import describe_load, programs_of
from howquick.measure.flows import Company, Flow
from howquick.measure.moves import Moves
from howquick.measure.neighbours import Neighbours, Nobody
from howquick.measure.programs import Apart, Programs
from howquick.measure.repetition import (
    MAX_ATTEMPTS,
    Observation,
    Outcome,
    Participants,
    Repetition,
)
from howquick.measure.told import Display
from howquick.model import Arm
from howquick.seeds import derive_seed
from howquick.study.arms import transport_of
from howquick.study.cells import (
    arm_in_cell,
    clock_of,
    find,
    flow_in_cell,
    full_captures_of,
)
from howquick.study.workload import bulk_requests, kind_of
from howquick.testbed.link import Link
from howquick.testbed.testbed import Testbed


class Measurement:
    """A block while it is measured: testbed, servers and counts."""

    def __init__(self, block: Block, scratch: Path, calibration: dict[str, Any]) -> None:
        self.block, self.scratch = block, scratch
        self.calibration = calibration
        self.parts: dict[str, float] = {}
        # Read back from the kernel once for each setting of TCP.
        self.settings: dict[Tcp, dict[str, Any]] = {}
        self.quiet_since = time.monotonic()
        # In virtual time nobody is in anybody's way, and the kernel makes links that need no correction.
        self.exact = clock_of(block.cell) == "virtual"
        self.neighbours = Nobody() if self.exact else Neighbours(block.results)
        for name in ("repetition", "testbed", "servers"):
            (scratch / name).mkdir()

    def run(
        self, missing: Iterable[tuple[int, int, str]], progress: Display, tcp: Tcp | None = None
    ) -> None:
        """Measure everything that is missing, which is asked for once the testbed is made.

        tcp: how the testbed's TCP is set before.
        """
        begin = time.monotonic()
        link = Link.from_dict(self.block.cell["link"])
        testbed = Testbed(
            link,
            "netem" if self.exact else None,
            scratch=self.scratch / "testbed",
            delay_offset_ms=self.calibration.get("delay_offset_ms", 0.0),
        )
        with contextlib.ExitStack() as stack:
            with self.neighbours.beside():
                bed = stack.enter_context(testbed)
            programs = Programs(self.block, self.scratch, bed)
            bulk = BulkSize(self.block, programs, self.scratch / "pilot")
            try:
                if tcp:
                    self._set_tcp(bed, tcp)
                self.parts["testbed"] = time.monotonic() - begin
                self._measure(programs, bulk, missing, progress)
            finally:
                programs.stop()

    def _measure(
        self,
        programs: Programs,
        bulk: BulkSize,
        missing: Iterable[tuple[int, int, str]],
        progress: Display,
    ) -> None:
        """Measure in order; what was disturbed comes again after all others, MAX_ATTEMPTS times in all.

        Then the blocks beside this one wait: how much two blocks are in each other's way depends on the
        machine, and what they declare to need is only as good as the machine where it was found.
        """
        waiting: deque[tuple[int, int, str, list[str]]] = deque((*one, []) for one in missing)
        while waiting:
            repetition, order, arm, disturbed = waiting.popleft()
            progress.now(arm, repetition)
            company = self.neighbours.alone() if disturbed else self.neighbours.beside()
            try:
                with company:
                    outcome = self._repetition(programs, bulk, repetition, order, arm, disturbed)
            finally:
                self._assert_link(programs.bed, arm, repetition)
            self.quiet_since = outcome.ended
            for name, seconds in outcome.overhead.items():
                self.parts[name] = self.parts.get(name, 0.0) + seconds
            # What an exact load was invalid by would be there again.
            most = 1 if self.exact else MAX_ATTEMPTS
            if outcome.status == "invalid" and len(disturbed) + 1 < most:
                waiting.append((repetition, order, arm, [*disturbed, outcome.reason]))
                progress.again()
            else:
                progress.done(outcome.status)

    def _assert_link(self, bed: Testbed, arm: str, repetition: int) -> None:
        """Raise UserError if the emulator has ended; then the repetition is wrong in an unknown way."""
        if not bed.alive():
            shutil.rmtree(self.block.folder(arm, repetition), ignore_errors=True)
            raise UserError(
                f"the link emulator of cell {self.block.cell['name']} ended unexpectedly. Run the same "
                "command again; finished repetitions are kept."
            )

    def _repetition(
        self,
        programs: Programs,
        bulk: BulkSize,
        repetition: int,
        order: int,
        arm_name: str,
        disturbed: list[str],
    ) -> Outcome:
        arm = arm_in_cell(self.block.cell, find(self.block.plan["arms"], arm_name))
        settings = self._set_tcp(programs.bed, tcp_of(arm))
        name = programs.bed.backend.name
        meta = describe_load(self.block, arm, repetition, order, name) | {
            "settings": settings,
            "attempts": len(disturbed) + 1,
            # Why the attempts before this one did not count.
            "disturbed": list(disturbed),
        }
        if programs.cpus:
            meta["settings"] = settings | {
                "cpus": {role: sorted(cpus) for role, cpus in programs.cpus.items()}
            }
        requests = self._requests(programs, repetition)
        if kind_of(self.block.cell["workload"]) == "bulk":
            meta["bulk"] = bulk.of(arm)
            requests = counted(bulk_requests(requests, meta["bulk"]["bytes"]))
        scratch = self.scratch / "repetition"
        shutil.rmtree(scratch)
        scratch.mkdir()
        moves = Moves(programs.bed)
        server, client = programs.server(arm), programs.client(arm, requests, scratch, moves)
        start_s = self.block.cell.get("start_s", 0.0)
        own = Flow(arm_name, 0, server, client, requests, scratch, start_s)
        company = Company(own, self._beside(programs, repetition, moves))
        run = Repetition(
            Participants(programs.bed, company, moves),
            scratch,
            self.block.folder(arm_name, repetition),
            meta,
            Observation(
                full_capture=repetition < full_captures_of(self.block.plan, self.block.cell),
                judged=judges_delays() and not self.block.cell.get("tolerate_delays"),
                exact=self.exact,
            ),
        )
        return run.run(self.quiet_since)

    def _beside(self, programs: Programs, repetition: int, moves: Moves) -> list[Flow]:
        """The flows beside the arm: addresses, settings of TCP, programs, and when they start."""
        plan, cell = self.block.plan, self.block.cell
        flows = []
        for number, asked in enumerate(cell.get("beside", []), 1):
            arm = flow_in_cell(cell, asked["arm"])
            address = programs.bed.set_path(number, *tcp_of(arm)[:2])
            apart = Apart(number, address, asked["workload"])
            scratch = self.scratch / "repetition" / f"flow-{number}"
            scratch.mkdir()
            requests = list(programs.served(asked["workload"]).page)
            client = programs.client(arm, requests, scratch, moves, apart)
            start_s = asked["start_s"]
            if isinstance(start_s, list):
                seed = derive_seed(plan["seed"], plan["study"], cell["name"], repetition, number)
                start_s = round(random.Random(seed).uniform(*start_s), 3)
            server = programs.server(arm, apart)
            flow = Flow(arm["name"], number, server, client, requests, scratch, start_s)
            flow.background = asked["background"]
            flow.asked = {"arm_definition": arm, "workload": asked["workload"]}
            flow.asked["programs"] = programs_of(plan, arm)
            flows.append(flow)
        return flows

    def _requests(self, programs: Programs, repetition: int) -> list[dict[str, Any]]:
        """What a client fetches, in its order: segments as a viewer jumps, the same for all arms."""
        requests = list(programs.page)
        if kind_of(self.block.cell["workload"]) == "segments":
            plan = self.block.plan
            seed = derive_seed(plan["seed"], plan["study"], self.block.cell["name"], repetition)
            random.Random(seed).shuffle(requests)
        return requests

    def _set_tcp(self, bed: Testbed, tcp: Tcp) -> dict[str, Any]:
        """Make the kernel's TCP as it is asked for; returns all settings, read back."""
        bed.set_ecn(tcp.ecn)
        bed.set_congestion_control(tcp.congestion_control, tcp.initial_window)
        if tcp not in self.settings:
            self.settings[tcp] = bed.settings()
        return self.settings[tcp]


class Tcp(NamedTuple):
    """How the kernel's TCP is set: congestion control, initial window (packets; None: its own), ECN."""

    congestion_control: str
    initial_window: int | None
    ecn: bool


def tcp_of(arm: Arm) -> Tcp:
    """The settings of an arm's TCP."""
    # Where something else carries the arm, it does not matter.
    if transport_of(arm, load_endpoints()) != "tcp":
        return Tcp("cubic", None, False)
    options = arm["options"]
    window = options.get("initial_window_packets") or None
    return Tcp(arm["congestion_control"], window, bool(options.get(ECN)))
