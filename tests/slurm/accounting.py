"""The accounting of a test cluster: the distribution's slurmdbd and the database it stores in."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cluster import Cluster

ACCOUNTING_PORT = 16819
DATABASE_PORT = 16820

# What slurm.conf names as its storage.
ACCOUNTING = """\
slurmdbd
AccountingStorageHost={address}
AccountingStoragePort={port}
AccountingStoragePass={munge}"""
CONFIGURATION = """\
DbdHost=head
DbdAddr={address}
DbdPort={port}
SlurmUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
StorageType=accounting_storage/mysql
StorageHost={address}
StoragePort={database_port}
StorageUser=slurm
LogFile={folder}/slurmdbd.log
PidFile={folder}/slurmdbd.pid
"""


def storage(folder: Path, address: str) -> str:
    """The value of AccountingStorageType, with the lines that belong to it."""
    # munge's socket goes by the name of a password here.
    return ACCOUNTING.format(
        address=address, port=ACCOUNTING_PORT, munge=folder / "munge" / "socket"
    )


def write_accounting(etc: Path, folder: Path, address: str, user: str) -> None:
    """Write slurmdbd's configuration beside slurm.conf, readable by its owner alone as it demands."""
    file = etc / "slurmdbd.conf"
    file.touch(mode=0o600)
    file.write_text(
        CONFIGURATION.format(
            address=address,
            port=ACCOUNTING_PORT,
            database_port=DATABASE_PORT,
            user=user,
            folder=folder,
        )
    )


def start_database(cluster: Cluster, address: str) -> None:
    """An empty database, without users: nothing outside of the cluster reaches its address."""
    data = cluster.folder / "database"
    data.mkdir()
    cluster.start_daemon(
        "mariadbd", "head",
        "mariadbd", "--no-defaults", f"--datadir={data}", f"--socket={data}/socket",
        f"--pid-file={data}/pid", f"--bind-address={address}", f"--port={DATABASE_PORT}",
        "--skip-grant-tables", "--innodb-buffer-pool-size=32M",
    )  # fmt: skip
    cluster.wait_for((data / "socket").exists)


def start_accounting(cluster: Cluster) -> None:
    """slurmdbd, and the cluster as one it knows."""
    cluster.start_daemon("slurmdbd", "head", "slurmdbd", "-D")
    cluster.wait_for(lambda: "Cluster" in cluster.run("sacctmgr", "show", "cluster", check=False))
    if "test" not in cluster.run("sacctmgr", "--noheader", "show", "cluster", "format=cluster"):
        cluster.run("sacctmgr", "--immediate", "add", "cluster", "test")
