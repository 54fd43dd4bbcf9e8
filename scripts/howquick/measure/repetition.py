"""One repetition: one load by one arm, with captures, checks and metadata, into one run folder."""

from __future__ import annotations

import shutil
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from howquick.capture.pack import pack
from howquick.files import atomic_folder, file_hash, write_json
from howquick.guard.bounds import Load, disturbances
from howquick.guard.watch import Watch
from howquick.measure.captures import FULL_BYTES, HEADERS_BYTES, Capture
from howquick.measure.client import Client
from howquick.measure.drops import write_drops
from howquick.measure.host import describe_host
from howquick.measure.moves import Moves
from howquick.measure.process import ProgramFailed
from howquick.measure.server import Server
from howquick.measure.timing import page_load_time_s, read_timing
from howquick.testbed.testbed import Testbed

# An invalid repetition is measured again, at most this often.
MAX_ATTEMPTS = 3
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


class Repetition:
    """Everything one load needs; `run` leaves a whole run folder or none."""

    def __init__(
        self,
        bed: Testbed,
        server: Server,
        client: Client,
        page: list[dict[str, Any]],
        scratch: Path,
        folder: Path,
        meta: dict[str, Any],
        full_capture: bool,
        moves: Moves,
        judged: bool,
    ) -> None:
        self.bed, self.server, self.client, self.page = bed, server, client, page
        self.scratch, self.folder, self.meta = scratch, folder, meta
        self.moves, self.judged = moves, judged
        self.cpu: dict[str, float | None] = {"server_s": None, "client_s": None}
        self.snaplen = FULL_BYTES if full_capture else HEADERS_BYTES
        self.captures: dict[str, Capture] = {}
        self.watch = Stopwatch()
        self.status, self.reason = "failed", ""
        self.network_s = 0.0
        self.capture_drops = 0
        self.capture_failure = ""
        self.drops: dict[str, list[list[Any]]] | None = None
        self.guard = Watch()

    def run(self, quiet_since: float) -> Outcome:
        """Measure once and write the run folder; `quiet_since` is when the last load ended (monotonic)."""
        self.meta["started"] = time.time()
        before: dict[str, Any] = {}
        try:
            self.server.ensure()
            self._start_captures()
            self.watch.lap("server_start")
            # tcpdump gets ready while the client does; at the gate nothing is sent that counts.
            self.client.prepare()
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
            self.moves.undo()
            ended = time.monotonic()
            self.meta["guard"] = self.guard.stop()
            after = self.bed.counters()
            self.drops = self.bed.drops()
            self.watch.lap("counters")
            # Before the captures end: by then they have read the last packets too.
            self.server.collect(
                self.scratch, QUIET_ROUND_TRIPS * self.meta["link"]["rtt_ms"] / 1000
            )
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
            self.captures[end.name] = Capture(end, self.scratch / f"{end.name}.pcap", self.snaplen)

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
        return {pid: role for pid, role in leaders.items() if pid is not None}

    def _load(self) -> None:
        self.client.at_end = self.guard.look
        self.guard.load(self._groups)
        begin = time.monotonic()
        before_s = self.server.cpu_s()
        try:
            self.client.go()
            self.client.wait(self.meta["timeout_s"])
            self.cpu["client_s"] = self.client.cpu_s
            timing = read_timing(
                self.scratch / "timing.json", self.page, self.meta["arm_definition"]["protocol"]
            )
            self.network_s = page_load_time_s(timing)
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
            self.cpu["server_s"] = round(self.server.cpu_s() - before_s, 3)
        self.server.check()

    def _stop_captures(self) -> None:
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
        keys_file = self.scratch / "keys.log"
        keys = keys_file.read_bytes() if keys_file.exists() else b""
        self.meta["captures"] = {}
        for name, capture in self.captures.items():
            namespace = getattr(self.bed, name)
            summary = pack(
                capture.file, keys, temporary / f"{name}.pcapng", interface=namespace.interface
            )
            self.meta["captures"][name] = {
                "packets": summary.packets,
                "wire_bytes": summary.wire_bytes,
                "longest_frame_bytes": summary.longest_frame_bytes,
                "snaplen": self.snaplen,
            }
        for name in ("timing.json", "client.log", "server.log"):
            if (self.scratch / name).exists():
                shutil.copyfile(self.scratch / name, temporary / name)
        if self.drops is not None:
            write_drops(temporary / "drops.csv", self.drops)
        if (temporary / "timing.json").exists():
            self.meta["timing_sha256"] = file_hash(temporary / "timing.json")
        if any((self.scratch / "artifacts").iterdir()):
            shutil.copytree(self.scratch / "artifacts", temporary / "artifacts")
        if (self.scratch / "qlog").exists():
            shutil.copytree(self.scratch / "qlog", temporary / "qlog")
            for side in (temporary / "qlog").iterdir():
                if not any(side.iterdir()):
                    side.rmdir()  # a client that could write qlogs had no QUIC connection
        self.meta |= {
            "status": self.status,
            "reason": self.reason,
            "network_s": round(self.network_s, 6),
            "wall_s": round(sum(self.watch.parts.values()), 6),
            "overhead": {name: round(value, 6) for name, value in self.watch.parts.items()},
            "host": describe_host(),
            "cpu": self.cpu,
        }
        if self.moves.made:
            self.meta["moves"] = self.moves.made
        write_json(temporary / "meta.json", self.meta, indent=None)
