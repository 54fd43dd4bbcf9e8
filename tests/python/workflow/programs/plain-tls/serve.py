"""A server of objects over TLS: `GET path [first byte]`, answered by a length and the bytes."""

import os
import socketserver
import ssl
import struct
from pathlib import Path

WWW = Path(os.environ["WWW"])
CERTS = Path(os.environ["CERTS"])
CHUNK = 1 << 16


class Handler(socketserver.StreamRequestHandler):
    """One connection."""

    def setup(self):
        """Shake hands in the connection's own thread."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(CERTS / "cert.pem", CERTS / "priv.key")
        self.request = context.wrap_socket(self.request, server_side=True)
        super().setup()

    def handle(self):
        """Answer requests until the client leaves."""
        for line in self.rfile:
            _, path, *first = line.decode().split()
            file = WWW / path.lstrip("/")
            begin = int(first[0]) if first else 0
            self.wfile.write(struct.pack("!Q", file.stat().st_size - begin))
            with file.open("rb") as stream:
                stream.seek(begin)
                while part := stream.read(CHUNK):
                    self.wfile.write(part)


class Server(socketserver.ThreadingTCPServer):
    """Connections side by side."""

    allow_reuse_address = True
    daemon_threads = True

    def handle_error(self, request, client_address):
        """A client that is gone is no error."""


Server((os.environ["ADDRESS"], int(os.environ["PORT"])), Handler).serve_forever()
