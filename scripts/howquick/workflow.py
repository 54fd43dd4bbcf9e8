"""What the Snakefile needs to know: the validated configuration, the plans, and what is to come."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from howquick import study as study_module
from howquick.config import check
from howquick.errors import ROOT, ConfigError
from howquick.files import canonical_hash, folder_hash, read_json, write_json
from howquick.log_cost import of_these_versions
from howquick.manifest import load_manifest
from howquick.plan import (
    METHOD,
    block_fingerprint,
    complete,
    find,
    is_selected,
    link_name,
    program_hashes,
)
from howquick.precision import further_repetitions, precision_file
from howquick.programs import version_of
from howquick.study import Selection, resolve_study
from howquick.workload import page_name

CONFIG_FILE = ROOT / "config" / "config.yaml"
# Whose cells the target `interference` measures in several ways.
INTERFERENCE_STUDY = "aa"
# In the results folder of an archive: the manifest of the environment that measured.
ENVIRONMENT = "environment.json"
# CPU need of a block in percent of one processor: programs, captures and packing; and per Mbit/s of what
# its fastest arm can reach, the emulator, captures and both ends. On average a block needs less than half
# of it (`snakemake bench`), but it comes in bursts, and whoever has to wait for them is disturbed. On two
# processors it means four blocks at 2 Mbit/s side by side, where 1 % of the loads stayed disturbed, and so
# where loss or the window keeps the load as slow; two at 10 Mbit/s: of three there, every sixth did.
CPU_PERCENT_BASE = 37
CPU_PERCENT_PER_MBIT = 2.4


@dataclass
class Workflow:
    """The configuration and the plan of every selected study."""

    results: str
    selection: Selection
    plans: dict[str, dict[str, Any]]
    runs: str | None = None
    # Plans, tables and calibrations are those of an archive: no rule makes them.
    rebuild: bool = False
    # The runs of a block go into one archive once its tables are made.
    pack: bool = False
    blocks: dict[tuple[str, str, int], dict[str, Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for study, plan in self.plans.items():
            for block in plan["blocks"]:
                self.blocks[study, block["cell"], block["block"]] = block

    def cells(self, study: str) -> list[str]:
        """The names of a study's cells."""
        return [cell["name"] for cell in self.plans[study]["cells"]]

    def block_numbers(self, study: str, cell: str) -> list[int]:
        """The blocks of a cell."""
        return [number for (s, c, number) in self.blocks if (s, c) == (study, cell)]

    def links(self, study: str) -> list[str]:
        """The names of a study's links, each once."""
        return list(dict.fromkeys(link_name(cell["link"]) for cell in self.plans[study]["cells"]))

    def link_by_name(self, name: str) -> dict[str, Any]:
        """The description of a link."""
        return self._of_a_cell("link", lambda link: link_name(link) == name)

    def workload_by_name(self, page: str) -> dict[str, Any]:
        """The workload that a page is made for."""
        return self._of_a_cell("workload", lambda workload: page_name(workload) == page)

    def _of_a_cell(self, key: str, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """The first wanted value of `key` among all cells."""
        values = (cell[key] for plan in self.plans.values() for cell in plan["cells"])
        return next(filter(wanted, values))

    @property
    def emulator(self) -> str:
        """Changes when links must be calibrated again."""
        return emulator_hash()

    @property
    def method(self) -> int:
        """Changes when pages are made, or loads measured, in another way."""
        return METHOD

    @property
    def processors_percent(self) -> int:
        """All that the machine has, for jobs that must run alone."""
        return processors_percent()

    @property
    def manifest(self) -> str:
        """The file that says what was installed where the results were measured."""
        return f"{self.results}/{ENVIRONMENT}" if self.rebuild else os.environ["HOWQUICK_MANIFEST"]

    @property
    def known_studies(self) -> list[str]:
        """All studies there are, selected or not: each has a target of its name."""
        return known_studies()

    def target(self, study: str) -> str:
        """The name of a study's target: Snakemake's are words, `production_quic`."""
        return study.replace("-", "_")

    def outputs(self, study: str) -> list[str]:
        """What a study's own target makes: its table, statistics and figures."""
        if study not in self.plans:
            return []
        figures = [f"{self.results}/figures/{study}/{figure}.pdf" for figure in self.figures(study)]
        same = [
            f"{self.results}/agreement/{study}/{first}+{second}"
            for second, first in same_arms(self.plans[study])
        ]
        return [
            self.study_table(study),
            f"{self.results}/statistics/{study}",
            *figures,
            *same,
            *self.precisions,
        ]

    @property
    def chosen(self) -> dict[str, Any]:
        """The selection in the words of config/config.yaml."""
        names = {
            "cells": list(self.selection.cells),
            "arms": list(self.selection.arms),
            "repetitions": self.selection.repetitions,
        }
        return {
            "studies": list(self.plans),
            "scale": self.selection.scale,
            "seed": self.selection.seed,
            **{key: value for key, value in names.items() if value},
            **({} if self.selection.observe else {"observe": False}),
        }

    @property
    def selection_arguments(self) -> list[str]:
        """The selection as arguments of scripts/resolve_plan.py."""
        words = ["--scale", self.selection.scale, "--seed", str(self.selection.seed)]
        words += ["--results", self.results]
        for option, names in (("--cells", self.selection.cells), ("--arms", self.selection.arms)):
            words += [option, *names] if names else []
        words += self.repetitions_arguments
        return words if self.selection.observe else [*words, "--unobserved"]

    @property
    def repetitions_arguments(self) -> list[str]:
        """How many repetitions the user wants, as arguments of a program; none: the scale's."""
        wanted = self.selection.repetitions
        return ["--repetitions", str(wanted)] if wanted else []

    def plan_fingerprint(self, study: str) -> str:
        """Changes when a study must be resolved again."""
        return canonical_hash(self.plans[study])

    def study_table(self, study: str) -> str:
        """The table that the analysis reads: measured here, or given by the user."""
        return self.runs or f"{self.results}/tables/{study}.csv"

    @property
    def precisions(self) -> list[str]:
        """What says whether the studies that ask for a precision have it."""
        asking = [study for study, plan in self.plans.items() if plan["precision"]]
        given = self.runs or self.rebuild
        return [] if given else [str(precision_file(self.results, name)) for name in asking]

    def figure_tables(self, study: str, figure: str) -> list[str]:
        """The tables that a figure needs: of the cells it shows."""
        if self.runs:
            return [self.runs]
        selection = find(self.plans[study]["figures"], figure).get("cells", {})
        tables = [
            f"{self.results}/tables/{study}/{cell['name']}.csv"
            for cell in self.plans[study]["cells"]
            if is_selected(cell, selection)
        ]
        # None of its cells is in this scale or selection: the figure says so itself.
        return tables or [self.study_table(study)]

    def figure_calibration(self, study: str, figure: str) -> list[str]:
        """The calibrations that a figure needs."""
        if find(self.plans[study]["figures"], figure)["kind"] != "calibration":
            return []
        return self.calibrations(study)

    def calibrations(self, study: str) -> list[str]:
        """The calibrations of all links of a study; none for somebody else's data."""
        if self.runs:
            return []
        return [f"{self.results}/calibration/{link}.json" for link in self.links(study)]

    @property
    def pages(self) -> list[str]:
        """All pages of the selected studies."""
        return [
            f"{self.results}/content/{name}/page.json"
            for name in sorted(
                {page_name(c["workload"]) for plan in self.plans.values() for c in plan["cells"]}
            )
        ]

    def figures(self, study: str) -> list[str]:
        """The names of a study's figures."""
        return [figure["name"] for figure in self.plans[study]["figures"]]

    # What rules ask of a block; Snakemake passes the wildcards study, cell and block.

    def block(self, wildcards: Any) -> dict[str, Any]:
        """The block that the wildcards name."""
        return self.blocks[wildcards.study, wildcards.cell, int(wildcards.block)]

    def fingerprint(self, wildcards: Any) -> str:
        """Changes when a block must be looked at again."""
        return block_fingerprint(self.plans[wildcards.study], self.block(wildcards))

    def again(self, wildcards: Any) -> str:
        """Differs from what a finished block was started with if loads of it were invalid.

        They get a further chance at each start, perhaps on a quieter machine.
        """
        path = manifest_path(self.results, wildcards.study, self.block(wildcards))
        manifest = read_json(path) if path.exists() else {}
        if has_invalid(manifest):
            return os.environ.get("HOWQUICK_SESSION", "")
        return str(manifest.get("again", ""))

    def cpu_percent(self, wildcards: Any) -> int:
        """What a block needs of the machine, in percent of one processor, on average."""
        return cpu_percent(self.block(wildcards))

    def priority(self, wildcards: Any) -> int:
        """Long blocks first, so that none is left over at the end."""
        return round(self.block(wildcards)["seconds"])

    def plan_path(self, wildcards: Any) -> str:
        """The plan that blocks read; no job makes it: Snakemake would remove it before the job."""
        return str(block_plan(self.results, wildcards.study))

    def block_inputs(self, wildcards: Any) -> dict[str, str]:
        """What a block needs beside the plan: its link's calibration and its page."""
        cell = find(self.plans[wildcards.study]["cells"], wildcards.cell)
        return {
            "calibration": f"{self.results}/calibration/{link_name(cell['link'])}.json",
            "page": f"{self.results}/content/{page_name(cell['workload'])}/page.json",
        }


def block_plan(results: str, study: str) -> Path:
    """The copy of a plan for its blocks."""
    return Path(results, "plan", "blocks", f"{study}.json")


def manifest_path(results: str, study: str, block: dict[str, Any]) -> Path:
    """Where the manifest of a block is once it was measured."""
    return Path(results, "blocks", study, block["cell"], f"{block['block']}.json")


def is_measured(plan: dict[str, Any], block: dict[str, Any], path: Path) -> bool:
    """Whether the manifest `path` is of the block as it is planned, with no load to repeat."""
    if not path.exists():
        return False
    manifest = read_json(path)
    same = manifest.get("fingerprint") == block_fingerprint(plan, block)
    return same and not has_invalid(manifest)


def has_invalid(manifest: dict[str, Any]) -> bool:
    """Whether loads of a block are to be measured again because they were disturbed."""
    return bool(manifest.get("statuses", {}).get("invalid"))


def file_list(option: str, files: Iterable[str]) -> list[str]:
    """The words of a command line that name files, none if there are none."""
    named = ",".join(files)
    return [option, named] if named else []


def same_arms(plan: dict[str, Any]) -> list[list[str]]:
    """The pairs of a study whose arms differ in nothing but their names."""
    measured = {
        arm["name"]: {k: v for k, v in arm.items() if k not in ("name", "label", "group")}
        for arm in plan["arms"]
    }
    return [
        [a, b]
        for a, b in plan["comparison"]["pairs"]
        if a in measured and measured[a] == measured.get(b)
    ]


def cpu_percent(block: dict[str, Any]) -> int:
    """What a block needs so that nobody waits, in percent of one processor, and never more than there is."""
    if block["alone"]:
        return processors_percent()
    clients = 100 * max(block["cpu_s"] / block["seconds"], block["processors"])
    percent = CPU_PERCENT_BASE + CPU_PERCENT_PER_MBIT * block["peak_mbit"] + clients
    return min(round(percent), processors_percent())


def known_studies() -> list[str]:
    """The names of all study files."""
    return sorted(file.stem for file in study_module.STUDIES.glob("*.yaml"))


def read_workflow(config: Mapping[str, Any], targets: Iterable[str] = ()) -> Workflow:
    """Validate the configuration (with what the command line changed in it) and plan its studies.

    Where targets name studies, those are planned and no others. Raises ConfigError; file, key and
    remedy are in its text.
    """
    values = {key: _typed(key, value) for key, value in config.items()}
    # A target is a study's own (`production_quic`) or a file of one (`…/production-quic/figure.pdf`).
    words = [target for target in targets if "=" not in target]
    asked = {part for word in words for part in word.replace("_", "-").split("/")}
    if own := [study for study in known_studies() if study in asked]:
        values["studies"] = own
    elif "interference" in asked:
        values["studies"] = [INTERFERENCE_STUDY]
    check(values, "config", CONFIG_FILE)
    if values.get("runs") and not Path(values["runs"]).is_file():
        raise ConfigError(CONFIG_FILE, "runs", f"no file {values['runs']}", "Name a CSV table")
    if values.get("runs") and len(values["studies"]) > 1:
        raise ConfigError(
            CONFIG_FILE, "runs", "is the table of one study, and several are selected",
            f"Add studies=NAME, one of {', '.join(known_studies())}",
        )  # fmt: skip
    selection = Selection(
        values["scale"],
        values["seed"],
        tuple(values.get("cells", ())),
        tuple(values.get("arms", ())),
        values.get("observe", True),
        values.get("repetitions"),
    )
    results = values.get("results", "results")
    rebuild = values.get("rebuild", False)
    plans = {
        study: measured_plan(study, results) if rebuild else plan_study(study, selection, results)
        for study in values["studies"]
    }
    return Workflow(
        results, selection, plans, values.get("runs"), rebuild, values.get("pack", False)
    )


def _typed(key: str, value: Any) -> Any:
    """`--config cells=a,b` means a list, a single word a list of one; `observe=false` is no text."""
    if key in ("studies", "cells", "arms") and isinstance(value, str):
        return [word for word in value.split(",") if word]
    if key in ("observe", "pack", "rebuild"):
        return {"true": True, "false": False}.get(value, value)
    return value


def plan_study(name: str, selection: Selection, results: str = "") -> dict[str, Any]:
    """The plan of one study for the present environment.

    results: where it is measured: precision asks for repetitions by what is there.
    """
    study = resolve_study(name, selection)
    if results and study["precision"]:
        study["further"] = further_repetitions(results, study)
    return complete(study, program_hashes(study, load_manifest(), emulator_hash()))


def write_plan(plan: dict[str, Any], path: Path) -> None:
    """Write a plan with the versions of its programs. Raises UserError where one is missing."""
    # Asking every program also finds a missing one before anything is measured.
    versions = {name: version_of(name) for name in plan["programs"] if name != "emulator"}
    path.parent.mkdir(parents=True, exist_ok=True)
    costs = of_these_versions(plan["log_costs"], versions)
    write_json(path, plan | {"versions": versions, "log_costs": costs})


def measured_plan(name: str, results: str) -> dict[str, Any]:
    """The plan by which a study was measured. Raises ConfigError if it or the study's table is missing."""
    plan, table = Path(results, "plan", f"{name}.json"), Path(results, "tables", f"{name}.csv")
    for file in (plan, table, Path(results, ENVIRONMENT)):
        if not file.is_file():
            raise ConfigError(
                CONFIG_FILE, "rebuild", f"{file} is not there",
                "Unpack the whole archive and start in its folder, or measure without rebuild",
            )  # fmt: skip
    recorded: dict[str, Any] = read_json(plan)
    return recorded


def emulator_hash() -> str:
    """Hash of the testbed: its code and the emulator that was built."""
    built = load_manifest().get("programs", {}).get("rattan", {}).get("hash", "")
    return f"{folder_hash(ROOT / 'scripts' / 'howquick' / 'testbed')[:32]}{built[:32]}"


def processors_percent() -> int:
    """What the machine has, in percent of one processor; a tenth is left to the machine itself."""
    return 90 * len(os.sched_getaffinity(0))


def side_by_side_s(blocks: Iterable[tuple[float, int]], jobs: float = math.inf) -> float:
    """Wall seconds of blocks, at most `jobs` at once; of each its seconds and its need, cpu_percent."""
    blocks = list(blocks)
    busy = sum(seconds for seconds, _ in blocks)
    cpu = sum(seconds * percent for seconds, percent in blocks)
    longest = max((seconds for seconds, _ in blocks), default=0.0)
    return max(busy / jobs, cpu / processors_percent(), longest)


def outlook(workflow: Workflow, jobs: int) -> str:
    """What is to come, in one line per study: blocks, repetitions, minutes, megabytes."""
    if workflow.rebuild:
        return f"{', '.join(workflow.plans)}: from the tables in {workflow.results}; nothing is measured"
    lines = []
    for study, plan in workflow.plans.items():
        blocks = plan["blocks"]
        paths = [(b, manifest_path(workflow.results, study, b)) for b in blocks]
        left = [b for b, path in paths if not is_measured(plan, b, path)]
        wall = side_by_side_s(((b["seconds"], cpu_percent(b)) for b in left), max(1, jobs))
        loads = sum(len(b["repetitions"]) * b["arms"] for b in left)
        size = sum(b["bytes"] for b in left) / 1e6
        lines.append(
            f"{study} ({plan['scale']}): {len(plan['cells'])} cells, {len(plan['arms'])} arms, "
            f"{plan['repetitions']} repetitions; to measure: {len(left)} of {len(blocks)} blocks, "
            f"{loads} loads, about {wall / 60:.0f} min, {size:.0f} MB"
        )
    return "\n".join(lines)
