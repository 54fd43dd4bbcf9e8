"""Private user, mount, PID and network namespaces that die with the program that made them."""

from __future__ import annotations

import os
import select
import signal
import sys
import threading
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from howquick.testbed import system
from howquick.testbed.errors import TestbedError

RUN = Path("/run")
SCRATCH = RUN / "howquick"
# The scratch folder of a guest, which has its files in SCRATCH.
OWN = SCRATCH / "own"
SHELLS = {"sh", "bash", "dash", "zsh"}
KILLED = 128 + signal.SIGKILL
SPACES = os.CLONE_NEWNS | os.CLONE_NEWPID | os.CLONE_NEWNET


@dataclass(frozen=True)
class Sandbox:
    """Where the calling program now lives.

    scratch: empty folder in memory (tmpfs), gone with the sandbox.
    rootless: whether a user namespace had to be made.
    fresh_proc: whether /proc shows the sandbox's processes alone (some containers forbid it).
    """

    scratch: Path
    rootless: bool
    fresh_proc: bool


_current: Sandbox | None = None


def current_sandbox() -> Sandbox | None:
    """The sandbox this process lives in, or None."""
    return _current


def enter_sandbox() -> Sandbox:
    """Move the calling program into namespaces of its own and return there.

    Call it before the program starts threads. It is forked three times: the caller stays outside,
    waits and ends with the same exit status (128 + N after signal N); the first child makes the
    namespaces and waits too; the second is the init of the PID namespace and reaps; the third
    returns from this function.

    When any of the four dies (also by SIGKILL), or the caller's parent does, every process,
    mount, interface and namespace of the sandbox goes. If the parent is a shell that only wraps
    the command, as workflow managers start jobs, the shell's parent counts too.

    /run is an empty tmpfs inside (so /run/netns is private), /proc is fresh. Calling it again
    inside gives the same sandbox. Raises TestbedError when the kernel refuses the namespaces.
    """
    global _current
    if _current is not None:
        return _current
    if threading.active_count() > 1:
        raise TestbedError("the sandbox must be entered before any thread is started")
    _stay_outside()
    _die_with_caller()
    rootless = _unshare()
    fresh_proc = _become_program()
    _current = Sandbox(_make_scratch(), rootless, fresh_proc)
    return _current


def adopt_guest() -> Sandbox:
    """Take the guest that the calling program runs in for the sandbox: it is private, and ends with it."""
    global _current
    OWN.mkdir(mode=0o700)
    _current = Sandbox(OWN, rootless=False, fresh_proc=True)
    return _current


def in_guest() -> bool:
    """Whether the sandbox is a guest, whose end takes everything with it."""
    return _current is not None and _current.scratch == OWN


_caller: int  # pidfd of the process that the present one must not outlive


def _fork() -> int:
    """Fork; the child finds its parent's pidfd in `_caller`."""
    global _caller
    _caller = os.pidfd_open(os.getpid())
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child:
        os.close(_caller)
    return child


def _stay_outside() -> None:
    """Return in a child that has one thread only; the caller stays behind and waits for it.

    A user namespace cannot be made by a program with threads, and importing numpy is enough to
    have some: its BLAS keeps idle workers, which a fork leaves behind and which it can make anew.
    """
    parent = os.getppid()
    system.die_with_parent()
    if os.getppid() != parent:
        os._exit(KILLED)
    watched = _watch_starter_behind_shell(parent)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        child = _fork()
    if child:
        _wait(child, watched)
    for descriptor in watched:
        os.close(descriptor)


def _become_program() -> bool:
    """Fork the init, which forks the program; return in that. True if /proc is fresh."""
    init = _fork()
    if init:
        _wait(init, [])
    _die_with_caller()
    fresh_proc = _mount_private_folders()
    program = os.fork()
    if program:
        _reap(program)
    return fresh_proc


def _die_with_caller() -> None:
    """Die when the parent dies, or now if it is dead.

    A parent outside the PID namespace has no number inside, hence the pidfd. An init cannot kill
    itself, hence the exit.
    """
    system.die_with_parent()
    if select.select([_caller], [], [], 0)[0]:
        os._exit(KILLED)
    os.close(_caller)


def _watch_starter_behind_shell(parent: int) -> list[int]:
    """A pidfd of the process whose death must end the job besides that of the parent, if any."""
    starter = _starter_behind_shell(parent)
    if starter is None:
        return []
    try:
        return [os.pidfd_open(starter)]
    except OSError:
        # It ended between the two looks; so ends the job that it started.
        os._exit(KILLED)


def _starter_behind_shell(parent: int) -> int | None:
    """The process that started `parent`, if that is a shell of our own process group.

    An interactive shell gives each command a process group of its own and so is not meant.
    """
    group = os.getpgrp()
    try:
        name = Path(f"/proc/{parent}/comm").read_text(encoding="utf-8").strip()
        stat = Path(f"/proc/{parent}/stat").read_text(encoding="utf-8")
        grandparent = int(stat.rpartition(")")[2].split()[1])
        if name in SHELLS and os.getpgid(parent) == group and os.getpgid(grandparent) == group:
            return grandparent
    except OSError:
        pass
    return None


def _unshare() -> bool:
    """Make the namespaces; true if a user namespace was needed."""
    user, group = os.geteuid(), os.getegid()
    if user == 0:
        try:
            os.unshare(SPACES)
        except PermissionError:
            pass  # root of a container without rights: as an ordinary user
        else:
            return False
    try:
        os.unshare(os.CLONE_NEWUSER | SPACES)
    except OSError as error:
        raise TestbedError(
            f"the kernel refuses user namespaces ({error.strerror}): run as root, or allow them"
            " (sysctl kernel.unprivileged_userns_clone=1, user.max_user_namespaces above 0,"
            " kernel.apparmor_restrict_unprivileged_userns=0)"
        ) from None
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"0 {user} 1"),
        ("gid_map", f"0 {group} 1"),
    ):
        Path("/proc/self", name).write_text(text, encoding="ascii")
    return True


def _wait(child: int, watched: list[int]) -> NoReturn:
    """Wait for the child, pass signals on, end as it ended; end it if an ancestor ends."""
    # Ctrl-C reaches the program inside by itself, as it is of the same process group.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _frame: os.kill(child, number))
    alive = os.pidfd_open(child)
    ready, _, _ = select.select([alive, *watched], [], [])
    if alive not in ready:
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    os._exit(_exit_status(status))


def _reap(program: int) -> NoReturn:
    """Be the init of the PID namespace until the program ends; its end ends all others."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _frame: os.kill(program, number))
    while True:
        child, status = os.wait()
        if child == program:
            os._exit(_exit_status(status))


def _exit_status(status: int) -> int:
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def _mount_private_folders() -> bool:
    """Fresh /proc and /run; true if the kernel allowed the /proc."""
    system.mount("", Path("/"), "", system.MS_REC | system.MS_PRIVATE)
    flags = system.MS_NOSUID | system.MS_NODEV
    system.mount("tmpfs", RUN, "tmpfs", flags, "mode=755")
    try:
        system.mount("proc", Path("/proc"), "proc", flags | system.MS_NOEXEC)
    except PermissionError:
        # Where a container covers parts of /proc, only the old one can be used.
        return False
    return True


def _make_scratch() -> Path:
    SCRATCH.mkdir(mode=0o700)
    return SCRATCH
