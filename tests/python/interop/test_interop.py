"""End points in the form of the QUIC Interop Runner, driven through its contract alone."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from howquick.interop import container
from howquick.interop.ports import redirected
from programs.conftest import Page
from programs.endpoint_runner import (
    Endpoint,
    Load,
    Outcome,
    free_port,
    load_endpoint,
    run_client,
    running_server,
)
from programs.matrix import Pair, load_for

SAMPLE = Path(__file__).parent / "sample"
H3 = {"h3": {"congestion_control": ["cubic"], "connection": ["cold"], "transport": "quic"}}
KINDS = [("h3", "cold"), ("hq", "cold"), ("hq", "resumed"), ("hq", "0rtt")]


@pytest.fixture
def sample(tmp_path: Path) -> Endpoint:
    """The sample, with a prefix in which its two programs are."""
    programs = {"ngtcp2": "server", "aioquic": "python"}
    (tmp_path / "prefix" / "bin").mkdir(parents=True)
    for program, name in programs.items():
        prefix = load_endpoint(program).prefix
        assert prefix is not None, f"{program} is not built"
        script = tmp_path / "prefix" / "bin" / name
        script.write_text(f'#!/bin/sh\nexec "{prefix}/bin/{name}" "$@"\n')
        script.chmod(0o755)
    definition = yaml.safe_load((SAMPLE / "endpoint.yaml").read_text())
    return Endpoint("interop-sample", SAMPLE, tmp_path / "prefix", definition)


def load_page(
    sample: Endpoint, kind: tuple[str, str], certs: Path, page: Page, at: Path
) -> Outcome:
    """Serve and load a page by the sample, through the contract on both ends."""
    protocol, connection = kind
    asked = Load(protocol, certs, free_port(), connection=connection, keys=at / "server.keys",
                 qlog=at / "qlog")  # fmt: skip
    with running_server(sample, asked, page.folder, at / "server"):
        there = replace(asked, keys=at / "client.keys", qlog=None)
        return run_client(sample, there, list(page.hashes), at / "client")


@pytest.mark.parametrize("kind", KINDS, ids="-".join)
def test_page_arrives_whole(
    sample: Endpoint, kind: tuple[str, str], certs: Path, page: Page, tmp_path: Path
) -> None:
    timing = load_page(sample, kind, certs, page, tmp_path).page()
    assert {item["path"]: item["sha256"] for item in timing["objects"]} == page.hashes
    assert timing["protocol"] == kind[0]
    assert all(item["end_s"] > 0 for item in timing["objects"])
    connections = 1 if kind[1] == "cold" else 2
    for keys in ("client.keys", "server.keys"):
        assert (tmp_path / keys).read_text().count("CLIENT_TRAFFIC_SECRET_0") == connections
    logs = [path.read_text() for path in (tmp_path / "qlog").iterdir()]
    assert len(logs) == connections
    assert any('"0RTT"' in log for log in logs) is (kind[1] == "0rtt")


@pytest.mark.parametrize("protocol", ["h3", "hq"])
@pytest.mark.parametrize(
    "names", [("quic-go-interop", "quiche"), ("quinn", "quic-go-interop")], ids="-".join
)
def test_a_program_made_for_the_runner_works_with_ours(
    names: tuple[str, str], protocol: str, certs: Path, small_page: Page, tmp_path: Path
) -> None:
    pair = Pair(*names, protocol)
    asked = load_for(pair, "server", certs)
    with running_server(load_endpoint(pair.server), asked, small_page.folder, tmp_path / "server"):
        there = load_for(pair, "client", certs, asked.port)
        outcome = run_client(
            load_endpoint(pair.client), there, list(small_page.hashes), tmp_path / "client"
        )
    received = {item["path"]: item["sha256"] for item in outcome.page()["objects"]}
    assert received == small_page.hashes


def test_server_is_led_from_port_443_to_the_port_asked_for(
    sample: Endpoint, certs: Path, small_page: Page, tmp_path: Path
) -> None:
    ports = [free_port() for _ in range(2)]
    loads = [Load("h3", certs, port) for port in ports]
    with (
        running_server(sample, loads[0], small_page.folder, tmp_path / "one"),
        running_server(sample, loads[1], small_page.folder, tmp_path / "two"),
    ):
        for load in loads:
            outcome = run_client(sample, load, list(small_page.hashes), tmp_path / str(load.port))
            assert outcome.page()["start"] > 0


def test_server_and_what_it_started_end_when_asked(
    sample: Endpoint, certs: Path, small_page: Page, tmp_path: Path
) -> None:
    load = Load("hq", certs, free_port())
    with running_server(sample, load, small_page.folder, tmp_path / "server") as server:
        assert server.stop() == 0
        assert not server.leaves_process()


def test_missing_object_is_named(
    sample: Endpoint, certs: Path, small_page: Page, tmp_path: Path
) -> None:
    more = Page(small_page.folder, {**small_page.hashes, "/objects/none.jpg": ""})
    outcome = load_page(sample, ("h3", "cold"), certs, more, tmp_path)
    assert outcome.status == 1
    assert outcome.timing is None
    assert "TESTCASE http3" in outcome.reason


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"connection": "resumed", "protocol": "h3"}, "CONNECTION resumed"),
        ({"protocol": "spdy"}, "spdy"),
    ],
)
def test_what_the_contract_does_not_have_is_refused(
    sample: Endpoint, changes: dict[str, str], word: str, certs: Path, tmp_path: Path
) -> None:
    load = replace(Load("h3", certs, free_port()), **changes)
    outcome = run_client(sample, load, ["/page.html"], tmp_path / "client")
    assert outcome.status == 127
    assert word in outcome.reason
    assert "Traceback" not in outcome.stderr


def test_status_127_of_the_program_is_passed_on(
    sample: Endpoint, certs: Path, tmp_path: Path
) -> None:
    definition = dict(sample.definition)
    definition["client"] = definition["client"] | {"command": ["sh", "-c", "exit 127"]}
    refusing = replace(sample, definition=definition)
    outcome = run_client(refusing, Load("h3", certs, free_port()), ["/x"], tmp_path / "client")
    assert outcome.status == 127
    assert "http3" in outcome.reason


def libraries(program: Path) -> list[Path]:
    """The shared libraries of a program, by ldd."""
    text = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    return [Path(word) for word in text.split() if word.startswith("/")]


def make_image(folder: Path, endpoint: Endpoint) -> Path:
    """An archive of an image that holds the sample's server and what it needs, and nothing else."""
    server = load_endpoint("ngtcp2").prefix
    assert server and endpoint.prefix
    tree = {
        "/run_endpoint.sh": SAMPLE / "run_endpoint.sh",
        "/prefix/bin/server": server / "bin/server",
    }
    tree |= {f"/bin/{name}": Path(shutil.which(name) or "") for name in ("bash", "sh", "env")}
    for program in [*tree.values()][1:]:
        tree |= {str(library): library for library in libraries(program)}
    with tarfile.open(folder / "root.tar", "w", dereference=True) as archive:
        for name in ("tmp", "etc", "proc", "sys", "dev"):
            (folder / name).mkdir()
            archive.add(folder / name, name)
        for name, file in tree.items():
            archive.add(file.resolve(), name[1:])
    return folder / "root.tar"


