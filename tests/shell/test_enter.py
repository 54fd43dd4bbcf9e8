"""`enter` as a user sees it: exit status, signals, nothing left behind, and its messages.

Inside the environment, `enter` is tried once more from within: everything it needs is there.
"""

from __future__ import annotations

import os
import pty
import shutil
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from patience import HANG_S, wait_until

REPO = Path(__file__).resolve().parents[2]
ENTER = str(REPO / "enter")
PROVISION = REPO / "scripts" / "provision"
NAMESPACE = ["perl", str(PROVISION / "namespace.pl"), *([] if os.geteuid() == 0 else ["--user"])]
# An ordinary user, made of whoever runs the tests.
AS_USER = ["unshare", "--user", "--map-user=1000", "--map-group=1000", "--"]
pytestmark = pytest.mark.rights


def outside(**changes: str) -> dict[str, str]:
    """The variables of somebody who is not in the environment yet."""
    kept = {name: value for name, value in os.environ.items() if name != "HOWQUICK_INSIDE"}
    return {**kept, **changes}


def enter(
    *command: str, before: list[str] | None = None, **changes: str
) -> subprocess.CompletedProcess[str]:
    """Runs `enter COMMAND` and waits for it."""
    return subprocess.run(
        [*(before or []), ENTER, *command],
        capture_output=True,
        text=True,
        check=False,
        cwd=REPO,
        env=outside(**changes),
        stdin=subprocess.DEVNULL,
        timeout=HANG_S,
    )


