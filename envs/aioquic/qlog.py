"""Write qlog traces while the connection runs.

aioquic's own file logger turns a whole trace into JSON when a connection has ended. That takes hundreds
of milliseconds for a page and would disturb the next one. Here each event is written as it happens, as
JSON text sequences (RFC 7464, qlog draft 02 section "streaming").
"""

import json
from pathlib import Path
from typing import Any

from aioquic.quic.logger import QLOG_VERSION, QuicLogger, QuicLoggerTrace

RECORD_SEPARATOR = "\x1e"
PACKET_EVENTS = ("packet_received", "packet_sent")


class StreamedTrace(QuicLoggerTrace):
    """One connection's trace, written event by event to ``folder/<connection id>.sqlog``."""

    def __init__(self, folder: Path, *, is_client: bool, odcid: bytes) -> None:
        super().__init__(is_client=is_client, odcid=odcid)
        self._file = (folder / f"{odcid.hex()}.sqlog").open("w", buffering=1)
        header = self.to_dict()
        del header["events"]
        self._write({"qlog_format": "JSON-SEQ", "qlog_version": QLOG_VERSION, "trace": header})

    def _write(self, record: dict[str, Any]) -> None:
        self._file.write(f"{RECORD_SEPARATOR}{json.dumps(record, separators=(',', ':'))}\n")

    def log_event(self, *, category: str, event: str, data: dict[str, Any]) -> None:
        """Note an event. Whatever came before a packet is written once the packet begins.

        aioquic announces a received packet first and adds its frames to ``data`` as it handles them, with
        other events in between: an event may be written only when the next packet has its turn.
        """
        if event in PACKET_EVENTS:
            self.flush()
        super().log_event(category=category, event=event, data=data)

    def flush(self) -> None:
        """Write all events that are held back. Not to be called while a packet is being handled."""
        while self._events:
            self._write(self._events.popleft())

    def close(self) -> None:
        """Write what is left and close the file."""
        self.flush()
        self._file.close()


class StreamingLogger(QuicLogger):
    """A logger that writes every connection's trace into ``folder``."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder
        self._open: list[StreamedTrace] = []

    def start_trace(self, is_client: bool, odcid: bytes) -> QuicLoggerTrace:
        """Open the trace of a new connection."""
        trace = StreamedTrace(self._folder, is_client=is_client, odcid=odcid)
        self._open.append(trace)
        return trace

    def end_trace(self, trace: QuicLoggerTrace) -> None:
        """Close the trace of a connection that has ended."""
        assert isinstance(trace, StreamedTrace)
        self._open.remove(trace)
        trace.close()

    def flush(self) -> None:
        """Write what every open trace holds back."""
        for trace in self._open:
            trace.flush()
