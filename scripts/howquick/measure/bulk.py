"""How large a bulk load is: pilot transfers choose it, so that fast and slow arms run equally long."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from howquick import interop
from howquick.environment.endpoints import load_endpoints
from howquick.measure.block import Block
from howquick.measure.children import ProgramFailed
from howquick.measure.client import Client
from howquick.measure.moves import Moves
from howquick.measure.profiling import Profile
from howquick.measure.programs import Programs
from howquick.measure.server import Server
from howquick.measure.socket_buffers import SocketBuffers
from howquick.measure.verify import verified_timing
from howquick.model import ROLES, Arm
from howquick.study.workload import BULK_OBJECT, bulk_requests, bulk_sizes

# A pilot that takes less than this share of the time wanted tells little of a rate: slow start.
TELLING_SHARE = 0.5


class BulkSize:
    """Chooses one size per arm and remembers it."""

    def __init__(self, block: Block, programs: Programs, scratch: Path) -> None:
        self._block, self._programs, self._scratch = block, programs, scratch
        self._chosen: dict[str, dict[str, Any]] = {}

    def of(self, arm: Arm) -> dict[str, Any]:
        """`{"bytes", "pilots": [{"bytes", "seconds"}], "buffers": {end: sizes}}` of an arm.

        A repetition that is there already decides; otherwise pilots do. The first one's bytes are compared
        with what is served. Where a pilot fails the smallest size is taken: the load itself will then
        tell why.
        """
        name = arm["name"]
        if name not in self._chosen:
            self._chosen[name] = self._decided(arm) or self._pilot(arm)
        return self._chosen[name]

    def _decided(self, arm: Arm) -> dict[str, Any] | None:
        """What an earlier repetition with the same programs chose."""
        asked = self._block.cell["workload"]["bulk"]
        wanted = {role: self._block.plan["programs"][arm[role]] for role in ROLES}
        for file in sorted(self._block.folder(arm["name"], 0).parent.glob("*/meta.json")):
            meta = json.loads(file.read_text(encoding="utf-8"))
            hashes = {role: meta["programs"][role]["hash"] for role in wanted}
            bulk: dict[str, Any] | None = meta.get("bulk")
            same = hashes == wanted and meta["arm_definition"] == arm
            if bulk and bulk["pilots"] and same and bulk["workload"] == asked:
                return bulk
        return None

    def _pilot(self, arm: Arm) -> dict[str, Any]:
        asked = self._block.cell["workload"]["bulk"]
        sizes = self._sizes(arm)
        pilots: list[dict[str, Any]] = []
        size = sizes[0]
        try:
            while True:
                seconds, seen = self._transfer(arm, size)
                pilots.append({"bytes": size, "seconds": seconds})
                best = closest(sizes, size / seconds * asked["seconds"])
                if seconds >= TELLING_SHARE * asked["seconds"] or best <= size:
                    return {"bytes": best, "pilots": pilots, "workload": asked} | seen
                # At most eightfold at once: the first rate was measured in slow start.
                size = min(best, 8 * size)
        except (ProgramFailed, TimeoutError):
            return {"bytes": sizes[0], "pilots": pilots, "workload": asked}

    def _sizes(self, arm: Arm) -> list[int]:
        """The sizes that a load of an arm may have, bytes."""
        sizes = bulk_sizes(self._block.cell["workload"])
        contract = load_endpoints()[arm["client"]].declaration.get("contract")
        # Clients of that contract keep what they fetch, by its name: an object comes once only.
        return [s for s in sizes if contract != interop.CONTRACT or s <= BULK_OBJECT]

    def _transfer(self, arm: Arm, size: int) -> tuple[float, dict[str, Any]]:
        """Load `size` bytes: seconds, the ends' socket buffers, and where processor time went if asked.

        Raises ProgramFailed, TimeoutError.
        """
        shutil.rmtree(self._scratch, ignore_errors=True)
        self._scratch.mkdir()
        wanted = bulk_requests(self._programs.page, size)
        server = self._programs.server(arm)
        server.ensure()
        client = self._programs.client(arm, wanted, self._scratch, Moves(self._programs.bed))
        try:
            client.prepare()
            profiles = self._profiles(arm, server, client)
            client.go()
            buffers = SocketBuffers(leaders(server, client))
            try:
                client.wait(self._block.plan["timeout_s"])
            finally:
                seen: dict[str, Any] = {"buffers": buffers.finish()}
        finally:
            client.kill()
        timing = verified_timing(client.job.timing, wanted, arm["protocol"])
        # The client has ended and told what it needed.
        spent = {"client": client.cpu_s}
        found = {end: profile.finish(spent.get(end)) for end, profile in profiles.items()}
        return timing.plt_s, seen | ({"profile": found} if found else {})

    def _profiles(self, arm: Arm, server: Server, client: Client) -> dict[str, Profile]:
        """Samplers of both ends. Only pilots are sampled: sampling takes time itself."""
        if arm["name"] not in self._block.cell.get("profile", []):
            return {}
        return {
            end: Profile(leader, self._scratch / f"{end}.perf")
            for end, leader in leaders(server, client).items()
        }


def leaders(server: Server, client: Client) -> dict[str, int]:
    """The leaders of the process groups of both ends that run."""
    programs = {"server": server.process, "client": client.process}
    return {end: program.pid for end, program in programs.items() if program is not None}


def counted(requests: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Requests whose bodies are counted and not hashed, which would be part of the rate."""
    return [{key: entry[key] for key in ("path", "bytes")} for entry in requests]


def closest(sizes: list[int], wanted: float) -> int:
    """The size whose ratio to `wanted` is nearest to 1."""
    return min(sizes, key=lambda size: max(size / wanted, wanted / size))
