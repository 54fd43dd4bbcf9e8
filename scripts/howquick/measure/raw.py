"""A load as a guest leaves it: captures as tcpdump wrote them, their keys beside them.

What takes a library or a disk is done outside, once the guest is gone: a guest pays for each import, and for
each file that it syncs.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from howquick.files import atomic_folder, read_json, write_json

# What of a checkout takes part in a load. Programs under test see nothing else of it.
CODE = ("scripts", "envs", "config", "environment")
# Of the folders that a guest finds under names of their own: the code, what was made before, and where it
# leaves what it measured.
CHECKOUT, RESULTS, MEASURED = "checkout", "results", "measured"
# Of what is handed over to it.
PLAN, CALIBRATION, ENDPOINTS = "plan.json", "calibration.json", "endpoints.json"
# What is made ready before a guest is copied, and the load of a copy.
READY, ASKED = "ready.json", "load.json"
# In place of the start in which a load was measured: it is the same in each.
SESSION = "virtual"
# In MEASURED, the run folder to be; in that, what is packed.
LOAD, KEYS, META = "load", "keys.log", "meta.json"


def leave_captures(
    captures: dict[str, dict[str, Any]], files: dict[str, Path], keys: bytes, folder: Path
) -> None:
    """Put captures (by the end that took them) and their keys into a folder, for `complete`.

    captures: of each what meta.json says, as far as it is known.
    """
    for name in captures:
        shutil.copyfile(files[name], folder / _raw(name))
    if keys:
        (folder / KEYS).write_bytes(keys)


def pack_captures(
    captures: dict[str, dict[str, Any]], files: dict[str, Path], keys: bytes, folder: Path
) -> None:
    """Pack captures with their keys into a folder, and say in `captures` what they hold."""
    # Only now: in a guest its library takes as long as the rest of a short load.
    from howquick.capture.pack import pack

    for name, about in captures.items():
        summary = pack(
            files[name], keys, folder / f"{name}.pcapng", interface=about.pop("interface")
        )
        about |= {
            "packets": summary.packets,
            "wire_bytes": summary.wire_bytes,
            "longest_frame_bytes": summary.longest_frame_bytes,
        }


def complete(raw: Path, folder: Path) -> dict[str, Any]:
    """Make the run folder of what a guest has left; returns its meta.json, which is written last."""
    meta: dict[str, Any] = read_json(raw / META)
    keys = (raw / KEYS).read_bytes() if (raw / KEYS).exists() else b""
    files = {name: raw / _raw(name) for name in meta["captures"]}
    used = {META, KEYS, *(file.name for file in files.values())}

    def packed(of: str, names: Iterable[str]) -> set[str]:
        return used & set(names) if Path(of) == raw else set()

    with atomic_folder(folder) as temporary:
        shutil.copytree(raw, temporary, symlinks=True, ignore=packed, dirs_exist_ok=True)
        pack_captures(meta["captures"], files, keys, temporary)
        write_json(temporary / META, meta, indent=None)
    return meta


def _raw(name: str) -> str:
    return f"{name}.pcap"
