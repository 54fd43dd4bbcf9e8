"""Become nghttpd. Reads the environment of docs/formats.md, section 2."""

import os
import sys
from pathlib import Path
from typing import NoReturn

from options import slow_aes


def refuse(status: int, reason: str) -> NoReturn:
    """Print why this cannot be served and exit with ``status``."""
    print(f"nghttpd: {reason}", file=sys.stderr)
    sys.exit(status)


def document_root(www: Path, state: Path) -> Path:
    """Return a folder in ``state`` that shows ``www`` and /prime, which nghttpd cannot make up."""
    root = state / "www"
    root.mkdir()
    for entry in www.iterdir():
        (root / entry.name).symlink_to(entry)
    (root / "prime").write_text("primed\n")
    return root


def main() -> NoReturn:
    """Check what is asked and execute nghttpd in the foreground."""
    env = os.environ
    if env.get("PROTOCOL") != "h2":
        refuse(127, f"PROTOCOL {env.get('PROTOCOL')} is not supported; use h2")
    if env.get("CONNECTION") not in ("cold", "resumed"):
        refuse(127, f"CONNECTION {env.get('CONNECTION')} is not supported; use cold or resumed")
    try:
        env.update(slow_aes(dict(env)))
        argv = [
            "nghttpd",
            f"--address={env['ADDRESS']}",
            f"--htdocs={document_root(Path(env['WWW']), Path(env['STATE']))}",
            f"--max-concurrent-streams={int(env['OPTION_MAX_STREAMS'])}",
            f"--window-bits={int(env['OPTION_STREAM_WINDOW_BITS'])}",
            f"--connection-window-bits={int(env['OPTION_CONNECTION_WINDOW_BITS'])}",
            env["PORT"],
            f"{env['CERTS']}/priv.key",
            f"{env['CERTS']}/cert.pem",
        ]
    except (KeyError, ValueError, OSError) as problem:
        refuse(1, f"environment variable missing or wrong: {problem}")
    os.execvp(argv[0], argv)


if __name__ == "__main__":
    main()
