"""Doing harm to a block while it measures."""

import contextlib
import json
import os
from pathlib import Path

from patience import HANG_S, wait_until
from workflow.blocks import start_block
from workflow.flow import descendants

# Long enough a load that anything can be done in its middle, and short enough to wait for.
CLIENT = "page-client"  # of envs/curl
LONG_CELL = "2mbit-18ms-loss0-5obj-large"


# So many bytes at the client are the middle of a load.
MIDDLE_BYTES = 200_000


def name_of(pid):
    """The name of a process; empty if it is gone."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/comm").read_text().strip()
    return ""


def find(block, name):
    """PIDs of the processes below a block that have this name."""
    return sorted(pid for pid in descendants(block.pid) if name_of(pid) == name)


def received_bytes(pid):
    """What came in at the interface of a process's network namespace; 0 if it is gone."""
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/net/dev").read_text().splitlines():
            if line.strip().startswith("eth0:"):
                return int(line.split(":")[1].split()[0])
    return 0


class Injected:
    """A block that runs, and the moment in the middle of a load.

    finished: run folders (as bytes of their meta.json) when the fault struck.
    """

    def __init__(self, results, cell=LONG_CELL):
        self.results = results
        self.block = start_block(results, cell, start_new_session=True)
        self.runs = results / "runs" / "how-quick" / cell

    def wait_for_load(self, finished=1):
        """Wait until `finished` loads are over and a further one is in its middle."""
        assert wait_until(lambda: len(self.metas()) >= finished or self._over())
        assert wait_until(lambda: find(self.block, CLIENT) or self._over()), "no load began"
        assert not self._over(), self.block.stdout.read()
        (client,) = find(self.block, CLIENT)
        begin = received_bytes(client)
        assert wait_until(lambda: received_bytes(client) > begin + MIDDLE_BYTES)
        self.family = descendants(self.block.pid)
        self.finished = self.metas()

    def _over(self):
        return self.block.poll() is not None

    def metas(self):
        """The run folders that are there."""
        return {path: path.read_bytes() for path in self.runs.glob("*/[0-9]*/meta.json")}

    def signal(self, program, signum):
        """Send a signal to all processes of a program."""
        pids = find(self.block, program)
        assert pids, f"no {program} runs"
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signum)

    def end(self):
        """Wait for the block; returns (exit status, output) after checking that nothing is left of it."""
        output, _ = self.block.communicate(timeout=HANG_S)
        self.assert_gone()
        assert not list(self.results.rglob(".*.tmp"))
        assert "Traceback" not in output
        return self.block.returncode, output

    def assert_gone(self):
        """No process is left of those that ran when the fault struck."""
        assert wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in self.family))

    def assert_kept(self):
        """Nothing that was finished has changed."""
        now = self.metas()
        for path, content in self.finished.items():
            assert now.get(path) == content, json.loads(content)["reason"] or path
