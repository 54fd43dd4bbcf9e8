"""Write a minimal nginx configuration into STATE and become nginx.

Reads the environment of docs/formats.md, section 2. Exits with 127 for what nginx cannot do.
"""

import os
from collections.abc import Mapping
from typing import NoReturn

from contract import Ability, Environment, Settings, read_settings, run
from contract.settings import read_www
from contract.tls import aes_variables, cipher, groups

TCP = Ability(("cold", "resumed", "0rtt"))
ABLE = {"h1": TCP, "h2": TCP, "h3": Ability(("cold", "resumed"), ("reno",))}
LARGEST = 1 << 30

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


def configuration(env: Environment, settings: Settings) -> str:
    """Return the text of nginx.conf. May raise Refusal."""
    section = PROTOCOL[settings.protocol].format(
        chunk=env.option_number("http2_chunk_bytes", 1, LARGEST),
        buffer=env.option_number("http3_stream_buffer_bytes", 1, LARGEST),
        streams=env.option_number("max_streams", 1, 1 << 20),
        gso="on" if env.option_switch("gso") else "off",
    )
    size = env.option_number("socket_buffer_bytes", 0, LARGEST)
    suites = cipher(env)
    return CONFIGURATION.format(
        # The worker keeps the user that starts nginx: in a user namespace there is no other.
        user="user root;\n" if os.geteuid() == 0 else "",
        state=settings.state,
        address=settings.address,
        port=settings.port,
        listen="quic reuseport" if settings.protocol == "h3" else "ssl",
        buffers=f" rcvbuf={size} sndbuf={size}" if size else "",
        idle=env.option_number("idle_timeout_s", 1, 86400),
        group=groups(env),
        cipher=f"\n        ssl_conf_command Ciphersuites {suites};" if suites else "",
        host=settings.host,
        www=read_www(env),
        protocol=section,
        certs=settings.certs,
        early="on" if settings.connection == "0rtt" else "off",
        record=env.option_number("tls_record_bytes", 1, 16384),
    )


def main() -> NoReturn:
    """Check what is asked, write the configuration and execute nginx in the foreground."""
    variables: Mapping[str, str] = dict(os.environ)
    env = Environment(variables)
    settings = read_settings(env, ABLE)
    text = configuration(env, settings)
    # OpenSSL looks at them once, when it is loaded, and that is when nginx starts.
    started_with = {**variables, **aes_variables(env)}
    env.check_options()
    path = settings.state / "nginx.conf"
    path.write_text(text)
    argv = ["nginx", "-e", "stderr", "-p", str(settings.state), "-c", str(path)]
    os.execvpe(argv[0], argv, started_with)


if __name__ == "__main__":
    run("nginx", main)
