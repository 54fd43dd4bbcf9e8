"""What the pipeline itself costs: each subcommand measures one thing and writes one table."""

from __future__ import annotations

import argparse
import csv
import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from howquick.bench import stacks
from howquick.bench.guard import guard
from howquick.errors import ROOT, UserError, run_program
from howquick.files import atomic_text, read_json
from howquick.testbed.system import die_with_parent

# Cells for the comparison of -j: short and long loads, with and without loss, slow and fast links.
PARALLEL_CELLS = (
    "2mbit-18ms-loss0-50obj-small",
    "2mbit-218ms-loss0-5obj-large",
    "2mbit-18ms-loss2-5obj-large",
    "10mbit-18ms-loss0-50obj-small",
    "10mbit-218ms-loss0-50obj-small",
    "10mbit-18ms-loss2-5obj-large",
    "50mbit-18ms-loss0-5obj-large",
    "50mbit-218ms-loss0-50obj-small",
)
PARALLEL_ARMS = ("h1-nginx-curl", "h2-nghttp2", "h3-quiche")
EMULATOR_RATES_MBIT = (10, 50, 100)
EMULATOR_SECONDS = 5


def write_table(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    """Write rows with the same keys as CSV, whole or not at all."""
    rows = list(rows)
    if not rows:
        raise UserError(
            f"{path}: nothing to report. Run `snakemake -j8` first; bench reads its results."
        )
    with atomic_text(path) as stream:
        writer = csv.DictWriter(stream, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def provisioning() -> list[dict[str, Any]]:
    """Seconds per part of the environment, as `enter` noted them when it built them."""
    file = Path(os.environ.get("HOWQUICK_CACHE", ".")) / "timing.csv"
    if not file.exists():
        return [{"part": "not built by enter", "seconds": "", "started": ""}]
    with file.open(newline="") as stream:
        return list(csv.DictReader(stream))


def overhead(results: Path) -> list[dict[str, Any]]:
    """Per repetition: load, wall, and every part of the difference, seconds."""
    metas = [read_json(path) for path in sorted(results.glob("runs/*/*/*/*/meta.json"))]
    parts = list(dict.fromkeys(part for meta in metas for part in meta["overhead"]))
    return [
        {
            key: meta[key]
            for key in ("study", "cell", "arm", "repetition", "status", "network_s", "wall_s")
        }
        | {part: meta["overhead"].get(part, "") for part in parts}
        for meta in metas
    ]


def network_share(results: Path) -> list[dict[str, Any]]:
    """Per freshly measured block: which share of its wall time the network had."""
    rows = []
    for path in sorted(results.glob("blocks/*/*/*.json")):
        block = read_json(path)
        if block["kept"]:
            continue  # partly measured in another run: its wall time says nothing
        rows.append(
            {
                "study": block["study"],
                "cell": block["cell"],
                "block": block["block"],
                "loads": len(block["runs"]),
                "mean_load_s": round(block["network_s"] / len(block["runs"]), 4),
                "wall_s": block["wall_s"],
                "network_s": block["network_s"],
                "network_share": round(block["network_s"] / block["wall_s"], 4),
            }
        )
    return rows


def accuracy(results: Path) -> list[dict[str, Any]]:
    """Every check of every calibrated link: asked, measured, verdict."""
    rows = []
    for path in sorted(results.glob("calibration/*.json")):
        calibration = read_json(path)
        for check in calibration["checks"]:
            rows.append(
                {"link": path.stem, "backend": calibration["backend"]}
                | {
                    key: check.get(key, "")
                    for key in (
                        "quantity",
                        "direction",
                        "asked",
                        "measured",
                        "low",
                        "high",
                        "n",
                        "verdict",
                    )
                }
            )
    return rows


def emulator() -> list[dict[str, Any]]:
    """CPU seconds of the link emulator per second of a saturating TCP flow, per rate."""
    from howquick.testbed.link import Link
    from howquick.testbed.sandbox import enter_sandbox
    from howquick.testbed.testbed import Testbed

    sandbox = enter_sandbox()
    rows = []
    for rate in EMULATOR_RATES_MBIT:
        link = Link(bandwidth_mbit=rate, rtt_ms=20, loss_percent=0, queue_ms=100)
        with Testbed(link, scratch=sandbox.scratch / f"rate{rate}") as bed:
            server = bed.server.popen(["iperf3", "-s", "-1"], stdout=subprocess.DEVNULL)
            time.sleep(0.5)
            before = _cpu_seconds("link-emulator")
            out = bed.client.run(
                [
                    "iperf3",
                    "-c",
                    bed.server.address,
                    "-t",
                    str(EMULATOR_SECONDS),
                    "-R",
                    "-f",
                    "m",
                    "-J",
                ]
            ).stdout
            cpu = _cpu_seconds("link-emulator") - before
            server.wait()
            reached = _json_path(out, "end", "sum_received", "bits_per_second") / 1e6
            rows.append(
                {
                    "backend": bed.backend.name,
                    "rate_mbit": rate,
                    "goodput_mbit": round(reached, 2),
                    "cpu_s_per_s": round(cpu / EMULATOR_SECONDS, 3),
                    "cpu_s_per_gbit": round(cpu / (reached * EMULATOR_SECONDS / 1000), 3),
                }
            )
    return rows


def _json_path(text: str, *keys: str) -> float:
    value: Any = json.loads(text)
    for key in keys:
        value = value[key]
    return float(value)


def _cpu_seconds(name: str) -> float:
    """User and system time of the processes with this name that we can see, seconds."""
    total = 0.0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            head, tail = stat.read_text().rsplit(")", 1)
        except OSError:
            continue
        if head.split("(", 1)[1].startswith(name[:15]):
            total += sum(map(int, tail.split()[11:13])) / os.sysconf("SC_CLK_TCK")
    return total


def parallel(folder: Path, jobs: list[int]) -> list[dict[str, Any]]:
    """The same cells at different -j: blocks per minute, and whether the page load times agree.

    The first entry of `jobs` is the reference of the ratios.
    """
    medians: dict[int, dict[tuple[str, str], float]] = {}
    rows = []
    for j in jobs:
        results = folder / f"j{j}"
        shutil.rmtree(results, ignore_errors=True)
        config = [
            "studies=how-quick",
            f"cells={','.join(PARALLEL_CELLS)}",
            f"arms={','.join(PARALLEL_ARMS)}",
        ]
        # Calibration and content first: they are not what is compared.
        snakemake(results, j, "prepare", config=config)
        begin = time.monotonic()
        snakemake(results, j, "measure", config=config)
        wall = time.monotonic() - begin
        metas = [read_json(path) for path in sorted(results.glob("runs/*/*/*/*/meta.json"))]
        medians[j] = _medians(metas)
        blocks = len(list(results.glob("blocks/*/*/*.json")))
        ratios = [
            medians[j][key] / medians[jobs[0]][key]
            for key in medians[j].keys() & medians[jobs[0]].keys()
        ]
        rows.append(
            {
                "jobs": j,
                "processors": len(os.sched_getaffinity(0)),
                "blocks": blocks,
                "loads": len(metas),
                "wall_s": round(wall, 1),
                "blocks_per_minute": round(blocks / wall * 60, 2),
                "invalid": sum(meta["status"] == "invalid" for meta in metas),
                "repeated": sum(meta["attempts"] > 1 for meta in metas),
                "median_plt_ratio": round(statistics.median(ratios), 4),
                "smallest_plt_ratio": round(min(ratios), 4),
                "largest_plt_ratio": round(max(ratios), 4),
            }
        )
    return rows


def _medians(metas: list[dict[str, Any]]) -> dict[tuple[str, str], float]:
    loads: dict[tuple[str, str], list[float]] = {}
    for meta in metas:
        if meta["status"] == "ok":
            loads.setdefault((meta["cell"], meta["arm"]), []).append(meta["network_s"])
    return {key: statistics.median(values) for key, values in loads.items()}


def dag(folder: Path) -> list[dict[str, Any]]:
    """Seconds of a dry run at each scale, and of finding that nothing is to do at paper scale."""
    rows = []
    for scale in ("smoke", "artifact", "paper"):
        shutil.rmtree(folder / scale, ignore_errors=True)
        rows.append(_timed(f"dry run, {scale}", folder / scale, [f"scale={scale}"], "--dry-run"))
    # Stand-ins for everything a finished study leaves: only the DAG is timed, nothing is measured.
    paper, config = folder / "paper", ["scale=paper"]
    for line in snakemake(paper, 8, config=config, more=["--summary"]).splitlines():
        output = Path(line.split("\t")[0])
        if output.is_relative_to(paper):
            # Folders are outputs without a suffix.
            folder_of = output.parent if output.suffix else output
            folder_of.mkdir(parents=True, exist_ok=True)
            if output.suffix:
                output.write_text("{}" if output.suffix == ".json" else "")
    snakemake(paper, 8, config=config, more=["--touch"])
    before = _newest(paper)
    rows.append(_timed("nothing to do, paper", paper, config))
    if _newest(paper) != before:
        raise UserError(
            f"{paper}: something was made although nothing was to do. Look at its logs/."
        )
    shutil.rmtree(folder)
    return rows


def _newest(folder: Path) -> float:
    """When the newest output below a results folder was made."""
    made = (path for path in folder.rglob("*") if path.is_file() and path.name != ".lock")
    return max(path.stat().st_mtime for path in made)


def _timed(what: str, results: Path, config: list[str], *more: str) -> dict[str, Any]:
    begin = time.monotonic()
    snakemake(results, 8, config=config, more=more)
    return {"what": what, "seconds": round(time.monotonic() - begin, 2)}


def workflow_command(
    results: Path, jobs: int, *arguments: str, config: Iterable[str] = ()
) -> list[str]:
    """The command line of the workflow into another results folder, from any working folder."""
    argv = [sys.executable, "-m", "snakemake", "-s", str(ROOT / "Snakefile"), f"-j{jobs}"]
    argv += [*arguments, "--workflow-profile", str(ROOT / "profiles" / "default")]
    return [*argv, "--config", f"results={results}", *config]


def snakemake(
    results: Path, jobs: int, *targets: str, config: Iterable[str] = (), more: Iterable[str] = ()
) -> str:
    """Run the workflow into another results folder; returns its output, raises UserError on failure."""
    argv = workflow_command(results, jobs, *targets, *more, config=config)
    done = subprocess.run(
        argv, capture_output=True, text=True, check=False, preexec_fn=die_with_parent
    )  # fmt: skip
    if done.returncode:
        raise UserError(f"{' '.join(argv)} failed:\n{done.stdout[-2000:]}{done.stderr[-3000:]}")
    return done.stdout + done.stderr


def extraction(results: Path) -> list[dict[str, Any]]:
    """Megabytes of capture per second and core that the extract stage gets through."""
    manifests = sorted(results.glob("blocks/*/*/*.json"))
    captures = {
        manifest: sum(
            capture.stat().st_size
            for run in read_json(manifest)["runs"]
            for capture in (results / run["path"]).glob("*.pcapng")
        )
        for manifest in manifests
    }
    rows = []
    # The largest blocks: with small ones the start of the program would be what is measured.
    for manifest in sorted(captures, key=lambda m: captures[m], reverse=True)[:3]:
        output = results / "bench" / "extraction"
        before = os.times()
        argv = [sys.executable, str(ROOT / "scripts" / "extract.py"), "block", str(manifest)]
        subprocess.run([*argv, "--results", str(results), "--output", str(output)], check=True)
        after = os.times()
        cpu = (
            after.children_user
            + after.children_system
            - before.children_user
            - before.children_system
        )
        rows.append(
            {
                "block": str(manifest.relative_to(results / "blocks")),
                "capture_mb": round(captures[manifest] / 1e6, 1),
                "cpu_s": round(cpu, 3),
                "mb_per_cpu_s": round(captures[manifest] / 1e6 / cpu, 1),
            }
        )
        shutil.rmtree(output)
    return rows


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "what",
        choices=[
            "provisioning", "overhead", "network_share", "accuracy",
            "emulator", "parallel", "dag", "extraction", "startup", "loopback", "log_cost", "guard",
        ],
    )  # fmt: skip
    parser.add_argument("--results", type=Path, required=True)
    parser.add_argument("--jobs", type=int, nargs="+", default=[1, 2, 4, 8])
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--programs", nargs="+", default=[], help="of log_cost: only these")
    arguments = parser.parse_args()
    # What it measures must not go on without the workflow that asked.
    die_with_parent()
    results = arguments.results.resolve()
    measure: dict[str, Callable[[], list[dict[str, Any]]]] = {
        "provisioning": provisioning,
        "overhead": lambda: overhead(results),
        "network_share": lambda: network_share(results),
        "accuracy": lambda: accuracy(results),
        "emulator": emulator,
        "parallel": lambda: parallel(results / "bench" / "parallel", arguments.jobs),
        "dag": lambda: dag(results / "bench" / "dag"),
        "extraction": lambda: extraction(results),
        "startup": stacks.startup,
        "loopback": stacks.loopback,
        "log_cost": lambda: stacks.log_cost(arguments.programs),
        "guard": guard,
    }
    write_table(arguments.output, measure[arguments.what]())


if __name__ == "__main__":
    run_program(main)
