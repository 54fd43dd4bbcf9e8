"""Get ready, fetch nothing, and leave behind what OPTION_HARM says."""

import contextlib
import json
import os
import signal
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit

HARM = os.environ["OPTION_HARM"]
TIMING = Path(os.environ["TIMING"])
QLOGS = Path(os.environ["QLOGDIR"])
ARTIFACTS = Path(os.environ["ARTIFACTS"])


def report(**change):
    """A report that looks right but for its hashes, with some keys of every object changed."""
    paths = [urlsplit(url).path for url in os.environ["REQUESTS"].split()]
    objects = [
        {"path": path, "status": 200, "bytes": 1, "end_s": 0.5, "start_s": 0} | change
        for path in paths
    ]
    return json.dumps({"protocol": "h1", "start": time.time(), "objects": objects})


def harm():
    """Do it."""
    if HARM == "text":
        TIMING.write_text(report(end_s="0.5"))
    elif HARM == "digits":
        TIMING.write_text(report(end_s=0).replace('"end_s": 0', f'"end_s": {"9" * 400}'))
    elif HARM == "deep":
        TIMING.write_text("[" * 200_000)
    elif HARM == "folder":
        TIMING.mkdir()
    elif HARM == "device":
        TIMING.symlink_to("/dev/zero")
    elif HARM == "pipe":
        os.mkfifo(TIMING)
    elif HARM == "links":
        (QLOGS / "latest.qlog").symlink_to("/etc/passwd")
        (QLOGS / "gone.qlog").symlink_to("nowhere")
        (ARTIFACTS / "etc").symlink_to("/etc")
        Path(os.environ["SSLKEYLOGFILE"]).mkdir()
    elif HARM == "no-folders":
        # Where it is confined it cannot.
        with contextlib.suppress(OSError):
            ARTIFACTS.rmdir()
            QLOGS.rmdir()
            QLOGS.write_text("a file for a folder")
    elif HARM == "flood":
        while True:
            os.write(1, b"x" * 4096)
    elif HARM == "lines":
        while True:
            os.write(1, b"move\n" * 800)
    elif HARM == "child" and os.fork() == 0:
        os.setsid()
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        time.sleep(3600)
    elif HARM == "look":
        found = [path for path in Path("/proc").glob("[0-9]*/cmdline") if is_ours(path)]
        (ARTIFACTS / "sleepers").write_text(str(len(found)))


def is_ours(cmdline):
    """Whether a process runs this very file, and is not this one."""
    try:
        return __file__.encode() in cmdline.read_bytes() and cmdline.parent.name != str(os.getpid())
    except OSError:
        return False


print("ready", flush=True)
sys.stdin.readline()
harm()
