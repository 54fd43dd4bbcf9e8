"""How large a bulk load is: pilot transfers choose it, so that fast and slow arms run equally long."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from howquick.measure.block import Block
from howquick.measure.client import Client
from howquick.measure.moves import Moves
from howquick.measure.process import ProgramFailed
from howquick.measure.programs import Programs
from howquick.measure.server import Server
from howquick.measure.timing import page_load_time_s, read_timing
from howquick.profile.record import Profile
from howquick.workload import bulk_sizes

# A pilot that takes less than this share of the time wanted tells little of a rate: slow start.
TELLING_SHARE = 0.5


class BulkSize:
    """Chooses one size per arm and remembers it."""

    def __init__(self, block: Block, programs: Programs, scratch: Path) -> None:
        self._block, self._programs, self._scratch = block, programs, scratch
        self._chosen: dict[str, dict[str, Any]] = {}

    def of(self, arm: dict[str, Any]) -> dict[str, Any]:
        """`{"bytes", "pilots": [{"bytes", "seconds"}]}` of an arm.

        A repetition that is there already decides; otherwise pilots do. Where a pilot fails the
        smallest size is taken: the load itself will then tell why.
        """
        name = arm["name"]
        if name not in self._chosen:
            self._chosen[name] = self._decided(arm) or self._pilot(arm)
        return self._chosen[name]

    def _decided(self, arm: dict[str, Any]) -> dict[str, Any] | None:
        """What an earlier repetition with the same programs chose."""
        asked = self._block.cell["workload"]["bulk"]
        wanted = {role: self._block.plan["programs"][arm[role]] for role in ("server", "client")}
        for file in sorted(self._block.folder(arm["name"], 0).parent.glob("*/meta.json")):
            meta = json.loads(file.read_text(encoding="utf-8"))
            hashes = {role: meta["programs"][role]["hash"] for role in wanted}
            bulk: dict[str, Any] | None = meta.get("bulk")
            same = hashes == wanted and meta["arm_definition"] == arm
            if bulk and bulk["pilots"] and same and bulk["workload"] == asked:
                return bulk
        return None

    def _pilot(self, arm: dict[str, Any]) -> dict[str, Any]:
        asked = self._block.cell["workload"]["bulk"]
        sizes = bulk_sizes(self._block.cell["workload"])
        pilots: list[dict[str, Any]] = []
        size = sizes[0]
        try:
            while True:
                seconds, profile = self._transfer(arm, size)
                pilots.append({"bytes": size, "seconds": seconds})
                best = closest(sizes, size / seconds * asked["seconds"])
                if seconds >= TELLING_SHARE * asked["seconds"] or best <= size:
                    return {"bytes": best, "pilots": pilots, "workload": asked} | profile
                # At most eightfold at once: the first rate was measured in slow start.
                size = min(best, 8 * size)
        except (ProgramFailed, TimeoutError):
            return {"bytes": sizes[0], "pilots": pilots, "workload": asked}

    def _transfer(self, arm: dict[str, Any], size: int) -> tuple[float, dict[str, Any]]:
        """Load one object of `size` bytes: seconds, and where the processor time went if that is asked.

        Raises ProgramFailed, TimeoutError.
        """
        shutil.rmtree(self._scratch, ignore_errors=True)
        self._scratch.mkdir()
        wanted = [entry for entry in self._programs.page if entry["bytes"] == size]
        server = self._programs.server(arm)
        server.ensure()
        client = self._programs.client(arm, wanted, self._scratch, Moves(self._programs.bed))
        try:
            client.prepare()
            profiles = self._profiles(arm, server, client)
            client.go()
            client.wait(self._block.plan["timeout_s"])
        finally:
            client.kill()
        timing = read_timing(self._scratch / "timing.json", wanted, arm["protocol"])
        # The client has ended and told what it needed.
        spent = {"client": client.cpu_s}
        found = {end: profile.finish(spent.get(end)) for end, profile in profiles.items()}
        return page_load_time_s(timing), {"profile": found} if found else {}

    def _profiles(self, arm: dict[str, Any], server: Server, client: Client) -> dict[str, Profile]:
        """Samplers of both ends. Only pilots are sampled: sampling takes time itself."""
        if arm["name"] not in self._block.cell.get("profile", []):
            return {}
        programs = {"server": server.process, "client": client.process}
        return {
            end: Profile(program.pid, self._scratch / f"{end}.perf")
            for end, program in programs.items()
            if program is not None
        }


def closest(sizes: list[int], wanted: float) -> int:
    """The size whose ratio to `wanted` is nearest to 1."""
    return min(sizes, key=lambda size: max(size / wanted, wanted / size))
