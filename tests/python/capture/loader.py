"""A small page client on HTTP/1.1: a priming connection, then one page over two connections.

    python loader.py FOLDER SERVER PORT        (SSLKEYLOGFILE in the environment)

Writes FOLDER/h1.timing.json in the form of docs/formats.md, section 2.
"""

from __future__ import annotations

import hashlib
import http.client
import json
import os
import ssl
import sys
import threading
import time
from pathlib import Path
from typing import Any

FIRST = ["/index.html", "/a.bin"]
SECOND = ["/b.bin", "/c.bin"]


def fetch(connection: http.client.HTTPSConnection, path: str, start: float) -> dict[str, Any]:
    """One object; times in seconds since `start` (monotonic)."""
    begin = time.monotonic() - start
    connection.request("GET", path)
    response = connection.getresponse()
    first = time.monotonic() - start
    body = response.read()
    return {
        "path": path,
        "status": response.status,
        "bytes": len(body),
        "sha256": hashlib.sha256(body).hexdigest(),
        "start_s": begin,
        "first_byte_s": first,
        "end_s": time.monotonic() - start,
    }


def main() -> None:
    """Prime, load, write the timing, close."""
    folder, server, port = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    context = ssl.create_default_context(cafile=str(folder / "cert.pem"))
    context.keylog_filename = os.environ["SSLKEYLOGFILE"]

    def connect() -> http.client.HTTPSConnection:
        return http.client.HTTPSConnection(server, port, context=context, timeout=600)

    priming = connect()
    fetch(priming, "/c.bin", time.monotonic())
    priming.close()
    # Long enough for the priming connection's last packets to arrive.
    time.sleep(0.2)

    start_unix, start = time.time(), time.monotonic()
    main_connection = connect()
    main_connection.connect()
    handshake = time.monotonic() - start
    objects = [fetch(main_connection, FIRST[0], start)]
    second_connection = connect()

    def rest() -> None:
        objects.extend([fetch(second_connection, path, start) for path in SECOND])

    thread = threading.Thread(target=rest)
    thread.start()
    mine = [fetch(main_connection, path, start) for path in FIRST[1:]]
    thread.join()
    timing = {
        "protocol": "h1",
        "start": start_unix,
        "handshake_s": handshake,
        "resumed": False,
        "early_data": False,
        "connections": 2,
        "objects": objects + mine,
    }
    (folder / "h1.timing.json").write_text(json.dumps(timing))
    # A client may linger before it closes: what comes then is not part of the load.
    time.sleep(0.1)
    main_connection.close()
    second_connection.close()


if __name__ == "__main__":
    main()
