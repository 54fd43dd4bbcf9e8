"""One table of wrong settings: every program refuses them by the same status and one line that names them.

docs/formats.md, section 2: 127 for what a program does not have, 1 for what is wrong whoever is asked.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from patience import HANG_S
from programs.conftest import Page
from programs.endpoint_runner import (
    HOST,
    Endpoint,
    EndpointError,
    Load,
    end_group,
    endpoint_names,
    environment,
    load_endpoint,
)
from programs.matrix import Role, roles

WRONG, NOT_SUPPORTED = 1, 127
AT_ONCE = 4
FIRST_PORT = 4433
UNKNOWN = "OPTION_FLUX_CAPACITOR"
NO_FOLDER = "/nonexistent/folder"
PAGE = f"https://{HOST}:4433/page.html"


@dataclass(frozen=True)
class Case:
    """A wrong setting: the variable, its value (None: not set), and the status that it deserves."""

    variable: str
    value: str | None
    status: int

    def __str__(self) -> str:
        return f"{self.variable}={self.value}"


BOTH = [
    Case("PROTOCOL", "gopher", NOT_SUPPORTED),
    Case("PROTOCOL", None, WRONG),
    Case("CONNECTION", "telepathic", NOT_SUPPORTED),
    Case("CONNECTION", None, WRONG),
    Case("CONGESTION_CONTROL", None, WRONG),
    Case("ADDRESS", None, WRONG),
    Case("ADDRESS", "elsewhere", WRONG),
    Case("ADDRESS", "::1", WRONG),
    Case("PORT", None, WRONG),
    Case("PORT", "https", WRONG),
    Case("PORT", "65536", WRONG),
    Case("PORT", "0", WRONG),
    Case("HOST", None, WRONG),
    Case("CERTS", None, WRONG),
    Case("CERTS", NO_FOLDER, WRONG),
    Case(UNKNOWN, "1", NOT_SUPPORTED),
]
SERVER = [Case("WWW", None, WRONG), Case("WWW", NO_FOLDER, WRONG)]
CLIENT = [
    Case("REQUESTS", None, WRONG),
    Case("REQUESTS", "   ", WRONG),
    Case("REQUESTS", "/page.html", WRONG),
    Case("REQUESTS", f"http://{HOST}:4433/page.html", WRONG),
    Case("REQUESTS", "https://elsewhere.test:4433/page.html", WRONG),
    Case("REQUESTS", f"https://{HOST}:4433", WRONG),
    Case("REQUESTS", f"{PAGE} page.html", WRONG),
    Case("TIMING", None, WRONG),
    Case("FETCH", "backwards", NOT_SUPPORTED),
    Case("BODY", "md5", NOT_SUPPORTED),
    Case("MOVES", "-1", WRONG),
    Case("MOVES", "some", WRONG),
    Case("MOVES", "1001", WRONG),
]
# The Interop Runner's contract hands this one to the program as it is.
FREE_TEXT = {"parameters"}


def option_cases(endpoint: Endpoint) -> Iterator[Case]:
    """Yield what is wrong with each of a program's options, by the kind of its default."""
    for name, default in endpoint.options().items():
        variable = f"OPTION_{name.upper()}"
        if name in FREE_TEXT:
            continue
        yield Case(variable, None, WRONG)
        if isinstance(default, bool):
            yield Case(variable, "perhaps", WRONG)
            yield Case(variable, "1", WRONG)
        elif isinstance(default, int):
            for value in ("-1", "many", "1.5", "9" * 30):
                yield Case(variable, value, WRONG)
        else:
            yield Case(variable, "no-such-word", NOT_SUPPORTED)


def cases(role: Role) -> list[Case]:
    """Return the whole table for one program in one role."""
    endpoint = load_endpoint(role.program)
    table = [*BOTH, *(SERVER if role.role == "server" else CLIENT), *option_cases(endpoint)]
    if role.abilities()["transport"] != "tcp":
        table.append(Case("CONGESTION_CONTROL", "vegas", NOT_SUPPORTED))
    if role.role == "client" and not role.abilities().get("moves"):
        table.append(Case("MOVES", "1", NOT_SUPPORTED))
    return table


def is_there(role: Role) -> bool:
    """Tell whether the program can be started in this environment."""
    try:
        return shutil.which(load_endpoint(role.program).argv(role.role)[0]) is not None
    except EndpointError:
        return False


def refusal(role: Role, case: Case, certs: Path, www: Path, state: Path) -> tuple[int, str]:
    """Start the program with one setting wrong; return its status and stderr."""
    endpoint = load_endpoint(role.program)
    state.mkdir()
    # Some servers take their port before they read what is wrong, and several are started at once.
    port = FIRST_PORT + int(state.name) if role.role == "server" else FIRST_PORT
    load = Load(
        role.protocol, certs, port, congestion_control=role.abilities()["congestion_control"][0]
    )
    values: dict[str, Any] = environment(endpoint, role.role, load, state)
    if role.role == "server":
        values["WWW"] = str(www)
    else:
        values |= {"REQUESTS": PAGE, "TIMING": str(state / "timing.json")}
    values[case.variable] = case.value
    with subprocess.Popen(
        endpoint.argv(role.role), env={name: v for name, v in values.items() if v is not None},
        cwd=state, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, process_group=0,
    ) as process:  # fmt: skip
        try:
            stdout, stderr = process.communicate(timeout=HANG_S)
        except subprocess.TimeoutExpired:
            return 0, "it runs\n"
        finally:
            end_group(process.pid)
    return process.returncode, stdout.replace("ready\n", "it was ready\n") + stderr


def fault(role: Role, case: Case, certs: Path, www: Path, state: Path) -> str | None:
    """Return what is wrong with the refusal of one wrong setting, if anything is."""
    status, text = refusal(role, case, certs, www, state)
    lines = text.splitlines()
    # Of an option that is none, the name alone says what is wrong.
    # Of several URLs the last one is wrong.
    wrong = [] if case.variable == UNKNOWN else (case.value or "").split()[-1:]
    named = all(word in text for word in (case.variable, *wrong))
    if status == case.status and len(lines) == 1 and named:
        return None
    return f"{case}: wanted {case.status}, got {status}: {text.strip()}"


def one_of_each() -> list[Role]:
    """Return every program in every role: by QUIC if it can, whose congestion control is its own."""
    chosen: dict[tuple[str, str], Role] = {}
    for role in sorted(roles(), key=lambda role: role.abilities()["transport"] == "tcp"):
        chosen.setdefault((role.program, role.role), role)
    return sorted(chosen.values(), key=str)


def test_every_program_is_asked() -> None:
    assert {role.program for role in one_of_each()} == set(endpoint_names())


@pytest.mark.parametrize("role", one_of_each(), ids=str)
def test_wrong_settings_are_refused_alike(
    role: Role, certs: Path, small_page: Page, tmp_path: Path
) -> None:
    if not is_there(role):
        pytest.skip(f"{role.program} is not in this environment")
    table = cases(role)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        found = pool.map(
            lambda at: fault(role, at[1], certs, small_page.folder, tmp_path / str(at[0])),
            enumerate(table),
        )
    faults = [line for line in found if line]
    assert not faults, "\n".join(faults)
