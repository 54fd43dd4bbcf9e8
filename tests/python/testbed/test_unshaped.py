"""A bare pair of interfaces, offloads as asked for, and a client whose address changes."""

from __future__ import annotations

import socket
import struct

import pytest

from howquick.testbed.errors import TestbedError
from howquick.testbed.link import Link
from howquick.testbed.testbed import Testbed
from testbed.sandboxed import run_inside

pytestmark = pytest.mark.usefixtures("namespaces")
UNSHAPED = {
    "bandwidth_mbit": "unshaped", "rtt_ms": 0, "loss_percent": 0, "queue_ms": 0, "mtu_bytes": 1500,
}  # fmt: skip
UDP_SEGMENT = 103
PORT = 9000


def make(scratch, **more):
    return Testbed(Link.from_dict(UNSHAPED | more), scratch=scratch)


def bound(space, kind, address=None):
    with space.entered():
        made = socket.socket(socket.AF_INET, kind)
    made.settimeout(5)
    made.bind((address or space.address, PORT))
    return made


def send_segments(bed, segments=8, size=1200):
    """Send datagrams in one piece; packets that crossed, and datagrams that arrived."""
    with (
        bound(bed.server, socket.SOCK_DGRAM) as receiver,
        bound(bed.client, socket.SOCK_DGRAM) as sender,
    ):
        bed.seed(0, 0)
        message = [(socket.IPPROTO_UDP, UDP_SEGMENT, struct.pack("H", size))]
        sender.sendmsg([bytes(segments * size)], message, 0, (bed.server.address, PORT))
        arrived = [len(receiver.recv(65536)) for _ in range(segments)]
        return {"packets": bed.counters()["emulator"]["up"]["sent"], "datagrams": arrived}


def offloads(scratch):
    seen = {}
    for which in ("udp", "default", "off"):
        with make(scratch, **({"offloads": which} if which != "off" else {})) as bed:
            seen[which] = bed.settings()["offloads"]["client/eth0"]
            if which != "off":
                seen[f"{which} sent"] = send_segments(bed)
    return seen


def test_offloads_are_what_was_asked_for():
    seen = run_inside(offloads)
    assert not any(seen["off"].values()), seen["off"]
    assert seen["default"]["tcp-segmentation-offload"]
    assert seen["udp"]["tx-udp-segmentation"] and not seen["udp"]["tcp-segmentation-offload"]
    assert not seen["udp"]["generic-receive-offload"]
    for which in ("udp", "default"):
        # One packet crosses, the receiver gets every datagram.
        assert seen[f"{which} sent"] == {"packets": 1, "datagrams": [1200] * 8}


def counts(scratch):
    with make(scratch) as bed:
        with (
            bound(bed.server, socket.SOCK_DGRAM) as receiver,
            bound(bed.client, socket.SOCK_DGRAM) as sender,
        ):
            for number in range(10):
                if number == 5:
                    bed.seed(1, 2)
                sender.sendto(bytes(1000), (bed.server.address, PORT))
                receiver.recv(2000)
        return bed.counters() | {"settings": bed.settings()}


def test_an_unshaped_link_counts_as_every_link_does():
    seen = run_inside(counts)
    assert seen["emulator"]["up"] == {"entered": 5, "lost": 0, "queue_dropped": 0, "sent": 5}
    assert seen["emulator"]["socket_dropped"] == 0
    assert set(seen["interfaces"]) == {"client/eth0", "server/eth0"}
    assert seen["settings"]["link"] == UNSHAPED
    assert seen["settings"]["backend"] == "direct"


def moves(scratch):
    """A connection before a move, whether it still sends after it, and a new one; routes as set."""
    results = []
    for link in (UNSHAPED, Link(50, 4, 0, 50).to_dict()):
        with Testbed(Link.from_dict(link), scratch=scratch) as bed:
            bed.set_congestion_control("reno", initial_window=17)
            with bound(bed.server, socket.SOCK_DGRAM) as receiver:
                seen = [talk(bed, receiver)]
                with bound(bed.client, socket.SOCK_DGRAM) as old:
                    seen.append(bed.move_client())
                    seen.append(is_heard(old, bed, receiver))
                seen.append(talk(bed, receiver))
                bed.move_client()
                seen.append(talk(bed, receiver))
                bed.reset_client()
                seen.append(talk(bed, receiver))
            results.append({"seen": seen, "routes": bed.settings()["routes"]["client"]})
    return results


def talk(bed, receiver):
    """The address that the server sees, and whether its answer comes back."""
    with bed.client.entered():
        sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    with sender:
        sender.settimeout(2)
        sender.sendto(b"hello", (bed.server.address, PORT))
        _, (address, port) = receiver.recvfrom(100)
        receiver.sendto(b"hello", (address, port))
        return [address, sender.recv(100) == b"hello"]


def is_heard(sender, bed, receiver):
    """Whether anything that is sent from an address that is gone reaches the server."""
    receiver.settimeout(0.2)
    try:
        sender.sendto(b"ghost", (bed.server.address, PORT))
        receiver.recv(100)
    except OSError:
        return False
    finally:
        receiver.settimeout(5)
    return True


def test_a_move_changes_the_address_and_the_old_one_is_gone():
    for result in run_inside(moves):
        assert result["seen"] == [
            ["10.0.1.1", True], "10.0.1.2", False, ["10.0.1.2", True], ["10.0.1.3", True],
            ["10.0.1.1", True],
        ]  # fmt: skip
        text = str(result["routes"])
        assert "reno" in text and "17" in text


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"rtt_ms": 20}, "unshaped"),
        ({"loss_percent": 1}, "unshaped"),
        ({"bandwidth_mbit": 10, "offloads": "udp"}, "without shaping"),
        ({"offloads": "tcp"}, "offloads"),
        ({"burst_bytes": 5}, "unshaped"),
    ],
)
def test_what_no_link_can_be_is_refused(change, word):
    with pytest.raises(TestbedError, match=word):
        Link.from_dict(UNSHAPED | change)
