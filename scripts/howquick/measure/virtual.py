"""Loads in virtual time: each in a copy of one guest, so that none depends on what ran before or beside."""

from __future__ import annotations

import compileall
import importlib
import json
import shutil
import sys
from pathlib import Path
from typing import Any

from howquick.environment.endpoints import declared_endpoints
from howquick.errors import ROOT, UserError
from howquick.files import atomic_folder, read_json, write_json
from howquick.guest.copies import Original, original
from howquick.guest.guest import (
    Boot,
    Command,
    GuestFailed,
    GuestTooLong,
    basic_environment,
    made_at_place,
    place,
    show_at_place,
)
from howquick.guest.processors import Processor
from howquick.measure.block import Block
from howquick.measure.description import describe_load
from howquick.measure.host import GUEST_NAME, describe_host
from howquick.measure.measurement import Tcp, tcp_of
from howquick.measure.raw import (
    ASKED,
    CALIBRATION,
    CHECKOUT,
    CODE,
    ENDPOINTS,
    LOAD,
    MEASURED,
    PLAN,
    READY,
    RESULTS,
    complete,
)  # fmt: skip
from howquick.measure.told import Progress
from howquick.model import ROLES
from howquick.plan.fingerprint import GUEST
from howquick.seeds import derive_seed
from howquick.study.cells import arm_in_cell, find
from howquick.testbed.sandbox import enter_sandbox

PROGRAM = "scripts/measure_load.py"
# Real seconds of a load. Most take a few; a hundred virtual seconds of a fast link take some minutes.
LIMIT_S = 1800.0
# What of a plan the guest of a cell has before it is copied. Which arms and repetitions there are is none of
# it: a program with more in its memory asks the kernel for more of it, and at other times.
KEPT = ("study", "seed", "timeout_s", "full_captures")


def measure_in_guests(
    block: Block,
    missing: list[tuple[int, int, str]],
    calibration: dict[str, Any],
    processor: Processor,
    progress: Progress,
) -> dict[str, float]:
    """Measure everything that is missing; returns how the loads' virtual seconds were spent, by part.

    Loads of arms whose TCP is set alike are copies of one guest, in which the testbed is ready.
    Raises UserError where a guest broke down. A load that never ends is a failed one.
    """
    files = {
        PLAN: json.dumps(_plan_of_all(block)).encode(),
        CALIBRATION: json.dumps(calibration).encode(),
        ENDPOINTS: json.dumps(declared_endpoints()).encode(),
    }
    show_code_as_it_is_written()
    show_at_place(RESULTS, block.results)
    measured = made_at_place(MEASURED)
    parts: dict[str, float] = {}
    for tcp, loads in _alike(block, missing).items():
        with original(_command(block, tcp, files), _boot(block, tcp, processor)) as guest:
            for load in loads:
                progress.now(load[2], load[0])
                meta = _measure_one(block, load, guest, measured)
                for name, seconds in meta["overhead"].items():
                    parts[name] = parts.get(name, 0.0) + seconds
                progress.done(meta["status"])
    return parts


def _plan_of_all(block: Block) -> dict[str, Any]:
    """Of the plan what all loads of the cell have in common."""
    cell = {key: value for key, value in block.cell.items() if key != "not_applicable"}
    no_block = {"cell": block.cell["name"], "block": 0, "repetitions": []}
    plan: dict[str, Any] = {key: value for key, value in block.plan.items() if key in KEPT}
    return plan | {
        "arms": [],
        "programs": {},
        "versions": {},
        "cells": [cell],
        "blocks": [no_block],
    }


def _plan_of_one(block: Block, name: str) -> dict[str, Any]:
    """Of the plan what one arm needs, with those beside it."""
    plan = block.plan
    arms = [find(plan["arms"], name)]
    beside = [flow["arm"] for flow in block.cell.get("beside", [])]
    used = {arm[role] for arm in (*arms, *beside) for role in ROLES}
    return {
        "arms": arms,
        "programs": {key: plan["programs"][key] for key in sorted({GUEST, *used})},
        "versions": {key: plan["versions"][key] for key in sorted(used)},
    }


def _alike(
    block: Block, missing: list[tuple[int, int, str]]
) -> dict[Tcp, list[tuple[int, int, str]]]:
    """Loads by the settings of their arm's TCP."""
    loads: dict[Tcp, list[tuple[int, int, str]]] = {}
    for load in missing:
        arm = arm_in_cell(block.cell, find(block.plan["arms"], load[2]))
        loads.setdefault(tcp_of(arm), []).append(load)
    return loads