def test_image_serves_by_podman(
    sample: Endpoint, certs: Path, small_page: Page, tmp_path: Path
) -> None:
    if shutil.which("podman") is None:
        pytest.skip("there is no podman")
    (tmp_path / "image").mkdir()
    root = make_image(tmp_path / "image", sample)
    entry = '["/bin/bash", "/run_endpoint.sh", "/prefix"]'
    store = tmp_path / "store"
    # In full: where no registry is configured, podman finds no shorter name again.
    name = "localhost/sample:1"
    podman = ["podman", f"--root={store}", f"--runroot={store}/run", "--storage-driver=vfs"]
    subprocess.run(
        [*podman, "import", f"--change=ENTRYPOINT {entry}", "--change=ENV PATH=/bin", root, name],
        check=True, capture_output=True,
    )  # fmt: skip
    image = tmp_path / "sample.oci"
    subprocess.run(
        [*podman, "save", "--quiet", "--format=oci-archive", f"--output={image}", name],
        check=True, capture_output=True,
    )  # fmt: skip
    definition = {
        **sample.definition,
        "server": {**sample.definition["server"], "image": str(image)},
    }
    boxed = replace(sample, definition=definition)
    load = Load("hq", certs, free_port(), keys=tmp_path / "server.keys")
    with running_server(boxed, load, small_page.folder, tmp_path / "server") as server:
        outcome = run_client(sample, load, list(small_page.hashes), tmp_path / "client")
        assert {o["path"]: o["sha256"] for o in outcome.page()["objects"]} == small_page.hashes
        assert server.stop() == 0
        assert not server.leaves_process()


