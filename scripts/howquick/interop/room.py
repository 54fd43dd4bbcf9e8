"""A private view of the file system in which an end point finds /www, /downloads, /certs and /logs.

Nothing is written to the real root: a new one is put together from what is there and what the contract
adds, in a mount namespace of its own. Works for an ordinary user, in a user namespace of its own.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterable
from pathlib import Path

from howquick.interop.request import Mount
from howquick.testbed import confine

MS_RDONLY, MS_REMOUNT, MS_BIND, MS_REC = 0x1, 0x20, 0x1000, 0x4000
MS_UNBINDABLE, MS_PRIVATE = 0x20000, 0x40000
# Flags that a user namespace may not take off a mount, as statvfs(3) reports them; the mount flags are equal.
KEPT = os.ST_NOSUID | os.ST_NODEV | os.ST_NOEXEC | os.ST_NOATIME | os.ST_NODIRATIME | os.ST_RELATIME

_libc = ctypes.CDLL(None, use_errno=True)


def _mount(source: str, target: str, kind: str | None, flags: int) -> None:
    """mount(2). Raises OSError naming the target."""
    kind_bytes = kind.encode() if kind else None
    if _libc.mount(source.encode(), target.encode(), kind_bytes, ctypes.c_ulong(flags), None) != 0:
        code = ctypes.get_errno()
        raise OSError(code, f"cannot mount: {os.strerror(code)}", target)


def _bind(source: Path, target: Path, read_only: bool = False) -> None:
    if source.is_dir():
        target.mkdir(parents=True, exist_ok=True)
    elif not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        target.touch()
    _mount(str(source), str(target), None, MS_BIND | MS_REC)
    if read_only:
        kept = os.statvfs(target).f_flag & KEPT
        _mount("none", str(target), None, MS_BIND | MS_REMOUNT | MS_RDONLY | kept)


def prepare_for_containers() -> None:
    """Cover what keeps a container runtime from working in a sandbox, for this process and its children.

    Runtimes refuse a mixture of cgroups 1 and 2, though the containers here run without any, and want to
    write below /run. Raises OSError where the kernel refuses.
    """
    mixed = Path("/sys/fs/cgroup/unified").is_dir()
    run = Path("/run")
    foreign = any(not os.access(folder, os.W_OK) for folder in (run, *run.glob("libpod*")))
    if not mixed and not foreign:
        return
    _own_mount_namespace()
    if mixed:
        _mount("none", "/sys/fs/cgroup", "tmpfs", 0)
    if foreign:
        _mount("none", "/run", "tmpfs", 0)


def _own_mount_namespace() -> None:
    """Leave the shared mount namespace, through a user namespace if need be."""
    try:
        os.unshare(os.CLONE_NEWNS)
    except PermissionError:
        uid, gid = os.getuid(), os.getgid()
        os.unshare(os.CLONE_NEWUSER | os.CLONE_NEWNS)
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"0 {uid} 1")
        Path("/proc/self/gid_map").write_text(f"0 {gid} 1")
    _mount("none", "/", None, MS_REC | MS_PRIVATE)


def _copy_root(root: Path) -> None:
    """Show in `root` all that is in /."""
    for entry in Path("/").iterdir():
        shown = root / entry.name
        if entry.is_symlink():
            shown.symlink_to(entry.readlink())
        elif entry.is_dir() or entry.is_file():
            _bind(entry, shown)


def enter(
    root: Path, mounts: Iterable[Mount], shown: Iterable[str] = (), own: Iterable[str] = ()
) -> None:
    """Make the view under `root` (an empty folder) and change into it. For a process that will exec.

    With `shown` and `own` (folders to read, and to write) there is nothing else of the host but its system,
    and no right is left (howquick.testbed.confine); without, all of / is shown as it is. Raises OSError where
    the kernel refuses.
    """
    mounts, shown = list(mounts), list(shown)
    if shown:
        confine.leave()
        paths = [*((path, False) for path in shown), *((path, True) for path in own)]
        confine.make_view(str(root), paths)
        for mount in mounts:
            confine.show(str(root), str(mount.source), not mount.read_only, mount.target)
        confine.change_root(str(root))
        os.chdir("/")
        confine.give_up_rights()
        return
    _own_mount_namespace()
    _mount("none", str(root), "tmpfs", 0)
    # Otherwise the view would contain itself.
    _mount("none", str(root), None, MS_UNBINDABLE)
    _copy_root(root)
    for mount in mounts:
        target = root / mount.target.lstrip("/")
        # Where / has such a file or folder already, it is only covered in here.
        _bind(mount.source, target, mount.read_only)
    os.chroot(root)
    os.chdir("/")