def _command(block: Block, tcp: Tcp, files: dict[str, bytes]) -> Command:
    """The program that measures, up to where it is copied."""
    ready = {"cell": block.cell["name"], "tcp": tcp}
    # Nothing but the standard library is imported there, and looking for more takes time.
    argv = [sys.executable, "-S", str(place(CHECKOUT) / PROGRAM)]
    # Where the caller finds modules is no part of a load: the program's own are beside it.
    environment = basic_environment()
    environment.pop("PYTHONPATH", None)
    files = files | {READY: json.dumps(ready).encode()}
    return Command(argv, environment, Path("/"), files=files, in_places=True)


def _boot(block: Block, tcp: Tcp, processor: Processor) -> Boot:
    plan = block.plan
    seed = derive_seed(plan["seed"], plan["study"], block.cell["name"], *tcp, "testbed")
    return Boot(seed, processor.number, limit_s=LIMIT_S)


def show_code_as_it_is_written() -> None:
    """Show guests a copy of the checkout's code: the same wherever that lies, and nothing else of it.

    Of bytecode in a checkout some is there and some not, and it holds the paths of where it was written: how
    often a program asks for memory before its load follows from it.
    """
    copy = enter_sandbox().scratch / CHECKOUT
    for part in (*map(Path, CODE), *_programs_elsewhere()):
        left_out = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / part, copy / part, symlinks=True, ignore=left_out)
    for file in _used_code(copy):
        compileall.compile_file(file, quiet=2, stripdir=copy, prependdir=place(CHECKOUT))
    show_at_place(CHECKOUT, copy)


def _programs_elsewhere() -> list[Path]:
    """Folders of programs that lie in the checkout and not in its code, seen from it."""
    folders = map(Path, declared_endpoints())
    return [f for f in folders if not f.is_absolute() and f.parts[0] not in CODE]


def _used_code(copy: Path) -> list[Path]:
    """What a guest imports: the programs' own, and of the library what measuring needs."""
    importlib.import_module("howquick.measure.measurement")
    files = [
        Path(module.__file__ or "/")
        for module in sys.modules.values()
        if hasattr(module, "__file__")
    ]
    library = [
        copy / file.relative_to(ROOT) for file in files if file.is_relative_to(ROOT / "scripts")
    ]
    return sorted([*library, *(copy / "envs").rglob("*.py")])


def _measure_one(
    block: Block, load: tuple[int, int, str], guest: Original, measured: Path
) -> dict[str, Any]:
    repetition, order, arm = load
    plan, cell = block.plan, block.cell["name"]
    folder = block.folder(arm, repetition)
    # Nothing of an earlier state may stand for this load.
    shutil.rmtree(folder, ignore_errors=True)
    shutil.rmtree(measured / LOAD, ignore_errors=True)
    asked = {
        "arm": arm,
        "repetition": repetition,
        "order": order,
        "fingerprint": block.fingerprint(arm, repetition),
        "plan": _plan_of_one(block, arm),
        "block": block.block["block"],
    }
    seed = derive_seed(plan["seed"], plan["study"], cell, arm, repetition, "guest")
    named = f"{plan['study']}, {cell}, {arm}, repetition {repetition}"
    try:
        ended = guest.copy(seed, {ASKED: json.dumps(asked).encode()})
    except GuestTooLong as failure:
        _write_failed(block, load, str(failure))
        meta: dict[str, Any] = read_json(folder / "meta.json")
        return meta
    except GuestFailed as failure:
        raise UserError(f"{named}: {failure}") from None
    if ended.status:
        said = ended.errors.decode(errors="replace").strip()
        raise UserError(f"{named}: measuring ended with {ended.status} in its guest: {said}")
    return complete(measured / LOAD, folder)


def _write_failed(block: Block, load: tuple[int, int, str], reason: str) -> None:
    """The run folder of a load that left none: what was asked for, and why there is nothing."""
    repetition, order, name = load
    arm = arm_in_cell(block.cell, find(block.plan["arms"], name))
    meta = describe_load(block, arm, repetition, order, "netem") | {
        "status": "failed",
        "reason": reason,
        "attempts": 1,
        "disturbed": [],
        "network_s": 0.0,
        "wall_s": 0.0,
        "overhead": {},
        "captures": {},
        "guard": {"judges_delays": True},
        "cpu": {"server_s": None, "client_s": None},
        "host": describe_host() | {"node": GUEST_NAME},
    }
    with atomic_folder(block.folder(name, repetition)) as temporary:
        write_json(temporary / "meta.json", meta, indent=None)
