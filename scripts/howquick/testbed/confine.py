"""Become a program that has no rights and sees nothing of the host but what it is shown.

    python3 -I -S confine.py VIEW [--read PATH]… [--write PATH]… -- PROGRAM [ARGUMENT…]

VIEW is an empty folder, in which a new root is put together: the system, read-only; a few devices; empty
/tmp, /run, /home and /root; and the PATHs where they are, read-only or to write. Then all capabilities are
given up for good, and PROGRAM takes the place of this process, so that its number and its accounts are the
program's own. Needs the rights of the sandbox's root. docs/isolation.md says what a program can reach.

A program of its own, with nothing of the library: it is started before every program under test, and forking
the runner, which has threads, would be slower and not safe. In a guest the runner has none, and starting
Python is what a load pays for: there its child calls `confine` between fork and exec.
"""

# Importing pathlib would take as long as all the rest.
# ruff: noqa: PTH101, PTH103, PTH109, PTH110, PTH112, PTH114, PTH115, PTH120, PTH123, PTH211

from __future__ import annotations

import ctypes
import os
import sys

SYSTEM = ("usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32", "etc", "opt", "nix", "sys")
DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
EMPTY = ("tmp", "var/tmp", "dev/shm", "run", "home", "root")
# Settings of the kernel: user 0 may write them without any capability.
SETTINGS = ("proc/sys", "proc/sysrq-trigger", "proc/irq", "proc/bus", "proc/fs")
LINKS = {"fd": "/proc/self/fd", "stdin": "fd/0", "stdout": "fd/1", "stderr": "fd/2"}
MS_NOSUID, MS_BIND, MS_REC, MS_UNBINDABLE, MS_PRIVATE = 0x2, 0x1000, 0x4000, 0x20000, 0x40000
# The same numbers on every architecture (asm-generic); pivot_root(2) is older.
MOUNT_SETATTR, AT_FDCWD, AT_RECURSIVE, ATTR_RDONLY, ATTR_NOSUID = 442, -100, 0x8000, 0x1, 0x2
PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
MNT_DETACH = 2
PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS, PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL = 24, 38, 47, 4
CAPABILITY_VERSION = 0x20080522
CANNOT = 96

_libc = ctypes.CDLL(None, use_errno=True)


def call(what: str, status: int) -> None:
    """Raise OSError for a system call that failed."""
    if status:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def mount(source: str, target: str, kind: str, flags: int, options: str = "") -> None:
    """Mount something, or change how it is mounted."""
    words = [word.encode() or None for word in (source, target, kind)]
    call(f"mount {target}", _libc.mount(*words, ctypes.c_ulong(flags), options.encode() or None))


def bind(source: str, target: str, writable: bool) -> None:
    """Show a file or folder with all that is mounted in it."""
    mount(source, target, "", MS_BIND | MS_REC)
    attributes = ATTR_NOSUID | (0 if writable else ATTR_RDONLY)
    changes = (ctypes.c_uint64 * 4)(attributes, 0, 0, 0)
    arguments = (
        AT_FDCWD,
        target.encode(),
        AT_RECURSIVE,
        ctypes.byref(changes),
        ctypes.sizeof(changes),
    )
    call(f"protecting {target}", _libc.syscall(MOUNT_SETATTR, *arguments))


def show(view: str, path: str, writable: bool, at: str = "") -> None:
    """Show a path of the host at its own place, or another; one that is not there is left out."""
    target = view + (at or path)
    if os.path.isdir(path):
        os.makedirs(target, exist_ok=True)
    elif os.path.exists(path):
        if not os.path.exists(target):
            os.makedirs(os.path.dirname(target), exist_ok=True)
            os.close(os.open(target, os.O_CREAT | os.O_WRONLY, 0o600))
    else:
        return
    bind(path, target, writable)


def leave() -> None:
    """Go into user, mount and IPC namespaces of one's own.

    Without a user namespace of its own a program could look into others of the same user, through /proc.
    """
    user, group = os.geteuid(), os.getegid()
    os.unshare(os.CLONE_NEWUSER | os.CLONE_NEWNS | os.CLONE_NEWIPC)
    maps = {"setgroups": "deny", "uid_map": f"{user} {user} 1", "gid_map": f"{group} {group} 1"}
    for name, text in maps.items():
        with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
            file.write(text)
    mount("none", "/", "", MS_REC | MS_PRIVATE)


def make_view(view: str, paths: list[tuple[str, bool]]) -> None:
    """Put the new root together in `view`."""
    mount("view", view, "tmpfs", MS_NOSUID, "mode=755")
    # Otherwise a folder that is shown and holds the view would show it within itself.
    mount("none", view, "", MS_UNBINDABLE)
    for name in SYSTEM:
        path = f"/{name}"
        if os.path.islink(path):
            os.symlink(os.readlink(path), view + path)
        elif os.path.isdir(path):
            show(view, path, writable=False)
    for name in EMPTY:
        os.makedirs(f"{view}/{name}", exist_ok=True)
    for name in ("tmp", "var/tmp", "dev/shm"):
        os.chmod(f"{view}/{name}", 0o1777)
    for name in DEVICES:
        show(view, f"/dev/{name}", writable=True)
    for name, target in LINKS.items():
        os.symlink(target, f"{view}/dev/{name}")
    show(view, "/proc", writable=True)
    for name in SETTINGS:
        show(view, f"/{name}", writable=False)
    # The outer of two folders first, or it would cover the inner.
    for path, writable in sorted(paths):
        show(view, path, writable)


def change_root(view: str) -> None:
    """Make `view` the root and let go of the old one; in a chroot the kernel refuses user namespaces."""
    os.chdir(view)
    call("pivot_root", _libc.syscall(PIVOT_ROOT[os.uname().machine], b".", b"."))
    call("umount", _libc.umount2(b".", MNT_DETACH))


def give_up_rights() -> None:
    """Have no capabilities, and get none by any program that is started."""
    call("prctl", _libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    with open("/proc/sys/kernel/cap_last_cap", encoding="ascii") as file:
        last = int(file.read())
    for capability in range(last + 1):
        call("prctl", _libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0))
    _libc.prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
    header = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION, 0)
    nothing = (ctypes.c_uint32 * 6)()
    call("capset", _libc.capset(header, nothing))


def confine(view: str, paths: list[tuple[str, bool]]) -> None:
    """Have no rights from here on, and see the system and `paths` alone, each with whether it can be written.

    Ends the process where that cannot be.
    """
    folder = os.getcwd()
    try:
        leave()
        make_view(view, paths)
        change_root(view)
        os.chdir(folder)
        give_up_rights()
    except OSError as error:
        os.write(2, f"cannot be confined: {error}\n".encode())
        os._exit(CANNOT)


def main(words: list[str]) -> None:
    """Command line."""
    separator = words.index("--")
    view, options, program = words[0], words[1:separator], words[separator + 1 :]
    confine(
        view,
        [(path, kind == "--write") for kind, path in zip(options[::2], options[1::2], strict=True)],
    )
    try:
        os.execvp(program[0], program)
    except OSError as error:
        os.write(2, f"{program[0]}: {error.strerror}\n".encode())
        os._exit(CANNOT + 1)


if __name__ == "__main__":
    main(sys.argv[1:])
