"""Every parser of strangers' files, fed with damaged ones: it must read or refuse them, soon."""

from __future__ import annotations

import json
import multiprocessing
import random
import resource
import signal
import struct
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from howquick.bench.mutate import mutate
from howquick.capture.errors import CaptureError
from howquick.capture.read import UDP, Frames, parse_frames, read_frames
from howquick.errors import UserError
from howquick.extract.checks import check_complete
from howquick.extract.dissect import fields_text, parse_fields
from howquick.extract.evaluate import number
from howquick.extract.flow import tcp_flow
from howquick.extract.load import Unusable, split
from howquick.extract.metrics import load_metrics
from howquick.extract.opening import opening_packets, quic_label
from howquick.extract.qlog import count_bytes, count_packets
from howquick.extract.qlog_file import SUFFIXES, QlogError, parse_qlog
from howquick.extract.qlog_schema import validate_log
from howquick.extract.quic import FIELDS, understand
from howquick.extract.reported_control import gather, seen
from howquick.extract.run import TCP_PROTOCOLS
from howquick.extract.sctp import sctp_flow
from howquick.timing import Timing, TimingError, parse_timing, read_timing

INPUTS = 100_000
SEED = 20261122
# What a parser may say of a file it cannot use.
REFUSALS = (CaptureError, Unusable, QlogError, TimingError)
# CPU seconds after which a parser hangs, and megabytes that it may take beside what the process has.
MOST_CPU_S = 10.0
MOST_MB = 1024
# Of real files the beginning is taken: a hundred thousand whole ones would be read for days.
SEED_BYTES = 12_000
SEED_PACKETS = 60


@dataclass(frozen=True)
class Parser:
    """`parse` is called with damaged copies of the `seeds`; `text`: they are damaged as text is."""

    name: str
    seeds: tuple[bytes, ...]
    parse: Callable[[bytes], object]
    text: bool = False


class Hang(Exception):
    """A parser took more than MOST_CPU_S."""


def fuzz(parser: Parser, inputs: int, seed: int = SEED) -> dict[str, Any]:
    """Call a parser with so many inputs, in a process of its own whose memory is bounded.

    Returns a row: how many inputs it accepted and refused, and where it did neither (`faults`, of which the
    first is described), its slowest input in CPU milliseconds, and the megabytes it took at most.
    """
    answer, ask = multiprocessing.Pipe(duplex=False)
    child = multiprocessing.get_context("fork").Process(
        target=lambda: ask.send(_fuzz(parser, inputs, seed))
    )
    child.start()
    ask.close()
    try:
        row: dict[str, Any] = answer.recv()
    except EOFError:
        child.join()
        raise UserError(
            f"the parser of {parser.name} ended its process ({child.exitcode}), seed {seed}. Mend it."
        ) from None
    child.join()
    return row


def _fuzz(parser: Parser, inputs: int, seed: int) -> dict[str, Any]:
    before = _megabytes()
    room = Path("/proc/self/statm").read_text(encoding="ascii").split()[0]
    limit = int(room) * resource.getpagesize() + (MOST_MB << 20)
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    signal.signal(signal.SIGVTALRM, _hang)
    counts = {"accepted": 0, "refused": 0, "faults": 0}
    first, slowest = "", 0.0
    with np.errstate(all="ignore"):
        for index in range(inputs):
            # A generator of its own, so that one input can be had again without those before it.
            damaged = mutate(
                random.Random(f"{seed}/{parser.name}/{index}"), parser.seeds, parser.text
            )
            begin = time.process_time()
            signal.setitimer(signal.ITIMER_VIRTUAL, MOST_CPU_S)
            try:
                parser.parse(damaged)
                outcome = "accepted"
            except REFUSALS:
                outcome = "refused"
            except Exception as fault:
                outcome = "faults"
                first = first or f"input {index}: {_described(fault)}"
            finally:
                signal.setitimer(signal.ITIMER_VIRTUAL, 0)
            counts[outcome] += 1
            slowest = max(slowest, time.process_time() - begin)
    return {
        "parser": parser.name,
        "seeds": len(parser.seeds),
        "inputs": inputs,
        **counts,
        "slowest_ms": round(slowest * 1000, 1),
        "memory_mb": round(_megabytes() - before, 1),
        "first_fault": first,
    }


