"""Nothing of a sandbox outlives the program that made it."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path

import pytest

from howquick.testbed.link import Link
from howquick.testbed.sandbox import enter_sandbox
from howquick.testbed.testbed import Testbed
from patience import HANG_S, wait_until
from testbed.sandboxed import SCRIPTS, command, environment, identity, run_inside

pytestmark = [pytest.mark.usefixtures("namespaces"), pytest.mark.rights]


def processes():
    return sorted(int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit())


def look_around(scratch):
    interfaces = Path("/proc/net/dev").read_text().splitlines()
    return {
        "root": os.geteuid() == 0,
        "processes": processes(),
        "run": [path.name for path in Path("/run").iterdir()],
        "scratch": [str(scratch), len(list(scratch.iterdir())), os.access(scratch, os.W_OK)],
        "interfaces": [line.split(":")[0].strip() for line in interfaces[2:]],
        "again": str(enter_sandbox().scratch),
    }


@pytest.mark.parametrize("ordinary", [False, True])
def test_the_sandbox_is_empty_and_private(ordinary):
    seen = run_inside(look_around, ordinary)
    assert seen == {
        "root": True,
        "processes": [1, 2],
        "run": ["howquick"],
        "scratch": ["/run/howquick", 0, True],
        "interfaces": ["lo"],
        "again": "/run/howquick",
    }


def leave_orphans(_scratch):
    for _ in range(20):
        if os.fork() == 0:
            if os.fork() == 0:
                time.sleep(0.05)
            os._exit(0)
        os.wait()
    wait_until(lambda: processes() == [1, 2])
    return processes()


def test_orphans_are_reaped():
    assert run_inside(leave_orphans) == [1, 2]


@pytest.mark.parametrize(
    ("end", "status"),
    [("sys.exit(7)", 7), ("os.kill(os.getpid(), 9)", 137), ("1/0", 1), ("None", 0)],
)
def test_the_exit_status_is_passed_on(end, status):
    code = f"import os,sys;from howquick.testbed.sandbox import enter_sandbox;enter_sandbox();{end}"
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment(), capture_output=True, check=False
    )
    assert done.returncode == status


def test_threads_are_refused_with_a_reason():
    code = (
        "import threading,time;threading.Thread(target=time.sleep,args=(1,)).start()\n"
        "from howquick.testbed.sandbox import enter_sandbox;enter_sandbox()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment(), capture_output=True, text=True, check=False
    )
    assert "before any thread is started" in done.stderr


def hold_a_testbed(scratch):
    """A testbed with programs in it, that never ends by itself."""
    with Testbed(Link(10, 20, 1, 100), scratch=scratch) as bed:
        bed.server.popen(["sleep", "1000"])
        argv = ["tcpdump", "-i", "eth0", "-Z", "root", "-w", scratch / "c.pcap"]
        capture = bed.client.popen(argv, stderr=subprocess.PIPE)
        assert b"listening" in capture.stderr.readline()
        spaces = [Path("/run/netns", name).stat().st_ino for name in ("client", "router", "server")]
        spaces.append(Path("/proc/self/ns/net").stat().st_ino)
        print(json.dumps(spaces), flush=True)
        time.sleep(1000)


def marked(mark: str) -> list[int]:
    """Processes with the mark in their environment."""
    found = []
    for process in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if process.name.isdigit() and mark.encode() in (process / "environ").read_bytes():
                found.append(int(process.name))
    return found


def users_of(spaces: list[int]) -> list[str]:
    """Processes that live in one of these network namespaces."""
    found = []
    for process in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if process.name.isdigit() and (process / "ns/net").stat().st_ino in spaces:
                found.append(process.name)
    return found


def wait_until_gone(mark: str, spaces: list[int]) -> None:
    """Fails if something stays, and removes it."""
    if not wait_until(lambda: not marked(mark) + users_of(spaces)):
        left = marked(mark) + users_of(spaces)
        for process in marked(mark):
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        pytest.fail(f"still there: {left}")


def start_holder(
    started: list, ordinary: bool, argv: list[str]
) -> tuple[subprocess.Popen, str, list[int]]:
    mark = f"mark-{uuid.uuid4()}"
    become = identity(ordinary).get("preexec_fn", lambda: None)

    def prepare() -> None:
        # Who started the tests by nohup ignores it, and so would the holder.
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
        become()

    process = subprocess.Popen(
        argv,
        env=environment(HOWQUICK_TEST_MARK=mark),
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=prepare,
    )
    started.append(process)
    assert select.select([process.stdout], [], [], HANG_S)[0], "the testbed is not made"
    spaces = json.loads(process.stdout.readline())
    assert len(marked(mark)) >= 7  # the four, emulator, sleep, tcpdump
    assert users_of(spaces)
    return process, mark, spaces


@pytest.mark.parametrize("ordinary", [False, True])
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP])
def test_a_killed_owner_leaves_nothing(started, ordinary, number):
    owner, mark, spaces = start_holder(started, ordinary, command(hold_a_testbed))
    owner.send_signal(number)
    owner.wait(timeout=HANG_S)
    wait_until_gone(mark, spaces)


@pytest.mark.parametrize("ordinary", [False, True])
@pytest.mark.parametrize("generation", [1, 2, 3])
def test_any_of_the_four_killed_leaves_nothing(started, ordinary, generation):
    owner, mark, spaces = start_holder(started, ordinary, command(hold_a_testbed))
    victim = owner.pid
    for _ in range(generation):
        children = Path(f"/proc/{victim}/task/{victim}/children").read_text().split()
        victim = int(children[0])
    os.kill(victim, signal.SIGKILL)
    assert owner.wait(timeout=HANG_S) == 137
    wait_until_gone(mark, spaces)


@pytest.mark.parametrize("ordinary", [False, True])
def test_a_killed_parent_leaves_nothing(started, ordinary):
    """The parent is an ordinary program; it must not need to pass the signal on."""
    parent = "import subprocess,sys;sys.exit(subprocess.call(sys.argv[1:]))"
    argv = [sys.executable, "-c", parent, *command(hold_a_testbed)]
    owner, mark, spaces = start_holder(started, ordinary, argv)
    owner.kill()
    wait_until_gone(mark, spaces)


@pytest.mark.parametrize("ordinary", [False, True])
def test_a_killed_manager_behind_a_shell_leaves_nothing(started, ordinary):
    """Workflow managers start jobs through a shell, which survives them."""
    parent = "import subprocess,sys;sys.exit(subprocess.call(sys.argv[1:]))"
    shell = ["bash", "-c", '"$@"; exit $?', "bash", *command(hold_a_testbed)]
    owner, mark, spaces = start_holder(started, ordinary, [sys.executable, "-c", parent, *shell])
    owner.kill()
    wait_until_gone(mark, spaces)


SLOW = """
import os, time
from howquick.testbed import system
from howquick.testbed.sandbox import enter_sandbox
wish = system.die_with_parent
def slow():
    print(os.getppid(), flush=True)
    time.sleep(0.3)
    wish()