def linked(store: Path) -> None:
    (store.parent / "theirs").mkdir()
    store.symlink_to(store.parent / "theirs")


def open_to_others(store: Path) -> None:
    store.mkdir()
    store.chmod(0o777)


def of_somebody_else(store: Path) -> None:
    store.mkdir()
    try:
        os.chown(store, 65534, -1)
    except OSError:
        pytest.skip("needs root")


@pytest.mark.parametrize("made", [linked, open_to_others, of_somebody_else])
def test_a_store_of_images_that_others_can_fill_is_refused(
    made: Callable[[Path], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is in a folder in which everybody can make one before us."""
    monkeypatch.setattr(container, "STORES", tmp_path)
    monkeypatch.setenv("CONTAINERS_CONF", "")
    made(container._store())
    with pytest.raises(container.Refused, match="not a folder of yours alone"):
        container._podman()
    assert list(container._store().iterdir()) == []


def test_a_store_of_images_is_made_for_its_user_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(container, "STORES", tmp_path)
    monkeypatch.setenv("CONTAINERS_CONF", "")
    for _ in range(2):
        container._podman()
        assert container._store().stat().st_mode & 0o777 == 0o700


def test_an_image_without_a_runtime_is_one_sentence(
    certs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    definition = {
        "contract": "interop-runner",
        "client": {"gate": False, "protocols": H3},
        "image": "example.org/some/image",
    }
    endpoint = Endpoint("image", SAMPLE, None, definition)
    assert endpoint.argv("client")[-2:] == ["--image", "example.org/some/image"]
    (tmp_path / "bin").mkdir()
    monkeypatch.setattr("programs.endpoint_runner.PATH", str(tmp_path / "bin"))
    outcome = run_client(endpoint, Load("h3", certs, free_port()), ["/x"], tmp_path / "client")
    assert outcome.status == 1
    assert "install podman or apptainer" in outcome.reason


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        (bytes.fromhex("020001bb0a000201"), bytes.fromhex("020011510a000201")),
        (bytes.fromhex("0a0001bb00000000"), bytes.fromhex("0a00115100000000")),
        (bytes.fromhex("020001bc0a000201"), None),
        (bytes.fromhex("010001bb2f746d70"), None),
        (b"", None),
    ],
)
def test_only_internet_addresses_with_port_443_are_changed(
    address: bytes, expected: bytes | None
) -> None:
    assert sys.byteorder == "little"
    assert redirected(address, 0x1151) == expected


def test_the_real_root_is_not_touched(
    sample: Endpoint, certs: Path, small_page: Page, tmp_path: Path
) -> None:
    before = sorted(Path("/").iterdir())
    load_page(sample, ("h3", "cold"), certs, small_page, tmp_path).page()
    assert sorted(Path("/").iterdir()) == before
    assert not Path("/downloads").exists()