def _hang(_number: int, _frame: Any) -> None:
    raise Hang(f"more than {MOST_CPU_S:g} s")


def _described(fault: Exception) -> str:
    where = fault.__traceback__
    while where and where.tb_next:
        where = where.tb_next
    place = f"{Path(where.tb_frame.f_code.co_filename).name}:{where.tb_lineno}" if where else ""
    return f"{type(fault).__name__} in {place}: {fault}"[:200]


def _megabytes() -> float:
    """The most memory that this process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def fuzz_runs(results: Path, inputs: int = INPUTS) -> list[dict[str, Any]]:
    """The table of the bench: a row for each parser. Raises UserError where there is no run to start from.

    A study need not have SCTP; then its row says that nothing was tried.
    """
    runs = _runs(results)
    rows = [fuzz(parser, inputs) for parser in parsers(runs)]
    if "sctp" not in runs:
        nothing = fuzz(Parser("SCTP", (), _never), inputs=0)
        rows.append(
            nothing | {"first_fault": "not tried: no finished load over SCTP with captures"}
        )
    return rows


def _never(_content: bytes) -> None:
    raise AssertionError("called without an input")


def _runs(results: Path) -> dict[str, Path]:
    """For each kind of transport a run folder with whole captures; the smallest there is."""
    found: dict[str, tuple[int, Path]] = {}
    for meta in results.glob("runs/*/*/*/*/meta.json"):
        folder, data = meta.parent, json.loads(meta.read_text(encoding="utf-8"))
        captures = [folder / f"{end}.pcapng" for end in ("client", "server")]
        if data["status"] != "ok" or not all(map(Path.is_file, captures)):
            continue
        kind = kind_of(data["arm_definition"]["protocol"])
        if kind == "quic" and not any(_logs(folder)):
            continue
        size = sum(capture.stat().st_size for capture in captures)
        if kind not in found or size < found[kind][0]:
            found[kind] = size, folder
    if "quic" not in found or "tcp" not in found:
        raise UserError(
            f"{results}: no finished loads over TCP and QUIC with captures and qlogs to start from. "
            "Run `snakemake -j8` first."
        )
    return {kind: folder for kind, (_, folder) in found.items()}


def kind_of(protocol: str) -> str:
    """`tcp`, `quic` or `sctp`: what carries a protocol."""
    return "tcp" if protocol in TCP_PROTOCOLS else "sctp" if protocol == "sctp" else "quic"


def _logs(folder: Path) -> Iterator[Path]:
    return (path for path in folder.glob("qlog/*/*") if path.suffix in SUFFIXES)


def parsers(runs: dict[str, Path]) -> list[Parser]:
    """All parsers, with what the runs (folders by kind of transport) give them to start from."""
    found = [_captures("pcapng", runs, lambda content: content)]
    found.append(_captures("pcap", runs, _as_pcap))
    found += [_quic(runs["quic"]), _datagrams(runs["quic"])]
    if "sctp" in runs:
        found.append(_sctp(runs["sctp"]))
    logs = tuple(_beginning(path) for path in _logs(runs["quic"]))
    timings = tuple((folder / "timing.json").read_bytes() for folder in runs.values())
    found.append(Parser("qlog", logs, _read_log, text=True))
    found.append(Parser("TIMING", timings, lambda text: parse_timing(text, Path("t")), text=True))
    return found


def _load(folder: Path) -> tuple[Frames, Frames, Timing]:
    client, server = (read_frames(folder / f"{end}.pcapng") for end in ("client", "server"))
    return client, server, read_timing(folder / "timing.json")


def _captures(name: str, runs: dict[str, Path], form: Callable[[bytes], bytes]) -> Parser:
    """What is done with a capture's headers."""
    seeds = tuple(
        form(_short(folder / f"{end}.pcapng"))
        for folder in runs.values()
        for end in ("client", "server")
    )
    timings = [_of_the_beginning(read_timing(folder / "timing.json")) for folder in runs.values()]

    def parse(content: bytes) -> None:
        frames = parse_frames(content, Path(name))
        for timing in timings:
            try:
                ends = split(frames, frames, timing)
            except Unusable:
                continue
            check_complete(frames, frames, ends)
            load_metrics(frames, frames, ends, timing, number({}, "rtt_ms", 0))
            opening_packets(frames, ends, timing.protocol)
            tcp_flow(ends)

    return Parser(name, seeds, parse)


