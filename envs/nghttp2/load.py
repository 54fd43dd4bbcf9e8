"""Load one page by nghttp and write TIMING. Reads the environment of docs/formats.md, section 2."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import NoReturn
from urllib.parse import urlsplit

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
"""


def refuse(status: int, reason: str) -> NoReturn:
    """Print why the load failed and exit with ``status``."""
    print(f"nghttp: {reason}", file=sys.stderr)
    sys.exit(status)


def command(env: dict[str, str], har: Path) -> list[str]:
    """Return the argument vector of nghttp. The name reaches it as authority, the address as URI."""
    first = urlsplit(env["REQUESTS"].split()[0])
    return [
        "nghttp", "--verbose", "--stat", f"--har={har}", "--get-assets", "--no-push", "--no-dep",
        f"--window-bits={int(env['OPTION_STREAM_WINDOW_BITS'])}",
        f"--connection-window-bits={int(env['OPTION_CONNECTION_WINDOW_BITS'])}",
        f"--header=:authority: {first.netloc}",
        f"https://{env['ADDRESS']}:{env['PORT']}{first.path}",
    ]  # fmt: skip


def run(env: dict[str, str]) -> dict[str, object]:
    """Run nghttp and return TIMING. Exits with a reason if the load did not work."""
    state = Path(env["STATE"])
    har, configuration = state / "page.har", state / "openssl.cnf"
    configuration.write_text(OPENSSL)
    child = dict(env, OPENSSL_CONF=str(configuration), SSL_CERT_FILE=f"{env['CERTS']}/ca.pem")
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
