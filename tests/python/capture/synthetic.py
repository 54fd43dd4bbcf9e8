"""Build captures packet by packet, with everything in them known."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypedDict, Unpack

from howquick.capture.read import ACK, FIN, PSH, SYN

CLIENT, SERVER = "10.0.0.1", "10.0.1.1"
CLIENT_PORT, SERVER_PORT = 40000, 4433
ETHERNET = bytes(12) + b"\x08\x00"
SECOND_NS = 1_000_000_000


def address(text: str) -> bytes:
    return bytes(int(part) for part in text.split("."))


def ip_packet(
    source: str, destination: str, protocol: int, transport: bytes, identification: int = 0
) -> bytes:
    total = 20 + len(transport)
    head = struct.pack(">BBHHHBBH", 0x45, 0, total, identification, 0x4000, 64, protocol, 0)
    return ETHERNET + head + address(source) + address(destination) + transport


class TcpFields(TypedDict, total=False):
    """What a packet of TCP says beside its data; else 0, ACK as flags, and the client's usual port."""

    sequence: int
    ack: int
    flags: int
    client_port: int
    identification: int


@dataclass
class Capture:
    """Packets in the order they are added; times in seconds after `start_ns`."""

    start_ns: int = 1_790_000_000 * SECOND_NS
    packets: list[tuple[int, bytes]] = field(default_factory=list)

    def add(self, time_s: float, frame: bytes) -> None:
        self.packets.append((self.start_ns + round(time_s * 1e9), frame))

    def tcp(
        self, time_s: float, *, down: bool, data: bytes = b"", **fields: Unpack[TcpFields]
    ) -> None:
        client_port = fields.get("client_port", CLIENT_PORT)
        sequence, ack = fields.get("sequence", 0), fields.get("ack", 0)
        ports = (SERVER_PORT, client_port) if down else (client_port, SERVER_PORT)
        ends = (SERVER, CLIENT) if down else (CLIENT, SERVER)
        numbers = (sequence % 2**32, ack % 2**32)
        head = struct.pack(
            ">HHIIBBHHH", *ports, *numbers, 0x50, fields.get("flags", ACK), 1000, 0, 0
        )
        self.add(time_s, ip_packet(*ends, 6, head + data, fields.get("identification", 0)))

    def udp(
        self, time_s: float, *, down: bool, data: bytes, client_port: int = CLIENT_PORT
    ) -> None:
        ports = (SERVER_PORT, client_port) if down else (client_port, SERVER_PORT)
        ends = (SERVER, CLIENT) if down else (CLIENT, SERVER)
        head = struct.pack(">HHHH", *ports, 8 + len(data), 0)
        self.add(time_s, ip_packet(*ends, 17, head + data))

    def sctp(self, time_s: float, *, down: bool, data: bytes) -> None:
        """A packet of SCTP over IP; ``data`` begins with the ports of its common header."""
        ends = (SERVER, CLIENT) if down else (CLIENT, SERVER)
        ports = (SERVER_PORT, CLIENT_PORT) if down else (CLIENT_PORT, SERVER_PORT)
        self.add(time_s, ip_packet(*ends, 132, struct.pack(">HH", *ports) + data[4:]))

    def write(self, path: Path, snaplen: int = 65535) -> Path:
        with path.open("wb") as file:
            file.write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, snaplen, 1))
            for time_ns, frame in sorted(self.packets, key=lambda packet: packet[0]):
                kept = frame[:snaplen]
                seconds, fraction = divmod(time_ns, SECOND_NS)
                file.write(struct.pack("<IIII", seconds, fraction, len(kept), len(frame)) + kept)
        return path


def handshake(capture: Capture, begin: float, rtt: float, isn: int, client_port: int) -> None:
    """SYN, SYN-ACK, ACK as the client sees them."""
    capture.tcp(begin, down=False, flags=SYN, sequence=100, client_port=client_port)
    capture.tcp(
        begin + rtt, down=True, flags=SYN | ACK, sequence=isn, ack=101, client_port=client_port
    )
    capture.tcp(begin + rtt, down=False, sequence=101, ack=isn + 1, client_port=client_port)


__all__ = ["ACK", "FIN", "PSH", "SYN", "Capture", "handshake", "ip_packet"]