def _of_the_beginning(timing: Timing) -> Timing:
    """A load that the beginning of its capture holds: of one byte."""
    return replace(timing, objects=(replace(timing.objects[0], size_bytes=1, end_s=timing.plt_s),))


def _short(path: Path) -> bytes:
    """The first blocks of a pcapng of ours, whole ones."""
    content, at = path.read_bytes(), 0
    while at + 8 <= len(content):
        (length,) = struct.unpack_from("<I", content, at + 4)
        if at + length > SEED_BYTES and at > 0:
            break
        at += length
    return content[:at]


def _as_pcap(content: bytes) -> bytes:
    """The packets of a pcapng as a classic pcap with nanoseconds."""
    frames = parse_frames(content, Path("seed"))
    parts = [struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, 1)]
    for row in frames.table:
        time_ns, begin, captured = int(row["time_ns"]), int(row["offset"]), int(row["captured"])
        parts.append(
            struct.pack("<IIII", time_ns // 10**9, time_ns % 10**9, captured, int(row["length"]))
        )
        parts.append(content[begin : begin + captured])
    return b"".join(parts)


def _quic(folder: Path) -> Parser:
    """What tshark says of a decrypted connection."""
    client, server, timing = _load(folder)
    server = replace(server, table=server.table[:SEED_PACKETS])
    ends = split(client, server, timing)
    lines = fields_text(server, FIELDS).splitlines()[:SEED_PACKETS]

    def parse(text: bytes) -> None:
        understand(parse_fields(text.decode(errors="replace"), server, len(FIELDS)), server, ends)

    return Parser("QUIC", ("\n".join(lines).encode(),), parse, text=True)


def _datagrams(folder: Path) -> Parser:
    """The headers of QUIC packets."""
    client, _, timing = _load(folder)
    ends = split(client, client, timing)
    rows = np.concatenate(
        (ends.client_up.rows[:SEED_PACKETS], ends.client_down.rows[:SEED_PACKETS])
    )
    return Parser(
        "QUIC headers", tuple(_payloads(client, rows)), lambda data: quic_label(data, len(data))
    )


def _payloads(frames: Frames, rows: np.ndarray) -> Iterator[bytes]:
    for row in rows[rows["protocol"] == UDP]:
        begin = int(row["offset"]) + int(row["transport_offset"]) + 8
        yield bytes(frames.data[begin : int(row["offset"]) + int(row["captured"])])


def _sctp(folder: Path) -> Parser:
    """The chunks of SCTP, in packets whose own headers stay as they are."""
    client, server, timing = _load(folder)
    table = server.table[:SEED_PACKETS]
    short = replace(server, table=table, data=_upto(server, table))
    ends = split(client, short, timing)

    def parse(data: bytes) -> None:
        sctp_flow(replace(short, data=data), ends)

    return Parser("SCTP", (bytes(short.data),), parse)


def _upto(frames: Frames, table: np.ndarray) -> bytes:
    return bytes(frames.data[: int(table["offset"][-1]) + int(table["captured"][-1])])


def _beginning(path: Path) -> bytes:
    """The first records of a log: whole ones, or of a document the first events."""
    content = path.read_bytes()
    if content.lstrip()[:1] == b"\x1e":
        return content[:SEED_BYTES].rpartition(b"\x1e")[0]
    whole = json.loads(content)
    for trace in whole.get("traces", []):
        trace["events"] = trace.get("events", [])[:SEED_PACKETS]
    return json.dumps(whole).encode()


def _read_log(content: bytes) -> None:
    """Everything that is done with a log."""
    log = parse_qlog(content, Path("log.sqlog"))
    validate_log(log, 3)
    count_packets(log)
    count_bytes(log)
    seen(gather(log))
    log.milliseconds()
