"""What a measurement is valid for: a hash of everything that decides its number, and of nothing else."""

from __future__ import annotations

from typing import Any

from howquick.code import code_hash
from howquick.environment.endpoints import load_endpoints
from howquick.environment.manifest import load_manifest
from howquick.files import canonical_hash
from howquick.guest.kernel import kernel_entry
from howquick.model import ROLES, Arm, Cell, FlowBeside, Link, Plan, PlannedBlock, ResolvedStudy
from howquick.plan.method import method
from howquick.plan.order import loss_seeds
from howquick.study.cells import arm_in_cell, arms_of, clock_of, find, flow_in_cell, needs_guests
from howquick.study.workload import is_shaped
from howquick.testbed.link import OF_CONTENT, TRACES

# Which a cell has or has not: what was measured before they existed stays valid.
CIRCUMSTANCES = ("moves", "start_s", "observe", "alone", "tolerate_delays")
# Its hash is among those of the programs where a study has cells in virtual time.
GUEST = "guest"
GUEST_CODE = ("scripts/howquick/guest",)
# For readers alone.
WORDS = ("label", "group")


def conditions(plan: Plan, cell: Cell, arm: Arm) -> dict[str, Any]:
    """Everything that decides the loads of an arm in a cell, except for which repetition it is."""
    arm = arm_in_cell(cell, arm)
    circumstances: dict[str, Any] = {k: v for k, v in cell.items() if k in CIRCUMSTANCES and v}
    if arm["name"] in cell.get("profile", []):
        circumstances["profile"] = True
    if "beside" in cell:
        circumstances["beside"] = [_flow(plan, cell, flow) for flow in cell["beside"]]
    return {
        "method": method(),
        "study": plan["study"],
        "cell": cell["name"],
        "seed": plan["seed"],
        "link": _link(cell["link"]),
        "workload": cell["workload"],
        "arm": _without_words(arm),
        **circumstances,
        "timeout_s": plan["timeout_s"],
        **_testbed(plan, cell),
        "programs": _programs(plan, arm) | _link_maker(plan, cell),
    }


def _link(link: Link) -> dict[str, Any]:
    """The link; of a trace what it holds decides, and not how it is called."""
    return {k: str(v).rpartition(OF_CONTENT)[2] if k in TRACES else v for k, v in link.items()}


def _flow(plan: Plan, cell: Cell, flow: FlowBeside) -> dict[str, Any]:
    """A flow beside the arm: what is asked of it, and the hashes of its programs."""
    arm = flow_in_cell(cell, flow["arm"])
    return {**flow, "arm": _without_words(arm), "programs": _programs(plan, arm)}


def _without_words(arm: Arm) -> dict[str, Any]:
    return {key: value for key, value in arm.items() if key not in WORDS}


def _programs(plan: Plan, arm: Arm) -> dict[str, str]:
    return {role: plan["programs"][arm[role]] for role in ROLES}


def _testbed(plan: Plan, cell: Cell) -> dict[str, Any]:
    """What a guest is, where there is one."""
    return {"guest": plan["programs"][GUEST]} if clock_of(cell) == "virtual" else {}


def _link_maker(plan: Plan, cell: Cell) -> dict[str, str]:
    """Nothing emulates an unshaped link; in virtual time the guest's kernel does."""
    if clock_of(cell) == "virtual" or not is_shaped(cell["link"]):
        return {}
    return {"emulator": plan["programs"]["emulator"]}


def fingerprint(plan: Plan, cell: Cell, arm: Arm, repetition: int) -> str:
    """Hash of everything that produces a repetition; it is valid as long as this is unchanged."""
    return canonical_hash(
        conditions(plan, cell, arm)
        | {"repetition": repetition, "seeds": loss_seeds(plan, cell, repetition)}
    )


def block_fingerprint(plan: Plan, block: PlannedBlock) -> str:
    """Hash that changes when any repetition of a block must be measured anew."""
    cell = find(plan["cells"], block["cell"])
    arms = [conditions(plan, cell, arm) for arm in arms_of(plan, cell)]
    return canonical_hash([arms, list(block["repetitions"])])


def program_hashes(study: ResolvedStudy, manifest: dict[str, Any]) -> dict[str, str]:
    """Hashes of all programs that take part in a study, by name, the emulator's included."""
    endpoints = load_endpoints()
    beside = [flow["arm"] for cell in study["cells"] for flow in cell.get("beside", [])]
    names = {arm[role] for arm in [*study["arms"], *beside] for role in ROLES}
    hashes = {name: endpoints[name].program_hash(manifest) for name in sorted(names)}
    hashes["emulator"] = emulator_hash()
    if needs_guests(study["cells"]):
        hashes[GUEST] = guest_hash()
    return hashes


def guest_hash() -> str:
    """Hash of what decides a guest: its kernel, the code that starts it, the clock and its costs.

    Raises UserError where the environment has no kernel for virtual time.
    """
    return canonical_hash([kernel_entry()["hash"], code_hash(*GUEST_CODE)])


def emulator_hash() -> str:
    """Hash of the emulator that was built; empty where the kernel's own makes the links."""
    built: str = load_manifest().get("programs", {}).get("rattan", {}).get("hash", "")
    return built
