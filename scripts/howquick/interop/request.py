"""What howquick asks of an end point, said in the words of the QUIC Interop Runner."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

# Test cases by protocol and kind of connection. The runner has none for HTTP/3 with a resumed session.
TESTCASES = {
    ("h3", "cold"): "http3",
    ("hq", "cold"): "transfer",
    ("hq", "resumed"): "resumption",
    ("hq", "0rtt"): "zerortt",
}
PORT = 443
PRIME = "/prime"


class Refused(Exception):
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
    state: Path
    port: int
    address: str
    host: str
    paths: tuple[str, ...]

    @property
    def downloads(self) -> Path:
        """Where the client's files arrive."""
        return self.state / "downloads"


def check_abilities(env: Mapping[str, str], can: Mapping[str, Any]) -> None:
    """Raise Refused for a congestion control or connection that the program's description does not have.

    The runner's contract does not pass them on: the program would do as it always does. can: `protocols`
    of its endpoint.yaml.
    """
    ability = can.get(env["PROTOCOL"], {})
    for variable in ("CONGESTION_CONTROL", "CONNECTION"):
        known = ability.get(variable.lower(), [])
        if ability and env[variable] not in known:
            asked = f"{env['PROTOCOL']} {env[variable]}"
            raise Refused(127, f"{asked}: {variable} is not one of {', '.join(known)}")


def _testcase(env: dict[str, str]) -> str:
    kind = (env["PROTOCOL"], env["CONNECTION"])
    if kind not in TESTCASES:
        known = ", ".join(" ".join(pair) for pair in TESTCASES)
        raise Refused(
            127, f"the Interop Runner has no test case for {' '.join(kind)}; it has: {known}"
        )
    if env.get("FETCH", "page") != "page":
        raise Refused(
            127, "FETCH sequential is not supported: the Interop Runner asks for all at once"
        )
    if env.get("MOVES", "0") != "0":
        raise Refused(127, "MOVES is not supported by the Interop Runner's contract")
    return TESTCASES[kind]


def _show(www: Path, folder: Path) -> None:
    """Make `folder` show all of `www`, and /prime, which the first connection of a resumption fetches."""
    folder.mkdir()
    for entry in www.iterdir():
        (folder / entry.name).symlink_to(entry)
    prime = folder / PRIME[1:]
    if not prime.exists():
        prime.write_text("primed\n")


def _small_files(env: dict[str, str], state: Path) -> list[Mount]:
    """The hosts file, and the two scripts of the runner's own network, which is not there."""
    hosts = state / "hosts"
    names = f"{env['HOST']} server server4 server46"
    hosts.write_text(f"127.0.0.1 localhost\n{env['ADDRESS']} {names}\n")
    nothing = state / "nothing.sh"
    nothing.write_text("#!/bin/sh\nexit 0\n")
    nothing.chmod(0o755)
    scripts = [Mount(nothing, name, True) for name in ("/setup.sh", "/wait-for-it.sh")]
    return [Mount(hosts, "/etc/hosts", True), *scripts]


def _logs(env: dict[str, str], state: Path, variables: dict[str, str]) -> list[Mount]:
    """/logs, with keys and qlogs going straight to where they are wanted."""
    keys = state / "logs" / "keys.log"
    keys.parent.mkdir()
    keys.touch()
    mounts = [Mount(keys.parent, "/logs")]
    # The runner asks for keys always; programs may rely on the variable.
    variables["SSLKEYLOGFILE"] = "/logs/keys.log"
    if wanted := env.get("SSLKEYLOGFILE"):
        Path(wanted).touch()
        mounts.append(Mount(Path(wanted), "/logs/keys.log"))
    if qlog := env.get("QLOGDIR"):
        (state / "logs" / "qlog").mkdir()
        mounts.append(Mount(Path(qlog), "/logs/qlog"))
        variables["QLOGDIR"] = "/logs/qlog/"
    return mounts


def _client_side(env: dict[str, str], state: Path, variables: dict[str, str]) -> list[str]:
    """Fill in REQUESTS and prepare the folder of downloads; returns the paths that must arrive."""
    urls = env["REQUESTS"].split()
    paths = [urlsplit(url).path for url in urls]
    if env["CONNECTION"] != "cold":
        # Of these test cases the client fetches the first file on a connection of its own.
        first = urlsplit(urls[0])
        urls.insert(0, f"{first.scheme}://{first.netloc}{PRIME}")
    variables["REQUESTS"] = " ".join(urls)
    downloads = state / "downloads"
    downloads.mkdir()
    # Some clients keep the path of the URL and do not make its folders.
    for path in paths:
        (downloads / path.lstrip("/")).parent.mkdir(parents=True, exist_ok=True)
    return paths


def translate(env: dict[str, str]) -> Request:
    """Read howquick's environment. Raises Refused for what the contract does not have, KeyError."""
    role, state = env["ROLE"], Path(env["STATE"])
    testcase = _testcase(env)
    variables = {
        "PATH": env["PATH"],
        "LC_ALL": "C.UTF-8",
        "HOME": str(state),
        "ROLE": role,
        "TESTCASE": testcase,
    }
    if parameters := env.get("OPTION_PARAMETERS"):
        variables[f"{role.upper()}_PARAMS"] = parameters
    mounts = [Mount(Path(env["CERTS"]), "/certs", True), *_small_files(env, state)]
    mounts += _logs(env, state, variables)
    paths: list[str] = []
    if role == "server":
        _show(Path(env["WWW"]), state / "www")
        # The links lead to where the files are.
        mounts += [Mount(state / "www", "/www", True), Mount(Path(env["WWW"]), env["WWW"], True)]
    else:
        paths = _client_side(env, state, variables)
        mounts.append(Mount(state / "downloads", "/downloads"))
    return Request(
        role=role, testcase=testcase, environment=variables, mounts=tuple(mounts), state=state,
        port=int(env["PORT"]), address=env["ADDRESS"], host=env["HOST"], paths=tuple(paths),
    )  # fmt: skip
