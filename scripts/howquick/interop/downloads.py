"""What arrived in /downloads, as TIMING."""

from __future__ import annotations

import hashlib
from pathlib import Path

from howquick.interop.contract import Load
from howquick.interop.contract.timing import ObjectTiming, Timing
from howquick.interop.request import PRIME, Refused, Request


def _arrived(folder: Path, path: str) -> Path | None:
    """The file of a URL's path: under its whole path or, as most clients have it, its last part."""
    whole, name = folder / path.lstrip("/"), folder / Path(path).name
    return next((file for file in (whole, name) if file.is_file()), None)


def _check_names(request: Request, paths: tuple[str, ...]) -> None:
    """Raise Refused if two files would be the same one and the client does not keep their folders."""
    names: dict[str, str] = {}
    for path in paths:
        other = names.setdefault(Path(path).name, path)
        kept = (request.downloads / path.lstrip("/")).is_file()
        if other != path and not kept:
            raise Refused(1, f"{path}: the program gives it the same file as {other}")


def _modified(file: Path) -> float:
    return file.stat().st_mtime_ns / 1e9


def timing(request: Request, load: Load, started: float) -> Timing:
    """TIMING (docs/formats.md, section 2) from the files in /downloads.

    An object's end is when its file was written last, by the kernel's clock of files (up to 4 ms coarse).
    `start` is when the program was started, for a cold connection, and when the file of the first
    connection was complete, otherwise: the contract tells nothing nearer. What a client does before its
    first packet is therefore part of it. Raises Refused if a file is missing.
    """
    _check_names(request, load.paths)
    start = started
    protocol = request.settings.protocol
    if protocol == "hq" and request.testcase != "transfer":
        prime = _arrived(request.downloads, PRIME)
        if prime is None:
            raise Refused(1, f"{PRIME} was not fetched on the first connection")
        start = _modified(prime)
    objects = []
    for path in load.paths:
        file = _arrived(request.downloads, path)
        if file is None:
            raise Refused(1, f"{path}: the program exited with 0 without the file")
        end = max(0.0, _modified(file) - start)
        digest = hashlib.sha256(file.read_bytes()).hexdigest() if load.hashed else None
        objects.append(
            ObjectTiming(
                path=path,
                status=200,
                size=file.stat().st_size,
                sha256=digest,
                start_s=0.0,
                first_byte_s=end,
                end_s=end,
            )
        )
    return Timing(
        protocol=protocol,
        start=start,
        handshake_s=None,
        # The test case asks for it; whether it came to pass is in the capture and the qlogs.
        resumed=request.testcase in ("resumption", "zerortt"),
        early_data=request.testcase == "zerortt",
        objects=tuple(objects),
    )
