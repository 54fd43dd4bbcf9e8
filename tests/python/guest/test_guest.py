"""A guest: what it runs and sees, how it ends, that it is the same each time and leaves nothing behind."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path
from typing import Any

import pytest

from howquick.environment.manifest import prefix_of
from howquick.errors import ROOT
from patience import HANG_S, wait_until

DAY_S = 86_400


def argv(*words: str) -> list[str]:
    return [sys.executable, str(ROOT / "scripts/guest.py"), *words]


def guest(*words: str, **more: Any) -> subprocess.CompletedProcess[str]:
    """`guest.py` with these arguments."""
    return subprocess.run(
        argv(*words), capture_output=True, text=True, check=False, timeout=HANG_S, **more
    )


def become_ordinary() -> None:
    """Between fork and exec: the same user, without any right of root's."""
    uid, gid = os.geteuid(), os.getegid()
    os.unshare(os.CLONE_NEWUSER)
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"1000 {uid} 1")
    Path("/proc/self/gid_map").write_text(f"1000 {gid} 1")


@pytest.mark.parametrize("ordinary", [False, True])
def test_a_command_runs_and_its_status_and_words_come_back(ordinary: bool) -> None:
    words = ("--", "sh", "-c", "echo out; echo err >&2; exit 7")
    done = guest(*words, preexec_fn=become_ordinary if ordinary else None)
    assert (done.returncode, done.stdout, done.stderr) == (7, "out\n", "err\n")


def test_arguments_are_handed_over_as_they_are(tmp_path: Path) -> None:
    strange = ["a b", "'\"$HOME`", "", "é\n;"]
    code = "import os, sys; print(sys.argv[1:], os.getcwd())"
    done = guest("--", sys.executable, "-c", code, *strange, cwd=tmp_path)
    assert done.stdout == f"{strange!r} {tmp_path}\n", done.stderr


def test_a_signal_and_a_missing_program_are_told() -> None:
    assert guest("--", "sh", "-c", "kill -9 $$").returncode == 128 + signal.SIGKILL
    missing = guest("--", "no-such-program")
    assert missing.returncode == 127
    assert "no-such-program" in missing.stderr


def test_time_passes_without_taking_time() -> None:
    begin = time.monotonic()
    done = guest("--", "sh", "-c", f"date +%s; sleep {DAY_S}; date +%s")
    first, last = map(int, done.stdout.split())
    assert last - first == DAY_S
    assert time.monotonic() - begin < DAY_S


def test_computing_takes_no_time_and_a_system_call_what_is_asked() -> None:
    loop = (
        "import os, time\n"
        "a = time.monotonic_ns(); sum(range(3_000_000)); b = time.monotonic_ns()\n"
        "for _ in range(1000): os.getppid()\n"
        "c = time.monotonic_ns(); print(b - a, c - b)"
    )
    taken = {}
    for cost in (0, 10_000):
        done = guest("--syscall-ns", str(cost), "--", sys.executable, "-c", loop)
        taken[cost] = tuple(map(int, done.stdout.split()))
    # Reading the clock costs 250 ns at most, and memory may ask the kernel now and then.
    assert taken[0][0] < 10_000
    assert taken[0][1] < 10_000
    assert 10_000_000 <= taken[10_000][1] < 11_000_000


def test_who_has_waited_runs_so_much_later() -> None:
    wait = (
        "import os, select, time\n"
        "before = time.monotonic_ns(); time.sleep(0.1); print(time.monotonic_ns() - before)"
    )
    taken = [
        int(guest("--wakeup-ns", str(late), "--", sys.executable, "-c", wait).stdout)
        for late in (0, 200_000)
    ]
    assert taken[1] - taken[0] == pytest.approx(200_000, abs=20_000)


def test_the_clock_is_read_in_memory_and_moves_as_it_is_read() -> None:
    """It costs no system call, never goes back, agrees with the kernel's, and who spins gets to the end."""
    read = "\n".join(
        (
            "import ctypes, os, threading, time",
            "before = time.monotonic_ns()",
            "for _ in range(80_000): time.monotonic_ns()",
            "print(time.monotonic_ns() - before)",
            "end = time.monotonic_ns() + 10_000_000",
            "while time.monotonic_ns() < end: pass",
            "last = 0",
            "def look():",
            "    global last",
            "    for number in range(3000):",
            "        now = time.monotonic_ns()",
            "        assert now >= last, (now, last)",
            "        last = now",
            "        number % 3 or os.getppid()",
            "        number % 500 or time.sleep(0.001)",
            "threads = [threading.Thread(target=look) for _ in range(2)]",
            "for thread in threads: thread.start()",
            "for thread in threads: thread.join()",
            "if os.fork() == 0: look(); os._exit(0)",
            "print(os.wait()[1])",
            "libc = ctypes.CDLL(None)",
            "asked = (ctypes.c_int64 * 2)()",
            "mine = time.monotonic_ns(); libc.syscall(228, 1, asked)",
            "print(asked[0] * 10**9 + asked[1] - mine)",
            "print(time.time_ns() - time.monotonic_ns() > 10**18)",
        )
    )
    done = guest("--wakeup-ns", "0", "--", sys.executable, "-c", read)
    taken, status, later, real = done.stdout.split()
    # Eight readings take 250 ns; memory may ask the kernel now and then.
    assert 2_500_000 <= int(taken) < 3_000_000, done.stderr
    assert status == "0" and 0 <= int(later) < 200_000 and real == "True"


