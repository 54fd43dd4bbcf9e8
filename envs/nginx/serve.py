"""Write a minimal nginx configuration into STATE and become nginx.

Reads the environment of docs/formats.md, section 2. Exits with 127 for what nginx cannot do.
"""

import os
import sys
from pathlib import Path
from typing import NoReturn

CONFIGURATION = """\
daemon off;
{user}worker_processes 1;
pid {state}/nginx.pid;
error_log stderr warn;
worker_rlimit_nofile 4096;

events {{ worker_connections 1024; }}

http {{
    access_log off;
    client_body_temp_path {state}/body;
    proxy_temp_path {state}/proxy;
    fastcgi_temp_path {state}/fastcgi;
    uwsgi_temp_path {state}/uwsgi;
    scgi_temp_path {state}/scgi;
    types {{ text/html html; image/jpeg jpg; }}
    default_type application/octet-stream;

    sendfile on;
    tcp_nopush on;
    open_file_cache max=2000 inactive=1h;

    # No connection may be closed in the middle of a page, however long the link makes it.
    keepalive_requests 1000000;
    keepalive_timeout 10m;
    send_timeout 10m;

    server {{
        listen {address}:{port} {listen};
        server_name {host};
        root {www};
{protocol}
        ssl_certificate {certs}/cert.pem;
        ssl_certificate_key {certs}/priv.key;
        ssl_protocols TLSv1.3;
        # Classical groups alone: hybrid key shares would lengthen the handshakes of some programs only.
        ssl_ecdh_curve X25519:P-256;
        ssl_session_tickets on;
        ssl_session_timeout 1h;
        ssl_early_data {early};
        ssl_buffer_size {record};

        location = /prime {{ return 200 "primed\\n"; }}
    }}
}}
"""

PROTOCOL = {
    "h1": "",
    "h2": """\
        http2 on;
        http2_max_concurrent_streams 1000;
        http2_chunk_size {chunk};
""",
    "h3": """\
        http3 on;
        http3_max_concurrent_streams 1000;
        http3_stream_buffer_size {buffer};
        # Segmentation offload would send bursts that no other arm sends.
        quic_gso off;
        quic_retry off;
""",
}


def refuse(status: int, reason: str) -> NoReturn:
    """Print why this cannot be served and exit with ``status``."""
    print(f"nginx: {reason}", file=sys.stderr)
    sys.exit(status)


def configuration(env: dict[str, str]) -> str:
    """Return the text of nginx.conf. Raises KeyError if a variable is missing, ValueError if wrong."""
    protocol = env["PROTOCOL"]
    section = PROTOCOL[protocol].format(
        chunk=int(env["OPTION_HTTP2_CHUNK_BYTES"]),
        buffer=int(env["OPTION_HTTP3_STREAM_BUFFER_BYTES"]),
    )
    return CONFIGURATION.format(
        # The worker keeps the user that starts nginx: in a user namespace there is no other.
        user="user root;\n" if os.geteuid() == 0 else "",
        state=env["STATE"],
        address=env["ADDRESS"],
        port=int(env["PORT"]),
        listen="quic reuseport" if protocol == "h3" else "ssl",
        host=env["HOST"],
        www=env["WWW"],
        protocol=section,
        certs=env["CERTS"],
        early="on" if env["CONNECTION"] == "0rtt" else "off",
        record=int(env["OPTION_TLS_RECORD_BYTES"]),
    )


def main() -> NoReturn:
    """Check what is asked, write the configuration and execute nginx in the foreground."""
    env = dict(os.environ)
    protocol = env.get("PROTOCOL", "")
    if protocol not in PROTOCOL:
        refuse(127, f"PROTOCOL {protocol} is not supported; use one of {', '.join(PROTOCOL)}")
    quic = protocol == "h3"
    congestion, connection = env.get("CONGESTION_CONTROL"), env.get("CONNECTION")
    if quic and congestion != "reno":
        refuse(127, f"CONGESTION_CONTROL {congestion} is not supported with h3; use reno")
    known = ("cold", "resumed") if quic else ("cold", "resumed", "0rtt")
    if connection not in known:
        refuse(127, f"CONNECTION {connection} is not supported; use {' or '.join(known)}")
    try:
        text = configuration(env)
    except (KeyError, ValueError) as problem:
        refuse(1, f"environment variable missing or not a number: {problem}")
    path = Path(env["STATE"]) / "nginx.conf"
    path.write_text(text)
    os.execvp("nginx", ["nginx", "-e", "stderr", "-p", env["STATE"], "-c", str(path)])


if __name__ == "__main__":
    main()
