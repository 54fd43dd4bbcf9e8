"""One repetition: one load by one arm, with captures, checks and metadata, into one run folder."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from howquick.files import atomic_folder, file_hash, write_json
from howquick.foreign import NotReadable, copy_file, copy_tree, read_bytes
from howquick.guard.bounds import Load, disturbances
from howquick.guard.watch import Unwatched, Watch
from howquick.measure.captures import FULL_BYTES, HEADERS_BYTES, RING_S, Capture
from howquick.measure.children import ProgramFailed
from howquick.measure.flows import Company
from howquick.measure.host import GUEST_NAME, describe_host
from howquick.measure.link_drops import write_drops
from howquick.measure.moves import Moves
from howquick.measure.raw import leave_captures, pack_captures
from howquick.measure.verify import verified_timing
from howquick.testbed.testbed import Testbed

# An invalid repetition is measured again, at most this often.
MAX_ATTEMPTS = 3
# A key log has some hundred bytes for a connection.
MOST_KEYS_BYTES = 16 << 20
# Time that the farewells of the last load (FIN or CONNECTION_CLOSE and the answer) need on the link.
QUIET_ROUND_TRIPS = 1.1


@dataclass
class Outcome:
    """How a repetition ended and how its wall time was spent, seconds."""

    status: str
    reason: str
    network_s: float
    overhead: dict[str, float]
    ended: float  # when the client was gone, monotonic


class Stopwatch:
    """Splits elapsed time into named parts."""

    def __init__(self) -> None:
        self.parts: dict[str, float] = {}
        self._last = time.monotonic()

    def lap(self, name: str) -> None:
        """Add the time since the last lap to part `name`."""
        now = time.monotonic()
        self.parts[name] = self.parts.get(name, 0.0) + now - self._last
        self._last = now


@dataclass(frozen=True)
class Participants:
    """Who takes part in a load, and the changes of the client's address during it."""

    bed: Testbed
    company: Company
    moves: Moves


@dataclass(frozen=True)
class Observation:
    """How a load is looked at.

    full_capture: captures hold whole packets. judged: delays make it invalid. exact: in virtual time, where
    looking would take time and nothing disturbs.
    """

    full_capture: bool
    judged: bool
    exact: bool = False


