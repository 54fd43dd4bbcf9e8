"""A headless Chromium that looks at pages as a person would: for tests and for the pictures in docs/."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import select
import shlex
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

# Debian's `chromium` is a script that adds flags and extensions of its own.
_DEBIAN = "/usr/lib/chromium/chromium"
_PATIENCE_S = 60
_FLAGS = (
    "--headless=new", "--remote-debugging-pipe", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
    "--disable-dev-shm-usage", "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--disable-extensions", "--no-default-browser-check", "--mute-audio",
    # Whoever asks for another machine's name gets no answer, and the test hears of it.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)  # fmt: skip
# What keys of more than a letter are to a page: their number and their text.
_KEYS = {"Enter": (13, "\r"), "Tab": (9, ""), "ArrowDown": (40, "")}


class BrowserError(Exception):
    """The browser is not there, does not answer, or a script in its page failed."""


def program() -> str | None:
    """The browser to start; None where there is none."""
    return _DEBIAN if Path(_DEBIAN).is_file() else shutil.which("chromium")


class Browser:
    """One page of a browser. `complaints` are errors in its console, and `requests` what it asked for."""

    def __init__(self, process: subprocess.Popen[bytes], send: int, receive: int) -> None:
        self._process, self._send, self._receive = process, send, receive
        self._buffer = b""
        self._last = 0
        self._session: str | None = None
        self.complaints: list[str] = []
        self.requests: list[str] = []
        targets = self.call("Target.getTargets")["targetInfos"]
        page = next(target["targetId"] for target in targets if target["type"] == "page")
        attached = self.call("Target.attachToTarget", targetId=page, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """One command of the DevTools protocol. Raises BrowserError."""
        self._last += 1
        message: dict[str, Any] = {"id": self._last, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._send, json.dumps(message).encode() + b"\0")
        until = time.monotonic() + _PATIENCE_S
        while True:
            answer = self._read(until)
            if answer.get("id") == self._last:
                if "error" in answer:
                    raise BrowserError(f"{method}: {answer['error'].get('message')}")
                return cast(dict[str, Any], answer["result"])
            self._note(answer)

    def _read(self, until: float) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            left = until - time.monotonic()
            if left <= 0 or not select.select([self._receive], [], [], left)[0]:
                raise BrowserError(f"the browser did not answer within {_PATIENCE_S} s")
            part = os.read(self._receive, 1 << 20)
            if not part:
                raise BrowserError("the browser ended")
            self._buffer += part
        message, _, self._buffer = self._buffer.partition(b"\0")
        return dict(json.loads(message))

    def _note(self, event: dict[str, Any]) -> None:
        method, given = event.get("method"), event.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.complaints.append(json.dumps(given["exceptionDetails"])[:2000])
        elif method == "Runtime.consoleAPICalled" and given["type"] in ("error", "warning"):
            self.complaints.append(json.dumps(given["args"])[:2000])
        elif method == "Log.entryAdded" and given["entry"]["level"] in ("error", "warning"):
            entry = given["entry"]
            self.complaints.append(f"{entry['text']} {entry.get('url', '')}")
        elif method == "Network.requestWillBeSent":
            self.requests.append(given["request"]["url"])

    def run(self, expression: str) -> Any:
        """The value of an expression in the page; promises are waited for. Raises BrowserError."""
        done = self.call(
            "Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True
        )
        if "exceptionDetails" in done:
            raise BrowserError(f"{expression}: {json.dumps(done['exceptionDetails'])[:1000]}")
        return done["result"].get("value")

    def wait(self, expression: str) -> Any:
        """Wait until an expression is true in the page; returns its value. Raises BrowserError."""
        until = time.monotonic() + _PATIENCE_S
        while time.monotonic() < until:
            if value := self.run(expression):
                return value
            time.sleep(0.03)
        raise BrowserError(f"never true: {expression}; complaints: {self.complaints}")

    def open(self, address: str) -> None:
        """Go to an address of the report and wait until what it says is shown."""
        self.call("Page.navigate", url=address)
        self.settle()

    def settle(self) -> None:
        """Wait until the page shows what its address says."""
        self.wait(
            "document.readyState === 'complete' && "
            "document.getElementById('main')?.dataset.ready === (location.hash || '#/')"
        )

    def click(self, selector: str) -> None:
        """Click on the first element that fits, as a mouse does, and wait for the page."""
        spot = self.run(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)});"
            " if (!e) return null; e.scrollIntoView({block: 'center', inline: 'center'});"
            " const b = e.getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]; })()"
        )
        if spot is None:
            raise BrowserError(f"nothing is {selector}")
        for kind in ("mousePressed", "mouseReleased"):
            self.call(
                "Input.dispatchMouseEvent", type=kind, x=spot[0], y=spot[1], button="left", clickCount=1
            )  # fmt: skip
        time.sleep(0.05)
        self.settle()

    def press(self, key: str) -> None:
        """Press a key: a letter, Enter, Tab, or ArrowDown."""
        code, text = _KEYS.get(key, (ord(key[0].upper()), key))
        given = {"key": key, "windowsVirtualKeyCode": code, "code": key}
        self.call("Input.dispatchKeyEvent", type="keyDown", text=text, **given)
        self.call("Input.dispatchKeyEvent", type="keyUp", **given)
        time.sleep(0.05)
        self.settle()

    def size(self, width: int, height: int, dark: bool = False) -> None:
        """The size of the window, and which theme its user prefers."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=1, mobile=width < 600,
        )  # fmt: skip
        value = "dark" if dark else "light"
        self.call(
            "Emulation.setEmulatedMedia",
            features=[{"name": "prefers-color-scheme", "value": value}],
        )
        time.sleep(0.3)

    def picture(self, path: Path, whole: bool = False) -> None:
        """Write what is shown, or the whole page, as PNG."""
        shot = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        if whole:
            box = self.call("Page.getLayoutMetrics")["cssContentSize"]
            clip = {"x": 0, "y": 0, "width": box["width"], "height": box["height"], "scale": 1}
            shot = self.call("Page.captureScreenshot", captureBeyondViewport=True, clip=clip)
        path.write_bytes(base64.b64decode(shot["data"]))

    def paper(self, path: Path) -> None:
        """Write what a printer gets, as PDF."""
        path.write_bytes(
            base64.b64decode(self.call("Page.printToPDF", printBackground=True)["data"])
        )


