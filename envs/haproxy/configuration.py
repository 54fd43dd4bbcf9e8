"""The configurations of haproxy and of the nginx behind it."""

import os
from dataclasses import dataclass
from pathlib import Path

CONGESTION_CONTROL = {"cubic": "cubic", "reno": "newreno"}
CIPHERS = {
    "default": None,
    "aes128": "TLS_AES_128_GCM_SHA256",
    "aes256": "TLS_AES_256_GCM_SHA384",
    "chacha20": "TLS_CHACHA20_POLY1305_SHA256",
}
# A Unix socket's path has at most 107 bytes.
SOCKET_PATH_BYTES = 107

NGINX = """\
daemon off;
worker_processes 1;
{user}pid {state}/nginx.pid;
error_log stderr warn;
events {{ worker_connections 2048; }}
http {{
    access_log off;
    {paths}
    types {{ text/html html; image/jpeg jpg; }}
    default_type application/octet-stream;
    open_file_cache max=2000 inactive=1h;
    sendfile on;
    keepalive_requests 1000000;
    keepalive_timeout 1h;
    server {{ listen unix:{socket}; root {www}; }}
}}
"""

HAPROXY = """\
global
  nbthread 1
  maxconn 1000
  tune.h2.fe.max-concurrent-streams {streams}
{tuning}
defaults
  mode http
  timeout connect 10s
  timeout client {idle}s
  timeout server {idle}s
  timeout http-keep-alive {idle}s
frontend link
  bind {bind} ssl crt {pem} ssl-min-ver TLSv1.3 curves {group} {extra}
  http-request return status 200 content-type text/plain string primed if {{ path /prime }}
  default_backend files
backend files
  http-reuse always
  server nginx unix@{socket}
"""

QUIC = """\
  limited-quic
  tune.quic.cc-hystart {hystart}
  tune.quic.frontend.max-streams-bidi {streams}
  tune.quic.frontend.max-idle-timeout {idle}s
  tune.quic.frontend.conn-tx-buffers.limit {buffers}
"""


@dataclass(frozen=True)
class Files:
    """How the two programs are started, and where they meet."""

    nginx_argv: list[str]
    haproxy_argv: list[str]
    socket: Path


def _truth(env: dict[str, str], name: str) -> bool:
    word = env[name].lower()
    if word not in ("true", "false"):
        raise ValueError(f"{name} {env[name]}: use true or false")
    return word == "true"


def slow_aes(env: dict[str, str]) -> bool:
    """Tell whether AES is to be computed without the processor's instructions. May raise ValueError."""
    return not _truth(env, "OPTION_AES_ACCELERATION")


def _tuning(env: dict[str, str], streams: int, idle: int) -> str:
    """Return the global lines that depend on the protocol and the options."""
    quic = env["PROTOCOL"] == "h3"
    lines = ""
    if quic:
        lines = QUIC.format(
            streams=streams,
            idle=idle,
            hystart="on" if _truth(env, "OPTION_HYSTART") else "off",
            buffers=int(env["OPTION_SEND_BUFFERS"]),
        )
    size = int(env["OPTION_SOCKET_BUFFER_BYTES"])
    if size:
        # QUIC's sockets are the listener's, TCP's are the client's.
        side = "frontend" if quic else "client"
        lines += f"  tune.sndbuf.{side} {size}\n  tune.rcvbuf.{side} {size}\n"
    cipher = env["OPTION_CIPHER"]
    if cipher not in CIPHERS:
        raise ValueError(f"OPTION_CIPHER {cipher}: use one of {', '.join(CIPHERS)}")
    if CIPHERS[cipher]:
        lines += f"  ssl-default-bind-ciphersuites {CIPHERS[cipher]}\n"
    return lines


def _bind_words(env: dict[str, str]) -> str:
    """Return what the bind line says of the protocol."""
    protocol = env["PROTOCOL"]
    if protocol == "h3":
        window = int(env["OPTION_MAX_CONGESTION_WINDOW_BYTES"])
        limit = f"({window})" if window else ""
        return f"alpn h3 quic-cc-algo {CONGESTION_CONTROL[env['CONGESTION_CONTROL']]}{limit}"
    early = " allow-0rtt" if env["CONNECTION"] == "0rtt" else ""
    return f"alpn {'http/1.1' if protocol == 'h1' else 'h2'}{early}"


def _haproxy(env: dict[str, str], pem: Path, socket: Path) -> str:
    streams, idle = int(env["OPTION_MAX_STREAMS"]), int(env["OPTION_IDLE_TIMEOUT_S"])
    scheme = "quic4" if env["PROTOCOL"] == "h3" else "ipv4"
    return HAPROXY.format(
        streams=streams,
        tuning=_tuning(env, streams, idle),
        idle=idle,
        bind=f"{scheme}@{env['ADDRESS']}:{int(env['PORT'])}",
        pem=pem,
        group=env["OPTION_GROUP"],
        extra=_bind_words(env),
        socket=socket,
    )


def _nginx(env: dict[str, str], state: Path, socket: Path) -> str:
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    return NGINX.format(
        user="user root;\n" if os.geteuid() == 0 else "",
        state=state,
        paths=" ".join(f"{kind}_temp_path {state}/{kind};" for kind in kinds),
        socket=socket,
        www=env["WWW"],
    )


def write(env: dict[str, str], state: Path) -> Files:
    """Write all files into ``state``. Raises KeyError or ValueError for a wrong variable."""
    socket = state / "n"
    if len(bytes(socket)) > SOCKET_PATH_BYTES:
        raise ValueError(f"STATE {state}: too long for a Unix socket ({SOCKET_PATH_BYTES} bytes)")
    certs = Path(env["CERTS"])
    pem = state / "bundle.pem"
    # haproxy wants key and chain in one file.
    pem.touch(mode=0o600)
    pem.write_text((certs / "cert.pem").read_text() + (certs / "priv.key").read_text())
    haproxy, nginx = state / "haproxy.cfg", state / "nginx.conf"
    haproxy.write_text(_haproxy(env, pem, socket))
    nginx.write_text(_nginx(env, state, socket))
    return Files(
        ["nginx", "-e", "stderr", "-p", str(state), "-c", str(nginx)],
        ["haproxy", "-db", "-f", str(haproxy)],
        socket,
    )
