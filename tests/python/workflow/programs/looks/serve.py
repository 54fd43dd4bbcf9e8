"""Try to read, write and reach what belongs to others, and leave what came of it as a qlog."""

import contextlib
import ctypes
import json
import os
import signal
import socket
import time
from pathlib import Path

# A file that the test has put where a program under test must not see it, and folders beside.
HOST = json.loads((Path(__file__).parent / "host.json").read_text()) if (
    Path(__file__).parent / "host.json"
).exists() else {"secrets": [], "sockets": [], "repository": "/"}  # fmt: skip
PLACES = ("/etc", "/usr", "/usr/bin", "/sys", "/proc/sys", HOST["repository"])
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


def can_set(setting):
    """Whether a setting could be written; nothing is."""
    try:
        os.close(os.open(setting, os.O_WRONLY))
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
        "secrets_read": [path for path in HOST["secrets"] if Path(path).exists()],
        "sockets_reached": [path for path in HOST["sockets"] if can_connect(path)],
        "written": [f for f in PLACES if can_write(f)],
        "settings": [path for path in SETTINGS if can_set(path)],
        "state_written": can_write(STATE),
        "mounted": can_mount(libc),
        "others_roots": others_roots(),
        "empty": [f for f in ("/home", "/root", "/run") if Path(f).exists() and any(Path(f).iterdir())],
        "devices": sorted(path.name for path in Path("/dev").iterdir()),
    }  # fmt: skip
    # Once more with the rights that a user namespace of one's own might give.
    try:
        os.unshare(os.CLONE_NEWUSER | os.CLONE_NEWNS)
        alone["mounted_in_own_namespace"] = can_mount(libc) and can_write("/usr")
        alone["written"] += [f for f in ("/etc", "/usr", HOST["repository"]) if can_write(f)]
    except OSError:
        alone["mounted_in_own_namespace"] = False
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
