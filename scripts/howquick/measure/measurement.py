"""A block while it is measured: testbed, servers, and one repetition after the other."""

from __future__ import annotations

import contextlib
import random
import shutil
import time
from collections import deque
from pathlib import Path
from typing import Any

from howquick.arms import metrics_of, transport_of
from howquick.endpoints import load_endpoints
from howquick.errors import UserError
from howquick.guard.bounds import judges_delays
from howquick.manifest import environment_hash
from howquick.measure.block import Block
from howquick.measure.bulk import BulkSize
from howquick.measure.moves import Moves
from howquick.measure.neighbours import Neighbours
from howquick.measure.programs import Programs
from howquick.measure.progress import Progress
from howquick.measure.repetition import MAX_ATTEMPTS, Outcome, Repetition
from howquick.plan import arm_in_cell, derive_seed, find, loss_seeds
from howquick.testbed.link import Link
from howquick.testbed.testbed import Testbed
from howquick.workload import kind_of


class Measurement:
    """A block while it is measured: testbed, servers and counts."""

    def __init__(
        self, block: Block, scratch: Path, calibration: dict[str, Any], session: str
    ) -> None:
        self.block, self.scratch, self.session = block, scratch, session
        self.calibration = calibration
        self.parts: dict[str, float] = {}
        # Read back from the kernel once for each setting of TCP.
        self.settings: dict[tuple[str, int | None], dict[str, Any]] = {}
        self.quiet_since = time.monotonic()
        self.neighbours = Neighbours(block.results)
        for name in ("repetition", "testbed", "servers"):
            (scratch / name).mkdir()

    def run(self, missing: list[tuple[int, int, str]], progress: Progress) -> None:
        """Measure everything that is missing."""
        begin = time.monotonic()
        link = Link.from_dict(self.block.cell["link"])
        offset = self.calibration.get("delay_offset_ms", 0.0)
        testbed = Testbed(link, scratch=self.scratch / "testbed", delay_offset_ms=offset)
        with contextlib.ExitStack() as stack:
            with self.neighbours.beside():
                bed = stack.enter_context(testbed)
            programs = Programs(self.block, self.scratch, bed)
            bulk = BulkSize(self.block, programs, self.scratch / "pilot")
            try:
                self.parts["testbed"] = time.monotonic() - begin
                self._measure(programs, bulk, missing, progress)
            finally:
                programs.stop()

    def _measure(
        self,
        programs: Programs,
        bulk: BulkSize,
        missing: list[tuple[int, int, str]],
        progress: Progress,
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
            if outcome.status == "invalid" and len(disturbed) + 1 < MAX_ATTEMPTS:
                waiting.append((repetition, order, arm, [*disturbed, outcome.reason]))
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
        settings = self._set_tcp(programs.bed, arm)
        meta = self._meta(programs.bed, arm, repetition, order) | {
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
            requests = [e for e in requests if e["bytes"] == meta["bulk"]["bytes"]]
        scratch = self.scratch / "repetition"
        shutil.rmtree(scratch)
        scratch.mkdir()
        moves = Moves(programs.bed)
        run = Repetition(
            programs.bed,
            programs.server(arm),
            programs.client(arm, requests, scratch, moves),
            requests,
            scratch,
            self.block.folder(arm_name, repetition),
            meta,
            full_capture=repetition < self.block.plan["full_captures"],
            moves=moves,
            judged=judges_delays() and not self.block.cell.get("tolerate_delays"),
        )
        return run.run(self.quiet_since)

    def _requests(self, programs: Programs, repetition: int) -> list[dict[str, Any]]:
        """What a client fetches, in its order: segments as a viewer jumps, the same for all arms."""
        requests = list(programs.page)
        if kind_of(self.block.cell["workload"]) == "segments":
            plan = self.block.plan
            seed = derive_seed(plan["seed"], plan["study"], self.block.cell["name"], repetition)
            random.Random(seed).shuffle(requests)
        return requests

    def _set_tcp(self, bed: Testbed, arm: dict[str, Any]) -> dict[str, Any]:
        """Make the kernel's TCP as the arm asks; returns all settings, read back."""
        control, window = "cubic", None
        # Where something else carries the arm, it does not matter.
        if transport_of(arm, load_endpoints()) == "tcp":
            control = arm["congestion_control"]
            window = arm["options"].get("initial_window_packets") or None
        bed.set_congestion_control(control, window)
        if (control, window) not in self.settings:
            self.settings[control, window] = bed.settings()
        return self.settings[control, window]

    def _meta(
        self, bed: Testbed, arm: dict[str, Any], repetition: int, order: int
    ) -> dict[str, Any]:
        plan, cell = self.block.plan, self.block.cell
        return {
            "study": plan["study"],
            "cell": cell["name"],
            "arm": arm["name"],
            "repetition": repetition,
            "block": self.block.block["block"],
            "order": order,
            "session": self.session,
            "fingerprint": self.block.fingerprint(arm["name"], repetition),
            "timeout_s": plan["timeout_s"],
            "parameters": cell["values"],
            "link": cell["link"],
            "workload": cell["workload"],
            "observe": cell.get("observe", {"captures": True, "qlog": True}),
            "arm_definition": arm,
            "metrics": sorted(metrics_of({arm["name"]: arm}, load_endpoints())[arm["name"]]),
            "seeds": loss_seeds(plan, cell, repetition),
            "programs": {
                role: {
                    "name": arm[role],
                    "version": plan["versions"][arm[role]],
                    "hash": plan["programs"][arm[role]],
                }
                for role in ("server", "client")
            }
            | {"emulator": {"name": bed.backend.name, "hash": plan["programs"]["emulator"]}},
            "environment": environment_hash(),
        }