def test_time_stamps_of_the_processor_are_virtual() -> None:
    """RDTSC and RDTSCP read the guest's clock; who spins by them gets to the end; other faults stay."""
    read = "\n".join(
        (
            "import ctypes, mmap, os, time",
            "page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)",
            "at = ctypes.addressof(ctypes.c_char.from_buffer(page))",
            "def made(place, code):",
            "    page[place : place + len(code)] = code",
            "    return ctypes.CFUNCTYPE(ctypes.c_uint64)(at + place)",
            "whole = bytes.fromhex('48c1e2204809d0c3')",
            "rdtsc, rdtscp = made(0, b'\\x0f\\x31' + whole), made(64, b'\\x0f\\x01\\xf9' + whole)",
            "processor, halt = made(128, b'\\x0f\\x01\\xf9\\x89\\xc8\\xc3'), made(4095, b'\\xf4')",
            "for stamp in (rdtsc, rdtscp):",
            "    os.getppid()",
            "    print(stamp() - time.monotonic_ns())",
            "    time.sleep(0.5)",
            "    print(stamp() - time.monotonic_ns())",
            "    end = stamp() + 10_000_000",
            "    before = time.monotonic_ns()",
            "    while stamp() < end: pass",
            "    print(time.monotonic_ns() - before)",
            "print(processor())",
            "stamps = int(open('/sys/module/time/parameters/stamps_read').read())",
            "print(stamps)",
            "if os.fork() == 0: halt()",
            "print(os.wait()[1])",
        )
    )
    first, again = (guest("--", sys.executable, "-c", read) for _ in range(2))
    assert first.stdout == again.stdout, first.stderr
    *seen, processor, stamps, status = map(int, first.stdout.split())
    for before, after, spun in zip(seen[::3], seen[1::3], seen[2::3], strict=True):
        assert -1000 <= before <= 0 and -1000 <= after <= 0 and 9_900_000 <= spun < 11_000_000
    assert (processor, status) == (0, signal.SIGSEGV)
    # Eight take 250 ns; those that cost nothing, and the loader's, come to it.
    assert 640_000 <= stamps < 641_000


def test_asking_again_in_vain_is_the_same_whoever_refuses() -> None:
    """With one buffer a call is the one before, which its stub refuses; with two in turn none is."""
    ask = "\n".join(
        (
            "import os, socket, sys, time",
            "def refusals():",
            "    with open('/sys/module/syscall/parameters/stub_refusals') as file: return int(file.read())",
            "mine, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)",
            "if os.fork() == 0:",
            "    for number in range(40): time.sleep(0.0017 * (number % 3)); other.send(b'x' * number)",
            "    os._exit(0)",
            "mine.setblocking(False)",
            "buffers = [bytearray(64) for _ in range(int(sys.argv[1]))]",
            "asked, seen, before = 0, [], refusals()",
            "while len(seen) < 40:",
            "    try: got = mine.recv_into(buffers[asked % len(buffers)])",
            "    except BlockingIOError: got = None",
            "    asked += 1",
            "    if asked % 5 == 0: time.monotonic_ns()",
            "    if got is not None: seen.append((got, asked, time.monotonic_ns()))",
            "print(asked - len(seen), refusals() - before)",
            "print(seen, os.times())",
        )
    )
    done = [guest("--", sys.executable, "-c", ask, buffers) for buffers in ("1", "2")]
    (in_vain, by_stub), (as_often, by_none) = (map(int, one.stdout.split()[:2]) for one in done)
    assert by_none == 0 and 2 * by_stub > in_vain == as_often > 1000, done[0].stderr
    assert done[0].stdout.splitlines()[1] == done[1].stdout.splitlines()[1]