system.die_with_parent = slow
enter_sandbox()
time.sleep(1000)
"""


@pytest.mark.parametrize("ordinary", [False, True])
@pytest.mark.parametrize("wishes", [1, 2, 3])
def test_a_parent_that_died_before_the_wish_to_die_with_it(started, ordinary, wishes):
    """Parent, first and second child each ask to die with their parent; here it dies just before."""
    parent = "import subprocess,sys;sys.exit(subprocess.call(sys.argv[1:]))"
    mark = f"mark-{uuid.uuid4()}"
    process = subprocess.Popen(
        [sys.executable, "-c", parent, sys.executable, "-c", SLOW],
        env=environment(HOWQUICK_TEST_MARK=mark),
        stdout=subprocess.PIPE,
        text=True,
        **identity(ordinary),
    )
    started.append(process)
    # The second child sees no parent, as that is outside of its PID namespace: its own is the
    # only child of the process that the line before came from.
    asked = [int(process.stdout.readline()) for _ in range(wishes)]
    if asked[-1] == 0:
        owner = asked[-2]
        middle = Path(f"/proc/{owner}/task/{owner}/children").read_text().split()[0]
        os.kill(int(middle), signal.SIGKILL)
    else:
        os.kill(asked[-1], signal.SIGKILL)
    wait_until_gone(mark, [])


def test_a_caller_that_died_early_leaves_nothing(started):
    """The caller is killed at a random moment of entering the sandbox."""
    code = (
        "import time;from howquick.testbed.sandbox import enter_sandbox;enter_sandbox();"
        "time.sleep(1000)"
    )
    mark = f"mark-{uuid.uuid4()}"
    for step in range(25):
        process = subprocess.Popen(
            [sys.executable, "-c", code], env=environment(HOWQUICK_TEST_MARK=mark), cwd=SCRIPTS
        )
        started.append(process)
        time.sleep(0.03 + 0.004 * step)
        process.kill()
        process.wait()
    wait_until_gone(mark, [])


@pytest.mark.parametrize("ordinary", [False, True])
def test_a_program_with_idle_library_threads_gets_in(ordinary):
    """Importing numpy starts threads, with which no user namespace can be made."""
    code = (
        "import numpy as np; np.ones((400, 400)) @ np.ones((400, 400))\n"
        "from howquick.testbed.sandbox import enter_sandbox; enter_sandbox()\n"
        "print((np.ones((400, 400)) @ np.ones((400, 400))).sum())"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=HANG_S,
        **identity(ordinary),
    )
    assert done.stdout == "64000000.0\n", done.stderr


def test_a_testbed_needs_a_sandbox(tmp_path):
    from howquick.testbed.errors import TestbedError

    with pytest.raises(TestbedError, match="enter_sandbox"):
        Testbed(Link(10, 20, 1, 100), scratch=tmp_path)
