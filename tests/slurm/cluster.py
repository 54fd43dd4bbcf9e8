"""A real SLURM cluster on one machine, started by an ordinary user.

Controller and node daemons are the distribution's. They live in namespaces of their own: a user namespace in
which the user has number 1000 and no rights, a network without a way out, and for each node a host name.
/etc/slurm, /etc/passwd and /etc/hosts are the cluster's there and untouched outside. Nothing survives the end
of the holder.
"""

from __future__ import annotations

import os
import secrets
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from accounting import start_accounting, start_database, storage, write_accounting
from processes import all_processes, children, host_namespace, host_of, kill_all, name_of

from patience import HANG_S, wait_until
from workflow.flow import descendants

ADDRESS = "192.0.2.1"
USER_ID = 1000
USER_NAME = "researcher"
CONTROLLER_PORT = 16817
FIRST_NODE_PORT = 16901
# A node that is silent for so long is down. (The smallest that the controller's pings allow.)
NODE_TIMEOUT_S = 10
# Numbers of jobs between two starts of the controller. One that dies has not saved its latest jobs and
# would give their numbers again; nodes that still have these jobs are drained then.
JOBS_PER_START = 1000

CONFIGURATION = """\
ClusterName=test
SlurmctldHost=head({address})
SlurmctldPort={controller_port}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket,cred_expire=10
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/{accounting}
MpiDefault=none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=batch_sched_delay=0,sched_min_interval=0,bf_interval=2,requeue_delay=1
MinJobAge=600
FirstJobId={first_job}
KillWait=2
SlurmdTimeout={node_timeout}
ReturnToService=2
JobRequeue=1
Licenses=testbed:{licences}
{nodes}
PartitionName=measure Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


# A node: its host name, and what it has instead of the head's files and folders.
AS_NODE = """\
hostname "$0"
while [ "$1" != -- ]; do
  mount --bind "$1" "$2"
  shift 2
