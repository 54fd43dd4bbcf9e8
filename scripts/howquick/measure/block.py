"""One block: all arms of some repetitions of one cell, interleaved, in one testbed."""

from __future__ import annotations

import fcntl
import json
import shutil
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from howquick.content import SERVER_NAME
from howquick.endpoints import load_endpoints
from howquick.errors import UserError
from howquick.files import canonical_hash, read_json
from howquick.manifest import environment_hash
from howquick.measure.process import Client, Job, Server
from howquick.measure.progress import Progress
from howquick.measure.repetition import MAX_ATTEMPTS, Outcome, Repetition
from howquick.plan import find, fingerprint, loss_seeds, order_of, page_name
from howquick.testbed.link import Link
from howquick.testbed.testbed import Testbed

FIRST_PORT = 4433


class Block:
    """What is to be done in a block and what is already there."""

    def __init__(self, plan: dict[str, Any], cell: str, number: int, results: Path) -> None:
        self.plan, self.results = plan, results
        self.cell = find(plan["cells"], cell)
        self.block = next(b for b in plan["blocks"] if b["cell"] == cell and b["block"] == number)
        self.wanted = [
            (repetition, order, arm)
            for repetition in self.block["repetitions"]
            for order, arm in enumerate(order_of(plan, self.cell, repetition))
        ]

    def folder(self, arm: str, repetition: int) -> Path:
        """The run folder of a repetition."""
        return (
            self.results
            / "runs"
            / self.plan["study"]
            / self.cell["name"]
            / arm
            / f"{repetition:04}"
        )

    def fingerprint(self, arm: str, repetition: int) -> str:
        """What the repetition's fingerprint must be to count."""
        return fingerprint(self.plan, self.cell["name"], arm, repetition, self.plan["programs"])

    def missing(self) -> list[tuple[int, int, str]]:
        """(repetition, order, arm) of everything that is not measured yet or no longer valid."""
        return [
            (repetition, order, arm)
            for repetition, order, arm in self.wanted
            if not self._valid(arm, repetition)
        ]

    def _valid(self, arm: str, repetition: int) -> bool:
        try:
            meta = read_json(self.folder(arm, repetition) / "meta.json")
        except (OSError, json.JSONDecodeError):
            return False
        return meta.get("fingerprint") == self.fingerprint(arm, repetition)

    def manifest(self, measured: int, parts: dict[str, float], wall_s: float) -> dict[str, Any]:
        """The block's manifest (docs/formats.md, 5)."""
        runs = []
        for repetition, _, arm in self.wanted:
            folder = self.folder(arm, repetition)
            meta = read_json(folder / "meta.json")
            runs.append(
                {
                    "arm": arm,
                    "repetition": repetition,
                    "path": str(folder.relative_to(self.results)),
                    "status": meta["status"],
                    "reason": meta["reason"],
                }
            )
        return {
            "study": self.plan["study"],
            "cell": self.cell["name"],
            "block": self.block["block"],
            "repetitions": self.block["repetitions"],
            "runs": runs,
            "statuses": dict(Counter(run["status"] for run in runs)),
            "measured": measured,
            "kept": len(runs) - measured,
            "wall_s": round(wall_s, 3),
            "network_s": round(parts.get("load", 0.0), 3),
            "overhead": {name: round(value, 3) for name, value in parts.items() if name != "load"},
        }


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a lock for the time of a block: a killed predecessor may still be on its way out."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as lock:
        deadline = time.monotonic() + 20
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise UserError(
                        f"{path}: another process measures this block. Wait for it or end it."
                    ) from None
                time.sleep(0.1)
        yield