@contextlib.contextmanager
def browser() -> Iterator[Browser]:
    """A browser with a fresh profile, which ends with the block. Raises BrowserError where there is none."""
    binary = program()
    if binary is None:
        raise BrowserError("chromium is not installed")
    commands, send = os.pipe()
    receive, answers = os.pipe()
    with tempfile.TemporaryDirectory(prefix="howquick-browser-") as profile:
        argv = [binary, *_FLAGS, f"--user-data-dir={profile}", "about:blank"]
        if os.geteuid() == 0:
            # Its sandbox needs another user than root, and a user namespace may have no other.
            argv.insert(1, "--no-sandbox")
        # It reads commands from 3 and writes answers to 4.
        line = f"exec {shlex.join(argv)} 3<&{commands} 4>&{answers}"
        process = subprocess.Popen(
            ["bash", "-c", line], pass_fds=(commands, answers),
            # Killed, it leaves its socket's folder in TMPDIR.
            env={**os.environ, "HOME": profile, "TMPDIR": profile},
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(commands)
        os.close(answers)
        try:
            yield Browser(process, send, receive)
        finally:
            os.close(send)
            os.close(receive)
            process.kill()
            process.wait()
            # Its helpers end after it, and write until then.
            _until_quiet(Path(profile))


def _until_quiet(profile: Path) -> None:
    for _ in range(50):
        try:
            shutil.rmtree(profile)
        except OSError:
            time.sleep(0.1)
            continue
        profile.mkdir()
        return
