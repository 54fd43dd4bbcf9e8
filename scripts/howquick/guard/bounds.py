"""What disturbs a load so much that its number must not be used (docs/validity.md)."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

# A packet that the emulator sends late may delay the load by as much: at most this share of it.
MAX_LATE_SHARE = 0.05
# The same of the time for which a program was ready and another one had the processor.
MAX_RUN_DELAY_SHARE = 0.1
# Less is what any scheduler does; on a load of some round trips it is below what is compared.
LEAST_RUN_DELAY_S = 0.005
# Programs that wait for their own threads disturb nobody: others must have used so much of the machine.
LEAST_FOREIGN_CPU = 0.1
MAX_PAUSE_S = 0.1
MAX_STEAL = 0.05
MAX_CLOCK_STEP_S = 0.002
# Where delays are only recorded: what keeps a machine's clock right, in small steps, is the machine's affair.
MAX_RECORDED_CLOCK_STEP_S = 0.1


@dataclass(frozen=True)
class Load:
    """What is known of a load when it is judged.

    guard: what `Watch.stop` gave; emulator: its counters since the load began; seconds: how long the
    load took, 0 if it did not end; shaped: whether something emulates the link; judged: whether
    delays by other programs count against it.
    """

    guard: dict[str, Any]
    emulator: dict[str, Any]
    capture_drops: int
    capture_failure: str
    backlog_drops: int
    seconds: float
    shaped: bool
    judged: bool


def judges_delays() -> bool:
    """Whether other programs' use of the processors decides (HOWQUICK_GUARD=record: it is only recorded).

    For machines that cannot be freed, and for tests of something else than numbers; the results say so.
    """
    return os.environ.get("HOWQUICK_GUARD") != "record"


def disturbances(load: Load) -> list[str]:
    """Why a load does not count; empty if it does."""
    late = _late(load) if load.judged else []
    return [*_lost_by_the_testbed(load), *late, *_machine(load.guard, load.judged)]


def _lost_by_the_testbed(load: Load) -> list[str]:
    """Packets that no link lost, but what makes or watches it."""
    found = []
    if dropped := load.emulator.get("socket_dropped", 0):
        found.append(f"the link emulator lost {dropped} packets that it should not lose")
    # Where nothing shapes, the backlog is the link's own queue.
    if load.shaped and load.backlog_drops:
        found.append(f"the kernel's backlog lost {load.backlog_drops} packets")
    if load.capture_failure:
        found.append(load.capture_failure)
    if load.capture_drops:
        found.append(f"the captures lost {load.capture_drops} packets")
    return found


def _late(load: Load) -> list[str]:
    """Time that the load lost by waiting for a processor."""
    found = []
    # netem does not tell; the kernel's timers are prompt.
    late_s = max(load.emulator.get(way, {}).get("late_max_us", 0) for way in ("up", "down")) / 1e6
    if load.seconds and late_s > MAX_LATE_SHARE * load.seconds:
        found.append(f"the link emulator sent a packet {late_s * 1000:.0f} ms late")
    foreign = load.guard["foreign_cpu"]
    most = max(LEAST_RUN_DELAY_S, MAX_RUN_DELAY_SHARE * load.seconds)
    if load.seconds and (foreign is None or foreign > LEAST_FOREIGN_CPU):
        for role, delay in load.guard["run_delay_s"].items():
            # A capture stamps packets in the kernel; its own wait changes no number.
            if role.split()[0] in ("server", "client") and delay is not None and delay > most:
                found.append(f"the {role} waited {delay * 1000:.0f} ms for a processor")
    return found


def _machine(guard: dict[str, Any], judged: bool) -> list[str]:
    found = [f"the {role} stood still, stopped by a signal" for role in guard["stopped"]]
    if judged and guard["pause_s"] > MAX_PAUSE_S:
        found.append(f"the measuring program stood still for {guard['pause_s'] * 1000:.0f} ms")
    if judged and (guard["steal"] or 0) > MAX_STEAL:
        found.append(f"the hypervisor took {guard['steal']:.0%} of the CPU")
    if abs(guard["clock_step_s"]) > (MAX_CLOCK_STEP_S if judged else MAX_RECORDED_CLOCK_STEP_S):
        found.append(f"the clock stepped by {guard['clock_step_s']} s")
    return found
