"""Write a configuration of Caddy into STATE and become Caddy.

Reads the environment of docs/formats.md, section 2. Exits with 127 for what Caddy cannot do.
The configuration leaves no way out: no administration, no certificates from anywhere, no storage
outside of STATE.
"""

import json
import os
from typing import Any, NoReturn

from contract import Ability, Environment, Settings, read_settings, run
from contract.settings import read_www

TCP = Ability(("cold", "resumed"))
ABLE = {"h1": TCP, "h2": TCP, "h3": Ability(("cold", "resumed", "0rtt"), ("reno",))}
# For HTTP/2 Caddy demands HTTP/1.1 as well; what is spoken is settled by ALPN.
VERSIONS = {"h1": ["h1"], "h2": ["h1", "h2"], "h3": ["h3"]}
ALPN = {"h1": ["http/1.1"], "h2": ["h2"], "h3": ["h3"]}
GROUPS = {"X25519": "x25519", "P-256": "secp256r1", "P-384": "secp384r1"}


def tls_policy(env: Environment, settings: Settings) -> dict[str, Any]:
    """Return how connections are secured: TLS 1.3, the group asked for and those every client has."""
    first = GROUPS[env.option_supported("group", GROUPS)]
    policy: dict[str, Any] = {
        "alpn": ALPN[settings.protocol],
        "protocol_min": "tls1.3",
        "curves": list(dict.fromkeys([first, "x25519", "secp256r1"])),
    }
    if settings.keys:
        policy["insecure_secrets_log"] = str(settings.keys)
    return policy


def configuration(env: Environment, settings: Settings) -> dict[str, Any]:
    """Return the configuration. May raise Refusal."""
    certificate = {"certificate": str(settings.chain), "key": str(settings.key)}
    prime = {"handler": "static_response", "status_code": 200, "body": "primed\n"}
    server = {
        "listen": [f"{settings.address}:{settings.port}"],
        "protocols": VERSIONS[settings.protocol],
        "automatic_https": {"disable": True},
        "tls_connection_policies": [tls_policy(env, settings)],
        "allow_0rtt": settings.connection == "0rtt",
        # No connection may be closed in the middle of a page, however long the link makes it.
        "idle_timeout": "10m",
        "routes": [
            {"match": [{"path": ["/prime"]}], "handle": [prime], "terminal": True},
            {"handle": [{"handler": "file_server", "root": str(read_www(env))}]},
        ],
    }
    return {
        "admin": {"disabled": True, "config": {"persist": False}},
        "logging": {"logs": {"default": {"level": "ERROR"}}},
        "storage": {"module": "file_system", "root": f"{settings.state}/storage"},
        "apps": {
            "tls": {"certificates": {"load_files": [certificate]}, "disable_ocsp_stapling": True},
            "http": {"grace_period": "100ms", "servers": {"page": server}},
        },
    }


def own_variables(env: Environment, settings: Settings) -> dict[str, str]:
    """Return what Caddy's environment has besides: what it writes for itself goes to STATE."""
    state = str(settings.state)
    folders = {
        "HOME": state,
        "XDG_DATA_HOME": f"{state}/data",
        "XDG_CONFIG_HOME": f"{state}/config",
    }
    gso = {} if env.option_switch("gso") else {"QUIC_GO_DISABLE_GSO": "true"}
    return folders | gso | {"QUIC_GO_DISABLE_RECEIVE_BUFFER_WARNING": "true"}


def main() -> NoReturn:
    """Check what is asked, write the configuration and execute Caddy in the foreground."""
    variables = dict(os.environ)
    env = Environment(variables)
    settings = read_settings(env, ABLE)
    text = json.dumps(configuration(env, settings), indent=1)
    started_with = variables | own_variables(env, settings)
    env.check_options()
    path = settings.state / "caddy.json"
    path.write_text(text)
    os.execvpe("caddy", ["caddy", "run", "--config", str(path)], started_with)


if __name__ == "__main__":
    run("caddy", main)