def processes_with(mark: str) -> list[int]:
    """Processes that have `mark` among their arguments."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                arguments = (folder / "cmdline").read_bytes().decode(errors="replace").split("\0")
            except OSError:
                continue
            if mark in arguments:
                found.append(int(folder.name))
    return found


@pytest.fixture(scope="module", autouse=True)
def provisioned() -> None:
    """Everything is built before anything is timed."""
    done = enter("true")
    assert done.returncode == 0, done.stderr


@pytest.fixture(params=[[], AS_USER], ids=["as-i-am", "as-user"])
def before(request: pytest.FixtureRequest) -> list[str]:
    """As whom `enter` is started."""
    return list(request.param)


def test_second_start_builds_nothing_and_is_silent() -> None:
    """Who builds waits for the lock, and says so: here somebody has it, and the start goes on."""
    script = 'exec 9<"$HOWQUICK_CACHE/lock"; flock --nonblock 9; exec "$0" true'
    done = enter_by(["bash", "-c", script, ENTER])
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("status", [0, 1, 42, 255])
def test_exit_status_comes_back(before: list[str], status: int) -> None:
    assert enter("sh", "-c", f"exit {status}", before=before).returncode == status


def test_death_by_signal_comes_back() -> None:
    assert enter("sh", "-c", "kill -KILL $$").returncode == 128 + signal.SIGKILL


def test_unknown_command_is_127() -> None:
    done = enter("no-such-command")
    assert done.returncode == 127
    assert "no-such-command" in done.stderr


def test_folder_and_variables(before: list[str]) -> None:
    script = (
        'printf "%s\\n" "$PWD" "$HOWQUICK_X" "${SECRET-none}" "$LC_ALL" "$TZ"'
        ' && test -f "$HOWQUICK_MANIFEST"'
    )
    done = enter("sh", "-c", script, before=before, HOWQUICK_X="1 2", SECRET="s", TZ="Asia/Tokyo")
    assert done.stdout.splitlines() == [str(REPO), "1 2", "none", "C.UTF-8", "UTC"]
    assert done.returncode == 0


def test_workflow_can_be_imported(before: list[str]) -> None:
    done = enter("python3", "-c", "import snakemake, sys; print(sys.prefix)", before=before)
    assert done.returncode == 0, done.stderr
    assert "programs/workflow-" in done.stdout


def test_system_is_read_only(before: list[str]) -> None:
    done = enter("touch", "/usr/mark", before=before)
    assert done.returncode != 0
    assert "Read-only" in done.stderr


def test_inside_it_only_starts_the_command() -> None:
    done = enter(ENTER, "sh", "-c", "echo $HOWQUICK_INSIDE")
    assert done.stdout == "enter\n"


def test_namespaces_can_be_nested(before: list[str]) -> None:
    script = (
        "mount -t proc proc /proc && mount -t sysfs sysfs /sys && mount -t tmpfs none /mnt"
        " && ip link add left type veth peer name right && ip netns add inner && ip -brief link show left"
        " && ls -d /proc/1 && unshare --user --map-root-user true"
    )
    nested = [
        "unshare",
        "--user",
        "--map-root-user",
        "--net",
        "--mount",
        "--pid",
        "--fork",
        "--kill-child",
    ]
    done = enter(*nested, "sh", "-c", script, before=before)
    assert done.returncode == 0, done.stderr
    assert "left@right" in done.stdout


@pytest.fixture
def sleeper(
    before: list[str], tmp_path: Path
) -> Iterator[tuple[subprocess.Popen[bytes], str, Path]]:
    """A shell inside that waits with a child, tells when a signal comes, and can be found by its mark."""
    mark, told = uuid.uuid4().hex, tmp_path / "told"
    script = (
        f'trap "echo TERM >>{told}; exit 7" TERM; trap "echo INT >>{told}; exit 8" INT;'
        f" sleep 300 & echo ready >{told}; wait"
    )
    process = subprocess.Popen(
        [*before, ENTER, "bash", "-c", script, mark],
        cwd=REPO,
        env=outside(),
        stdin=subprocess.DEVNULL,
    )
    assert wait_until(lambda: told.exists() and told.read_text()), "the command inside"
    yield process, mark, told
    process.kill()
    process.wait()


@pytest.mark.parametrize(
    ("number", "name", "status"), [(signal.SIGTERM, "TERM", 7), (signal.SIGINT, "INT", 8)]
)
def test_signal_reaches_command(
    sleeper: tuple[subprocess.Popen[bytes], str, Path],
    number: signal.Signals,
    name: str,
    status: int,
) -> None:
    process, mark, told = sleeper
    process.send_signal(number)
    assert process.wait(HANG_S) == status
    assert told.read_text().split() == ["ready", name]
    assert processes_with(mark) == []


def test_kill_leaves_nothing(sleeper: tuple[subprocess.Popen[bytes], str, Path]) -> None:
    process, mark, _ = sleeper
    assert processes_with(mark) != []
    mounts = Path("/proc/self/mounts").read_text()
    process.kill()
    process.wait()
    assert wait_until(lambda: not processes_with(mark)), "something inside goes on"
    assert Path("/proc/self/mounts").read_text() == mounts


@pytest.mark.parametrize("delay_ms", range(0, 60, 6))
def test_kill_during_the_start_leaves_nothing(delay_ms: int) -> None:
    mark = uuid.uuid4().hex
    process = subprocess.Popen(
        [ENTER, "sleep", "300", mark], cwd=REPO, env=outside(), stdin=subprocess.DEVNULL
    )
    time.sleep(delay_ms / 1000)
    process.kill()
    process.wait()
    assert wait_until(lambda: not processes_with(mark)), "something inside goes on"


def test_ctrl_c_arrives_once(tmp_path: Path) -> None:
    told = tmp_path / "told"
    script = (
        f'trap "echo INT >>{told}" INT; echo ready >{told};'
        " for i in 1 2 3 4 5 6 7 8 9 10; do sleep 0.1; done; exit 9"
    )
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(REPO)
        os.execve(ENTER, [ENTER, "bash", "-c", script], outside())
    assert wait_until(lambda: told.exists() and told.read_text()), "the command inside"
    os.write(terminal, b"\x03")
    _, status = os.waitpid(child, 0)
    os.close(terminal)
    assert os.waitstatus_to_exitcode(status) == 9
    assert told.read_text().split() == ["ready", "INT"]


def test_a_start_in_the_background_leaves_ctrl_c_alone() -> None:
    """What a shell starts in the background ignores SIGINT, and so does all that is started from there."""
    ignored = "import signal; print(signal.getsignal(signal.SIGINT) is signal.SIG_IGN)"
    for disposition, said in (('trap "" INT', "True\n"), (":", "False\n")):
        script = f'{disposition}; exec "$0" python3 -c "$1"'
        assert enter_by(["bash", "-c", script, ENTER, ignored]).stdout == said


def test_cache_not_writable() -> None:
    done = enter("true", HOWQUICK_CACHE="/proc/nowhere")
    assert done.returncode == 1
    assert "/proc/nowhere is not writable: set HOWQUICK_CACHE" in done.stderr


def on_small_disk(options: str, folder: Path, **changes: str) -> subprocess.CompletedProcess[str]:
    """`enter true` with an empty cache on a file system of its own."""
    script = 'mount -t tmpfs -o "mode=700,$1" none "$2" && exec "$3" true'
    return enter_by(
        [*NAMESPACE, "--", "sh", "-c", script, "sh", options, str(folder), ENTER],
        HOWQUICK_CACHE=str(folder),
        **changes,
    )


def enter_by(command: list[str], **changes: str) -> subprocess.CompletedProcess[str]:
    """Runs a command that leads to `enter`."""
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        cwd=REPO,
        env=outside(**changes),
        stdin=subprocess.DEVNULL,
        timeout=HANG_S,
    )


def test_the_environment_is_found_at_the_same_place_wherever_it_is_kept(tmp_path: Path) -> None:
    """Programs see its paths, and what they do then decides bits in virtual time."""
    home, kept = tmp_path / "deep/home of/eve", Path(os.environ["HOWQUICK_KEPT"])
    # The same environment, kept by somebody else, who has not entered it yet.
    script = """mkdir -p "$HOME/.cache/howquick"
      mount --bind "$1" "$HOME/.cache/howquick"
      mount -t tmpfs -o mode=700 none "$HOME/.cache/howquick/known"
      exec "$2" sh -c 'command -v python3; echo "$PATH
