"""What both roles are told, and what a client is told of its load."""

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from .environment import Environment, NotSupported, Refusal

MOST_MOVES = 1000


@dataclass(frozen=True)
class Ability:
    """What a role can do with one protocol, as in endpoint.yaml."""

    connection: tuple[str, ...]
    # Empty: the kernel's, whatever the route says.
    congestion_control: tuple[str, ...] = ()


@dataclass(frozen=True)
class Settings:
    """What both roles are told."""

    protocol: str
    congestion_control: str
    connection: str
    host: str
    address: str
    port: int
    certs: Path
    state: Path
    keys: Path | None
    qlog: Path | None

    @property
    def authority(self) -> Path:
        """The file of the certificates that a client trusts."""
        return self.certs / "ca.pem"

    @property
    def chain(self) -> Path:
        """The file of the server's certificates."""
        return self.certs / "cert.pem"

    @property
    def key(self) -> Path:
        """The file of the server's key."""
        return self.certs / "priv.key"


@dataclass(frozen=True)
class Load:
    """What a client is told of its load."""

    netloc: str  # host and port of the URLs
    paths: tuple[str, ...]  # the HTML first
    timing: Path
    sequential: bool
    hashed: bool


def read_settings(env: Environment, able: Mapping[str, Ability]) -> Settings:
    """Read what both roles are told. Raises Refusal for what is wrong or not among `able`."""
    protocol = env.supported("PROTOCOL", able)
    ability = able[protocol]
    control = env.text("CONGESTION_CONTROL")
    if ability.congestion_control:
        control = env.supported("CONGESTION_CONTROL", ability.congestion_control)
    keys, qlog = env.optional("SSLKEYLOGFILE"), env.optional("QLOGDIR")
    return Settings(
        protocol=protocol,
        congestion_control=control,
        connection=env.supported("CONNECTION", ability.connection),
        host=env.text("HOST"),
        address=_address(env),
        port=env.number("PORT", 1, 65535),
        certs=_folder(env, "CERTS"),
        state=_folder(env, "STATE"),
        keys=Path(keys) if keys else None,
        qlog=Path(qlog) if qlog else None,
    )


def read_www(env: Environment) -> Path:
    """Return the folder that a server serves. May raise Refusal."""
    return _folder(env, "WWW")


def read_load(
    env: Environment,
    settings: Settings,
    fetch: tuple[str, ...] = ("page", "sequential"),
    body: tuple[str, ...] = ("sha256", "length"),
) -> Load:
    """Read what a client, which cannot move, is to load. May raise Refusal."""
    if moves := env.number("MOVES", 0, MOST_MOVES, otherwise=0):
        raise NotSupported(f"MOVES {moves} is not supported; use 0")
    netloc, paths = _requests(env, settings.host)
    return Load(
        netloc=netloc,
        paths=paths,
        timing=Path(env.text("TIMING")),
        sequential=env.supported("FETCH", fetch, "page") == "sequential",
        hashed=env.supported("BODY", body, "sha256") == "sha256",
    )


def _requests(env: Environment, host: str) -> tuple[str, tuple[str, ...]]:
    """Return host and port of the first URL, and the path of each."""
    netloc, paths = "", []
    for word in env.text("REQUESTS").split():
        try:
            url = urlsplit(word)
        except ValueError:
            url = urlsplit("")
        if url.scheme != "https" or url.hostname != host or not url.path:
            raise Refusal(f"REQUESTS: {word} is not https://{host}/…")
        netloc = netloc or url.netloc
        paths.append(f"{url.path}?{url.query}" if url.query else url.path)
    if not paths:
        raise Refusal("REQUESTS names no URL")
    return netloc, tuple(paths)


def _address(env: Environment) -> str:
    value = env.text("ADDRESS")
    try:
        return str(ipaddress.IPv4Address(value))
    except ValueError:
        raise Refusal(f"ADDRESS {value} is not an IPv4 address") from None


def _folder(env: Environment, name: str) -> Path:
    folder = Path(env.text(name))
    if not folder.is_dir():
        raise Refusal(f"{name} {folder} is not a folder")
    return folder
