"""Serve a folder of results to this machine's own browser, and its qlogs to the viewer qvis."""

from __future__ import annotations

import hmac
import secrets
import shutil
import tempfile
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

from howquick.extract.qlog_file import QlogError, read_qlog
from howquick.extract.qvis import write_for_qvis

LOOPBACK = "127.0.0.1"
PAGE = "report/index.html"
# The only page of another origin that may read anything here, and of that only qlogs.
QVIS = "https://qvis.quictools.info"
_QLOGS = (".qlog", ".sqlog")
_TYPES = {
    ".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8", ".json": "application/json", ".svg": "image/svg+xml",
    ".png": "image/png", ".jpg": "image/jpeg", ".pdf": "application/pdf",
    ".log": "text/plain; charset=utf-8", ".csv": "text/plain; charset=utf-8",
    ".md": "text/plain; charset=utf-8", ".qlog": "text/plain; charset=utf-8",
    ".sqlog": "text/plain; charset=utf-8",
}  # fmt: skip
# Programs under test left some of these files: none of them may act.
_SANDBOX = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src 'self'"


class Results(ThreadingHTTPServer):
    """A server of one folder on a free port; without its token in front no path is answered."""

    daemon_threads = True

    def __init__(self, folder: Path) -> None:
        super().__init__((LOOPBACK, 0), _Handler)
        self.folder = folder.resolve()
        self.token = secrets.token_urlsafe(24)

    @property
    def address(self) -> str:
        """Where a browser finds the report."""
        return f"http://{LOOPBACK}:{self.server_port}/{self.token}/{PAGE}"

    @property
    def hosts(self) -> tuple[str, ...]:
        """What a request to this server calls it; a foreign name that leads here is none of it."""
        return tuple(f"{name}:{self.server_port}" for name in (LOOPBACK, "localhost"))

    def find(self, path: str) -> Path | None:
        """The file of a path below the folder; None where there is none, and for what leads out of it."""
        parts = [unquote(part) for part in path.split("/")]
        if any(part in ("", ".", "..") or "/" in part or "\0" in part for part in parts):
            return None
        try:
            file = self.folder.joinpath(*parts).resolve(strict=True)
        except (OSError, RuntimeError):
            return None
        return file if file.is_relative_to(self.folder) and file.is_file() else None


class _Handler(BaseHTTPRequestHandler):
    server: Results
    server_version = "howquick"
    sys_version = ""

    def do_GET(self) -> None:
        self._answer(body=True)

    def do_HEAD(self) -> None:
        self._answer(body=False)

    def _answer(self, body: bool) -> None:
        token, _, path = urlsplit(self.path).path.removeprefix("/").partition("/")
        known = hmac.compare_digest(token.encode(), self.server.token.encode())
        if not known or self.headers.get("Host") not in self.server.hosts:
            self._refuse()
        elif path.startswith("qvis/"):
            self._answer_qlog(path.removeprefix("qvis/"), body)
        elif file := self.server.find(path):
            self._send(file, path, body)
        else:
            self._refuse()

    def _answer_qlog(self, path: str, body: bool) -> None:
        file = self.server.find(path)
        if file is None or file.suffix not in _QLOGS:
            self._refuse()
            return
        with tempfile.TemporaryDirectory() as scratch:
            try:
                rewritten = write_for_qvis(read_qlog(file), Path(scratch))
            except QlogError:
                self._refuse()
                return
            self._send(rewritten, path, body)

    def _send(self, file: Path, path: str, body: bool) -> None:
        own = path == PAGE or path.startswith(("report/page/", "report/data/"))
        kind = _TYPES.get(file.suffix, "application/octet-stream")
        if file.suffix == ".html" and not own:
            kind = _TYPES[".log"]
        with file.open("rb") as stream:
            self.send_response(HTTPStatus.OK)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(file.stat().st_size))
            if not own:
                self.send_header("Content-Security-Policy", _SANDBOX)
            if file.suffix in _QLOGS:
                self.send_header("Access-Control-Allow-Origin", QVIS)
            self._finish()
            if body:
                shutil.copyfileobj(stream, self.wfile)

    def _refuse(self) -> None:
        self.send_response(HTTPStatus.NOT_FOUND)
        self.send_header("Content-Length", "0")
        self._finish()

    def _finish(self) -> None:
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Referrer-Policy", "no-referrer")
        self.send_header("Cache-Control", "no-store")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: the address on the terminal is what its user looks for."""
