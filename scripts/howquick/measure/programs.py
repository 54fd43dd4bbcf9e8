"""The servers of a block and the clients of its loads."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from howquick.content import SERVER_NAME, make_bulk
from howquick.endpoints import load_endpoints
from howquick.files import canonical_hash, read_json
from howquick.measure.block import Block
from howquick.measure.client import Client
from howquick.measure.cpu import separate_cpus
from howquick.measure.job import Job
from howquick.measure.moves import Moves
from howquick.measure.server import Server
from howquick.testbed.testbed import Testbed
from howquick.workload import body_mode, bulk_sizes, fetch_mode, kind_of, page_name

# The beginning of a long range in which Wireshark expects no protocol of its own: above 4433 there are
# several (4551 is MIH), and then packets are not seen to be QUIC.
FIRST_PORT = 14433
# What the arms that share a server have in common.
SERVER_KEYS = ("server", "protocol", "congestion_control", "connection", "options")


class Programs:
    """Starts what a block's arms need; servers live until `stop`.

    scratch: folder in memory for certificates, what is served, and the servers' own files.
    page: what is served, as the index of the content has it.
    """

    def __init__(
        self, block: Block, scratch: Path, bed: Testbed, first_port: int = FIRST_PORT
    ) -> None:
        self.cell = block.cell
        self.bed = bed
        self._first_port = first_port
        self.scratch = scratch
        self.cpus = separate_cpus() if self.cell.get("alone") else {}
        self.qlog = self.cell.get("observe", {}).get("qlog", True)
        self._servers: dict[str, Server] = {}
        workload = self.cell["workload"]
        content = block.results / "content"
        self.page: list[dict[str, Any]] = read_json(content / page_name(workload) / "page.json")
        # Served from memory: the disk must not be part of a load.
        self.www = scratch / "www"
        shutil.copytree(content / page_name(workload) / "www", self.www)
        if kind_of(workload) == "bulk":
            make_bulk(self.www / "bulk", bulk_sizes(workload))
        self.certificates = scratch / "certificates"
        shutil.copytree(content / "certificates", self.certificates)

    def server(self, arm: dict[str, Any]) -> Server:
        """The server of an arm; arms that ask for the same share it."""
        key = canonical_hash({name: arm[name] for name in SERVER_KEYS})[:12]
        if key not in self._servers:
            state = self.scratch / "servers" / key
            state.mkdir(parents=True)
            job = Job(
                endpoint=load_endpoints()[arm["server"]],
                role="server",
                arm=arm,
                address=self.bed.server.address,
                port=self._first_port + len(self._servers),
                certificates=self.certificates,
                state=state / "state",
                log=state / "log",
                qlog=state / "qlog" if self.qlog else None,
                extra={"WWW": str(self.www)},
                cpus=self.cpus.get("server", frozenset()),
            )
            self._servers[key] = Server(job, self.bed.server)
        return self._servers[key]

    def client(
        self, arm: dict[str, Any], requests: list[dict[str, Any]], scratch: Path, moves: Moves
    ) -> Client:
        """A client for one load of `requests` (entries of the page); its files go to `scratch`."""
        port = self.server(arm).job.port
        workload = self.cell["workload"]
        urls = [f"https://{SERVER_NAME}:{port}{entry['path']}" for entry in requests]
        artifacts = scratch / "artifacts"
        artifacts.mkdir(parents=True)
        job = Job(
            endpoint=load_endpoints()[arm["client"]],
            role="client",
            arm=arm,
            address=self.bed.server.address,
            port=port,
            certificates=self.certificates,
            state=scratch / "state",
            log=scratch / "client.log",
            qlog=scratch / "qlog" / "client" if self.qlog else None,
            keys=scratch / "keys.log",
            extra={
                "REQUESTS": " ".join(urls),
                "TIMING": str(scratch / "timing.json"),
                "FETCH": fetch_mode(workload),
                "BODY": body_mode(workload),
                "MOVES": str(self.cell.get("moves", 0)),
                "ARTIFACTS": str(artifacts),
            },
            cpus=self.cpus.get("client", frozenset()),
        )
        return Client(job, self.bed.client, moves.make if self.cell.get("moves") else None)

    def stop(self) -> None:
        """End all servers, gently first."""
        for server in self._servers.values():
            server.ask_to_stop()
        for server in self._servers.values():
            server.stop()
