"""A client for serve.py: objects one after another; a new connection when its address changes."""

import hashlib
import json
import os
import socket
import ssl
import struct
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit

PATHS = [urlsplit(url).path for url in os.environ["REQUESTS"].split()]
MOVES = int(os.environ["MOVES"])
HASHED = os.environ["BODY"] == "sha256"
READ = int(os.environ["OPTION_READ_BYTES"])


class Load:
    """One load over as many connections as there are addresses."""

    def __init__(self):
        self.context = ssl.create_default_context(cafile=os.environ["CERTS"] + "/ca.pem")
        self.connections = self.requests = self.moved = 0
        self.start = time.time()
        self.connect()

    def connect(self):
        address = (os.environ["ADDRESS"], int(os.environ["PORT"]))
        self.connections += 1
        raw = socket.create_connection(address)
        self.stream = self.context.wrap_socket(raw, server_hostname=os.environ["HOST"])

    def ask(self, path, first):
        self.requests += 1
        self.stream.sendall(f"GET {path} {first}\n".encode())
        header = b""
        while len(header) < 8:
            header += self.stream.recv(8 - len(header))
        return struct.unpack("!Q", header)[0]

    def move_if_due(self, share):
        """True if the address changed."""
        if self.moved < MOVES and share >= (self.moved + 1) / (MOVES + 1):
            self.moved += 1
            print("move", flush=True)
            assert sys.stdin.readline().startswith("moved ")
            self.stream.close()
            self.connect()
            return True
        return False

    def fetch(self, path):
        begin = time.time() - self.start
        size = self.ask(path, 0)
        digest, got = hashlib.sha256(), 0
        while got < size:
            part = self.stream.recv(min(READ, size - got))
            got += len(part)
            if HASHED:
                digest.update(part)
            if self.move_if_due(got / size):
                self.ask(path, got)
        return {
            "path": path, "bytes": got, "sha256": digest.hexdigest() if HASHED else None,
            "start_s": begin, "first_byte_s": begin, "end_s": time.time() - self.start,
        }  # fmt: skip


print("ready", flush=True)
sys.stdin.readline()
load = Load()
objects = [load.fetch(path) for path in PATHS]
Path(os.environ["ARTIFACTS"], "note.txt").write_text(os.environ["FETCH"])
with Path(os.environ["TIMING"]).open("w") as timing:
    json.dump(
        {
            "protocol": "tls", "start": load.start, "handshake_s": None, "resumed": False,
            "early_data": False, "connections": load.connections, "objects": objects,
            "metrics": {"requests_sent": load.requests},
        },
        timing,
    )  # fmt: skip
