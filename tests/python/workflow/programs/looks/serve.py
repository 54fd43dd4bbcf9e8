"""Try to read, write and reach what belongs to others, and leave what came of it as a qlog."""

import contextlib
import ctypes
import json
import os
import signal
import socket
import time
from pathlib import Path

# What the test has put where a program under test must not see it, what that is shown, and where the test
# looks for what it has left.
HOST = {"secrets": [], "others": [], "sockets": [], "shown": [], "traces": []}
with contextlib.suppress(FileNotFoundError):
    HOST = json.loads((Path(__file__).parent / "host.json").read_text())
PLACES = ("/etc", "/usr", "/usr/bin", "/sys", "/proc/sys", *HOST["shown"])
# The host's, each mounted by itself.
FILES = ("/etc/resolv.conf", "/etc/hosts", "/etc/ssl/certs/ca-certificates.crt")
# A program's own, with nothing in them but the way to what it is shown.
EMPTY = ("/home", "/root", "/run", "/tmp", "/var/tmp", "/dev/shm")
OWN = ("HOME", "STATE", "QLOGDIR", "CERTS", "WWW", "ARTIFACTS", "SSLKEYLOGFILE")
# Settings of the kernel and of the block's network.
SETTINGS = (
    "/proc/sys/kernel/core_pattern",
    "/proc/sys/vm/overcommit_memory",
    "/proc/sys/net/ipv4/tcp_congestion_control",
    "/proc/sysrq-trigger",
    "/sys/kernel/mm/transparent_hugepage/enabled",
)
MS_REMOUNT, MS_BIND = 0x20, 0x1000
# By the Interop Runner's contract a program is told neither a folder of its own nor where to listen.
STATE = os.environ.get("STATE") or os.environ["HOME"]


def can_write(folder):
    """Whether a file can be made in a folder."""
    try:
        (probe := Path(folder) / ".probe").write_text("x")
        probe.unlink()
    except OSError:
        return False
    return True


def can_open(file):
    """Whether a file could be written; nothing is."""
    try:
        os.close(os.open(file, os.O_WRONLY))
    except OSError:
        return False
    return True


def can_mount(libc):
    """Whether something can be mounted, or something read-only be made writable."""
    remounted = libc.mount(b"none", b"/usr", None, ctypes.c_ulong(MS_REMOUNT | MS_BIND), None) == 0
    return remounted or libc.mount(b"none", b"/tmp", b"tmpfs", 0, None) == 0


def can_connect(path):
    """Whether a socket of the host's can be reached."""
    with socket.socket(socket.AF_UNIX) as client:
        try:
            client.connect(path)
        except OSError:
            return False
    return True


def leave_trace(path):
    """Write a file where that is possible: in a folder of its own, or in one of the host's."""
    with contextlib.suppress(OSError):
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text("seen here")


def shown():
    """What it knows to be there: its own files, and what it is shown beside."""
    own = [os.environ[name] for name in OWN if name in os.environ]
    own += [Path(os.environ["TIMING"]).parent] if "TIMING" in os.environ else []
    # By the Interop Runner's contract these are links to where the files are.
    served = {str(link.readlink().parent) for link in Path("/www").glob("*") if link.is_symlink()}
    return {Path(path) for path in (*HOST["shown"], *own, *served)}


def strangers(folder, known):
    """What lies below a folder and is neither known, nor in it, nor on the way to it."""
    ways = {parent for path in known for parent in path.parents}
    found = []
    for path in folder.iterdir() if folder.is_dir() else ():
        if path in ways:
            found += strangers(path, known)
        elif path not in known:
            found.append(str(path))
    return found


def others_roots():
    """Processes whose root folder, and with it the host's files, can be opened through /proc."""
    found = 0
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            found += folder.name != str(os.getpid()) and any((folder / "root").iterdir())
    return found


def look():
    """Everything that was found."""
    libc = ctypes.CDLL(None, use_errno=True)
    status = dict(
        line.split(":\t", 1)
        for line in Path("/proc/self/status").read_text().splitlines()
        if ":\t" in line
    )
    alone = {
        "capabilities": int(status["CapEff"], 16) | int(status["CapPrm"], 16) | int(status["CapBnd"], 16),
        "no_new_privs": status["NoNewPrivs"].strip(),
        "secrets_read": [
            path for path in (*HOST["secrets"], *HOST["others"]) if Path(path).exists()
        ],
        "sockets_reached": [path for path in HOST["sockets"] if can_connect(path)],
        "written": [f for f in PLACES if can_write(f)],
        "settings": [path for path in (*SETTINGS, *FILES) if can_open(path)],
        "state_written": can_write(STATE),
        "mounted": can_mount(libc),
        "others_roots": others_roots(),
        "strangers": [path for folder in EMPTY for path in strangers(Path(folder), shown())],
        "devices": sorted(path.name for path in Path("/dev").iterdir()),
    }  # fmt: skip
    # Once more with the rights that a user namespace of one's own might give.
    try:
        os.unshare(os.CLONE_NEWUSER | os.CLONE_NEWNS)
        alone["mounted_in_own_namespace"] = can_mount(libc) and can_write("/usr")
        alone["written"] += [f for f in PLACES if can_write(f)]
    except OSError:
        alone["mounted_in_own_namespace"] = False
    for path in (*HOST["secrets"], *HOST["traces"]):
        leave_trace(path)
    return alone


found = look()
Path(os.environ["QLOGDIR"], f"{os.environ['ROLE']}.json").write_text(json.dumps(found))
if os.environ["ROLE"] == "server":
    if "PORT" in os.environ:
        server = socket.create_server((os.environ["ADDRESS"], int(os.environ["PORT"])))
    else:
        server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        server.bind(("", 443))
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    while True:
        time.sleep(60)
