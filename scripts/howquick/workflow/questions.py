"""What the rules ask of the plans: inputs, outputs, parameters and resources."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from howquick.environment.manifest import prefix_of
from howquick.errors import ROOT
from howquick.extract.code import extraction_hash
from howquick.files import canonical_hash, read_json
from howquick.model import Cell, Clock, Link, Plan, PlannedBlock, Workload
from howquick.plan.calibration import calibration_hash, virtual_calibration_hash
from howquick.plan.fingerprint import block_fingerprint, guest_hash
from howquick.plan.method import method
from howquick.plan.plan import ENVIRONMENT
from howquick.plan.precision import precision_file
from howquick.processor.samples import samples_fingerprint, virtual_cells
from howquick.report.libraries import PROGRAM, library_files
from howquick.study.beside import workloads_of
from howquick.study.cells import (
    arms_of,
    calibration_name,
    certificates_name,
    clock_of,
    find,
    is_selected,
    needs_guests,
)
from howquick.study.resolve import Selection, known_studies
from howquick.study.workload import page_name
from howquick.workflow.analysis_code import analysis_code
from howquick.workflow.capacity import cpu_percent, processors_percent
from howquick.workflow.manifests import block_plan, has_invalid, manifest_path

# Of each study: some minutes on a laptop.
REPRODUCED_CELLS = 3


@dataclass
class Workflow:
    """The configuration and the plan of every selected study."""

    results: str
    selection: Selection
    plans: dict[str, Plan]
    runs: str | None = None
    # Plans, tables and calibrations are those of an archive: no rule makes them.
    rebuild: bool = False
    # The runs of a block go into one archive once its tables are made.
    pack: bool = False
    blocks: dict[tuple[str, str, int], PlannedBlock] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for study, plan in self.plans.items():
            for block in plan["blocks"]:
                self.blocks[study, block["cell"], block["block"]] = block

    def cells(self, study: str) -> list[str]:
        """The names of a study's cells that are measured."""
        return [cell["name"] for cell in self._measured(study)]

    def block_numbers(self, study: str, cell: str) -> list[int]:
        """The blocks of a cell."""
        return [number for (s, c, number) in self.blocks if (s, c) == (study, cell)]

    def links(self, study: str) -> list[str]:
        """The names of what calibrates a study's links, each once: a link by both clocks is two."""
        return list(dict.fromkeys(map(calibration_name, self._measured(study))))

    def _measured(self, study: str) -> list[Cell]:
        """The cells of which there is anything: a machine may have no way to make a link."""
        plan = self.plans[study]
        return [cell for cell in plan["cells"] if arms_of(plan, cell)]

    def link_by_name(self, name: str) -> Link:
        """The description of a link."""
        return self._cell_on(name)["link"]

    def clock_of_link(self, name: str) -> Clock:
        """The clock by which a link is calibrated."""
        return clock_of(self._cell_on(name))

    def _cell_on(self, name: str) -> Cell:
        return next(cell for cell in self._all_cells() if calibration_name(cell) == name)

    def workload_by_name(self, page: str) -> Workload:
        """The workload that a page is made for."""
        workloads = (workload for cell in self._all_cells() for workload in workloads_of(cell))
        return next(workload for workload in workloads if page_name(workload) == page)

    def _all_cells(self) -> Iterator[Cell]:
        return (cell for plan in self.plans.values() for cell in plan["cells"])

    def calibration_code(self, name: str) -> str:
        """Changes when a link must be calibrated again."""
        return (
            calibration_hash() if self.clock_of_link(name) == "real" else virtual_calibration_hash()
        )

    @property
    def method(self) -> str:
        """Changes when pages are made, or loads measured, in another way."""
        return method()

    @property
    def guest_code(self) -> str:
        """Changes when what a guest is changes; empty where no cell needs one."""
        return guest_hash() if needs_guests(self._all_cells()) else ""

    @property
    def extraction_code(self) -> str:
        """Changes when tables must be made anew from the run folders."""
        return extraction_hash()

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

    @property
    def studies_in_virtual_time(self) -> list[str]:
        """The studies that have loads in virtual time; all of them where none has, to be told so."""
        some = [name for name, plan in self.plans.items() if needs_guests(plan["cells"])]
        return some or list(self.plans)

    @property
    def reproduced_cells(self) -> int:
        """How many cells of each study are measured again."""
        return REPRODUCED_CELLS

    @property
    def start(self) -> str:
        """The name of this start of the workflow."""
        return os.environ.get("HOWQUICK_SESSION", "")

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
            "clock": self.selection.clock,
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
        words += self.repetitions_arguments + self.clock_arguments
        return words if self.selection.observe else [*words, "--unobserved"]

    @property
    def repetitions_arguments(self) -> list[str]:
        """How many repetitions the user wants, as arguments of a program; none: the scale's."""
        wanted = self.selection.repetitions
        return ["--repetitions", str(wanted)] if wanted else []

    @property
    def clock_arguments(self) -> list[str]:
        """The clock that the user asks for, as arguments of a program; none: the studies' own."""
        return ["--clock", self.selection.clock] if self.selection.clock else []

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
            for cell in self._measured(study)
            if is_selected(cell, selection)
        ]
        # None of its cells is in this scale or selection: the figure says so itself.
        return tables or [self.study_table(study)]

    def figure_calibration(self, study: str, figure: str) -> list[str]:
        """The calibrations that a figure needs."""
        if find(self.plans[study]["figures"], figure)["kind"] != "calibration":
            return []
        return self.calibrations(study)

    @property
    def report_libraries(self) -> list[str]:
        """Files of others that the report's page uses; none where the environment has none."""
        return [str(path) for path in library_files().values()] if prefix_of(PROGRAM) else []

    def report_code(self, pattern: str) -> list[str]:
        """Files of the package that makes the reader's report."""
        return sorted(str(path) for path in (ROOT / "scripts/howquick/report").glob(pattern))

    def code(self, program: str) -> list[str]:
        """The files of the analysis that a program of R/ loads."""
        return analysis_code(ROOT, program)

    def figure_code(self, study: str, figure: str) -> list[str]:
        """The files of the analysis that decide how a figure looks."""
        kind = find(self.plans[study]["figures"], figure)["kind"]
        return analysis_code(ROOT, "run_figure.R", kind)

    def calibrations(self, study: str) -> list[str]:
        """The calibrations of all links of a study; none for somebody else's data."""
        if self.runs:
            return []
        return [f"{self.results}/calibration/{link}.json" for link in self.links(study)]

    def processor(self, study: str) -> list[str]:
        """The table of what loads in virtual time cost the processor; none where a study has no such loads.

        Nor for somebody else's data, or where an archive has none: then nothing is said of it.
        """
        path = f"{self.results}/processor/{study}.csv"
        if self.runs or not virtual_cells(self.plans[study]):
            return []
        return [] if self.rebuild and not Path(path).is_file() else [path]

    def figure_processor(self, study: str, figure: str) -> list[str]:
        """The same for a figure: none where all cells that it shows are in real time, or it shows links."""
        shown = find(self.plans[study]["figures"], figure)
        selection = shown.get("cells", {})
        virtual = virtual_cells(self.plans[study])
        if shown["kind"] == "calibration" or not any(is_selected(c, selection) for c in virtual):
            return []
        return self.processor(study)

    def sampled_pages(self, study: str) -> list[str]:
        """The pages whose loads are in virtual time."""
        names = sorted({page_name(c["workload"]) for c in virtual_cells(self.plans[study])})
        return [f"{self.results}/content/{name}/page.json" for name in names]

    def samples_fingerprint(self, study: str) -> str:
        """Changes when processor seconds must be measured again."""
        return samples_fingerprint(self.plans[study])

    @property
    def certificates(self) -> list[str]:
        """The folders of all certificates that the selected studies need."""
        return [
            f"{self.results}/content/{name}"
            for name in sorted({certificates_name(cell) for cell in self._all_cells()})
        ]

    @property
    def pages(self) -> list[str]:
        """All pages of the selected studies."""
        return [
            f"{self.results}/content/{name}/page.json"
            for name in sorted(
                {page_name(served) for cell in self._all_cells() for served in workloads_of(cell)}
            )
        ]

    def figures(self, study: str) -> list[str]:
        """The names of a study's figures."""
        return [figure["name"] for figure in self.plans[study]["figures"]]

    # What rules ask of a block; Snakemake passes the wildcards study, cell and block.

    def block(self, wildcards: Any) -> PlannedBlock:
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
            return self.start
        return str(manifest.get("again", ""))

    @property
    def whole_node(self) -> str:
        """What sbatch is asked besides: nothing else may run where a load is in real time.

        The same for all jobs of a start, since those of a group are one.
        """
        return "--exclusive" if self._in_real_time else ""

    @property
    def cpus_per_load(self) -> int:
        """Processors of a job that measures: server and client beside each other, or one for a guest."""
        return 2 if self._in_real_time else 1

    @property
    def _in_real_time(self) -> bool:
        return any(clock_of(cell) == "real" for cell in self._all_cells())

    def cpu_percent(self, wildcards: Any) -> int:
        """What a block needs of the machine, in percent of one processor, on average."""
        return cpu_percent(self.block(wildcards))

    def priority(self, wildcards: Any) -> int:
        """Long blocks first, so that none is left over at the end."""
        return round(self.block(wildcards)["seconds"])

    def plan_path(self, wildcards: Any) -> str:
        """The plan that blocks read; no job makes it: Snakemake would remove it before the job."""
        return str(block_plan(self.results, wildcards.study))

    def block_inputs(self, wildcards: Any) -> dict[str, str | list[str]]:
        """What a block needs beside the plan: its link's calibration and its pages."""
        cell = find(self.plans[wildcards.study]["cells"], wildcards.cell)
        return {
            "calibration": f"{self.results}/calibration/{calibration_name(cell)}.json",
            "certificates": f"{self.results}/content/{certificates_name(cell)}",
            "pages": [
                f"{self.results}/content/{name}/page.json"
                for name in sorted(set(map(page_name, workloads_of(cell))))
            ],
        }


def file_list(option: str, files: Iterable[str]) -> list[str]:
    """The words of a command line that name files, none if there are none."""
    named = ",".join(files)
    return [option, named] if named else []


def same_arms(plan: Plan) -> list[list[str]]:
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