done
shift
exec "$@"
"""


class Cluster:
    """One controller (`head`) and nodes `node1`, `node2`, …; a context manager.

    folder: empty and private, for all files of the cluster. cpus: what each node claims to have.
    features: per node, its SLURM feature; a node with the feature `other` has another model of processor.
    licences: how many `testbed` there are. accounting: with slurmdbd and its database. own_disks: no node
    sees the head's cache folder; each has an empty one.
    """

    def __init__(
        self,
        folder: Path,
        features: tuple[str, ...] = ("plain", "plain"),
        cpus: int = 2,
        licences: int = 1,
        accounting: bool = False,
        own_disks: bool = False,
    ) -> None:
        self.folder, self.features, self.cpus, self.licences = folder, features, cpus, licences
        self.accounting, self.own_disks = accounting, own_disks
        self._etc = folder / "etc"
        self._starts = 0
        self.names = [f"node{number}" for number in range(1, len(features) + 1)]
        self.daemons: dict[str, subprocess.Popen[bytes]] = {}
        self._holder: subprocess.Popen[bytes]

    def __enter__(self) -> Cluster:
        self._write_files()
        self._hold_namespaces()
        try:
            self._setup_namespaces()
            self.start_munge()
            if self.accounting:
                start_database(self, ADDRESS)
                start_accounting(self)
            self.start_controller()
            for name in self.names:
                self.start_node(name)
            self.wait_for(lambda: self.node_states() == dict.fromkeys(self.names, "idle"))
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        # The holder is the init of the PID namespace: all daemons and jobs end with it.
        self._holder.kill()
        self._holder.wait()
        for daemon in self.daemons.values():
            daemon.wait()

    # What tests do with it.

    def command(
        self, *words: str | Path, host: str = "head", folder: Path | None = None
    ) -> list[str]:
        """The command line that runs `words` as the cluster's user on a host, in a folder."""
        return [*self._inside(host, folder), *self._as_user(), *map(str, words)]

    def run(self, *words: str | Path, check: bool = True) -> str:
        """Run a SLURM command on the head; returns its stdout."""
        done = subprocess.run(
            self.command(*words), capture_output=True, text=True, check=False, timeout=HANG_S
        )
        if check and done.returncode:
            raise RuntimeError(
                f"{words[0]} ended with {done.returncode}: {done.stderr}{self.logs()}"
            )
        return done.stdout

    def node_states(self) -> dict[str, str]:
        """State of each node; empty while the controller does not answer."""
        lines = self.run("sinfo", "--noheader", "-N", "--format=%N %T", check=False).splitlines()
        return dict(line.split() for line in lines)

    def jobs(self, states: str = "RUNNING") -> list[dict[str, str]]:
        """Jobs in these states: id, name, state, comment, node."""
        keys = ("id", "name", "state", "comment", "node")
        text = self.run("squeue", "--noheader", f"--states={states}", "--format=%i|%j|%T|%k|%N")
        return [dict(zip(keys, line.split("|"), strict=True)) for line in text.splitlines()]

    def kill_node(self, name: str, *, with_jobs: bool) -> None:
        """Kill a node's daemon with SIGKILL; with_jobs: everything on it, as a power cut does."""
        daemon = self.daemons.pop(name)
        machine = host_of(daemon.pid)
        kill_all(
            pid
            for pid in all_processes()
            if host_namespace(pid) == machine and (with_jobs or name_of(pid) == "slurmd")
        )
        daemon.wait()

    def restart_controller(self, after_s: float, forgetful: bool = False) -> None:
        """Kill the controller with SIGKILL and start it again, after some seconds, from its saved state.

        forgetful: without that state.
        """
        self.kill_daemon("slurmctld")
        time.sleep(after_s)
        self.start_controller(forgetful)

    def kill_daemon(self, key: str) -> None:
        """Kill a daemon of the head with SIGKILL; what it has stored stays."""
        daemon = self.daemons.pop(key)
        kill_all(descendants(daemon.pid))
        daemon.wait()

    def logs(self) -> str:
        """The last lines of every daemon's log."""
        return "".join(
            f"\n== {log.name}\n" + "\n".join(log.read_text(errors="replace").splitlines()[-15:])
            for log in sorted(self.folder.glob("*.log"))
        )

    @staticmethod
    def wait_for(condition: Callable[[], bool]) -> None:
        """Wait until `condition()`, which may ask the controller, is true; TimeoutError if it never is."""
        if not wait_until(condition, poll_s=0.2):
            raise TimeoutError(f"not true within {HANG_S} s: {condition}")

    # How it is started.

    def start_munge(self) -> None:
        """The authentication daemon; its key is made for this cluster."""
        folder = self.folder / "munge"
        self.start_daemon(
            "munged", "head",
            "munged", "--foreground", "--force", f"--key-file={folder}/key", f"--socket={folder}/socket",
            f"--pid-file={folder}/pid", f"--log-file={folder}/log", f"--seed-file={folder}/seed",
            "--num-threads=2",
        )  # fmt: skip
        self.wait_for((folder / "socket").exists)

    def start_controller(self, forgetful: bool = False) -> None:
        """slurmctld, from its saved state if there is one and it is not forgetful."""
        self._write_configuration()
        self._starts += 1
        self.start_daemon("slurmctld", "head", "slurmctld", "-D", *(["-c"] if forgetful else []))

    def start_node(self, name: str) -> None:
        """slurmd of one node, on a host of that name."""
        self.start_daemon(name, name, "slurmd", "-D", "-N", name)

    def start_daemon(self, key: str, host: str, *words: str) -> None:
        """Start a daemon on a host; its output goes to a file. `key`: its name in `daemons`."""
        with (self.folder / f"{key}.out").open("ab") as output:
            self.daemons[key] = subprocess.Popen(
                self.command(*words, host=host),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
            )

    def _inside(self, host: str, folder: Path | None = None) -> list[str]:
        words = [
            "nsenter", f"--target={self._holder_child}", "--user", "--preserve-credentials", "--mount",
            "--net", "--pid", "--uts", f"--wdns={folder or self.folder}",
        ]  # fmt: skip
        if host == "head":
            return words
        own = self._own(host)
        return [*words, "unshare", "--uts", "--mount", "sh", "-c", AS_NODE, host, *own, "--"]

    def _own(self, name: str) -> list[str]:
        """What a node has of its own: pairs of a path and what it covers."""
        own: list[str] = []
        if self.features[self.names.index(name)] == "other":
            own += [str(self._etc / "cpuinfo"), "/proc/cpuinfo"]
        if self.own_disks:
            own += [str(self.disk(name)), os.environ["HOWQUICK_KEPT"]]
        return own

    def disk(self, name: str) -> Path:
        """The cache folder of a node that has its own."""
        return self.folder / f"disk-{name}"

    @staticmethod
    def _as_user() -> list[str]:
        return ["unshare", "--user", f"--map-user={USER_ID}", f"--map-group={USER_ID}", "--"]

    def _hold_namespaces(self) -> None:
        # Dies with the tests too, however they end.
        self._holder = subprocess.Popen(
            ["setpriv", "--pdeathsig=KILL", "unshare", "--user", "--map-root-user", "--mount",
             "--net", "--pid", "--uts", "--fork",
             "--kill-child", "--mount-proc", "sleep", "infinity"],
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
        self.wait_for(lambda: bool(children(self._holder.pid)))
        (self._holder_child,) = children(self._holder.pid)
        comm = Path(f"/proc/{self._holder_child}/comm")
        self.wait_for(lambda: comm.read_text() == "sleep\n")

    def _setup_namespaces(self) -> None:
        for words in (
            ["hostname", "head"],
            ["ip", "link", "set", "lo", "up"],
            # SLURM asks for addresses of "configured" families, and loopback does not count as such.
            ["ip", "link", "add", "wire", "type", "veth", "peer", "name", "end"],
            ["ip", "address", "add", f"{ADDRESS}/24", "dev", "wire"],
            ["ip", "link", "set", "wire", "up"],
            ["ip", "link", "set", "end", "up"],
            ["mount", "--bind", self._etc / "slurm", "/etc/slurm"],
            ["mount", "--bind", self._etc / "passwd", "/etc/passwd"],
            ["mount", "--bind", self._etc / "hosts", "/etc/hosts"],
        ):
            subprocess.run([*self._inside("head"), *map(str, words)], check=True, timeout=HANG_S)

    def _write_files(self) -> None:
        for name in ("munge", "state", "etc/slurm"):
            (self.folder / name).mkdir(parents=True, mode=0o700)
        for name in self.names if self.own_disks else []:
            self.disk(name).mkdir()
        key = self.folder / "munge" / "key"
        key.write_bytes(secrets.token_bytes(128))
        key.chmod(0o600)
        if self.accounting:
            write_accounting(self._etc / "slurm", self.folder, ADDRESS, USER_NAME)
        (self._etc / "cpuinfo").write_text("processor : 0\nmodel name : Another Processor\n")
        # Containers have no cgroups to give away.
        (self._etc / "slurm" / "cgroup.conf").write_text("CgroupPlugin=disabled\n")
        account = f"{USER_NAME}:x:{USER_ID}:{USER_ID}::{self.folder}:/bin/bash\n"
        (self._etc / "passwd").write_text(f"root:x:0:0::/root:/bin/bash\n{account}")
        (self._etc / "hosts").write_text(
            f"127.0.0.1 localhost\n{ADDRESS} head {' '.join(self.names)}\n"
        )
        self._write_configuration()

    def _write_configuration(self) -> None:
        nodes = "\n".join(
            f"NodeName={name} NodeAddr={ADDRESS} Port={FIRST_NODE_PORT + number} CPUs={self.cpus} "
            f"RealMemory=8000 Feature={feature} State=UNKNOWN"
            for number, (name, feature) in enumerate(zip(self.names, self.features, strict=True))
        )
        (self._etc / "slurm" / "slurm.conf").write_text(
            CONFIGURATION.format(
                folder=self.folder,
                address=ADDRESS,
                user=USER_NAME,
                controller_port=CONTROLLER_PORT,
                nodes=nodes,
                licences=self.licences,
                node_timeout=NODE_TIMEOUT_S,
                accounting=storage(self.folder, ADDRESS) if self.accounting else "none",
                first_job=1 + self._starts * JOBS_PER_START,
            )
        )
