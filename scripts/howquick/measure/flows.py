"""Flows of one load that share its link: the arm's own, which the load is about, and those beside it."""

from __future__ import annotations

import os
import select
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from howquick.files import file_hash
from howquick.foreign import copy_file, copy_tree
from howquick.measure.children import ProgramFailed
from howquick.measure.client import Client
from howquick.measure.server import Server
from howquick.measure.verify import verified_timing


@dataclass
class Flow:
    """One flow: its programs, what they load, and when.

    number: 0 of the arm's own, from 1 on those beside it. start_s: after the beginning of the load.
    background: it is ended with the others. scratch: folder of its files. started, ended: Unix times of the
    client's start and end; None before. cut: it was ended by force. asked: what meta.json says of it besides.
    """

    name: str
    number: int
    server: Server
    client: Client
    requests: list[dict[str, Any]]
    scratch: Path
    start_s: float = 0.0
    background: bool = False
    started: float | None = None
    ended: float | None = None
    cut: bool = False
    asked: dict[str, Any] = field(default_factory=dict)

    @property
    def folder(self) -> str:
        """Where its files are in the run folder."""
        return f"flows/{self.number}-{self.name}"

    @contextmanager
    def named(self) -> Iterator[None]:
        """Whose failure it is stands in the reason; the load's own flow needs no name."""
        try:
            yield
        except ProgramFailed as failure:
            if not self.number:
                raise
            raise ProgramFailed(f"flow {self.number}, {self.name}, beside it: {failure}") from None

    def describe(self) -> dict[str, Any]:
        """Its entry of `flows` in meta.json (docs/formats.md, section 4)."""
        timing = self.client.job.timing
        return self.asked | {
            "number": self.number,
            "arm": self.name,
            "protocol": self.client.job.arm["protocol"],
            "address": self.server.job.address,
            "port": self.server.job.port,
            "start_s": self.start_s,
            "background": self.background,
            "started": self.started,
            "ended": self.ended,
            "status": "ok" if self.ended and not self.cut else "cut" if self.started else "not started",
            "timing_sha256": file_hash(timing) if timing.is_file() else None,
        }  # fmt: skip


class Company:
    """The flows of a load: `own`, and `beside` it; without those nothing here does anything."""

    def __init__(self, own: Flow, beside: list[Flow]) -> None:
        self.own, self.beside = own, beside

    def ensure(self) -> None:
        """Start the servers of the flows beside. Raises ProgramFailed."""
        for flow in self.beside:
            with flow.named():
                flow.server.ensure()

    def prepare(self) -> None:
        """Start the gated clients of the flows beside, up to their gates. Raises ProgramFailed."""
        for flow in self.beside:
            with flow.named():
                flow.client.prepare()

    def run(self, timeout_s: float, look: Callable[[], None]) -> None:
        """Start each client at its time; return when all have ended but those in the background.

        look: called whenever a client has ended and is not yet reaped. Raises TimeoutError after `timeout_s`
        and ProgramFailed where a client failed.
        """
        begin = time.monotonic()
        waiting = sorted([self.own, *self.beside], key=lambda flow: flow.start_s)
        running: dict[int, Flow] = {}
        try:
            while self._unfinished():
                while waiting and waiting[0].start_s <= time.monotonic() - begin:
                    flow = waiting.pop(0)
                    flow.client.at_end = look
                    running[_start(flow)] = flow
                until = min(timeout_s, waiting[0].start_s) if waiting else timeout_s
                left_s = max(0.0, begin + until - time.monotonic())
                ended, _, _ = select.select(list(running), [], [], left_s)
                for descriptor in ended:
                    os.close(descriptor)
                    flow = running.pop(descriptor)
                    flow.ended = time.time()
                    with flow.named():
                        flow.client.finish()
                if not ended and time.monotonic() - begin >= timeout_s:
                    raise TimeoutError(self._late(timeout_s))
        finally:
            for descriptor in running:
                os.close(descriptor)

    def _unfinished(self) -> list[Flow]:
        flows = [self.own, *self.beside]
        return [flow for flow in flows if flow.ended is None and not flow.background]

    def _late(self, timeout_s: float) -> str:
        flow = self._unfinished()[0]
        who = f"flow {flow.number}, {flow.name}, beside it: " if flow.number else ""
        return f"{who}not loaded within {timeout_s:g} s"

    def verify(self) -> None:
        """What the flows beside have loaded is what was served. Raises ProgramFailed."""
        for flow in self.beside:
            with flow.named():
                if flow.ended is not None and not flow.cut:
                    job = flow.client.job
                    verified_timing(job.timing, flow.requests, job.arm["protocol"])
                flow.server.check()

    def kill(self) -> None:
        """End the clients beside that still run."""
        for flow in self.beside:
            if flow.started is not None and flow.ended is None:
                flow.cut, flow.ended = True, time.time()
            flow.client.kill()

    def collect(self, patience_s: float) -> None:
        """Move what the servers beside wrote to the flows' folders; end those whose client was cut off.

        They would go on sending to nobody.
        """
        for flow in self.beside:
            flow.server.collect(flow.scratch, patience_s)
            if flow.cut:
                flow.server.stop()

    def leaders(self) -> dict[int, str]:
        """Leaders of the process groups beside, with their roles."""
        found = {}
        for flow in self.beside:
            for role, program in (("server", flow.server), ("client", flow.client)):
                if program.process:
                    found[program.process.pid] = f"{role} of flow {flow.number}"
        return found

    def keep(self, folder: Path) -> dict[str, str]:
        """Copy the files of the flows beside into the run folder; what was not kept, and why."""
        left_out: dict[str, str] = {}
        for flow in self.beside:
            target = folder / flow.folder
            target.mkdir(parents=True)
            files = ("client.log", "server.log")
            for file in [flow.client.job.timing, *(flow.scratch / name for name in files)]:
                if os.path.lexists(file) and (reason := copy_file(file, target / file.name)):
                    left_out[f"{flow.folder}/{file.name}"] = reason
            for name in ("artifacts", "qlog/client", "qlog/server"):
                for below, reason in copy_tree(flow.scratch / name, target / name).items():
                    left_out[f"{flow.folder}/{name}/{below}".rstrip("/")] = reason
        return left_out

    def describe(self) -> dict[str, Any]:
        """`flows` of meta.json; nothing where the arm is alone."""
        if not self.beside:
            return {}
        return {"flows": [flow.describe() for flow in (self.own, *self.beside)]}


def _start(flow: Flow) -> int:
    """Let a flow begin; a descriptor that is ready once its client has ended. Raises ProgramFailed."""
    flow.started = time.time()
    with flow.named():
        flow.client.go()
    assert flow.client.process is not None
    # Popen.wait with a timeout polls; a pidfd tells at once.
    return os.pidfd_open(flow.client.process.pid)
