"""Load one page by nghttp and write TIMING. Reads the environment of docs/formats.md, section 2."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import NoReturn
from urllib.parse import urlsplit

from options import slow_aes, truth
from transcript import TranscriptError, page

# nghttpd accepts no other group; offering another one first would cost a round trip.
OPENSSL = """\
openssl_conf = default
[default]
ssl_conf = ssl
[ssl]
system_default = tls
[tls]
Groups = P-256
MinProtocol = TLSv1.3
Ciphersuites = {ciphers}
"""
CIPHERS = {
    "aes128": "TLS_AES_128_GCM_SHA256",
    "aes256": "TLS_AES_256_GCM_SHA384",
    "chacha20": "TLS_CHACHA20_POLY1305_SHA256",
}
CIPHERS["default"] = ":".join(CIPHERS[name] for name in ("aes256", "chacha20", "aes128"))


def refuse(status: int, reason: str) -> NoReturn:
    """Print why the load failed and exit with ``status``."""
    print(f"nghttp: {reason}", file=sys.stderr)
    sys.exit(status)


def check_options(env: dict[str, str]) -> None:
    """Exit with 127 for a cipher, a way to fetch or a move that nghttp does not have."""
    if env["OPTION_CIPHER"] not in CIPHERS:
        refuse(127, f"OPTION_CIPHER {env['OPTION_CIPHER']}: use one of {', '.join(CIPHERS)}")
    for name, only in (("FETCH", "page"), ("BODY", "sha256"), ("MOVES", "0")):
        if env.get(name, only) != only:
            refuse(127, f"{name} {env[name]} is not supported; use {only}")


def command(env: dict[str, str], har: Path) -> list[str]:
    """Return the argument vector of nghttp. The name reaches it as authority, the address as URI."""
    first = urlsplit(env["REQUESTS"].split()[0])
    return [
        "nghttp", "--verbose", "--stat", f"--har={har}", "--get-assets", "--no-push", "--no-dep",
        f"--window-bits={int(env['OPTION_STREAM_WINDOW_BITS'])}",
        f"--connection-window-bits={int(env['OPTION_CONNECTION_WINDOW_BITS'])}",
        *([] if truth(env, "OPTION_VERIFY") else ["--no-verify-peer"]),
        f"--header=:authority: {first.netloc}",
        f"https://{env['ADDRESS']}:{env['PORT']}{first.path}",
    ]  # fmt: skip


def run(env: dict[str, str]) -> dict[str, object]:
    """Run nghttp and return TIMING. Exits with a reason if the load did not work."""
    state = Path(env["STATE"])
    har, configuration = state / "page.har", state / "openssl.cnf"
    configuration.write_text(OPENSSL.format(ciphers=CIPHERS[env["OPTION_CIPHER"]]))
    child = dict(
        env,
        **slow_aes(env),
        OPENSSL_CONF=str(configuration),
        SSL_CERT_FILE=f"{env['CERTS']}/ca.pem",
    )
    done = subprocess.run(command(env, har), env=child, capture_output=True, check=False)
    # nghttp exits with 0 and a remark when it could not connect or did not trust the certificate.
    complaint = done.stderr.decode(errors="replace").strip()
    if done.returncode != 0 or complaint:
        refuse(
            1, complaint.splitlines()[0] if complaint else f"ended with status {done.returncode}"
        )
    return page(json.loads(har.read_text()), done.stdout)


def check(timing: dict[str, object], wanted: list[str]) -> None:
    """Exit with a reason unless every path of ``wanted``, and no other, came with status 200."""
    objects = timing["objects"]
    assert isinstance(objects, list)
    for item in objects:
        if item["status"] != 200:
            refuse(1, f"{item['path']}: status {item['status']}")
    missing = set(wanted) ^ {item["path"] for item in objects}
    if missing:
        refuse(1, f"the HTML does not list the same objects as REQUESTS: {sorted(missing)[0]}")


def main() -> None:
    """Check what is asked, load, write TIMING."""
    env = dict(os.environ)
    if env.get("PROTOCOL") != "h2":
        refuse(127, f"PROTOCOL {env.get('PROTOCOL')} is not supported; use h2")
    if env.get("CONNECTION") != "cold":
        refuse(127, f"CONNECTION {env.get('CONNECTION')} is not supported; use cold")
    try:
        check_options(env)
        timing = run(env)
        check(timing, [urlsplit(url).path for url in env["REQUESTS"].split()])
        Path(env["TIMING"]).write_text(json.dumps(timing, indent=1))
    except TranscriptError as problem:
        refuse(1, f"its output cannot be read: {problem}")
    except (KeyError, ValueError, IndexError) as problem:
        refuse(1, f"environment variable missing or wrong: {problem!r}")
    except OSError as problem:
        refuse(1, str(problem))


if __name__ == "__main__":
    main()
