"""Who measures beside whom: howquick.measure.neighbours."""

import contextlib
import errno
import fcntl
import os
import subprocess
import sys
import threading
import time

import pytest

from howquick.errors import ROOT
from howquick.measure.neighbours import Neighbours

PATIENCE_S = 20.0
HOLDER = """
import sys, time
from pathlib import Path
from howquick.measure.neighbours import Neighbours
with getattr(Neighbours(Path(sys.argv[1])), sys.argv[2])():
    print("here", flush=True)
    time.sleep(1000)
"""


class Guest:
    """A thread that enters as another block would, and stays until it is told to leave."""

    def __init__(self, results, way):
        self._inside, self._leave = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._stay, args=(results, way), daemon=True)
        self._thread.start()

    def _stay(self, results, way):
        with getattr(Neighbours(results, PATIENCE_S), way)():
            self._inside.set()
            self._leave.wait()

    def enters(self, seconds=PATIENCE_S / 2):
        return self._inside.wait(seconds)

    def leave(self):
        self._leave.set()
        self._thread.join()


@contextlib.contextmanager
def holder(results, way):
    """Another process that is inside."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, results, way],
        stdout=subprocess.PIPE, env={"PYTHONPATH": str(ROOT / "scripts")},
    ) as process:  # fmt: skip
        assert process.stdout.readline() == b"here\n"
        try:
            yield process
        finally:
            process.kill()


def test_loads_go_on_beside_each_other(tmp_path):
    guests = [Guest(tmp_path, "beside") for _ in range(3)]
    assert all(guest.enters() for guest in guests)
    for guest in guests:
        guest.leave()


@pytest.mark.parametrize("way", ["beside", "alone"])
def test_who_is_alone_shares_with_nobody(tmp_path, way):
    first = Guest(tmp_path, "alone")
    assert first.enters()
    second = Guest(tmp_path, way)
    assert not second.enters(0.3)
    first.leave()
    assert second.enters()
    second.leave()


def test_who_wants_to_be_alone_is_not_kept_waiting_by_newcomers(tmp_path):
    early = Guest(tmp_path, "beside")
    assert early.enters()
    alone = Guest(tmp_path, "alone")
    assert not alone.enters(0.3)
    late = Guest(tmp_path, "beside")
    assert not late.enters(0.3)
    early.leave()
    assert alone.enters()
    assert not late.enters(0.3)
    alone.leave()
    assert late.enters()
    late.leave()


def test_the_end_of_a_process_frees_what_it_held(tmp_path):
    with holder(tmp_path, "alone") as process:
        guest = Guest(tmp_path, "beside")
        assert not guest.enters(0.3)
        process.kill()
        assert guest.enters()
        guest.leave()


def test_a_block_that_stands_still_does_not_stop_the_others_for_ever(tmp_path):
    with holder(tmp_path, "beside"):
        begin = time.monotonic()
        with Neighbours(tmp_path, patience_s=0.5).alone():
            assert time.monotonic() - begin >= 0.5


def test_locks_are_of_files_that_can_be_read_and_written(tmp_path):
    """NFS makes locks of byte ranges of them: one to share needs a file open for reading."""
    opened = Neighbours(tmp_path)
    for lock in (opened._gate, opened._room):
        assert fcntl.fcntl(lock, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDWR


@pytest.mark.parametrize("way", ["beside", "alone"])
def test_a_lock_that_fails_is_no_lock_that_is_held(tmp_path, monkeypatch, way):
    """Only a file system without locks is no reason to stop."""
    told = [errno.ENOLCK, errno.EBADF]

    def refuse(lock, how):
        if how != fcntl.LOCK_UN:
            raise OSError(told[0], os.strerror(told[0]))

    monkeypatch.setattr(fcntl, "flock", refuse)
    with getattr(Neighbours(tmp_path), way)():
        told.pop(0)
    with (
        pytest.raises(OSError, match=os.strerror(errno.EBADF)),
        getattr(Neighbours(tmp_path), way)(),
    ):
        pass
