"""The servers of a block and the clients of its loads."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from howquick.content.pages import SERVER_NAME, make_bulk
from howquick.environment.endpoints import load_endpoints
from howquick.files import canonical_hash, read_json
from howquick.measure.block import Block
from howquick.measure.client import Client
from howquick.measure.cpu_time import separate_cpus
from howquick.measure.job import Job
from howquick.measure.moves import Moves
from howquick.measure.server import Server
from howquick.model import Arm, Workload
from howquick.study.cells import certificates_name, clock_of
from howquick.study.workload import bulk_objects, fetch_mode, kind_of, page_name, video_of
from howquick.testbed.testbed import Testbed

# The beginning of a long range in which Wireshark expects no protocol of its own: above 4433 there are
# several (4551 is MIH), and then packets are not seen to be QUIC.
FIRST_PORT = 14433
# What the arms that share a server have in common.
SERVER_KEYS = ("server", "protocol", "congestion_control", "connection", "options")


@dataclass(frozen=True)
class Apart:
    """What a flow beside the arm has of its own: its number, the server's address, and what it loads."""

    number: int
    address: str
    workload: Workload


@dataclass(frozen=True)
class Served:
    """What a server has: a folder in memory, and the index of the content."""

    www: Path
    page: list[dict[str, Any]]


class Programs:
    """Starts what a block's arms need; servers live until `stop`.

    scratch: folder in memory for certificates, what is served, and the servers' own files.
    page: what is served to the arms, as the index of the content has it.
    """

    def __init__(
        self, block: Block, scratch: Path, bed: Testbed, first_port: int = FIRST_PORT
    ) -> None:
        self.cell = block.cell
        self.bed = bed
        self._first_port = first_port
        self.scratch = scratch
        self.cpus = separate_cpus() if self.cell.get("alone") else {}
        self._in_guest = clock_of(self.cell) == "virtual"
        self.qlog = self.cell.get("observe", {}).get("qlog", True)
        self._servers: dict[str, Server] = {}
        self._content = block.results / "content"
        self._served: dict[str, Served] = {}
        self.page = self.served(self.cell["workload"]).page
        self.certificates = scratch / "certificates"
        shutil.copytree(self._content / certificates_name(self.cell), self.certificates)

    def served(self, workload: Workload) -> Served:
        """What servers have of a workload, copied when it is asked for first.

        Served from memory: the disk must not be part of a load. Nor must be when a page was made: a file's
        time is sent by servers.
        """
        name = page_name(workload)
        if name not in self._served:
            made = self._content / name
            www = self.scratch / (f"www-{name}" if self._served else "www")
            shutil.copytree(made / "www", www, copy_function=shutil.copyfile)
            if kind_of(workload) == "bulk":
                make_bulk(www / "bulk", bulk_objects(workload))
            self._served[name] = Served(www, read_json(made / "page.json"))
        return self._served[name]

    def server(self, arm: Arm, apart: Apart | None = None) -> Server:
        """The server of an arm, or of a flow beside it; those that ask for the same share it."""
        asked: dict[str, Any] = {name: v for name, v in arm.items() if name in SERVER_KEYS}
        if own := arm.get("own_options", {}).get("server"):
            asked["own_options"] = own
        workload = self.cell["workload"]
        if apart:
            workload = apart.workload
            asked["apart"] = [apart.number, page_name(workload)]
        key = canonical_hash(asked)[:12]
        if key not in self._servers:
            state = self.scratch / "servers" / key
            state.mkdir(parents=True)
            job = Job(
                endpoint=load_endpoints()[arm["server"]],
                role="server",
                arm=arm,
                address=apart.address if apart else self.bed.server.address,
                port=self._first_port + len(self._servers),
                certificates=self.certificates,
                state=state / "state",
                log=state / "log",
                qlog=state / "qlog" if self.qlog else None,
                extra={"WWW": str(self.served(workload).www)},
                cpus=self.cpus.get("server", frozenset()),
                forked=self._in_guest,
            )
            self._servers[key] = Server(job, self.bed.server)
        return self._servers[key]

    def client(
        self,
        arm: Arm,
        requests: list[dict[str, Any]],
        scratch: Path,
        moves: Moves,
        apart: Apart | None = None,
    ) -> Client:
        """A client for one load of `requests` (entries of the page); its files go to `scratch`.

        Of a video they are all its files, among which the player chooses. Bodies are hashed where an
        entry has a sum, else only counted.
        """
        server = self.server(arm, apart).job
        port, workload = server.port, apart.workload if apart else self.cell["workload"]
        origin = f"https://{SERVER_NAME}:{port}"
        urls = [f"{origin}{entry['path']}" for entry in requests]
        viewer = None
        if kind_of(workload) == "player":
            # Only here: loads without a player are begun as if there were none.
            from howquick.measure.viewer import SteeredClient, Viewer

            viewer = Viewer(video_of(workload), requests, origin)
            urls = [viewer.ask(0.0)]
        artifacts = scratch / "artifacts"
        artifacts.mkdir(parents=True)
        # Apart from what is the runner's own in the folder.
        (reports := scratch / "reports").mkdir()
        job = Job(
            endpoint=load_endpoints()[arm["client"]],
            role="client",
            arm=arm,
            address=server.address,
            port=port,
            certificates=self.certificates,
            state=scratch / "state",
            log=scratch / "client.log",
            qlog=scratch / "qlog" / "client" if self.qlog else None,
            keys=reports / "keys.log",
            extra={
                "REQUESTS": " ".join(urls),
                "TIMING": str(reports / "timing.json"),
                "FETCH": fetch_mode(workload, len(requests)),
                "BODY": "sha256" if all("sha256" in entry for entry in requests) else "length",
                "MOVES": str(self.cell.get("moves", 0)),
                "ARTIFACTS": str(artifacts),
            },
            cpus=self.cpus.get("client", frozenset()),
            forked=self._in_guest,
        )
        if viewer:
            return SteeredClient(job, self.bed.client, viewer)
        return Client(job, self.bed.client, moves.make if self.cell.get("moves") else None)

    def stop(self) -> None:
        """End all servers, gently first."""
        for server in self._servers.values():
            server.ask_to_stop()
        for server in self._servers.values():
            server.stop()
