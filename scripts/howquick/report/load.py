"""Details of one load: objects, bytes over time, packets, logs, and meta.json without its bulk."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from howquick.extract.columns import DETAIL_COLUMNS, RUN_KEY
from howquick.report.encode import Table, read_rows, table

# Beginning and end of a log: what a reader looks at first. The file itself lies beside the captures.
_LOG_BYTES = 8_000
_LOGS = ("client.log", "server.log")
TABLES = ("objects", "series", *DETAIL_COLUMNS)
_META = (
    "order", "session", "clock", "started", "wall_s", "network_s", "timeout_s", "status", "reason",
    "attempts", "disturbed", "link", "workload", "observe", "arm_definition", "seeds", "programs",
    "environment", "fingerprint", "host", "guard", "cpu", "captures", "moves", "overhead", "left_out",
)  # fmt: skip
_SETTINGS = (
    "backend", "backend_version", "queue_bytes", "delay_offset_ms", "congestion_control", "cpus",
)  # fmt: skip

Key = tuple[str, str]
# Per table the rows of each load, by arm and repetition.
Details = dict[str, dict[Key, list[dict[str, str]]]]


@dataclass(frozen=True)
class LoadFiles:
    """A load by its row of the runs table, and the folder of results that its path is in."""

    results: Path
    row: Mapping[str, str]

    @property
    def folder(self) -> Path | None:
        """The run folder; None where there is none, or the path leads out of the results."""
        path = self.row.get("path")
        if not path:
            return None
        folder = (self.results / path).resolve()
        inside = folder.is_relative_to(self.results.resolve())
        return folder if inside and folder.is_dir() else None


def detail_tables(blocks: Iterable[Path]) -> Details:
    """The tables of the blocks of one cell; those that are not there are empty."""
    found: Details = {name: defaultdict(list) for name in TABLES}
    for block in blocks:
        for name in TABLES:
            for row in read_rows(block / f"{name}.csv"):
                found[name][row["arm"], row["repetition"]].append(row)
    return found


def load_detail(load: LoadFiles, details: Details) -> dict[str, Any]:
    """All that is known of a load beside its row; empty if nothing is."""
    key = (load.row["arm"], load.row.get("repetition", ""))
    found: dict[str, Any] = {}
    for name in TABLES:
        if rows := details[name].get(key):
            found[name] = _without_key(rows)
    folder = load.folder
    if folder is not None:
        found["meta"] = _meta(folder)
        found["logs"] = {
            name: text for name in _LOGS if (text := log_text(folder / name)) is not None
        }
        found["files"] = [
            [str(file.relative_to(folder)), file.stat().st_size]
            for file in sorted(folder.rglob("*"))
            if file.is_file() and not file.is_symlink()
        ]
    return found


def _without_key(rows: list[dict[str, str]]) -> Table:
    return table(rows, [name for name in rows[0] if name not in RUN_KEY])


def _meta(folder: Path) -> dict[str, Any]:
    """Of meta.json what is said in words; empty if it is damaged."""
    try:
        meta = json.loads((folder / "meta.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    if not isinstance(meta, dict):
        return {}
    found = {key: meta[key] for key in _META if key in meta}
    settings = meta.get("settings")
    if isinstance(settings, dict):
        found["settings"] = {key: settings[key] for key in _SETTINGS if key in settings}
    return found


def log_text(path: Path) -> str | None:
    """A log, or its beginning and its end with a line between them; None where there is none."""
    try:
        content = path.read_bytes()
    except OSError:
        return None
    if len(content) > 2 * _LOG_BYTES:
        left = len(content) - 2 * _LOG_BYTES
        middle = f"\n… {left} bytes left out …\n".encode()
        content = content[:_LOG_BYTES] + middle + content[-_LOG_BYTES:]
    return content.decode("utf-8", errors="replace")
