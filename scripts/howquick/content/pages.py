"""Pages and test certificates: everything the servers serve, made from the seed."""

from __future__ import annotations

import random
import subprocess
from errno import ENOSPC
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from howquick.errors import UserError
from howquick.files import atomic_folder, write_json
from howquick.model import Workload
from howquick.seeds import derive_seed
from howquick.study.workload import HTML_NAME, bulk_objects, kind_of, page_name, video_of

if TYPE_CHECKING:
    from howquick.player.video import Video

SERVER_NAME = "server.test"
SERVER_ADDRESS = "10.0.2.1"
CHUNK = 1 << 20


def object_sizes(workload: Workload, seed: int) -> list[int]:
    """Sizes of a page's objects in bytes: fixed, or uniform between the two given bounds."""
    return _sizes(workload["objects"], workload["object_size"]["bytes"], workload, seed)


def _sizes(count: int, size: int | list[int], workload: Workload, seed: int) -> list[int]:
    if not isinstance(size, list):
        return [size] * count
    generator = random.Random(derive_seed(seed, page_name(workload), "sizes"))
    return [generator.randint(*size) for _ in range(count)]


def segment_sizes(video: Video, name: str, seed: int) -> list[list[int]]:
    """Sizes of a video's segments in bytes, by rung and number: rate × duration, more or less by its scene.

    A scene is as rich in every rung: how much is uniform within the video's variation, from the seed. `name`
    is that of the page.
    """
    generator = random.Random(derive_seed(seed, name, "sizes"))
    most = video.size_variation_percent / 100
    scenes = [1 + generator.uniform(-most, most) for _ in range(video.segments)]
    return [
        [round(rate * 1e6 / 8 * video.segment_s * scene) for scene in scenes]
        for rate in video.ladder_mbit
    ]


def make_page(workload: Workload, seed: int, folder: Path) -> None:
    """Make what a cell loads: a folder with `www/` and `page.json`.

    `page.json` lists `{"path", "bytes", "sha256"}` in the order in which a client gets them: of a page
    its HTML and its objects, which are incompressible, as photographs are. A bulk load has no files
    here, as they are large and made in the servers' memory; of its list the smallest has a sum. The folder
    appears whole. Raises UserError where a site cannot be made.
    """
    with atomic_folder(folder) as scratch:
        www = scratch / "www"
        www.mkdir()
        index = _fill(workload, seed, scratch)
        # What a client fetches to obtain a session ticket before a resumed load.
        (www / "prime").write_bytes(b"prime\n")
        write_json(scratch / "page.json", index)


def _fill(workload: Workload, seed: int, scratch: Path) -> list[dict[str, Any]]:
    www = scratch / "www"
    match kind_of(workload):
        case "page":
            paths = [f"objects/{number:03}.jpg" for number in range(workload["objects"])]
            html = _html(paths).encode()
            (www / HTML_NAME).write_bytes(html)
            sizes = object_sizes(workload, seed)
            first = {
                "path": f"/{HTML_NAME}",
                "bytes": len(html),
                "sha256": sha256(html).hexdigest(),
            }
            (www / "objects").mkdir()
            return [first, *_objects(www, paths, sizes, workload, seed)]
        case "object":
            return _objects(www, ["object.bin"], [workload["object"]], workload, seed)
        case "segments":
            asked = workload["segments"]
            (www / "segments").mkdir()
            paths = [f"segments/{number:03}.m4s" for number in range(asked["seeks"])]
            sizes = _sizes(asked["seeks"], asked["bytes"], workload, seed)
            return _objects(www, paths, sizes, workload, seed)
        case "player":
            return _video(www, video_of(workload), workload, seed)
        case "site":
            # Only here: drawing images needs more than any other content.
            from howquick.content.site import make_site

            return make_site(workload["site"], seed, scratch)
        case _:
            return _bulk(bulk_objects(workload))


def _video(www: Path, video: Video, workload: Workload, seed: int) -> list[dict[str, Any]]:
    """Write each segment in each rung."""
    from howquick.player.video import segment_path

    index = []
    for rung, sizes in enumerate(segment_sizes(video, page_name(workload), seed)):
        (www / segment_path(rung, 0)).parent.mkdir(parents=True)
        paths = [segment_path(rung, number) for number in range(len(sizes))]
        index += _objects(www, paths, sizes, workload, seed)
    return index


