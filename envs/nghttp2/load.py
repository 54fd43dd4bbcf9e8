"""Load one page by nghttp and write TIMING. Reads the environment of docs/formats.md, section 2."""

import json
import os
import subprocess
from pathlib import Path

from contract import Ability, Environment, Load, Refusal, Settings, read_load, read_settings, run
from contract.timing import Timing
from options import Options, read_options
from transcript import TranscriptError, page

ABLE = {"h2": Ability(("cold",))}
# nghttpd accepts no other group; offering another one first would cost a round trip. (No section is called
# "default": OpenSSL means another one by that.)
OPENSSL = """\
openssl_conf = all
[all]
ssl_conf = ssl
[ssl]
system_default = tls
[tls]
Groups = P-256
MinProtocol = TLSv1.3
Ciphersuites = {ciphers}
"""


def command(settings: Settings, load: Load, options: Options, har: Path) -> list[str]:
    """Return the argument vector of nghttp. The name reaches it as authority, the address as URI."""
    return [
        "nghttp", "--verbose", "--stat", f"--har={har}", "--get-assets", "--no-push", "--no-dep",
        *options.windows,
        *([] if options.verify else ["--no-verify-peer"]),
        f"--header=:authority: {load.netloc}",
        f"https://{settings.address}:{settings.port}{load.paths[0]}",
    ]  # fmt: skip


def fetch(settings: Settings, load: Load, options: Options) -> Timing:
    """Run nghttp and return TIMING. Raises Refusal if the load did not work."""
    har, configuration = settings.state / "page.har", settings.state / "openssl.cnf"
    configuration.write_text(OPENSSL.format(ciphers=options.suites))
    child = {
        **os.environ,
        **options.aes,
        "OPENSSL_CONF": str(configuration),
        "SSL_CERT_FILE": str(settings.authority),
    }
    argv = command(settings, load, options, har)
    done = subprocess.run(argv, env=child, capture_output=True, check=False)
    # nghttp exits with 0 and a remark when it could not connect or did not trust the certificate.
    complaint = done.stderr.decode(errors="replace").strip()
    if done.returncode != 0 or complaint:
        ended = f"ended with status {done.returncode}"
        raise Refusal(complaint.splitlines()[0] if complaint else ended)
    return page(json.loads(har.read_text()), done.stdout)


def check(timing: Timing, wanted: tuple[str, ...]) -> None:
    """Raise Refusal unless every path of ``wanted``, and no other, came with status 200."""
    for item in timing.objects:
        if item.status != 200:
            raise Refusal(f"{item.path}: status {item.status}")
    missing = set(wanted) ^ {item.path for item in timing.objects}
    if missing:
        raise Refusal(f"the HTML does not list the same objects as REQUESTS: {sorted(missing)[0]}")


def main() -> None:
    """Check what is asked, load, write TIMING."""
    env = Environment(os.environ)
    settings = read_settings(env, ABLE)
    # Its transcript must have the bodies, and the HTML tells it what to fetch.
    load = read_load(env, settings, fetch=("page",), body=("sha256",))
    options = read_options(env)
    try:
        timing = fetch(settings, load, options)
    except (TranscriptError, KeyError, ValueError) as problem:
        raise Refusal(f"its output cannot be read: {problem!r}") from problem
    check(timing, load.paths)
    timing.write(load.timing)


if __name__ == "__main__":
    run("nghttp", main)
