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
    keepalive_timeout {idle}s;
    send_timeout 10m;

    server {{
        listen {address}:{port} {listen}{buffers};
        server_name {host};
        root {www};
{protocol}
        ssl_certificate {certs}/cert.pem;
        ssl_certificate_key {certs}/priv.key;
        ssl_protocols TLSv1.3;
        # Classical groups alone: hybrid key shares would lengthen the handshakes of some programs only.
        ssl_ecdh_curve {group};{cipher}
        ssl_session_tickets on;
        ssl_session_timeout 1h;
        ssl_early_data {early};
        ssl_buffer_size {record};

        location = /prime {{ return 200 "primed\\n"; }}
    }}
}}
"""

CIPHERS = {
    "default": "",
    "aes128": "TLS_AES_128_GCM_SHA256",
    "aes256": "TLS_AES_256_GCM_SHA384",
    "chacha20": "TLS_CHACHA20_POLY1305_SHA256",
}
# OPENSSL_ia32cap(3): without AES-NI, PCLMULQDQ and their wide forms; AES and PMULL of ARMv8.
SLOW_AES = {"OPENSSL_ia32cap": "~0x200000200000000:~0x60000000000", "OPENSSL_armcap": "0x1"}

PROTOCOL = {
    "h1": "",
    "h2": """\
        http2 on;
        http2_max_concurrent_streams {streams};
        http2_chunk_size {chunk};
""",
    "h3": """\
        http3 on;
        http3_max_concurrent_streams {streams};
        http3_stream_buffer_size {buffer};
        # Segmentation offload sends bursts that no other arm sends.
        quic_gso {gso};
        quic_retry off;
""",
}


def refuse(status: int, reason: str) -> NoReturn:
    """Print why this cannot be served and exit with ``status``."""
    print(f"nginx: {reason}", file=sys.stderr)
    sys.exit(status)


def truth(env: dict[str, str], name: str) -> bool:
    """Return a variable that is true or false. Raises KeyError, ValueError."""
    word = env[name].lower()
    if word not in ("true", "false"):
        raise ValueError(f"{name} {env[name]}: use true or false")
    return word == "true"


def cipher_line(word: str) -> str:
    """Return the directive that leaves one cipher of TLS 1.3, or nothing. Raises ValueError."""
    if word not in CIPHERS:
        raise ValueError(f"OPTION_CIPHER {word}: use one of {', '.join(CIPHERS)}")
    return f"\n        ssl_conf_command Ciphersuites {CIPHERS[word]};" if CIPHERS[word] else ""


def configuration(env: dict[str, str]) -> str:
    """Return the text of nginx.conf. Raises KeyError if a variable is missing, ValueError if wrong."""
    protocol = env["PROTOCOL"]
    section = PROTOCOL[protocol].format(
        chunk=int(env["OPTION_HTTP2_CHUNK_BYTES"]),
        buffer=int(env["OPTION_HTTP3_STREAM_BUFFER_BYTES"]),
        streams=int(env["OPTION_MAX_STREAMS"]),
        gso="on" if truth(env, "OPTION_GSO") else "off",
    )
    size = int(env["OPTION_SOCKET_BUFFER_BYTES"])
    return CONFIGURATION.format(
        # The worker keeps the user that starts nginx: in a user namespace there is no other.
        user="user root;\n" if os.geteuid() == 0 else "",
        state=env["STATE"],
        address=env["ADDRESS"],
        port=int(env["PORT"]),
        listen="quic reuseport" if protocol == "h3" else "ssl",
        buffers=f" rcvbuf={size} sndbuf={size}" if size else "",
        idle=int(env["OPTION_IDLE_TIMEOUT_S"]),
        group=env["OPTION_GROUP"],
        cipher=cipher_line(env["OPTION_CIPHER"]),
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
        # OpenSSL looks at them once, when it is loaded, and that is when nginx starts.
        os.environ.update({} if truth(env, "OPTION_AES_ACCELERATION") else SLOW_AES)
    except (KeyError, ValueError) as problem:
        refuse(1, f"environment variable missing or wrong: {problem}")
    path = Path(env["STATE"]) / "nginx.conf"
    path.write_text(text)
    os.execvp("nginx", ["nginx", "-e", "stderr", "-p", env["STATE"], "-c", str(path)])


if __name__ == "__main__":
    main()