class Measurement:
    """A block while it is measured: testbed, servers and counts."""

    def __init__(
        self, block: Block, scratch: Path, calibration: dict[str, Any], session: str
    ) -> None:
        self.block, self.scratch, self.session = block, scratch, session
        self.calibration = calibration
        self.parts: dict[str, float] = {}
        self.settings: dict[str, Any] = {}
        self.servers: dict[str, Server] = {}
        self.quiet_since = time.monotonic()
        page_folder = block.results / "content" / page_name(block.cell["workload"])
        self.page = read_json(page_folder / "page.json")
        # Served from memory: the disk must not be part of a load.
        self.www = scratch / "www"
        shutil.copytree(page_folder / "www", self.www)
        self.certificates = scratch / "certificates"
        shutil.copytree(block.results / "content" / "certificates", self.certificates)
        for name in ("repetition", "testbed", "servers"):
            (scratch / name).mkdir()

    def run(self, missing: list[tuple[int, int, str]], progress: Progress) -> None:
        """Measure everything that is missing."""
        begin = time.monotonic()
        link = Link.from_dict(self.block.cell["link"])
        offset = self.calibration.get("delay_offset_ms", 0.0)
        with Testbed(link, scratch=self.scratch / "testbed", delay_offset_ms=offset) as bed:
            self.settings = bed.settings()
            try:
                self.parts["testbed"] = time.monotonic() - begin
                for repetition, order, arm in missing:
                    progress.now(arm, repetition)
                    outcome = self._repeat_until_valid(bed, repetition, order, arm)
                    progress.done(outcome.status)
                    for name, seconds in outcome.overhead.items():
                        self.parts[name] = self.parts.get(name, 0.0) + seconds
            finally:
                for server in self.servers.values():
                    server.ask_to_stop()
                for server in self.servers.values():
                    server.stop()

    def _repeat_until_valid(self, bed: Testbed, repetition: int, order: int, arm: str) -> Outcome:
        for attempt in range(1, MAX_ATTEMPTS + 1):
            outcome = self._repetition(bed, repetition, order, arm, attempt)
            self.quiet_since = time.monotonic()
            if not bed.alive():
                # Its repetition is wrong in an unknown way: take it back and let the user know.
                shutil.rmtree(self.block.folder(arm, repetition), ignore_errors=True)
                raise UserError(
                    f"the link emulator of cell {self.block.cell['name']} ended unexpectedly "
                    "(see its last lines in this job's log). Run the same command again; finished "
                    "repetitions are kept."
                )
            if outcome.status != "invalid":
                return outcome
        return outcome

    def _repetition(
        self, bed: Testbed, repetition: int, order: int, arm_name: str, attempt: int
    ) -> Outcome:
        arm = find(self.block.plan["arms"], arm_name)
        scratch = self.scratch / "repetition"
        shutil.rmtree(scratch)
        scratch.mkdir()
        endpoints = load_endpoints()
        server = self._server(bed, arm)
        client = Client(
            Job(
                endpoint=endpoints[arm["client"]],
                role="client",
                arm=arm,
                address=bed.server.address,
                port=server.job.port,
                certificates=self.certificates,
                state=scratch / "state",
                log=scratch / "client.log",
                qlog=scratch / "qlog" / "client",
                keys=scratch / "keys.log",
                extra={
                    "REQUESTS": self._requests(server.job.port),
                    "TIMING": str(scratch / "timing.json"),
                },
            ),
            bed.client,
        )
        bed.set_congestion_control(self._kernel_congestion_control(arm))
        run = Repetition(
            bed,
            server,
            client,
            self.page,
            scratch,
            self.block.folder(arm_name, repetition),
            self._meta(bed, arm, repetition, order, attempt),
            full_capture=repetition < self.block.plan["full_captures"],
        )
        return run.run(self.quiet_since)

    def _requests(self, port: int) -> str:
        return " ".join(f"https://{SERVER_NAME}:{port}{entry['path']}" for entry in self.page)

    @staticmethod
    def _kernel_congestion_control(arm: dict[str, Any]) -> str:
        """What the kernel's TCP uses: the arm's, if its transport is TCP; it does not matter otherwise."""
        protocols = load_endpoints()[arm["server"]].declaration["server"]["protocols"]
        return (
            arm["congestion_control"]
            if protocols[arm["protocol"]]["transport"] == "tcp"
            else "cubic"
        )

    def _server(self, bed: Testbed, arm: dict[str, Any]) -> Server:
        """The server of an arm; arms that ask for the same share it."""
        asked = {
            key: arm[key]
            for key in ("server", "protocol", "congestion_control", "connection", "options")
        }
        key = canonical_hash(asked)[:12]
        if key not in self.servers:
            state = self.scratch / "servers" / key
            state.mkdir(parents=True)
            self.servers[key] = Server(
                Job(
                    endpoint=load_endpoints()[arm["server"]],
                    role="server",
                    arm=arm,
                    address=bed.server.address,
                    port=FIRST_PORT + len(self.servers),
                    certificates=self.certificates,
                    state=state / "state",
                    log=state / "log",
                    qlog=state / "qlog",
                    extra={"WWW": str(self.www)},
                ),
                bed.server,
            )
        return self.servers[key]

    def _meta(
        self, bed: Testbed, arm: dict[str, Any], repetition: int, order: int, attempt: int
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
            "attempts": attempt,
            "timeout_s": plan["timeout_s"],
            "parameters": cell["values"],
            "link": cell["link"],
            "arm_definition": arm,
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
            "settings": self.settings,
        }
