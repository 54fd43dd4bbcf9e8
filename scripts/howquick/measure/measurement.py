"""A block while it is measured: testbed, servers, and one repetition after the other."""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from typing import Any

from howquick.content import SERVER_NAME
from howquick.endpoints import load_endpoints
from howquick.errors import UserError
from howquick.files import canonical_hash, read_json
from howquick.manifest import environment_hash
from howquick.measure.block import Block
from howquick.measure.process import Client, Job, Server
from howquick.measure.progress import Progress
from howquick.measure.repetition import MAX_ATTEMPTS, Outcome, Repetition
from howquick.plan import find, loss_seeds, page_name
from howquick.testbed.link import Link
from howquick.testbed.testbed import Testbed

FIRST_PORT = 4433


class Measurement:
    """A block while it is measured: testbed, servers and counts."""

    def __init__(
        self, block: Block, scratch: Path, calibration: dict[str, Any], session: str
    ) -> None:
        self.block, self.scratch, self.session = block, scratch, session
        self.calibration = calibration
        self.parts: dict[str, float] = {}
        # Read back from the kernel once for each congestion control.
        self.settings: dict[str, dict[str, Any]] = {}
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
            self.quiet_since = outcome.ended
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
        control = self._kernel_congestion_control(arm)
        bed.set_congestion_control(control)
        if control not in self.settings:
            self.settings[control] = bed.settings()
        run = Repetition(
            bed,
            server,
            client,
            self.page,
            scratch,
            self.block.folder(arm_name, repetition),
            self._meta(bed, arm, repetition, order, attempt) | {"settings": self.settings[control]},
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
        }
