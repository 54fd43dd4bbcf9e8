"""What howquick asks of an end point, said in the words of the QUIC Interop Runner."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from howquick.interop import contract
from howquick.interop.contract import Environment, Load, Refusal, Settings
from howquick.interop.contract.settings import read_www

# Test cases by protocol and kind of connection. The runner has none for HTTP/3 with a resumed session.
TESTCASES = {
    ("h3", "cold"): "http3",
    ("hq", "cold"): "transfer",
    ("hq", "resumed"): "resumption",
    ("hq", "0rtt"): "zerortt",
}
PORT = 443
PRIME = "/prime"


class Refused(Refusal):
    """What is asked cannot be done; `status` is the exit status to end with."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


@dataclass(frozen=True)
class Mount:
    """A file or folder and where the end point finds it."""

    source: Path
    target: str
    read_only: bool = False


@dataclass(frozen=True)
class Request:
    """One start of an end point: its variables and what is mounted for it."""

    role: str
    testcase: str
    environment: dict[str, str]
    mounts: tuple[Mount, ...]
    settings: Settings
    load: Load | None  # of a client

    @property
    def state(self) -> Path:
        """The private folder of this start."""
        return self.settings.state

    @property
    def downloads(self) -> Path:
        """Where the client's files arrive."""
        return self.state / "downloads"


def read_settings(env: Environment, can: Mapping[str, Any]) -> Settings:
    """Read what both roles are told. Raises Refusal for what the program's description does not have.

    The runner's contract passes neither the congestion control nor the connection on: the program would do
    as it always does. can: `protocols` of its endpoint.yaml.
    """
    able = {
        protocol: contract.Ability(
            connection=tuple(ability["connection"]),
            congestion_control=tuple(ability["congestion_control"]),
        )
        for protocol, ability in can.items()
    }
    return contract.read_settings(env, able)


def _testcase(settings: Settings) -> str:
    kind = (settings.protocol, settings.connection)
    if kind not in TESTCASES:
        known = ", ".join(" ".join(pair) for pair in TESTCASES)
        raise Refused(
            127, f"the Interop Runner has no test case for {' '.join(kind)}; it has: {known}"
        )
    return TESTCASES[kind]


def _show(www: Path, folder: Path) -> None:
    """Make `folder` show all of `www`, and /prime, which the first connection of a resumption fetches."""
    folder.mkdir()
    for entry in www.iterdir():
        (folder / entry.name).symlink_to(entry)
    prime = folder / PRIME[1:]
    if not prime.exists():
        prime.write_text("primed\n")


def _small_files(settings: Settings) -> list[Mount]:
    """The hosts file, and the two scripts of the runner's own network, which is not there."""
    hosts = settings.state / "hosts"
    names = f"{settings.host} server server4 server46"
    hosts.write_text(f"127.0.0.1 localhost\n{settings.address} {names}\n")
    nothing = settings.state / "nothing.sh"
    nothing.write_text("#!/bin/sh\nexit 0\n")
    nothing.chmod(0o755)
    scripts = [Mount(nothing, name, True) for name in ("/setup.sh", "/wait-for-it.sh")]
    return [Mount(hosts, "/etc/hosts", True), *scripts]


def _logs(settings: Settings, variables: dict[str, str]) -> list[Mount]:
    """/logs, with keys and qlogs going straight to where they are wanted."""
    keys = settings.state / "logs" / "keys.log"
    keys.parent.mkdir()
    keys.touch()
    mounts = [Mount(keys.parent, "/logs")]
    # The runner asks for keys always; programs may rely on the variable.
    variables["SSLKEYLOGFILE"] = "/logs/keys.log"
    if settings.keys:
        settings.keys.touch()
        mounts.append(Mount(settings.keys, "/logs/keys.log"))
    if settings.qlog:
        (keys.parent / "qlog").mkdir()
        mounts.append(Mount(settings.qlog, "/logs/qlog"))
        variables["QLOGDIR"] = "/logs/qlog/"
    return mounts


def _client_side(settings: Settings, load: Load, variables: dict[str, str]) -> None:
    """Fill in REQUESTS and prepare the folder of downloads."""
    # In the test cases with two connections the client fetches the first file on a connection of its own.
    first = () if settings.connection == "cold" else (PRIME,)
    variables["REQUESTS"] = " ".join(
        f"https://{load.netloc}{path}" for path in (*first, *load.paths)
    )
    downloads = settings.state / "downloads"
    downloads.mkdir()
    # Some clients keep the path of the URL and do not make its folders.
    for path in load.paths:
        (downloads / path.lstrip("/")).parent.mkdir(parents=True, exist_ok=True)


def translate(environment: Mapping[str, str], can: Mapping[str, Any]) -> Request:
    """Read howquick's environment. Raises Refusal for what the contract or the program does not have."""
    env = Environment(environment)
    role = env.supported("ROLE", ("server", "client"))
    settings = read_settings(env, can)
    # The runner asks for all at once.
    load = contract.read_load(env, settings, fetch=("page",)) if role == "client" else None
    www = read_www(env) if role == "server" else None
    env.check_options("parameters")
    testcase, state = _testcase(settings), settings.state
    variables = {
        "PATH": env.text("PATH"),
        "LC_ALL": "C.UTF-8",
        "HOME": str(state),
        "ROLE": role,
        "TESTCASE": testcase,
    }
    if parameters := env.optional("OPTION_PARAMETERS"):
        variables[f"{role.upper()}_PARAMS"] = parameters
    mounts = [Mount(settings.certs, "/certs", True), *_small_files(settings)]
    mounts += _logs(settings, variables)
    if www:
        _show(www, state / "www")
        # The links lead to where the files are.
        mounts += [Mount(state / "www", "/www", True), Mount(www, str(www), True)]
    if load:
        _client_side(settings, load, variables)
        mounts.append(Mount(state / "downloads", "/downloads"))
    return Request(
        role=role, testcase=testcase, environment=variables, mounts=tuple(mounts), settings=settings,
        load=load,
    )  # fmt: skip
