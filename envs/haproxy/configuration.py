"""The configurations of haproxy and of the nginx behind it."""

import os
from dataclasses import dataclass
from pathlib import Path

from contract import Ability, Environment, Refusal, Settings
from contract.settings import read_www
from contract.tls import aes_variables, cipher, groups

CONGESTION_CONTROL = {"cubic": "cubic", "reno": "newreno"}
TCP = Ability(("cold", "resumed", "0rtt"))
ABLE = {"h1": TCP, "h2": TCP, "h3": Ability(("cold", "resumed"), tuple(CONGESTION_CONTROL))}
LARGEST = 1 << 30
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
class Options:
    """The knobs of endpoint.yaml, and the folder to serve."""

    www: Path
    suites: str
    groups: str
    aes: dict[str, str]  # variables of haproxy
    hystart: bool
    idle_s: int
    window_bytes: int
    streams: int
    send_buffers: int
    socket_buffer_bytes: int


@dataclass(frozen=True)
class Files:
    """How the two programs are started, and where they meet."""

    nginx_argv: list[str]
    haproxy_argv: list[str]
    socket: Path


def read_options(env: Environment) -> Options:
    """Read what a server is told besides the settings. May raise Refusal."""
    options = Options(
        www=read_www(env),
        suites=cipher(env),
        groups=groups(env),
        aes=aes_variables(env),
        hystart=env.option_switch("hystart"),
        idle_s=env.option_number("idle_timeout_s", 1, 86400),
        window_bytes=env.option_number("max_congestion_window_bytes", 0, LARGEST),
        streams=env.option_number("max_streams", 1, 1 << 20),
        send_buffers=env.option_number("send_buffers", 1, 1 << 20),
        socket_buffer_bytes=env.option_number("socket_buffer_bytes", 0, LARGEST),
    )
    env.check_options()
    return options


def _tuning(settings: Settings, options: Options) -> str:
    """Return the global lines that depend on the protocol and the options."""
    quic = settings.protocol == "h3"
    lines = ""
    if quic:
        lines = QUIC.format(
            streams=options.streams,
            idle=options.idle_s,
            hystart="on" if options.hystart else "off",
            buffers=options.send_buffers,
        )
    size = options.socket_buffer_bytes
    if size:
        # QUIC's sockets are the listener's, TCP's are the client's.
        side = "frontend" if quic else "client"
        lines += f"  tune.sndbuf.{side} {size}\n  tune.rcvbuf.{side} {size}\n"
    if options.suites:
        lines += f"  ssl-default-bind-ciphersuites {options.suites}\n"
    return lines


def _bind_words(settings: Settings, options: Options) -> str:
    """Return what the bind line says of the protocol."""
    if settings.protocol == "h3":
        limit = f"({options.window_bytes})" if options.window_bytes else ""
        return f"alpn h3 quic-cc-algo {CONGESTION_CONTROL[settings.congestion_control]}{limit}"
    early = " allow-0rtt" if settings.connection == "0rtt" else ""
    return f"alpn {'http/1.1' if settings.protocol == 'h1' else 'h2'}{early}"


def _haproxy(settings: Settings, options: Options, pem: Path, socket: Path) -> str:
    scheme = "quic4" if settings.protocol == "h3" else "ipv4"
    return HAPROXY.format(
        streams=options.streams,
        tuning=_tuning(settings, options),
        idle=options.idle_s,
        bind=f"{scheme}@{settings.address}:{settings.port}",
        pem=pem,
        group=options.groups,
        extra=_bind_words(settings, options),
        socket=socket,
    )


def _nginx(state: Path, www: Path, socket: Path) -> str:
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    return NGINX.format(
        user="user root;\n" if os.geteuid() == 0 else "",
        state=state,
        paths=" ".join(f"{kind}_temp_path {state}/{kind};" for kind in kinds),
        socket=socket,
        www=www,
    )


def write(settings: Settings, options: Options) -> Files:
    """Write all files into STATE. Raises Refusal where that cannot hold a socket, OSError."""
    state = settings.state
    socket = state / "n"
    if len(bytes(socket)) > SOCKET_PATH_BYTES:
        raise Refusal(f"STATE {state}: too long for a Unix socket ({SOCKET_PATH_BYTES} bytes)")
    pem = state / "bundle.pem"
    # haproxy wants key and chain in one file.
    pem.touch(mode=0o600)
    pem.write_text(settings.chain.read_text() + settings.key.read_text())
    haproxy, nginx = state / "haproxy.cfg", state / "nginx.conf"
    haproxy.write_text(_haproxy(settings, options, pem, socket))
    nginx.write_text(_nginx(state, options.www, socket))
    return Files(
        ["nginx", "-e", "stderr", "-p", str(state), "-c", str(nginx)],
        ["haproxy", "-db", "-f", str(haproxy)],
        socket,
    )
