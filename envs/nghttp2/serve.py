"""Become nghttpd. Reads the environment of docs/formats.md, section 2."""

import os
from pathlib import Path
from typing import NoReturn

from contract import Ability, Environment, read_settings, run
from contract.settings import read_www
from options import read_options

ABLE = {"h2": Ability(("cold", "resumed"))}


def document_root(www: Path, state: Path) -> Path:
    """Return a folder in ``state`` that shows ``www`` and /prime, which nghttpd cannot make up."""
    root = state / "www"
    root.mkdir()
    for entry in www.iterdir():
        (root / entry.name).symlink_to(entry)
    # Where there is one, this would write through the link into what all servers serve.
    if not (root / "prime").exists():
        (root / "prime").write_text("primed\n")
    return root


def main() -> NoReturn:
    """Check what is asked and execute nghttpd in the foreground."""
    variables = dict(os.environ)
    env = Environment(variables)
    settings = read_settings(env, ABLE)
    www, options = read_www(env), read_options(env)
    argv = [
        "nghttpd",
        f"--address={settings.address}",
        f"--htdocs={document_root(www, settings.state)}",
        f"--max-concurrent-streams={options.max_streams}",
        *options.windows,
        str(settings.port),
        str(settings.key),
        str(settings.chain),
    ]
    os.execvpe(argv[0], argv, variables | options.aes)


if __name__ == "__main__":
    run("nghttpd", main)