def _objects(
    www: Path, paths: list[str], sizes: list[int], workload: Workload, seed: int
) -> list[dict[str, Any]]:
    """Write incompressible files and give their entries of the index."""
    index = []
    for path, size in zip(paths, sizes, strict=True):
        generator = random.Random(derive_seed(seed, page_name(workload), path))
        digest = sha256()
        with (www / path).open("wb") as stream:
            for begin in range(0, size, CHUNK):
                part = generator.randbytes(min(CHUNK, size - begin))
                digest.update(part)
                stream.write(part)
        index.append({"path": f"/{path}", "bytes": size, "sha256": digest.hexdigest()})
    return index


def _bulk(sizes: list[int]) -> list[dict[str, Any]]:
    """The list of a bulk load. The sum of its smallest object is compared once per arm, by a pilot."""
    index: list[dict[str, Any]] = [{"path": f"/bulk/{size}.bin", "bytes": size} for size in sizes]
    block, digest = _bulk_block(), sha256()
    for _ in range(sizes[0] // CHUNK):
        digest.update(block)
    index[0]["sha256"] = digest.hexdigest()
    return index


def _bulk_block() -> bytes:
    return random.Random(0).randbytes(CHUNK)


def make_bulk(folder: Path, sizes: list[int]) -> None:
    """Make the files of a bulk load, `<bytes>.bin`, each of 1 MiB of random bytes over and over.

    Raises UserError when the memory does not hold them.
    """
    folder.mkdir(parents=True)
    block = _bulk_block()
    try:
        for size in sizes:
            with (folder / f"{size}.bin").open("wb") as stream:
                for _ in range(size // CHUNK):
                    stream.write(block)
    except OSError as error:
        if error.errno != ENOSPC:
            raise
        raise UserError(
            f"{sum(sizes) >> 20} MiB for bulk loads do not fit into memory. Lower `at_most_bytes` of "
            "`workload: {bulk: …}` in the study, or choose a smaller scale."
        ) from None


def _html(paths: list[str]) -> str:
    images = "\n".join(f'<img src="{path}" alt="">' for path in paths)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head><meta charset="utf-8"><title>page</title></head>\n'
        f"<body>\n{images}\n</body>\n</html>\n"
    )


def make_certificates(folder: Path) -> None:
    """Make a P-256 test CA and a server certificate: `ca.pem`, `cert.pem` (leaf and CA), `priv.key`.

    Valid for the test's name and address only; made anew in every results folder, never committed.
    """
    with atomic_folder(folder) as scratch:
        key = [
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:P-256",
            "-nodes",
            "-sha256",
            "-days",
            "3650",
        ]
        _openssl(
            "req", "-x509", *key, "-keyout", scratch / "ca.key", "-out", scratch / "ca.pem",
            "-subj", "/CN=howquick test CA", "-addext", "basicConstraints=critical,CA:TRUE",
            "-addext", "keyUsage=critical,keyCertSign,cRLSign",
        )  # fmt: skip
        _openssl(
            "req", "-x509", *key, "-keyout", scratch / "priv.key", "-out", scratch / "leaf.pem",
            "-subj", f"/CN={SERVER_NAME}", "-CA", scratch / "ca.pem", "-CAkey", scratch / "ca.key",
            "-addext", f"subjectAltName=DNS:{SERVER_NAME},DNS:localhost,IP:{SERVER_ADDRESS},IP:127.0.0.1",
            "-addext", "basicConstraints=critical,CA:FALSE",
            "-addext", "extendedKeyUsage=serverAuth",
        )  # fmt: skip
        # The CA's key is not needed again: nothing else can be signed with it.
        (scratch / "ca.key").unlink()
        chain = (scratch / "leaf.pem").read_bytes() + (scratch / "ca.pem").read_bytes()
        (scratch / "cert.pem").write_bytes(chain)


def _openssl(*arguments: str | Path) -> None:
    try:
        done = subprocess.run(["openssl", *arguments], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise UserError(
            "openssl is missing. Start inside the environment: ./enter or nix develop"
        ) from None
    if done.returncode:
        raise UserError(f"openssl could not make the test certificates: {done.stderr.strip()}")
