"""The same load twice in virtual time: the same bytes, wherever it runs, after and beside whatever."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from loads import FILES, SEED, measured, prepared

from howquick.errors import ROOT
from howquick.extract.run import Options, extract_run
from howquick.files import folder_hash, read_json
from howquick.guest.copies import Original
from howquick.guest.guest import GuestTooLong
from howquick.measure import virtual
from howquick.measure.block import Block
from howquick.measure.raw import CODE, SESSION
from howquick.model import ROLES
from howquick.plan.plan import plan_study, write_plan
from howquick.study.resolve import Selection

CELL = "10mbit-18ms-loss2-50obj-small"
# One of each library and language of the study: OpenSSL, BoringSSL, ngtcp2, Node, Python.
ARMS = ("h1-nginx-curl", "h2-nghttp2", "spdy-node", "h3-quiche", "h3-aioquic", "h3-nginx-curl")


@contextlib.contextmanager
def busy_machine() -> Iterator[None]:
    """Every processor has a program that computes for ever."""
    loops = [
        subprocess.Popen([sys.executable, "-c", "while True: pass"])
        for _ in os.sched_getaffinity(0)
    ]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


@contextlib.contextmanager
def smaller_environment(arms: tuple[str, ...]) -> Iterator[None]:
    """One in which nothing was built but what these arms and the workflow use."""
    here = Path(os.environ["HOWQUICK_MANIFEST"])
    manifest = read_json(here)
    plan = plan_study("how-quick", Selection("smoke", SEED, (CELL,), arms, clock="virtual"))
    used = {"kernel", "workflow", *(arm[role] for arm in plan["arms"] for role in ROLES)}
    left = {name: about for name, about in manifest["programs"].items() if name in used}
    assert len(left) < len(manifest["programs"])
    # Beside it, where guests see it, and with as long a name.
    smaller = here.with_name(here.name[::-1])
    smaller.write_text(json.dumps(manifest | {"programs": left}))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOWQUICK_MANIFEST", str(smaller))
        try:
            yield
        finally:
            smaller.unlink()


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    """Another checkout, deeper in the tree, of which nothing has been compiled."""
    root = tmp_path / "a/folder/that is/deeper"
    for part in CODE:
        shutil.copytree(
            ROOT / part, root / part, symlinks=True, ignore=shutil.ignore_patterns("__pycache__")
        )
    return root


def test_a_lossy_cell_is_the_same_elsewhere_with_less_built_and_beside_busy_programs(
    tmp_path: Path, elsewhere: Path
) -> None:
    here, there = tmp_path / "here", tmp_path / "another/place/there"
    calibration = prepared(ROOT, here, ARMS, CELL)
    alone = measured(ROOT, here, calibration, CELL)
    assert len(alone) == len(ARMS) * len(FILES)
    # Fewer arms, so that what came before a load is another thing as well.
    fewer = ARMS[::2]
    with busy_machine(), smaller_environment(fewer):
        again = prepared(elsewhere, there, fewer, CELL)
        assert folder_hash(there / "content") == folder_hash(here / "content")
        assert read_json(again)["checks"] == read_json(calibration)["checks"]
        beside = measured(elsewhere, there, again, CELL)
    assert beside == {name: alone[name] for name in alone if name.split()[0] in fewer}


def test_its_link_is_exactly_what_was_asked_for(tmp_path: Path) -> None:
    calibration = read_json(prepared(ROOT, tmp_path, ARMS[:1], CELL))
    assert calibration["verdict"] == "pass"
    assert (calibration["backend"], calibration["delay_offset_ms"]) == ("netem", 0.0)
    found = {f"{c['quantity']} {c['direction']}": c for c in calibration["checks"]}
    assert found["rtt_ms both"]["measured"] == pytest.approx(18, abs=0.01)
    assert found["rate_mbit up"]["measured"] == pytest.approx(10, rel=0.001)


def test_a_load_that_never_ends_has_failed_and_is_a_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def copy(*_: object) -> None:
        raise GuestTooLong("the guest did not end within 1 s of real time")

    monkeypatch.setattr(Original, "copy", copy)
    selection = Selection("smoke", SEED, (CELL,), ARMS[:1], clock="virtual", repetitions=1)
    write_plan(plan_study("how-quick", selection), tmp_path / "plan.json")
    block = Block(read_json(tmp_path / "plan.json"), CELL, 0, tmp_path, SESSION)
    (load,) = block.missing()
    guest = Original.__new__(Original)
    meta = virtual._measure_one(block, load, guest, tmp_path / "measured")
    assert meta["status"] == "failed" and block.missing() == []
    manifest = block.manifest(1, {}, 1.0)
    run = extract_run(
        manifest, manifest["runs"][0], tmp_path / manifest["runs"][0]["path"], Options()
    )
    assert (run.row["status"], run.row["clock"]) == ("failed", "virtual")
    assert "did not end within 1 s" in run.row["reason"]


def test_a_load_says_its_clock_and_is_kept(tmp_path: Path) -> None:
    calibration = prepared(ROOT, tmp_path, ARMS[:1], CELL)
    first = measured(ROOT, tmp_path, calibration, CELL)
    (meta_file,) = tmp_path.glob("runs/*/*/*/*/meta.json")
    before, meta = meta_file.stat(), read_json(meta_file)
    assert meta["clock"] == "virtual" and meta["session"] == "virtual"
    assert meta["programs"]["emulator"]["name"] == "netem"
    assert meta["guard"]["foreign_cpu"] is None and meta["attempts"] == 1
    assert measured(ROOT, tmp_path, calibration, CELL) == first
    assert meta_file.stat().st_mtime_ns == before.st_mtime_ns
    assert read_json(tmp_path / "block.json")["measured"] == 0
