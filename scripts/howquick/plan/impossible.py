"""What the machine's own clock cannot measure: links and congestion controls that only virtual time has."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache
from typing import Any

from howquick.environment.endpoints import KERNEL_CONTROLS, load_endpoints
from howquick.errors import ROOT, ConfigError
from howquick.model import Arm, Cell, ResolvedStudy
from howquick.study.arms import transport_of
from howquick.study.cells import arm_in_cell, arms_of, clock_of
from howquick.study.resolve import STUDIES
from howquick.study.workload import is_shaped
from howquick.testbed.abilities import features, why_not
from howquick.testbed.congestion_control import available_congestion_controls
from howquick.testbed.link import Link

PROBE = ROOT / "scripts" / "calibrate.py"


def mark_impossible(study: ResolvedStudy) -> None:
    """Make arms not applicable where this machine cannot make the link, or has not the congestion control.

    Where nothing rare is asked for by the real clock nothing is looked at. On a cluster the machine is the
    one that plans. Raises ConfigError where nothing of the study is left.
    """
    for cell in study["cells"]:
        if clock_of(cell) == "virtual":
            continue
        of_link = _why_no_link(cell)
        for arm in arms_of(study, cell):
            flows = [flow["arm"] for flow in cell.get("beside", [])]
            if why := of_link or _why_none([arm_in_cell(cell, arm), *flows]):
                cell["not_applicable"].append({"arm": arm["name"], "why": why})
    if study["cells"] and not any(arms_of(study, cell) for cell in study["cells"]):
        why = study["cells"][0]["not_applicable"][0]["why"]
        raise ConfigError(
            STUDIES / f"{study['study']}.yaml", "fixed",
            f"asks for links of which this machine makes none ({why})",
            "Measure it by --config clock=virtual",
        )  # fmt: skip


def _why_no_link(cell: Cell) -> str:
    if not is_shaped(cell["link"]):
        return ""
    link = Link.from_dict(cell["link"])
    if not features(link):
        return ""
    here = probed()
    return why_not(here["backend"], link, here["aqms"]) if here.get("backend") else ""


def _why_none(arms: list[Arm]) -> str:
    return next(filter(None, map(_why_no_control, arms)), "")


def _why_no_control(arm: Arm) -> str:
    control = arm["congestion_control"]
    if control not in KERNEL_CONTROLS or transport_of(arm, load_endpoints()) != "tcp":
        return ""
    if control in available_congestion_controls().split():
        return ""
    return f"the kernel of this machine has no {control}; that of virtual time has it"


@cache
def probed() -> dict[str, Any]:
    """What emulates links here (`backend`, `aqms`); empty where that cannot be found out.

    Then a link that cannot be made is refused when it is calibrated.
    """
    done = subprocess.run(
        [sys.executable, str(PROBE), "probe"], capture_output=True, text=True, check=False
    )
    found: dict[str, Any] = json.loads(done.stdout) if done.returncode == 0 else {}
    return found