def test_only_what_is_named_can_be_written(tmp_path: Path) -> None:
    mine, other = tmp_path / "mine", tmp_path / "other"
    mine.mkdir()
    other.mkdir()
    script = f"echo kept >{mine}/file; echo lost >{other}/file && cat {other}/file; touch /usr/made"
    done = guest("--writable", str(mine), "--", "sh", "-c", script)
    assert (mine / "file").read_text() == "kept\n"
    assert done.stdout.startswith("lost\n")  # in memory, as all of /tmp
    assert list(other.iterdir()) == []
    assert "Read-only" in done.stderr


def test_randomness_follows_from_the_seed() -> None:
    draw = (
        "import os, random, socket, time; s = socket.socket(); s.bind(('127.0.0.1', 0));"
        "print(os.urandom(16), random.random(), id(s), s.getsockname(), os.getpid(), time.time_ns())"
    )
    command = ("--", sys.executable, "-c", draw)
    first, again, other = (guest("--seed", seed, *command).stdout for seed in ("5", "5", "6"))
    assert first == again != other


def test_the_network_of_the_studies_is_there() -> None:
    """Queues, congestion controls and SCTP, asked of the kernel; netem delays exactly."""
    queues = {
        "netem": "delay 1ms",
        "tbf": "rate 1mbit burst 4k limit 9k",
        "fq": "",
        "fq_codel": "",
        "cake": "",
        "dualpi2": "",
        "pie": "",
        "red": "limit 400000 min 30000 max 90000 avpkt 1000 burst 55",
        "codel": "",
    }
    lines = ["set -e"]
    lines += [f"tc qdisc replace dev lo root {name} {rest}" for name, rest in queues.items()]
    lines += ["tc qdisc replace dev lo root netem delay 9ms", "ping -c 3 -q 127.0.0.1 | tail -1"]
    lines += ["cat /proc/sys/net/ipv4/tcp_available_congestion_control"]
    code = "import socket as s; s.socket(s.AF_INET, s.SOCK_STREAM, s.IPPROTO_SCTP)"
    lines += [f"{shlex.quote(sys.executable)} -c {shlex.quote(code)}"]
    done = guest("--syscall-ns", "0", "--wakeup-ns", "0", "--", "sh", "-c", "\n".join(lines))
    assert done.returncode == 0, done.stderr
    times, controls = done.stdout.splitlines()
    lowest, mean, highest, _ = times.split(" = ")[1].split()[0].split("/")
    assert {lowest[:4], mean[:4], highest[:4]} == {"18.0"}
    assert {"reno", "cubic", "bbr", "dctcp"} == set(controls.split())


def test_io_uring_is_not_there() -> None:
    code = (
        "import ctypes; c = ctypes.CDLL(None, use_errno=True);"
        "print(c.syscall(425, 1, None), ctypes.get_errno())"
    )
    assert guest("--", sys.executable, "-c", code).stdout == "-1 38\n"


def test_a_program_that_computes_for_ever_is_ended(tmp_path: Path) -> None:
    done = guest("--limit-s", "3", "--", "sh", "-c", "while :; do :; done")
    assert done.returncode == 1
    assert "real time" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def marked(mark: str) -> list[int]:
    """Processes that have the mark among their arguments, or a kernel of user mode started by such."""
    found = []
    for process in Path("/proc").iterdir():
        if process.name.isdigit():
            try:
                line = (process / "cmdline").read_bytes().decode(errors="replace")
            except OSError:
                continue
            if mark in line:
                found.append(int(process.name))
    return found


def kernels() -> set[int]:
    """Processes of guests: the kernel itself and the processes of its programs."""
    program = os.path.realpath(f"{prefix_of('kernel')}/bin/linux")
    found = set()
    for process in Path("/proc").iterdir():
        if process.name.isdigit():
            try:
                line = (process / "cmdline").read_bytes()
            except OSError:
                continue
            if program.encode() in line:
                found.add(int(process.name))
    return found


def test_nothing_is_left_when_the_owner_is_killed(tmp_path: Path) -> None:
    mark, folder = uuid.uuid4().hex, tmp_path / "writable"
    folder.mkdir()
    shared = set(Path("/dev/shm").iterdir())
    others = kernels()
    script = f"touch {folder}/started; : {mark}; while :; do :; done"
    owner = subprocess.Popen(argv("--writable", str(folder), "--", "sh", "-c", script))
    try:
        assert wait_until(lambda: (folder / "started").exists() or owner.poll() is not None)
        assert owner.poll() is None
        assert kernels() - others
    finally:
        owner.kill()
        owner.wait()
    assert wait_until(lambda: not marked(mark) and not kernels() - others), marked(mark)
    assert set(Path("/dev/shm").iterdir()) <= shared
    assert [path.name for path in folder.iterdir()] == ["started"]
