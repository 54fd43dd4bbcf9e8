"""Write a configuration of Caddy into STATE and become Caddy.

Reads the environment of docs/formats.md, section 2. Exits with 127 for what Caddy cannot do.
The configuration leaves no way out: no administration, no certificates from anywhere, no storage
outside of STATE.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any, NoReturn

CONNECTIONS = ("cold", "resumed", "0rtt")
# For HTTP/2 Caddy demands HTTP/1.1 as well; what is spoken is settled by ALPN.
VERSIONS = {"h1": ["h1"], "h2": ["h1", "h2"], "h3": ["h3"]}
ALPN = {"h1": ["http/1.1"], "h2": ["h2"], "h3": ["h3"]}
GROUPS = {"X25519": "x25519", "P-256": "secp256r1", "P-384": "secp384r1"}


class NotSupported(Exception):
    """Caddy cannot do what a variable asks for."""


def chosen(env: dict[str, str], name: str, known: tuple[str, ...]) -> str:
    """Return a variable. Raises KeyError if it is missing, NotSupported if it is none of ``known``."""
    if env[name] not in known:
        raise NotSupported(f"{name} {env[name]} is not supported; use {' or '.join(known)}")
    return env[name]


def tls_policy(env: dict[str, str]) -> dict[str, Any]:
    """Return how connections are secured: TLS 1.3, the group asked for and those every client has."""
    first = GROUPS[chosen(env, "OPTION_GROUP", tuple(GROUPS))]
    policy: dict[str, Any] = {
        "alpn": ALPN[env["PROTOCOL"]],
        "protocol_min": "tls1.3",
        "curves": list(dict.fromkeys([first, "x25519", "secp256r1"])),
    }
    if keys := env.get("SSLKEYLOGFILE"):
        policy["insecure_secrets_log"] = keys
    return policy


def configuration(env: dict[str, str]) -> dict[str, Any]:
    """Return the configuration. Raises KeyError, ValueError for a missing or wrong variable."""
    protocol = chosen(env, "PROTOCOL", tuple(VERSIONS))
    connection = chosen(env, "CONNECTION", CONNECTIONS if protocol == "h3" else CONNECTIONS[:2])
    if protocol == "h3":
        chosen(env, "CONGESTION_CONTROL", ("reno",))
    certificate = {
        "certificate": f"{env['CERTS']}/cert.pem",
        "key": f"{env['CERTS']}/priv.key",
    }
    prime = {"handler": "static_response", "status_code": 200, "body": "primed\n"}
    server = {
        "listen": [f"{env['ADDRESS']}:{int(env['PORT'])}"],
        "protocols": VERSIONS[protocol],
        "automatic_https": {"disable": True},
        "tls_connection_policies": [tls_policy(env)],
        "allow_0rtt": connection == "0rtt",
        # No connection may be closed in the middle of a page, however long the link makes it.
        "idle_timeout": "10m",
        "routes": [
            {"match": [{"path": ["/prime"]}], "handle": [prime], "terminal": True},
            {"handle": [{"handler": "file_server", "root": env["WWW"]}]},
        ],
    }
    return {
        "admin": {"disabled": True, "config": {"persist": False}},
        "logging": {"logs": {"default": {"level": "ERROR"}}},
        "storage": {"module": "file_system", "root": f"{env['STATE']}/storage"},
        "apps": {
            "tls": {"certificates": {"load_files": [certificate]}, "disable_ocsp_stapling": True},
            "http": {"grace_period": "100ms", "servers": {"page": server}},
        },
    }


def caddy_environment(env: dict[str, str]) -> dict[str, str]:
    """Return the environment of Caddy: what it writes for itself goes to STATE."""
    state = env["STATE"]
    folders = {
        "HOME": state,
        "XDG_DATA_HOME": f"{state}/data",
        "XDG_CONFIG_HOME": f"{state}/config",
    }
    gso = {} if env["OPTION_GSO"].lower() == "true" else {"QUIC_GO_DISABLE_GSO": "true"}
    return env | folders | gso | {"QUIC_GO_DISABLE_RECEIVE_BUFFER_WARNING": "true"}


def main() -> NoReturn:
    """Check what is asked, write the configuration and execute Caddy in the foreground."""
    env = dict(os.environ)
    try:
        text = json.dumps(configuration(env), indent=1)
        own_environment = caddy_environment(env)
        path = Path(env["STATE"]) / "caddy.json"
    except NotSupported as problem:
        print(f"caddy: {problem}", file=sys.stderr)
        sys.exit(127)
    except (KeyError, ValueError) as problem:
        sys.exit(f"caddy: environment variable missing or not a number: {problem}")
    path.write_text(text)
    os.execvpe("caddy", ["caddy", "run", "--config", str(path)], own_environment)


if __name__ == "__main__":
    main()
