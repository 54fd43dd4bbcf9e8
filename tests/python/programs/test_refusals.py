"""What a program cannot do with one of its protocols; all else is in test_contract_refusals.py."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from patience import HANG_S
from programs.conftest import Page
from programs.endpoint_runner import (
    HOST,
    Load,
    end_group,
    environment,
    free_port,
    load_endpoint,
)
from programs.matrix import Role, roles

NOT_SUPPORTED = 127
KNOWN_CONNECTIONS = {"cold", "resumed", "0rtt"}


def run_role(
    role: Role, load: Load, www: Path, state: Path, **changed: str | None
) -> tuple[int, str]:
    """Start one program and return its status and what it printed; it is expected to end by itself."""
    endpoint = load_endpoint(role.program)
    state.mkdir()
    values: dict[str, str | None] = {
        **environment(endpoint, role.role, load, state),
        "WWW": str(www),
        "REQUESTS": f"https://{HOST}:{load.port}/page.html",
        "TIMING": str(state / "timing.json"),
        **changed,
    }
    env = {name: value for name, value in values.items() if value is not None}
    with subprocess.Popen(
        endpoint.argv(role.role), env=env, cwd=state, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, process_group=0,
    ) as process:  # fmt: skip
        try:
            text, _ = process.communicate(timeout=HANG_S)
        finally:
            # A server that did not refuse is running, perhaps with children.
            end_group(process.pid)
    return process.returncode, text


def plain_load(role: Role, certs: Path) -> Load:
    known = role.abilities()["congestion_control"]
    return Load(role.protocol, certs, free_port(), congestion_control=known[0])


def is_quic(role: Role) -> bool:
    return bool(role.abilities()["transport"] == "quic")


@pytest.mark.parametrize("role", [role for role in roles() if is_quic(role)], ids=str)
def test_unknown_congestion_control(
    role: Role, certs: Path, small_page: Page, tmp_path: Path
) -> None:
    load = replace(plain_load(role, certs), congestion_control="vegas")
    status, text = run_role(role, load, small_page.folder, tmp_path / "state")
    assert status == NOT_SUPPORTED
    assert "vegas" in text


@pytest.mark.parametrize(
    ("role", "kind"),
    [
        (role, kind)
        for role in roles()
        for kind in sorted(
            (KNOWN_CONNECTIONS | {"telepathic"}) - set(role.abilities()["connection"])
        )
    ],
    ids=str,
)
def test_kind_of_connection_it_does_not_have(
    role: Role, kind: str, certs: Path, small_page: Page, tmp_path: Path
) -> None:
    load = replace(plain_load(role, certs), connection=kind)
    status, text = run_role(role, load, small_page.folder, tmp_path / "state")
    assert status == NOT_SUPPORTED
    assert kind in text