$HOME
$HOWQUICK_MANIFEST
$HOWQUICK_CACHE
$HOWQUICK_KEPT"'"""
    command = [*NAMESPACE, "--", "sh", "-euc", script, "sh", str(kept), ENTER]
    inner = ("HOWQUICK_CACHE", "HOWQUICK_KEPT")
    variables = {name: value for name, value in outside().items() if name not in inner}
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=REPO, timeout=HANG_S,
        stdin=subprocess.DEVNULL, env=variables | {"HOME": str(home)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    *found, cache = done.stdout.splitlines()
    here = [shutil.which("python3")] + [
        os.environ[n] for n in ("PATH", "HOME", "HOWQUICK_MANIFEST", "HOWQUICK_CACHE")
    ]
    assert found == here
    assert cache == f"{home}/.cache/howquick"


def test_too_little_disk(tmp_path: Path) -> None:
    done = on_small_disk("size=20m", tmp_path)
    assert done.returncode == 1
    assert "too little disk for the Debian packages" in done.stderr
    assert "needed in" in done.stderr and str(tmp_path) in done.stderr


@pytest.mark.parametrize(
    "text", ["", "touch {told}\n", "root=/\nworkflow=/\nmanifest=/etc/passwd\ntouch {told}\n"]
)
def test_what_says_that_all_is_there_is_not_believed_for_being_there(
    tmp_path: Path, text: str
) -> None:
    """A power cut leaves it empty: the environment is built then, and nothing of it is run."""
    told, cache = tmp_path / "told", tmp_path / "cache"
    cache.mkdir()
    script = """mount -t tmpfs -o mode=700,size=20m none "$1"
      ready=$(bash -x "$2" true 2>&1 | sed -n 's/^+ ready=//p')
      printf %s "$3" >"$ready" && exec "$2" true"""
    command = ["sh", "-euc", script, "sh", str(cache), ENTER, text.format(told=told)]
    done = enter_by([*NAMESPACE, "--", *command], HOWQUICK_CACHE=str(cache))
    assert done.returncode == 1
    assert "too little disk for the Debian packages" in done.stderr
    assert not told.exists()


def test_cache_mounted_noexec(tmp_path: Path) -> None:
    done = on_small_disk("size=20m,noexec", tmp_path)
    assert done.returncode == 1
    assert "noexec" in done.stderr


def test_mirror_unreachable(tmp_path: Path) -> None:
    nowhere = "http://127.0.0.1:9"
    done = on_small_disk("size=8g", tmp_path, http_proxy=nowhere, https_proxy=nowhere)
    assert done.returncode == 1
    assert "a mirror or registry cannot be reached" in done.stderr
    assert str(tmp_path / "logs") in done.stderr


def test_not_debian(tmp_path: Path) -> None:
    for name in (
        "bash",
        "perl",
        "find",
        "sort",
        "xargs",
        "sha256sum",
        "dirname",
        "env",
        "cat",
        "stat",
        "mkdir",
    ):
        (tmp_path / name).symlink_to(shutil.which(name) or name)
    done = enter("true", PATH=str(tmp_path), HOWQUICK_CACHE=str(tmp_path / "cache"))
    assert done.returncode == 1
    assert "nix develop" in done.stderr


def test_no_user_namespaces(tmp_path: Path) -> None:
    script = 'echo 0 >/proc/sys/user/max_user_namespaces && exec "$1" true'
    unprivileged = [
        "unshare",
        "--user",
        "--map-user=1000",
        "--keep-caps",
        "--",
        "sh",
        "-c",
        script,
        "sh",
        ENTER,
    ]
    done = enter_by(unprivileged, HOWQUICK_CACHE=str(tmp_path))
    assert done.returncode == 1
    assert "user.max_user_namespaces" in done.stderr


@pytest.mark.parametrize(
    ("log", "says"),
    [
        (
            "E: Unable to locate package r-cran-nonesuch\n",
            "correct its name in environment/debian/packages.txt",
        ),
        (
            "E: Version '1.0' for 'curl' was not found\n",
            "change it in environment/debian/packages.txt",
        ),
        ("ERROR: No matching distribution found for numpy==99.0\n", "renew this part's lock"),
        ("error: failed to select a version for `quiche`.\n", "renew this part's lock"),
        (
            "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE.\n",
            "altered it",
        ),
        ("npm error code EINTEGRITY\n", "altered it"),
        ("tar: x: Cannot write: No space left on device\n", "the disk is full"),
        ("cc1plus: out of memory allocating 65536 bytes\n", "ENTER_JOBS=1"),
        ("something else\n", "last words"),
    ],
)
def test_reason_is_read_from_log(tmp_path: Path, log: str, says: str) -> None:
    (tmp_path / "log").write_text(log)
    script = 'set -euo pipefail; cache=/c; source "$1/failures.sh"; why_it_failed "$2"'
    done = subprocess.run(
        ["bash", "-c", script, "bash", str(PROVISION), str(tmp_path / "log")],
        capture_output=True,
        text=True,
        check=True,
    )
    assert says in done.stdout
    assert len(done.stdout.splitlines()) == 1


def test_owners_are_faked(tmp_path: Path) -> None:
    file = tmp_path / "file"
    script = 'chown 5:7 "$1" && perl -e "exit(!(chown 6, 6, shift))" "$1" && stat -c %u "$1"'
    command = [
        "sh",
        "-c",
        f'touch "$1" && perl {PROVISION}/fakeids.pl sh -c \'{script}\' sh "$1"',
        "sh",
        str(file),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, f"{os.geteuid()}\n"), done.stderr


if __name__ == "__main__":
    sys.exit(pytest.main([__file__]))
