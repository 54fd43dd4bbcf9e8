"""What must be built for the studies: `select_programs.py REPO WISH [EMULATOR]`, one name a line.

WISH (ENTER_PROGRAMS) is "all" or names, and takes the place of the studies if it is not empty.
EMULATOR says, by not being empty, that shaped links may be measured by the machine's own clock,
whatever the studies say.
Names are folders of envs/ (programs under test) and of environment/ (the workflow's own Python, what
checks its scripts, what its report draws with, the kernel of virtual time, the emulator). Without a
configuration that can be read, every program under test is named: the workflow itself then says what is
wrong with it.
"""

from __future__ import annotations

import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml

ALWAYS = {"workflow", "typescript", "report"}
# User mode exists for this processor only.
KERNEL, KERNEL_MACHINE = "kernel", "x86_64"
EMULATOR = "rattan"
CLOCK, REAL = "clock", "real"


class ConfigUnusable(Exception):
    """The configuration does not say which programs are needed."""


def read_mapping(path: Path) -> dict[str, Any]:
    """The YAML mapping in `path`. Raises ConfigUnusable if there is none."""
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ConfigUnusable(f"{path}: {str(error).splitlines()[0]}") from None
    if not isinstance(content, dict):
        raise ConfigUnusable(f"{path}: not a mapping")
    return content


def folders_with(file: str, top: Path) -> set[str]:
    """Names of the folders in `top` that have such a file."""
    return {path.parent.name for path in top.glob(f"*/{file}")}


def programs_of_study(
    study: dict[str, Any], scale: str, only: list[str] | None, known: set[str]
) -> set[str]:
    """Servers and clients of the arms that the scale, and the list `only`, select.

    Of a matrix of programs all that it names, whatever is selected of its pairs.
    """
    programs: set[str] = set()
    matrix = study.get("arm_matrix", {})
    for role in ("servers", "clients"):
        named = matrix.get(role, [])
        programs |= known if named == "all" else set(named)
    arms: dict[str, dict[str, Any]] = study.get("arms", {}) if matrix else study["arms"]
    at_scale = study.get("scales", {}).get(scale, {}).get("arms", list(arms))
    chosen = [name for name in at_scale if name in arms and (only is None or name in only)]
    return programs | {arms[name][role] for name in chosen for role in ("server", "client")}


def measures_in_real_time(study: dict[str, Any]) -> bool:
    """Whether a study names the machine's own clock, for all cells or as a level of a factor."""
    of_factor = study.get("factors", {}).get(CLOCK, {}).get("levels", {})
    return REAL in (study.get("fixed", {}).get(CLOCK), *of_factor.values())


def selected(repo: Path, known: set[str]) -> tuple[set[str], bool]:
    """Programs of all selected studies, out of those `known`, and whether the emulator may be needed.

    Raises ConfigUnusable.
    """
    config = read_mapping(repo / "config" / "config.yaml")
    if config.get("runs"):
        return set(), False
    programs: set[str] = set()
    real = config.get(CLOCK) == REAL
    for name in config.get("studies", []):
        path = repo / "config" / "studies" / f"{name}.yaml"
        try:
            study = read_mapping(path)
            programs |= programs_of_study(study, config.get("scale", ""), config.get("arms"), known)
            real = real or measures_in_real_time(study)
        except (KeyError, TypeError, AttributeError) as error:
            raise ConfigUnusable(f"{path}: arms cannot be read ({error})") from None
    return programs, real


def kernel_has_netem() -> bool:
    """Whether this kernel can emulate links by itself, tried in a network namespace of its own."""
    command = ["unshare", "--user", "--map-root-user", "--net"]
    command += ["tc", "qdisc", "add", "dev", "lo", "root", "netem", "delay", "1ms"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def choose(repo: Path, wish: list[str], emulator: bool) -> set[str]:
    """The names, from the wish or the configuration; exits with a message for an unknown wish.

    emulator: links may be emulated in real time, whatever the studies say.
    """
    programs = folders_with("endpoint.yaml", repo / "envs")
    known = programs | folders_with("build.sh", repo / "environment")
    if wish == ["all"]:
        return known
    if wish:
        if unknown := sorted(set(wish) - known):
            sys.exit(
                f"enter: ENTER_PROGRAMS: there is no {', '.join(unknown)} in envs/ or environment/; "
                f"known are {', '.join(sorted(known))}."
            )
        names = set(wish)
    else:
        try:
            names, real = selected(repo, programs)
            names, emulator = names & programs, emulator or real
        except ConfigUnusable as error:
            print(f"enter: {error}; building all programs.", file=sys.stderr)
            names, emulator = programs, True
    virtual = platform.machine() == KERNEL_MACHINE
    if (emulator or not virtual) and not kernel_has_netem():
        names |= {EMULATOR}
    return names | ({KERNEL} if virtual else set()) | ALWAYS


def main() -> None:
    """Command line."""
    repo, wish, emulator = Path(sys.argv[1]), sys.argv[2], any(sys.argv[3:])
    print("\n".join(sorted(choose(repo, wish.replace(",", " ").split(), emulator))))


if __name__ == "__main__":
    main()