class Repetition:
    """Everything one load needs; `run` leaves a whole run folder or none."""

    def __init__(
        self,
        parts: Participants,
        scratch: Path,
        folder: Path,
        meta: dict[str, Any],
        observation: Observation,
    ) -> None:
        self.bed, self.moves, self.company = parts.bed, parts.moves, parts.company
        own = parts.company.own
        self.server, self.client, self.page = own.server, own.client, own.requests
        self.scratch, self.folder, self.meta = scratch, folder, meta
        self.judged = observation.judged
        self.exact = observation.exact
        self.cpu: dict[str, float | None] = {"server_s": None, "client_s": None}
        self.snaplen = FULL_BYTES if observation.full_capture else HEADERS_BYTES
        self.captures: dict[str, Capture] = {}
        self.watch = Stopwatch()
        self.status, self.reason = "failed", ""
        self.network_s = 0.0
        self.capture_drops = 0
        self.capture_failure = ""
        self.drops: dict[str, list[list[Any]]] | None = None
        self.guard = Unwatched() if observation.exact else Watch()

    def run(self, quiet_since: float) -> Outcome:
        """Measure once and write the run folder; `quiet_since` is when the last load ended (monotonic)."""
        self.meta["started"] = time.time()
        before: dict[str, Any] = {}
        try:
            self._settle()
            self.server.ensure()
            self.company.ensure()
            self._settle()
            self._start_captures()
            self.watch.lap("server_start")
            # tcpdump gets ready while the client does; at the gate nothing is sent that counts.
            self._settle()
            self.client.prepare()
            self.company.prepare()
            self.watch.lap("client_start")
            for capture in self.captures.values():
                capture.wait_until_listening()
            self.watch.lap("captures_start")
            self._await_quiet(quiet_since)
            before = self.bed.counters()
            seeds = self.meta["seeds"]
            self.bed.seed(seeds["up"], seeds["down"])
            self.watch.lap("link_reset")
            self._load()
        except ProgramFailed as failure:
            self.reason = str(failure)
        finally:
            self.client.kill()
            self.company.kill()
            self.moves.undo()
            ended = time.monotonic()
            self.meta["guard"] = self.guard.stop()
            after = self.bed.counters()
            self.drops = self.bed.drops()
            self.watch.lap("counters")
            # Before the captures end: by then they have read the last packets too.
            patience_s = QUIET_ROUND_TRIPS * self.meta["link"]["rtt_ms"] / 1000
            self.server.collect(self.scratch, patience_s)
            self.company.collect(patience_s)
            self.watch.lap("server_logs")
            self._stop_captures()
        self.watch.lap("captures_stop")
        self.meta["network"] = {"before": before, "after": after}
        self.meta["guard"] |= {
            "capture_drops": self.capture_drops,
            "judges_delays": self.judged,
        }
        self._judge(before, after)
        self._write()
        self.watch.lap("write")
        return Outcome(self.status, self.reason, self.network_s, self.watch.parts, ended)

    def _start_captures(self) -> None:
        if not self.meta["observe"]["captures"]:
            return
        for end in (self.bed.client, self.bed.server):
            file = self.scratch / f"{end.name}.pcap"
            self.captures[end.name] = Capture(end, file, self.snaplen, prompt=not self.exact)

    def _await_quiet(self, since: float) -> None:
        """Let packets of the load before leave the link, so that they take no draw of the loss."""
        quiet = since + QUIET_ROUND_TRIPS * self.meta["link"]["rtt_ms"] / 1000
        time.sleep(max(0.0, quiet - time.monotonic()))
        self.watch.lap("quiet")

    def _groups(self) -> dict[int, str]:
        """Leaders of the process groups that the load depends on, with their roles."""
        leaders: dict[int | None, str] = {self.bed.emulator_pid: "emulator"}
        if self.server.process:
            leaders[self.server.process.pid] = "server"
        if self.client.process:
            leaders[self.client.process.pid] = "client"
        leaders |= {capture.pid: f"{end}'s capture" for end, capture in self.captures.items()}
        known = {pid: role for pid, role in leaders.items() if pid is not None}
        return known | self.company.leaders()

    def _load(self) -> None:
        self.client.at_end = self.guard.look
        self.guard.load(self._groups)
        # A trace begins with the load: at the full second that it waits for.
        self.bed.replay()
        self._settle()
        if self.exact:
            self.meta["started"] = float(round(time.time()))
        begin = time.monotonic()
        # In virtual time nobody asks, and other system calls would be another load.
        self.client.fine = fine = not self.exact
        before_s = self.server.cpu_s(fine)
        try:
            if self.company.beside:
                self.company.run(self.meta["timeout_s"], self.guard.look)
                self.company.kill()
            else:
                self.client.go()
                self.client.wait(self.meta["timeout_s"])
            self.cpu["client_s"] = self.client.cpu_s
            timing = verified_timing(
                self.client.job.timing,
                self.client.chosen or self.page,
                self.meta["arm_definition"]["protocol"],
            )
            self.company.verify()
            self.network_s = timing.plt_s
            self.status = "ok"
        except TimeoutError as timeout:
            self.status, self.reason = "timeout", str(timeout)
            self.network_s = time.monotonic() - begin
        except ProgramFailed:
            self.server.check()  # its death explains what the client says
            raise
        finally:
            self.watch.lap("load")
            self.guard.load_over()
            # What the process needed beyond the load itself: start-up without a gate, and its exit.
            self.watch.parts["client_exit"] = max(0.0, self.watch.parts["load"] - self.network_s)
            self.watch.parts["load"] -= self.watch.parts["client_exit"]
            self.cpu["server_s"] = round(self.server.cpu_s(fine) - before_s, 3)
        self.server.check()

    def _settle(self) -> None:
        """In virtual time, wait for the next full second of the clock.

        What was started before is idle then, and what comes next begins at the same moment in each load: how
        long a start takes depends on where the checkout lies.
        """
        if self.exact:
            time.sleep((-time.time_ns() % 10**9) / 1e9)
            self.watch.lap("quiet")

    def _stop_captures(self) -> None:
        if self.exact:
            time.sleep(RING_S)
        for capture in self.captures.values():
            capture.interrupt()
        for capture in self.captures.values():
            try:
                self.capture_drops += capture.finish()
            except ProgramFailed as failure:
                # Not the arm's failure: what is lost is our view of it.
                self.capture_failure = str(failure)

    def _judge(self, before: dict[str, Any], after: dict[str, Any]) -> None:
        """Turn a disturbed repetition into an invalid one: its number must not be used."""
        drops = after["backlog_drops"] - before.get("backlog_drops", after["backlog_drops"])
        found = disturbances(
            Load(
                self.meta["guard"],
                after["emulator"],
                self.capture_drops,
                self.capture_failure,
                drops,
                self.network_s,
                shaped=not self.bed.link.unshaped,
                judged=self.judged,
            )
        )
        if found:
            self.status, self.reason = "invalid", "; ".join(found)

    def _write(self) -> None:
        """Pack captures and logs, write meta.json last, sync, and put the folder in its place."""
        with atomic_folder(self.folder) as temporary:
            self._fill(temporary)

    def _fill(self, temporary: Path) -> None:
        left_out: dict[str, str] = {}
        keys = b""
        for flow in (self.company.own, *self.company.beside):
            keys_file = flow.client.job.keys
            if keys_file and os.path.lexists(keys_file):
                try:
                    keys += read_bytes(keys_file, MOST_KEYS_BYTES)
                except NotReadable as unreadable:
                    where = f"{flow.folder}/" if flow.number else ""
                    left_out[f"{where}keys.log"] = str(unreadable)
        self.meta["captures"] = {
            name: {"snaplen": self.snaplen, "interface": getattr(self.bed, name).interface}
            for name in self.captures
        }
        files = {name: capture.file for name, capture in self.captures.items()}
        put = leave_captures if self.exact else pack_captures
        put(self.meta["captures"], files, keys, temporary)
        logs = [self.client.job.timing, self.scratch / "client.log", self.scratch / "server.log"]
        for file in logs:
            if os.path.lexists(file) and (reason := copy_file(file, temporary / file.name)):
                left_out[file.name] = reason
        if self.drops is not None:
            write_drops(temporary / "drops.csv", self.drops)
        if (temporary / "timing.json").exists():
            self.meta["timing_sha256"] = file_hash(temporary / "timing.json")
        # Of a client that could write qlogs and had no QUIC connection the folder is empty and not kept.
        for name in ("artifacts", "qlog/client", "qlog/server"):
            for below, reason in copy_tree(self.scratch / name, temporary / name).items():
                left_out[f"{name}/{below}".rstrip("/")] = reason
        left_out |= self.company.keep(temporary)
        if left_out:
            self.meta["left_out"] = left_out
        self.meta |= {
            "status": self.status,
            "reason": self.reason,
            "network_s": round(self.network_s, 6),
            "wall_s": round(sum(self.watch.parts.values()), 6),
            "overhead": {name: round(value, 6) for name, value in self.watch.parts.items()},
            "host": describe_host() | ({"node": GUEST_NAME} if self.exact else {}),
            # By the guest's clock the processor takes no time.
            "cpu": dict.fromkeys(self.cpu) if self.exact else self.cpu,
        }
        if self.moves.made:
            self.meta["moves"] = self.moves.made
        self.meta |= self.company.describe()
        write_json(temporary / "meta.json", self.meta, indent=None)
