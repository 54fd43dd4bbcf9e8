"""Start of a guest: the kernel of virtual time, with the environment's root directory as its own."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from howquick.errors import UserError
from howquick.guest.kernel import kernel_entry
from howquick.testbed.confine import bind
from howquick.testbed.sandbox import SCRATCH, enter_sandbox

# When a guest's clock starts, in nanoseconds: 1 January 2027. It decides bits, since dates are sent.
START_NS = 1_798_761_600 * 10**9
# When a testbed is made in a guest. By then everything is imported and read: how many system calls that takes
# depends on where the checkout lies and on what is compiled, and each takes time.
PREPARED_NS = START_NS + 60 * 10**9
# What a system call costs, and how long a program takes to run once it is woken: with these quiche sends
# about as many packets as on a real processor (docs/costs.md). Multiples of the 250 ns in which the kernel's
# clock counts: what is lost between two counts depends on nothing then.
SYSCALL_NS, WAKEUP_NS = 10_000, 200_000
CONSOLE, CONSOLE_LINES = "console", 8
# In the sandbox's scratch folder, of the same name inside: the guest's own, and the files handed over to it.
PLACE = "guest"
# Where folders appear under names that are the same in all guests, and where the sandbox puts them together.
PLACES, SHOWN = Path("/tmp/howquick-guest"), "shown"
MOUNT = 'set -e; mkdir "$1"; mount -t hostfs -o hostfs="$2" hostfs "$1"; shift 2; exec "$@"'
HANDED_OVER = "files"


class GuestFailed(UserError):
    """The guest itself did not come to its end, whatever its program did."""


class GuestTooLong(GuestFailed):
    """The guest was still running when its limit of real time was over."""


@dataclass(frozen=True)
class Boot:
    """What decides how a guest begins.

    seed: of all its randomness. processor: the only one it runs on. start_ns: its clock, nanoseconds since
    1970. syscall_ns: virtual time that a system call takes. wakeup_ns: that a program which has waited
    takes to run. memory_mb: at most, in a sparse file without a
    name. limit_s: real seconds after which it is ended, for a program that computes for ever stops the clock.
    """

    seed: int
    processor: int
    start_ns: int = START_NS
    syscall_ns: int = SYSCALL_NS
    wakeup_ns: int = WAKEUP_NS
    memory_mb: int = 2048
    limit_s: float = 600.0


@dataclass(frozen=True)
class Command:
    """What runs inside.

    Everything that the caller sees is visible there. What is not `writable` is read-only, and changes in
    temporary folders vanish with the guest. files: what it finds in its `handed_over()`, by name. in_places:
    whether it finds what `show_at_place` showed: programs look at each part of a path, which decides how
    many system calls they make.
    """

    argv: Sequence[str]
    environment: Mapping[str, str]
    folder: Path
    writable: Sequence[Path] = field(default_factory=tuple)
    files: Mapping[str, bytes] = field(default_factory=dict)
    in_places: bool = False


@dataclass(frozen=True)
class Ended:
    """How the command ended: exit status (128 + N after signal N) and what it said."""

    status: int
    output: bytes
    errors: bytes


def run_guest(command: Command, boot: Boot) -> Ended:
    """Boot, run the command, power off; all of it inside the sandbox, which takes everything with it.

    Raises GuestTooLong if the limit was reached, GuestFailed if the kernel stopped, UserError without one.
    """
    with own_folder(command) as own:
        kernel = start_kernel(own, boot)
        try:
            kernel.wait(boot.limit_s)
        except subprocess.TimeoutExpired:
            raise too_long(boot.limit_s) from None
        finally:
            end_kernel(kernel)
        return how_it_ended(own)


@contextlib.contextmanager
def own_folder(command: Command) -> Iterator[Path]:
    """A guest's own folder, as long as it runs: its job, the files handed over, its console."""
    # Always the same name, as it lies in the guest's memory; empty before and after.
    own = enter_sandbox().scratch / PLACE
    own.mkdir()
    try:
        (own / "job").write_bytes(_job(command))
        (own / HANDED_OVER).mkdir()
        hand_over(own, command.files)
        yield own
    finally:
        shutil.rmtree(own)


def hand_over(own: Path, files: Mapping[str, bytes]) -> None:
    """Let a guest find files in its `handed_over()`, by name."""
    for name, content in files.items():
        (own / HANDED_OVER / name).write_bytes(content)


def run_script(script: Path, words: Sequence[str], writable: Path, boot: Boot) -> int:
    """Run a script of the project in a guest that may write one folder; passes its errors on.

    Gives the exit status. The folder is made if it is missing.
    """
    writable.mkdir(parents=True, exist_ok=True)
    argv = [sys.executable, os.fspath(script.resolve()), *words]
    ended = run_guest(Command(argv, basic_environment(), Path.cwd(), [writable]), boot)
    sys.stderr.buffer.write(ended.errors)
    return ended.status


def show_at_place(name: str, folder: Path) -> None:
    """Have the guests of this sandbox find a folder at `place(name)`, read-only."""
    at = _shown() / name
    at.mkdir()
    bind(os.fspath(folder), os.fspath(at), writable=False)


