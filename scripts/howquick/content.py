"""Pages and test certificates: everything the servers serve, made from the seed."""

from __future__ import annotations

import hashlib
import random
import subprocess
from pathlib import Path
from typing import Any

from howquick.errors import UserError
from howquick.files import atomic_folder, write_json
from howquick.plan import derive_seed, page_name

SERVER_NAME = "server.test"
SERVER_ADDRESS = "10.0.2.1"


def object_sizes(workload: dict[str, Any], seed: int) -> list[int]:
    """Sizes of a page's objects in bytes: fixed, or uniform between the two given bounds."""
    size = workload["object_size"]["bytes"]
    if not isinstance(size, list):
        return [size] * workload["objects"]
    generator = random.Random(derive_seed(seed, page_name(workload), "sizes"))
    return [generator.randint(*size) for _ in range(workload["objects"])]


def make_page(workload: dict[str, Any], seed: int, folder: Path) -> None:
    """Make a page folder: `www/index.html`, `www/objects/NNN.jpg` and `page.json`.

    The objects are incompressible bytes, as photographs are. `page.json` lists, in the order of
    the page, `{"path", "bytes", "sha256"}` of the HTML and of each object. The folder appears whole.
    """
    with atomic_folder(folder) as scratch:
        (scratch / "www" / "objects").mkdir(parents=True)
        paths = [f"objects/{number:03}.jpg" for number in range(workload["objects"])]
        html = _html(paths).encode()
        bodies = {"index.html": html}
        for path, size in zip(paths, object_sizes(workload, seed), strict=True):
            generator = random.Random(derive_seed(seed, page_name(workload), path))
            bodies[path] = generator.randbytes(size)
        for path, body in bodies.items():
            (scratch / "www" / path).write_bytes(body)
        # What a client fetches to obtain a session ticket before a resumed load.
        (scratch / "www" / "prime").write_bytes(b"prime\n")
        index = [
            {"path": f"/{path}", "bytes": len(body), "sha256": hashlib.sha256(body).hexdigest()}
            for path, body in bodies.items()
        ]
        write_json(scratch / "page.json", index)


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
