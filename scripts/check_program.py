"""Try all that a program's endpoint.yaml declares, one line each: partners, settings, values of options."""

from __future__ import annotations

import argparse
import shutil
from collections import Counter
from pathlib import Path

from howquick.check.loads import results_of
from howquick.check.trials import Trial, trials
from howquick.environment.endpoints import load_endpoints
from howquick.errors import run_program

WORKS, REFUSED, FAILED, UNTRIED = "works", "refused with 127", "failed", "not tried"


def main() -> int:
    """Command line. Exit status 1 if something failed, or was refused that is declared."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", help="a folder of envs/, or of one that HOWQUICK_ENVS names")
    parser.add_argument("--only", default="", metavar="TEXT", help="only lines with this text")
    parser.add_argument("--list", action="store_true", help="say what would be tried")
    parser.add_argument(
        "--results", type=Path, help="for logs and run folders; default: results/check/PROGRAM"
    )
    arguments = parser.parse_args()
    found = [t for t in trials(arguments.program, load_endpoints()) if arguments.only in _title(t)]
    if arguments.list:
        print("\n".join(map(_title, found)))
        return 0
    folder = (arguments.results or Path("results", "check", arguments.program)).resolve()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    counts: Counter[str] = Counter()
    broken = 0
    for trial in found:
        if trial.arm is None:
            counts[UNTRIED] += 1
            print(f"{_title(trial)}: {UNTRIED}: no partner has it", flush=True)
    for trial, status, reason in results_of(found, folder):
        word = verdict(status, reason)
        counts[word] += 1
        broken += word == FAILED or (word == REFUSED and trial.declared)
        print(f"{_title(trial)}: {word}{f': {reason}' if reason else ''}", flush=True)
    summary = ", ".join(f"{number} {word}" for word, number in counts.items()) or "nothing to try"
    print(f"{arguments.program}: {summary}. Logs: {folder}")
    return 1 if broken else 0


def _title(trial: Trial) -> str:
    text = f"{trial.protocol} as {trial.role}, {trial.what}"
    if trial.arm is None or trial.what.startswith("with "):
        return text
    partner = trial.arm["client" if trial.role == "server" else "server"]
    return f"{text} (with {partner})"


def verdict(status: str, reason: str) -> str:
    """What a load says of the declaration: status 127 of either end is a refusal."""
    if status == "ok":
        return WORKS
    return REFUSED if ": not supported: " in reason or "ended with status 127" in reason else FAILED


if __name__ == "__main__":
    run_program(main)
