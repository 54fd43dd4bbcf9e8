"""The command that tries what an endpoint.yaml declares: what it finds to try, and what it says of each."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator

import pytest
import yaml

from check_program import FAILED, REFUSED, WORKS, verdict
from howquick.check.trials import Trial, trials
from howquick.environment.endpoints import load_endpoints
from howquick.errors import ROOT, ConfigError
from patience import HANG_S

PROGRAMS = ROOT / "tests/python/workflow/programs"
ABLE = {"congestion_control": ["cubic", "reno"], "connection": ["cold"], "transport": "tcp"}


@pytest.fixture
def own(tmp_path, monkeypatch) -> Iterator[None]:
    """The programs of the tests, and `choosy`: a client of plain-tls's server with options."""
    client = yaml.safe_load((PROGRAMS / "plain-tls/endpoint.yaml").read_text())
    start = 'test "$OPTION_CIPHER" != aes256 || { echo no such cipher >&2; exit 127; }; exec python3 "$0"'
    choosy = client | {
        "name": "choosy",
        "options": client["options"]
        | {
            "cipher": {"default": "default", "description": "has no aes256"},
            "mode": {"default": "a", "values": ["a", "b"], "description": "listed"},
            "fast": {"default": False, "description": "a switch"},
            "limit": {"default": 5, "description": "a number"},
        },
    }
    choosy["client"]["command"] = ["bash", "-c", start, "{env}/load.py"]
    choosy["client"]["protocols"]["tls"]["congestion_control"] = ["cubic", "vegas"]
    del choosy["server"]
    (tmp_path / "choosy").mkdir()
    shutil.copy(PROGRAMS / "plain-tls/load.py", tmp_path / "choosy")
    (tmp_path / "choosy/endpoint.yaml").write_text(yaml.safe_dump(choosy))
    monkeypatch.setenv("HOWQUICK_ENVS", f"{PROGRAMS}:{tmp_path}")
    load_endpoints.cache_clear()
    yield
    load_endpoints.cache_clear()


def found(name: str) -> dict[str, Trial]:
    return {f"{t.role} {t.protocol} {t.what}": t for t in trials(name, load_endpoints())}


def test_everything_that_is_declared_is_tried(own: None) -> None:
    choosy = found("choosy")
    assert {"client tls with plain-tls", "client tls with tls"} <= set(choosy)
    assert {"client tls mode b", "client tls fast True", "client tls cipher chacha20"} <= set(
        choosy
    )
    # The defaults were tried with the partners, and a number has no other value.
    assert not {"client tls mode a", "client tls fast False", "client tls limit 5"} & set(choosy)
    assert choosy["client tls a move, reconnect"].moves
    # What no partner has is said and not passed over.
    assert choosy["client tls congestion control vegas"].arm is None
    # A word that the option may lack is no promise; a listed value is.
    assert not choosy["client tls cipher aes256"].declared
    assert choosy["client tls mode b"].declared


def test_a_program_meets_every_partner_in_both_roles(own: None) -> None:
    both = found("plain-tls")
    assert {"server tls with choosy", "server tls with plain-tls", "client tls with tls"} <= set(
        both
    )
    arm = both["server tls congestion control reno"].arm
    assert arm is not None and (arm["server"], arm["congestion_control"]) == ("plain-tls", "reno")
    assert "client" not in {trial.role for trial in trials("dies", load_endpoints())}


def test_an_unknown_program_is_refused(own: None) -> None:
    with pytest.raises(ConfigError, match="no such program"):
        trials("nobody", load_endpoints())


def test_status_127_of_either_end_is_a_refusal() -> None:
    assert verdict("ok", "") == WORKS
    assert verdict("failed", "client x: not supported: no such cipher") == REFUSED
    assert verdict("failed", "server x ended with status 127: no such group") == REFUSED
    assert verdict("failed", "client x ended with status 1: it is not supported") == FAILED
    assert verdict("timeout", "not loaded within 20 s") == FAILED


def check(name: str, folder, *more: str) -> subprocess.CompletedProcess[str]:
    argv = [
        sys.executable,
        ROOT / "scripts/check_program.py",
        name,
        "--results",
        folder / "results",
    ]
    return subprocess.run(
        [*argv, *more], capture_output=True, text=True, check=False, timeout=HANG_S
    )


def test_each_line_says_how_it_ended(own: None, tmp_path) -> None:
    done = check("choosy", tmp_path)
    lines = done.stdout.splitlines()
    assert "tls as client, with plain-tls: works" in lines
    assert "tls as client, mode b (with tls): works" in lines
    assert "tls as client, a move, reconnect (with tls): works" in lines
    assert "tls as client, congestion control vegas: not tried: no partner has it" in lines
    refused = [line for line in lines[:-1] if REFUSED in line]
    assert len(refused) == 1 and "cipher aes256" in refused[0] and "no such cipher" in refused[0]
    # aes256 is a word that it does not declare.
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_refusal_of_what_is_declared_and_a_failure_end_with_an_error(own: None, tmp_path) -> None:
    refuses = check("refuses", tmp_path, "--only", "with nginx")
    assert refuses.returncode == 1
    assert "h1 as client, with nginx: refused with 127" in refuses.stdout
    dies = check("dies", tmp_path, "--only", "with curl")
    assert dies.returncode == 1
    assert "h1 as server, with curl: failed: server dies ended with status 1" in dies.stdout
