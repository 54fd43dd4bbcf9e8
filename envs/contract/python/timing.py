"""TIMING, the file that a client writes."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .environment import Refusal

DIGITS = 6  # of seconds: microseconds


@dataclass(frozen=True)
class ObjectTiming:
    """One object; times in seconds since the load's start, sha256 None where bodies are only counted."""

    path: str
    status: int
    size: int
    sha256: str | None
    start_s: float
    first_byte_s: float
    end_s: float

    def entry(self) -> dict[str, Any]:
        """Return it as TIMING has it."""
        return {
            "path": self.path,
            "status": self.status,
            "bytes": self.size,
            "sha256": self.sha256,
            "start_s": round(self.start_s, DIGITS),
            "first_byte_s": round(self.first_byte_s, DIGITS),
            "end_s": round(self.end_s, DIGITS),
        }


@dataclass(frozen=True)
class Timing:
    """One page load over one connection; `start` in seconds of Unix time."""

    protocol: str
    start: float
    handshake_s: float | None  # None where the program does not tell
    resumed: bool
    early_data: bool
    objects: tuple[ObjectTiming, ...]
    negotiated: Mapping[str, str] | None = None

    def write(self, path: Path) -> None:
        """Write TIMING whole: under another name first. Raises Refusal if that cannot be done."""
        content = {
            "protocol": self.protocol,
            "start": self.start,
            "handshake_s": None if self.handshake_s is None else round(self.handshake_s, DIGITS),
            "resumed": self.resumed,
            "early_data": self.early_data,
            "connections": 1,
            **({"negotiated": dict(self.negotiated)} if self.negotiated else {}),
            "objects": [item.entry() for item in self.objects],
        }
        part = path.with_name(f"{path.name}.part")
        try:
            part.write_text(json.dumps(content, indent=1))
            part.replace(path)
        except OSError as problem:
            raise Refusal(f"TIMING {path}: {problem.strerror}") from problem
