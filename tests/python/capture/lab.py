"""Record real page loads over a link that really drops packets; run inside private namespaces.

    unshare --user --map-root-user --net --pid --fork --mount-proc --kill-child python lab.py FOLDER

The namespace it starts in is the router; client and server get one each. The drop-tail queue
towards the client is short, so that TCP loses packets: the kernel's count of them is the truth the
tests compare with. Leaves, per load: NAME.client.pcap, NAME.server.pcap, NAME.keys,
NAME.timing.json, NAME.truth.json.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

ADDRESSES = {"client": ("10.77.1.2", "10.77.1.1"), "server": ("10.77.2.2", "10.77.2.1")}
SERVER = ADDRESSES["server"][0]
PORT = 8443
RATE = "20mbit"
QUEUE_BYTES = 20_000
OFFLOADS_OFF = [word for name in ("tso", "gso", "gro", "sg", "tx", "rx") for word in (name, "off")]
PAGE = {"/index.html": 3_000, "/a.bin": 400_000, "/b.bin": 250_000, "/c.bin": 1_300}

NGINX = """
daemon off; worker_processes 1; user root;
pid {folder}/nginx.pid; error_log {folder}/nginx.log warn;
events {{ }}
http {{
  access_log off;
  client_body_temp_path {folder}/t1; proxy_temp_path {folder}/t2; fastcgi_temp_path {folder}/t3;
  uwsgi_temp_path {folder}/t4; scgi_temp_path {folder}/t5;
  server {{
    listen {server}:{port} ssl; listen {server}:{port} quic; http2 on; root {folder}/www;
    ssl_certificate {folder}/cert.pem; ssl_certificate_key {folder}/key.pem;
  }}
}}
"""


def run(*argv: str, pid: int | None = None) -> str:
    """Run a program, in the network namespace of `pid` if given; its output."""
    enter = ["nsenter", "--net", "--target", str(pid)] if pid else []
    done = subprocess.run([*enter, *argv], check=True, capture_output=True, text=True)
    return done.stdout


def make_end(name: str) -> subprocess.Popen[bytes]:
    """A namespace joined to the router; it lives as long as the returned process."""
    holder = subprocess.Popen(["unshare", "--net", "sleep", "600"])
    own = Path("/proc/self/ns/net").readlink()
    for _ in range(500):
        if Path(f"/proc/{holder.pid}/ns/net").readlink() != own:
            break
        time.sleep(0.01)
    address, router = ADDRESSES[name]
    pid = holder.pid
    run("ip", "link", "add", f"r-{name}", "type", "veth", "peer", "name", name, "netns", str(pid))
    for device, where, own_address in ((f"r-{name}", None, router), (name, pid, address)):
        run(
            "ethtool",
            "-K",
            device,
            *OFFLOADS_OFF,
            pid=where,
        )
        run("ip", "link", "set", device, "addrgenmode", "none", pid=where)
        run("ip", "address", "add", f"{own_address}/24", "dev", device, pid=where)
        run("ip", "link", "set", device, "up", pid=where)
    run("ip", "link", "set", "lo", "up", pid=pid)
    run("ip", "route", "add", "default", "via", router, pid=pid)
    # The kernel's count of drops is of the load alone: nobody asks for an address while it runs.
    for device, where, own_address, other, there in (
        (f"r-{name}", None, router, name, pid),
        (name, pid, address, f"r-{name}", None),
    ):
        hardware = json.loads(run("ip", "-json", "link", "show", "dev", device, pid=where))
        words = ("lladdr", hardware[0]["address"], "dev", other, "nud", "permanent")
        run("ip", "neighbour", "replace", own_address, *words, pid=there)
    return holder


def dropped() -> int:
    """Packets that the queue towards the client has dropped."""
    shown = json.loads(run("tc", "-s", "-j", "qdisc", "show", "dev", "r-client"))
    return int(next(q["drops"] for q in shown if q["kind"] == "tbf"))


def start_server(folder: Path, pid: int) -> subprocess.Popen[bytes]:
    """nginx with HTTP/1.1, 2 and 3, listening."""
    (folder / "www").mkdir()
    for path, size in PAGE.items():
        (folder / "www" / path[1:]).write_bytes(os.urandom(size))
    run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
        "-keyout", f"{folder}/key.pem", "-out", f"{folder}/cert.pem", "-days", "2",
        "-subj", f"/CN={SERVER}", "-addext", f"subjectAltName=IP:{SERVER}")  # fmt: skip
    text = NGINX.format(folder=folder, server=SERVER, port=PORT)
    (folder / "nginx.conf").write_text(text)
    server = subprocess.Popen(
        ["nsenter", "--net", "--target", str(pid), "nginx", "-c", f"{folder}/nginx.conf"]
    )
    for _ in range(500):
        if server.poll() is None and f":{PORT}" in run("ss", "-Htln", pid=pid):
            return server
        time.sleep(0.02)
    raise SystemExit(f"nginx does not listen: {(folder / 'nginx.log').read_text()}")


def record(name: str, folder: Path, ends: dict[str, int], client: list[str]) -> None:
    """One load by `client`, captured at both ends."""
    keys = folder / f"{name}.keys"
    captures = []
    for end, pid in ends.items():
        capture = subprocess.Popen(
            ["nsenter", "--net", "--target", str(pid), "tcpdump", "-i", end, "-n", "-U",
             "--immediate-mode", "--time-stamp-precision=nano", "-B", "16384", "-Z", "root",
             "-w", f"{folder}/{name}.{end}.pcap"],
            stderr=subprocess.PIPE,
        )  # fmt: skip
        assert capture.stderr is not None
        for line in capture.stderr:
            if b"listening on" in line:
                break
        captures.append(capture)
    before = dropped()
    environment = os.environ | {"SSLKEYLOGFILE": str(keys)}
    begin = time.time()
    done = subprocess.run(
        ["nsenter", "--net", "--target", str(ends["client"]), *client],
        env=environment, capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    wall = time.time() - begin
    if done.returncode:
        raise SystemExit(f"{name}: {client[0]} ended with {done.returncode}: {done.stderr}")
    time.sleep(0.3)
    for capture in captures:
        capture.send_signal(signal.SIGINT)
        capture.wait(10)
    truth = {"dropped_down": dropped() - before}
    if name != "h1":
        truth |= json.loads(done.stdout)
        size = PAGE["/a.bin"]
        entry = {"path": "/a.bin", "status": 200, "bytes": size, "start_s": 0.0, "end_s": wall}
        timing = {"protocol": name, "start": begin, "objects": [entry]}
        (folder / f"{name}.timing.json").write_text(json.dumps(timing))
    (folder / f"{name}.truth.json").write_text(json.dumps(truth))


def main() -> None:
    """Make the network, record one load per protocol, end everything."""
    folder = Path(sys.argv[1])
    Path("/proc/sys/net/ipv4/ip_forward").write_text("1")
    run("ip", "link", "set", "lo", "up")
    holders = {name: make_end(name) for name in ADDRESSES}
    run("tc", "qdisc", "add", "dev", "r-client", "root", "tbf", "rate", RATE, "burst", "3100",
        "limit", str(QUEUE_BYTES))  # fmt: skip
    ends = {name: holder.pid for name, holder in holders.items()}
    server = start_server(folder, ends["server"])
    url = f"https://{SERVER}:{PORT}/a.bin"
    curl = ["curl", "--silent", "--cacert", f"{folder}/cert.pem", "--output", "/dev/null",
            "--write-out", "%{json}", url]  # fmt: skip
    try:
        loader = Path(__file__).with_name("loader.py")
        record("h1", folder, ends, [sys.executable, str(loader), str(folder), SERVER, str(PORT)])
        record("h2", folder, ends, [*curl, "--http2"])
        record("h3", folder, ends, [*curl, "--http3-only"])
    finally:
        server.send_signal(signal.SIGQUIT)
        server.wait(10)
        for holder in holders.values():
            holder.kill()
            holder.wait()


if __name__ == "__main__":
    socket.setdefaulttimeout(30)
    main()
