"""The plan of a study: resolved, cut into blocks, with the hashes and versions of all that takes part."""

from __future__ import annotations

from pathlib import Path

from howquick.environment.endpoints import load_endpoints
from howquick.environment.log_cost import costs_of, of_these_versions
from howquick.environment.manifest import load_manifest
from howquick.environment.versions import version_of
from howquick.errors import ConfigError
from howquick.files import read_json, write_json
from howquick.model import Plan, ResolvedStudy
from howquick.plan.blocks import partition
from howquick.plan.fingerprint import program_hashes
from howquick.plan.impossible import mark_impossible
from howquick.plan.precision import further_repetitions
from howquick.schemas import CONFIG_FILE
from howquick.study.resolve import Selection, resolve_study

# In the results folder of an archive: the manifest of the environment that measured.
ENVIRONMENT = "environment.json"


def complete(study: ResolvedStudy, programs: dict[str, str]) -> Plan:
    """The resolved study with blocks, hashes, licences and costs of logs: `results/plan/<study>.json`."""
    endpoints = load_endpoints()
    licences = {
        name: endpoints[name].declaration["licence"] for name in programs if name in endpoints
    }
    return {
        **study,  # type: ignore[typeddict-item]  # a plan's versions come when it is written
        "blocks": partition(study),
        "programs": programs,
        "licences": licences,
        "log_costs": costs_of(study["arms"], endpoints),
    }


def plan_study(name: str, selection: Selection, results: str = "") -> Plan:
    """The plan of one study for the present environment.

    results: where it is measured: precision asks for repetitions by what is there.
    """
    study = resolve_study(name, selection)
    mark_impossible(study)
    if results and study["precision"]:
        study["further"] = further_repetitions(results, study)
    return complete(study, program_hashes(study, load_manifest()))


def write_plan(plan: Plan, path: Path) -> None:
    """Write a plan with the versions of its programs. Raises UserError where one is missing."""
    # Asking every program also finds a missing one before anything is measured.
    versions = {name: version_of(name) for name in plan["licences"]}
    path.parent.mkdir(parents=True, exist_ok=True)
    costs = of_these_versions(plan["log_costs"], versions)
    write_json(path, {**plan, "versions": versions, "log_costs": costs})


def measured_plan(name: str, results: str) -> Plan:
    """The plan by which a study was measured. Raises ConfigError if it or the study's table is missing."""
    plan, table = Path(results, "plan", f"{name}.json"), Path(results, "tables", f"{name}.csv")
    for file in (plan, table, Path(results, ENVIRONMENT)):
        if not file.is_file():
            raise ConfigError(
                CONFIG_FILE, "rebuild", f"{file} is not there",
                "Unpack the whole archive and start in its folder, or measure without rebuild",
            )  # fmt: skip
    recorded: Plan = read_json(plan)
    return recorded
