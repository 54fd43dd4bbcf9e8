"""One block: all arms of some repetitions of one cell. What is to be done, and what is there already."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from howquick.errors import DamagedFile, UserError
from howquick.files import read_json, try_lock
from howquick.model import Plan
from howquick.plan.fingerprint import fingerprint
from howquick.plan.order import order_of
from howquick.study.cells import find


class HandedOver(NamedTuple):
    """What a guest is told of the one load that it measures.

    fingerprints: by arm and repetition; they cover all code that measures, and reading it takes a guest as
    long as a short load. destination: in place of the load's run folder.
    """

    fingerprints: Mapping[tuple[str, int], str]
    destination: Path


class Block:
    """What is to be done in a block and what is already there.

    session: of this start. What was invalid in an earlier one gets a further chance in this.
    handed_over: where this is a guest.
    """

    def __init__(
        self,
        plan: Plan,
        cell: str,
        number: int,
        results: Path,
        session: str = "",
        handed_over: HandedOver | None = None,
    ) -> None:
        self.plan, self.results, self.session = plan, results, session
        self._handed_over = handed_over
        self.cell = find(plan["cells"], cell)
        self.block = next(b for b in plan["blocks"] if b["cell"] == cell and b["block"] == number)
        self.wanted = [
            (repetition, order, arm)
            for repetition in self.block["repetitions"]
            for order, arm in enumerate(order_of(plan, self.cell, repetition))
        ]

    def folder(self, arm: str, repetition: int) -> Path:
        """The run folder of a repetition."""
        if self._handed_over:
            return self._handed_over.destination
        cell = self.results / "runs" / self.plan["study"] / self.cell["name"]
        return cell / arm / f"{repetition:04}"

    def fingerprint(self, arm: str, repetition: int) -> str:
        """What the repetition's fingerprint must be to count."""
        if self._handed_over:
            return self._handed_over.fingerprints[arm, repetition]
        return fingerprint(self.plan, self.cell, find(self.plan["arms"], arm), repetition)

    def missing(self) -> list[tuple[int, int, str]]:
        """(repetition, order, arm) of everything that is not measured yet or no longer valid."""
        return [
            (repetition, order, arm)
            for repetition, order, arm in self.wanted
            if not self._valid(arm, repetition)
        ]

    def _valid(self, arm: str, repetition: int) -> bool:
        try:
            meta = read_json(self.folder(arm, repetition) / "meta.json")
        except (OSError, DamagedFile):
            return False
        if meta.get("status") == "invalid" and meta.get("session") != self.session:
            return False
        return bool(meta.get("fingerprint") == self.fingerprint(arm, repetition))

    def manifest(self, measured: int, parts: dict[str, float], wall_s: float) -> dict[str, Any]:
        """The block's manifest (docs/formats.md, 5)."""
        runs = []
        for repetition, _, arm in self.wanted:
            folder = self.folder(arm, repetition)
            meta = read_json(folder / "meta.json")
            runs.append(
                {
                    "arm": arm,
                    "repetition": repetition,
                    "path": str(folder.relative_to(self.results)),
                    "status": meta["status"],
                    "reason": meta["reason"],
                }
            )
        return {
            "study": self.plan["study"],
            "cell": self.cell["name"],
            "block": self.block["block"],
            "repetitions": self.block["repetitions"],
            "runs": runs,
            "statuses": dict(Counter(run["status"] for run in runs)),
            "measured": measured,
            "kept": len(runs) - measured,
            "wall_s": round(wall_s, 3),
            "network_s": round(parts.get("load", 0.0), 3),
            "overhead": {name: round(value, 3) for name, value in parts.items() if name != "load"},
        }


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a lock for the time of a block: a killed predecessor may still be on its way out."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as lock:
        deadline = time.monotonic() + 20
        while not try_lock(lock):
            if time.monotonic() > deadline:
                raise UserError(
                    f"{path}: another process measures this block. Wait for it or end it."
                )
            time.sleep(0.1)
        yield