def made_at_place(name: str) -> Path:
    """An empty folder in memory, which guests of this sandbox find at `place(name)` and may write."""
    folder = _shown() / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    return folder


def _shown() -> Path:
    folder = enter_sandbox().scratch / SHOWN
    folder.mkdir(exist_ok=True)
    return folder


def await_prepared() -> None:
    """Wait, in a guest, until PREPARED_NS: what follows begins at the same time in each."""
    time.sleep(max(0, PREPARED_NS - time.time_ns()) / 1e9)


def place(name: str) -> Path:
    """Where a guest finds what has this name for all guests."""
    return PLACES / name


def handed_over() -> Path:
    """Where a guest finds the files of its command."""
    return SCRATCH / PLACE / HANDED_OVER


def _job(command: Command) -> bytes:
    """The file that init reads (environment/kernel/init.c)."""
    records = [("W", os.fspath(folder.resolve())) for folder in command.writable]
    records += [("D", os.fspath(command.folder))]
    if command.in_places:
        words = ("sh", "-c", MOUNT, "sh", os.fspath(PLACES), os.fspath(_shown()))
        records += [("A", word) for word in words]
    records += [("A", word) for word in command.argv]
    records += [("E", f"{name}={value}") for name, value in sorted(command.environment.items())]
    return b"".join(os.fsencode(letter + text) + b"\0" for letter, text in records)


def start_kernel(
    own: Path, boot: Boot, copies: tuple[int, int] | None = None
) -> subprocess.Popen[bytes]:
    """Start a guest's kernel; what it says goes to its console.

    copies: descriptors of pipes with which it can be copied (environment/kernel/patches/copies.patch).
    """
    kernel = Path(kernel_entry()["prefix"])
    argv = ["taskset", "--cpu-list", str(boot.processor), str(kernel / "bin/linux")]
    argv += [f"mem={boot.memory_mb}M", f"seed={boot.seed}"]
    argv += [f"syscall_ns={boot.syscall_ns}", f"wakeup_ns={boot.wakeup_ns}"]
    argv += ["time-travel=inf-cpu", f"time-travel-start={boot.start_ns}"]
    # The kernel appends what it misses of these, after "--" as well, where init would read it.
    argv += ["root=98:0", "console=tty0"]
    argv += ["rootfstype=hostfs", "rootflags=/", "ro", "con=null", "con0=null,fd:1"]
    # One that stops is over: begun anew it would measure anew.
    argv += [f"uml_dir={own}/", "umid=guest", "panic=-1", "noreboot", "loglevel=4"]
    # Faster than ptrace by half, where the host's kernel allows it.
    argv += ["seccomp=auto"]
    if copies:
        argv += [f"copies={copies[0]},{copies[1]}"]
    argv += [f"init={kernel}/bin/init", "--", str(own / "job")]
    # Nothing of the caller's environment: it lies in the guest's memory.
    variables = {"PATH": os.environ["PATH"], "TMPDIR": str(own), "HOME": str(own)}
    with (own / CONSOLE).open("wb") as stream:
        return subprocess.Popen(
            argv,
            env=variables,
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=stream,
            start_new_session=True,
            pass_fds=copies or (),
        )


def end_kernel(kernel: subprocess.Popen[bytes]) -> None:
    """End a guest and the processes of its programs, which are children of the kernel and in its group."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(kernel.pid, signal.SIGKILL)
    kernel.wait()


def too_long(limit_s: float) -> GuestTooLong:
    """What is said of a guest that is still running when its limit is over."""
    return GuestTooLong(
        f"the guest did not end within {limit_s:g} s of real time. A program that computes for "
        "ever lets no virtual time pass; if this one is only slow, raise the limit."
    )


def how_it_ended(own: Path) -> Ended:
    """What a guest has left. Raises GuestFailed if its kernel stopped, or no program was started."""
    status = own / "status"
    words = status.read_text(encoding="utf-8").split(maxsplit=1) if status.exists() else []
    if not words or words[0] not in ("exit", "signal"):
        said = (own / CONSOLE).read_text(encoding="utf-8", errors="replace").splitlines()
        why = " ".join(words) or "the kernel stopped"
        last = said[-CONSOLE_LINES:]
        raise GuestFailed("\n".join([f"the guest failed: {why.strip()}. Its last words:", *last]))
    number = int(words[1])
    code = number if words[0] == "exit" else 128 + number
    return Ended(code, (own / "stdout").read_bytes(), (own / "stderr").read_bytes())


def basic_environment() -> dict[str, str]:
    """Variables that programs of the project need inside, and none that tells the host or the caller."""
    kept = ("PATH", "HOWQUICK_CACHE", "HOWQUICK_INSIDE", "HOWQUICK_MANIFEST", "PYTHONPATH")
    return {name: os.environ[name] for name in kept if name in os.environ} | {
        "HOME": "/run",
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
        # No RDRAND and RDSEED, whose numbers follow from no seed: bits 62 and, of the second word, 18.
        "OPENSSL_ia32cap": "~0x4000000000000000:~0x40000",
        # Order of Python's sets and dictionaries of strings.
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
