"""AES without the processor's instructions, beside what a program is told to overlook already."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from howquick.guest.guest import basic_environment
from howquick.measure.job import MASKED
from programs.conftest import Page
from programs.endpoint_runner import (
    PATH,
    Load,
    Server,
    load_endpoint,
    run_client,
    running_server,
)
from programs.matrix import Pair, load_for, pairs

# OPENSSL_ia32cap(3), first and second word: AES-NI and PCLMULQDQ; VAES and VPCLMULQDQ.
AES = (1 << 57 | 1 << 33, 1 << 41 | 1 << 42)
# RDRAND and RDSEED, which a guest hides.
RANDOM = (1 << 62, 1 << 18)
# FXSR, SSE, SSE2 and SSSE3: a word may also say what is not hidden.
OLD = 7 << 24 | 1 << 41
BOTH = tuple(aes | random for aes, random in zip(AES, RANDOM, strict=True))
GUEST = basic_environment()[MASKED]
# By what is there before, what it becomes.
MASKS = {
    "": f"~{AES[0]:#x}:~{AES[1]:#x}",
    GUEST: f"~{BOTH[0]:#x}:~{BOTH[1]:#x}",
    f":~{RANDOM[1]}:~0x1": f"~{AES[0]:#x}:~{BOTH[1]:#x}:~0x1",
    f"{AES[0] | OLD:#x}": f"{OLD:#x}:~{AES[1]:#x}",
}
LANGUAGES = ("c", "python", "rust")
NAME = "aes_acceleration"
# What programs in Python start, some of which write over their environment.
STARTED = ("haproxy", "nghttpd", "nginx")
NOTED = """\
#!/bin/sh
printf %s "$OPENSSL_ia32cap" >{seen}
exec {program} "$@"
"""


def language_of(program: str) -> str:
    """That of the contract of ours which a program has."""
    return (load_endpoint(program).folder / "contract").resolve().name


def chosen() -> list[Pair]:
    """A pair for each server that has the option by a contract of ours; Go looks at no mask."""
    found: dict[str, Pair] = {}
    # With its own client, or another that looks at the mask.
    for pair in sorted(pairs(), key=lambda p: (p.server != p.client, language_of(p.client))):
        endpoint, language = load_endpoint(pair.server), language_of(pair.server)
        if pair.connection == "cold" and NAME in endpoint.options() and language in LANGUAGES:
            found.setdefault(pair.server, pair)
    return list(found.values())


def noting(folder: Path) -> dict[str, str]:
    """PATH with programs in it that note the mask and become the real ones."""
    folder.mkdir()
    for name in STARTED:
        program = folder / name
        program.write_text(NOTED.format(seen=folder / "seen", program=shutil.which(name)))
        program.chmod(0o755)
    return {"PATH": f"{folder}:{PATH}"}


def mask_of(server: Server, folder: Path) -> str:
    """What the library of a server was told when it was loaded; `folder`: of `noting`."""
    if (folder / "seen").exists():
        return (folder / "seen").read_text()
    words = Path(f"/proc/{server.process.pid}/environ").read_bytes().decode().split("\0")
    return next(word.partition("=")[2] for word in words if word.startswith(f"{MASKED}="))


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("pair", chosen(), ids=str)
def test_what_is_hidden_already_stays_hidden(
    pair: Pair, mask: str, certs: Path, small_page: Page, tmp_path: Path
) -> None:
    told = noting(tmp_path / "bin") | ({MASKED: mask} if mask else {})

    def asked(role: str, port: int | None = None) -> Load:
        load = load_for(pair, role, certs, port, variables=told)
        has = NAME in load_endpoint(getattr(pair, role)).options()
        return replace(load, options=load.options | ({NAME: False} if has else {}))

    load = asked("server")
    with running_server(
        load_endpoint(pair.server), load, small_page.folder, tmp_path / "server"
    ) as server:
        assert mask_of(server, tmp_path / "bin") == MASKS[mask]
        there = asked("client", load.port)
        paths = list(small_page.hashes)
        run_client(load_endpoint(pair.client), there, paths, tmp_path / "client").page()


def test_every_language_is_asked() -> None:
    assert {language_of(pair.server) for pair in chosen()} == set(LANGUAGES)


@pytest.mark.parametrize("pair", chosen(), ids=str)
def test_with_the_processor_s_aes_a_mask_is_left_alone(
    pair: Pair, certs: Path, small_page: Page, tmp_path: Path
) -> None:
    told = noting(tmp_path / "bin") | {MASKED: GUEST}
    load = load_for(pair, "server", certs, variables=told)
    with running_server(
        load_endpoint(pair.server), load, small_page.folder, tmp_path / "server"
    ) as server:
        assert mask_of(server, tmp_path / "bin") == GUEST
