"""The plan: which blocks there are, the order of their arms, the seeds, and how long it takes."""

from __future__ import annotations

import hashlib
import math
import random
from dataclasses import asdict, dataclass
from typing import Any

from howquick.endpoints import kernel_options, load_endpoints
from howquick.files import canonical_hash
from howquick.log_cost import costs_of
from howquick.workload import UNSHAPED_RATE, fetch_mode, kind_of, load_bytes, requests_of

# Changing how a repetition is measured changes this number, and with it every fingerprint.
METHOD = 1
# Start-up, captures, checks and packing around each load, seconds: measured by `snakemake bench`.
OVERHEAD_S = 0.35
BLOCK_SETUP_S = 2.0


@dataclass(frozen=True)
class Block:
    """Consecutive repetitions of one cell with all its arms: one job."""

    study: str
    cell: str
    block: int
    repetitions: tuple[int, ...]
    seconds: float  # expected wall time
    bytes: int  # expected size on disk
    peak_mbit: float  # the rate that the fastest of its arms can reach
    arms: int
    alone: bool  # it has the machine to itself
    cpu_s: float  # processor time of clients whose start is a large part of it
    processors: float  # that one client keeps busy


def derive_seed(*parts: object) -> int:
    """A 63-bit seed that depends on every part and on nothing else."""
    digest = hashlib.sha256("/".join(map(str, parts)).encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1


def link_name(link: dict[str, Any]) -> str:
    """The name of a link, for files: `10mbit-18ms-loss2-queue200ms-mtu1500`, `unshaped-mtu1500`."""
    if link["bandwidth_mbit"] == "unshaped":
        offloads = f"-offloads-{link['offloads']}" if "offloads" in link else ""
        return f"unshaped-mtu{link['mtu_bytes']:g}{offloads}"
    burst = f"-burst{link['burst_bytes']}" if "burst_bytes" in link else ""
    return (
        f"{link['bandwidth_mbit']:g}mbit-{link['rtt_ms']:g}ms-loss{link['loss_percent']:g}"
        f"-queue{link['queue_ms']:g}ms-mtu{link['mtu_bytes']:g}{burst}"
    )


def find(items: list[dict[str, Any]], name: str) -> dict[str, Any]:
    """The item (cell, arm, …) with this name."""
    return next(item for item in items if item["name"] == name)


def is_selected(cell: dict[str, Any], selection: dict[str, Any] | list[str]) -> bool:
    """Whether a cell is in a selection: cell names, or per factor the values or level names wanted."""
    if isinstance(selection, list):
        return cell["name"] in selection
    for factor, wanted in selection.items():
        values = wanted if isinstance(wanted, list) else [wanted]
        if cell["values"][factor] not in values and cell["levels"][factor] not in values:
            return False
    return True


def arms_of(study: dict[str, Any], cell: dict[str, Any]) -> list[dict[str, Any]]:
    """The arms that are measured in a cell."""
    excluded = {entry["arm"] for entry in cell["not_applicable"]}
    return [arm for arm in study["arms"] if arm["name"] not in excluded]


def arm_in_cell(cell: dict[str, Any], arm: dict[str, Any]) -> dict[str, Any]:
    """The arm as it is measured in a cell: with the options that are factors there."""
    endpoints = load_endpoints()
    programs = [endpoints[arm[role]] for role in ("server", "client")]
    asked = {
        name: value
        for name, value in cell.get("options", {}).items()
        if name in kernel_options(arm, endpoints) or any(name in p.defaults for p in programs)
    }
    if cell.get("moves") and "on_move" not in arm["options"] | asked:
        client = programs[1].declaration["client"]["protocols"][arm["protocol"]]
        asked["on_move"] = client["moves"][0]
    return arm | {"options": arm["options"] | asked} if asked else arm


def order_of(study: dict[str, Any], cell: dict[str, Any], repetition: int) -> list[str]:
    """The arms of one repetition in seeded order."""
    names = sorted(arm["name"] for arm in arms_of(study, cell))
    seed = derive_seed(study["seed"], study["study"], cell["name"], repetition, "order")
    random.Random(seed).shuffle(names)
    return names


def loss_seeds(study: dict[str, Any], cell: dict[str, Any], repetition: int) -> dict[str, int]:
    """Seeds of the random loss: one per direction and repetition, the same for all arms."""
    return {
        direction: derive_seed(study["seed"], study["study"], cell["name"], repetition, direction)
        for direction in ("up", "down")
    }


def expected_plt_s(cell: dict[str, Any], arm: dict[str, Any]) -> float:
    """A rough page load time, for planning only, seconds.

    Handshake and slow start in round trips, then the rate.
    """
    workload = cell["workload"]
    rtt = cell["link"]["rtt_ms"] / 1000
    if kind_of(workload) == "bulk":
        return float(workload["bulk"]["seconds"])
    size = load_bytes(workload)
    connections = connections_of(arm)
    slow_start = math.log2(1 + size / (connections * 14600))
    one_by_one = arm["protocol"] == "h1" or fetch_mode(workload) == "sequential"
    requests = requests_of(workload) / connections if one_by_one else 1
    return (4 + max(slow_start, requests)) * rtt + size / rate(cell, arm)


def connections_of(arm: dict[str, Any]) -> int:
    """How many connections a browser opens to one host (HTTP/1.1: six)."""
    return 6 if arm["protocol"] == "h1" else 1


def rate(cell: dict[str, Any], arm: dict[str, Any]) -> float:
    """What a load can reach, for planning only, bytes per second.

    The smaller of the link's rate and of what a loss-based sender reaches: MSS/RTT · sqrt(3/2p),
    Mathis et al., CCR 27(3), 1997.
    """
    link = cell["link"]
    loss, rtt = link["loss_percent"] / 100, max(link["rtt_ms"] / 1000, 0.001)
    # A bucket lets pass as much as most loads have.
    if link["bandwidth_mbit"] == "unshaped" or link.get("burst_bytes"):
        return UNSHAPED_RATE
    whole = float(link["bandwidth_mbit"]) * 1e6 / 8
    if not loss:
        return whole
    return min(whole, connections_of(arm) * 1460 / rtt * math.sqrt(1.5 / loss))


def expected_repetition_s(study: dict[str, Any], cell: dict[str, Any]) -> float:
    """Expected wall time of one repetition by all arms of a cell, seconds."""
    return sum(
        min(expected_plt_s(cell, arm), study["timeout_s"]) + OVERHEAD_S + start_cost(arm)["wall_s"]
        for arm in arms_of(study, cell)
    )


def start_cost(arm: dict[str, Any]) -> dict[str, float]:
    """What a load costs an arm's client besides the transfer: `wall_s`, `cpu_s` (seconds), `processors`."""
    client = load_endpoints()[arm["client"]].declaration["client"]
    return {"wall_s": 0.0, "cpu_s": 0.0, "processors": 0.0} | client.get("start", {})


def repetitions_of(study: dict[str, Any], cell: dict[str, Any]) -> int:
    """How often a cell is measured: a scale may spare cells that take long."""
    slow = study["slow_cells"]
    if slow and expected_repetition_s(study, cell) > slow["above_s"]:
        return min(slow["repetitions"], study["repetitions"])
    return study["repetitions"]


def _cut(study: dict[str, Any], cell: dict[str, Any], one: float) -> list[tuple[int, ...]]:
    """The repetitions of each block of a cell; `one` is the expected wall time of one.

    Those that precision asks for beyond the stated ones (`further`) come in blocks of the same length, up
    to its bound: the blocks before them stay as they were.
    """
    total = repetitions_of(study, cell)
    size = max(1, min(total, int(study["block_seconds"] / one)))
    cuts = [(first, min(first + size, total)) for first in range(0, total, size)]
    wanted = study.get("further", {}).get(cell["name"], 0)
    if wanted > total:
        most = study["precision"]["at_most"]
        cuts += [(first, min(first + size, most)) for first in range(total, wanted, size)]
    return [tuple(range(first, last)) for first, last in cuts]


def partition(study: dict[str, Any]) -> list[Block]:
    """Cut every cell's repetitions into blocks of about `block_seconds`."""
    blocks = []
    for cell in study["cells"]:
        arms = arms_of(study, cell)
        one = expected_repetition_s(study, cell)
        for number, repetitions in enumerate(_cut(study, cell, one)):
            full = sum(1 for repetition in repetitions if repetition < study["full_captures"])
            headers = len(repetitions) - full
            # Two captures of about 1.1 times the page, or of its headers only; or none at all.
            seen = 2 if cell.get("observe", {}).get("captures", True) else 0
            disk = len(arms) * load_bytes(cell["workload"]) * seen * (1.1 * full + 0.2 * headers)
            blocks.append(
                Block(
                    study["study"],
                    cell["name"],
                    number,
                    repetitions,
                    seconds=round(BLOCK_SETUP_S + one * len(repetitions), 1),
                    bytes=round(disk),
                    peak_mbit=round(max(rate(cell, arm) for arm in arms) * 8e-6, 1),
                    arms=len(arms),
                    alone=bool(cell.get("alone")),
                    cpu_s=len(repetitions) * sum(start_cost(arm)["cpu_s"] for arm in arms),
                    processors=max(start_cost(arm)["processors"] for arm in arms),
                )
            )
    return blocks


def fingerprint(
    study: dict[str, Any], cell: str, arm: str, repetition: int, programs: dict[str, str]
) -> str:
    """Hash of everything that produces a repetition; it is valid as long as this is unchanged.

    `programs` maps the names of server, client and `emulator` to hashes (`Endpoint.program_hash`).
    """
    the_cell = find(study["cells"], cell)
    the_arm = arm_in_cell(the_cell, find(study["arms"], arm))
    # Named only where a cell has them: what was measured before they existed stays valid.
    circumstances = {
        k: the_cell[k] for k in ("moves", "observe", "alone", "tolerate_delays") if the_cell.get(k)
    }
    if arm in the_cell.get("profile", []):
        circumstances["profile"] = True
    behaviour = {key: value for key, value in the_arm.items() if key not in ("label", "group")}
    return canonical_hash(
        {
            "method": METHOD,
            "seed": study["seed"],
            "link": the_cell["link"],
            "workload": the_cell["workload"],
            "arm": behaviour,
            **circumstances,
            "repetition": repetition,
            "timeout_s": study["timeout_s"],
            "seeds": loss_seeds(study, the_cell, repetition),
            "programs": {
                role: programs[name]
                for role, name in (
                    ("server", the_arm["server"]),
                    ("client", the_arm["client"]),
                    ("emulator", "emulator"),
                )
            },
        }
    )


def program_hashes(
    study: dict[str, Any], manifest: dict[str, Any], emulator: str
) -> dict[str, str]:
    """Hashes of all programs that take part in a study, by name, the emulator's included."""
    endpoints = load_endpoints()
    names = {arm[role] for arm in study["arms"] for role in ("server", "client")}
    hashes = {name: endpoints[name].program_hash(manifest) for name in sorted(names)}
    hashes["emulator"] = emulator
    return hashes


def complete(study: dict[str, Any], programs: dict[str, str]) -> dict[str, Any]:
    """The resolved study with blocks, hashes, licences and costs of logs: `results/plan/<study>.json`."""
    endpoints = load_endpoints()
    licences = {
        name: endpoints[name].declaration["licence"] for name in programs if name in endpoints
    }
    blocks = [asdict(block) for block in partition(study)]
    return study | {
        "blocks": blocks,
        "programs": programs,
        "licences": licences,
        "log_costs": costs_of(study["arms"], endpoints),
    }


def block_fingerprint(plan: dict[str, Any], block: dict[str, Any]) -> str:
    """Hash that changes when any repetition of a block must be measured anew."""
    cell = find(plan["cells"], block["cell"])
    arms = [
        [arm["name"], {role: plan["programs"][arm[role]] for role in ("server", "client")}, arm]
        for arm in arms_of(plan, cell)
    ]
    return canonical_hash(
        [
            METHOD,
            plan["seed"],
            plan["timeout_s"],
            plan["programs"]["emulator"],
            cell,
            arms,
            block["repetitions"],
        ]
    )
