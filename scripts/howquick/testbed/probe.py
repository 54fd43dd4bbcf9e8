"""What this machine can do: backends, congestion controls, scheduling, namespaces."""

from __future__ import annotations

import functools
import json
import os
from dataclasses import asdict, dataclass
from typing import Any

from howquick.testbed import aqm, network, rattan, system
from howquick.testbed import congestion_control as congestion
from howquick.testbed.errors import TestbedError
from howquick.testbed.link import Link
from howquick.testbed.link_rules import AQMS
from howquick.testbed.namespace import Namespace
from howquick.testbed.netem import netem_arguments, tbf_arguments
from howquick.testbed.sandbox import current_sandbox

CONGESTION_CONTROLS = ("cubic", "bbr", "reno")
SCRATCH_NAMESPACE = "probe"
A_SEED = 4711


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at: does it work, and a sentence on what was seen."""

    name: str
    works: bool
    why: str


@functools.cache
def choose_backend() -> Finding:
    """The backend to use: netem where the kernel has it, rattan elsewhere.

    Raises TestbedError, saying what was tried, if neither works.
    """
    netem = probe_netem()
    if netem.works:
        return netem
    emulator = probe_rattan()
    if emulator.works:
        return emulator
    raise TestbedError(f"no link can be emulated here. {netem.why} {emulator.why}")


def probe_netem() -> Finding:
    """Add a netem qdisc with a seed in a scratch namespace and read it back."""
    system.run(["ip", "netns", "add", SCRATCH_NAMESPACE])
    try:
        space = Namespace(SCRATCH_NAMESPACE)
        space.run(["ip", "link", "add", "eth0", "type", "veth", "peer", "name", "eth1"])
        done = space.run(netem_arguments("eth0", Link(10, 20, 1, 100), A_SEED), check=False)
        if done.returncode:
            words = " ".join(done.stderr.split()).rstrip(".")
            return Finding("netem", False, f"The kernel refused a netem qdisc: {words}.")
        answer = space.run(["tc", "-j", "qdisc", "show", "dev", "eth0"]).stdout
    finally:
        system.run(["ip", "netns", "del", SCRATCH_NAMESPACE])
    if str(A_SEED) not in json.dumps(json.loads(answer)):
        return Finding("netem", False, "The kernel has netem, but of a kind without seeds.")
    return Finding("netem", True, "The kernel took a netem qdisc with a seed and showed it again.")


def probe_aqms() -> list[str]:
    """The active queue managements that can be put below the rate here."""
    found = []
    for name in AQMS:
        system.run(["ip", "netns", "add", SCRATCH_NAMESPACE])
        try:
            space = Namespace(SCRATCH_NAMESPACE)
            space.run(["ip", "link", "add", "eth0", "type", "veth", "peer", "name", "eth1"])
            link = Link(10, 20, 1, 100, aqm=name, ecn=True)
            space.run(netem_arguments("eth0", link, A_SEED))
            space.run(tbf_arguments("eth0", link, wire=False))
            aqm.add(space, "eth0", link)
            found.append(name)
        except TestbedError:
            continue
        finally:
            system.run(["ip", "netns", "del", SCRATCH_NAMESPACE])
    return found


def probe_rattan() -> Finding:
    """Find the emulator and have it say its version."""
    try:
        version = system.run([os.fspath(rattan.find_program()), "--version"]).strip()
    except TestbedError as error:
        return Finding("rattan", False, f"The emulator cannot run: {error}.")
    return Finding("rattan", True, f"The emulator runs and says it is {version}.")


def probe_congestion_controls() -> list[Finding]:
    """Set each congestion control on a route and look at what a socket then uses."""
    spaces = network.make_namespaces(mtu=1500)
    findings = []
    try:
        network.configure(spaces, bridged=False)
        for name in CONGESTION_CONTROLS:
            try:
                congestion.set_on_both_ends(spaces, name, probe=True)
                findings.append(Finding(name, True, f"A socket on a route with {name} uses it."))
            except TestbedError as error:
                findings.append(Finding(name, False, f"{str(error).rstrip('.')}."))
    finally:
        network.remove_namespaces()
    return findings


def probe_real_time() -> Finding:
    """Ask for SCHED_FIFO and give it back."""
    policy, parameter = os.sched_getscheduler(0), os.sched_getparam(0)
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    except PermissionError:
        why = "SCHED_FIFO is not permitted, so leave processors free for the emulator."
        return Finding("real_time", False, why)
    os.sched_setscheduler(0, policy, parameter)
    return Finding("real_time", True, "SCHED_FIFO is permitted, so the emulator will use it.")


def probe_namespaces() -> Finding:
    """Which kind of sandbox this process got."""
    sandbox = current_sandbox()
    if sandbox is None:
        return Finding("namespaces", False, "This process is not in a sandbox.")
    kind = "with a user namespace, so without root" if sandbox.rootless else "as root"
    return Finding("namespaces", True, f"Private namespaces could be made {kind}.")


def probe_all() -> dict[str, Any]:
    """All findings and the chosen backend, ready for JSON. Call it inside the sandbox."""
    netem, emulator = probe_netem(), probe_rattan()
    findings = [probe_namespaces(), netem, emulator, probe_real_time()]
    findings += probe_congestion_controls()
    chosen = None
    reason = "Neither netem nor rattan works here."
    if netem.works:
        chosen, reason = "netem", "The kernel's own emulation is chosen wherever it works."
    elif emulator.works:
        chosen, reason = "rattan", "The kernel lacks what is needed, so rattan does the work."
    return {
        "backend": chosen,
        "reason": reason,
        "aqms": probe_aqms() if netem.works else [],
        "findings": [asdict(finding) for finding in findings],
    }
