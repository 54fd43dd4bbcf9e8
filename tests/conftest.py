"""What all tests have in common: the tier that each belongs to, and what they start with.

`pytest -m fast` runs one tier, `pytest` all of them.
"""

import os
import signal
import tempfile
from collections import Counter
from pathlib import Path

import pytest
import turns

HERE = Path(__file__).parent
# From what needs least to what needs most.
TIERS = {
    "fast": "functions and small programs of the project; no namespaces, programs under test, or Snakemake",
    "testbed": "namespaces, links, captures, and `enter` itself",
    "programs": "servers and clients under test, one pair at a time",
    "workflow": "blocks measured for real, Snakemake, statistics and figures, linters",
    "slurm": "a SLURM cluster",
}
RIGHTS = "rights: what it finds depends on who runs it, root or an ordinary user"
# Folder or file → tier; the longest path that fits decides.
TIER_OF = {
    "python/archive": "workflow",
    "python/bench": "workflow",
    "python/calibrate": "testbed",
    "python/calibrate/test_statistics.py": "fast",
    "python/capture": "fast",
    "python/check": "programs",
    "python/content": "fast",
    "python/documents": "fast",
    "python/environment": "fast",
    "python/extract": "fast",
    "python/faults": "workflow",
    "python/guard": "fast",
    "python/guest": "testbed",
    "python/guest/test_same_bits.py": "workflow",
    "python/guest/test_links_same_bits.py": "workflow",
    "python/guest/test_flows_in_guest.py": "workflow",
    "python/interop": "programs",
    "python/interop/test_interop_contract.py": "workflow",
    "python/measure": "workflow",
    "python/measure/test_bulk.py": "fast",
    "python/measure/test_flows.py": "fast",
    "python/measure/test_neighbours.py": "fast",
    "python/nix": "fast",
    "python/nix/test_flake.py": "workflow",
    "python/plan": "fast",
    "python/player": "fast",
    "python/processor": "workflow",
    "python/processor/test_samples.py": "fast",
    "python/programs": "programs",
    "python/progress": "fast",
    "python/programs/test_endpoint_schema.py": "fast",
    "python/programs/test_nghttp_transcript.py": "fast",
    "python/report": "workflow",
    "python/report/test_encode.py": "fast",
    "python/report/test_palette.py": "fast",
    "python/report/test_server.py": "fast",
    "python/statistics": "workflow",
    "python/study": "fast",
    "python/study/test_goodput_study.py": "workflow",
    "python/test_code.py": "fast",
    "python/test_files.py": "fast",
    "python/test_packages.py": "fast",
    "python/test_style.py": "workflow",
    "python/test_tiers.py": "fast",
    "python/test_turns.py": "fast",
    "python/testbed": "testbed",
    "python/testbed/test_link.py": "fast",
    "python/testbed/test_link_features.py": "fast",
    "python/testbed/test_netem.py": "fast",
    "python/testbed/test_trace.py": "fast",
    "python/workflow": "workflow",
    "shell": "testbed",
    "shell/test_image.py": "fast",
    "slurm": "slurm",
}
# Who asks for one of these needs what it needs.
TIER_OF_FIXTURE = {"recorded": "testbed", "namespaces": "testbed"}
_seconds: Counter[str] = Counter()
_tests: dict[str, set[str]] = {name: set() for name in TIERS}


def pytest_configure(config):
    """Tests of something else than numbers must not depend on how busy the machine is."""
    os.environ.setdefault("HOWQUICK_GUARD", "record")
    for name, needs in TIERS.items():
        config.addinivalue_line("markers", f"{name}: {needs}")
    config.addinivalue_line("markers", RIGHTS)
    turns.configure(config)
    # pytest's temporary folders are named after the user, and every user of this machine is root in
    # `enter`: the number that this root has outside tells them apart.
    outside = Path("/proc/self/uid_map").read_text().split()[1]
    if outside != "0":
        folder = Path(tempfile.gettempdir(), f"howquick-{outside}")
        folder.mkdir(mode=0o700, exist_ok=True)
        os.environ["PYTEST_DEBUG_TEMPROOT"] = str(folder)
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        # A shell starts so what it puts in the background, and all that is started from there ignores
        # SIGINT as well. With a handler that does nothing, the tests do too, and what they start does not.
        signal.signal(signal.SIGINT, lambda *_: None)


def tier_of(item):
    """The one tier of a test: as it is marked, else by its fixtures, else by its place; None if none fits."""
    marked = {mark.name for mark in item.iter_markers()} & TIERS.keys()
    if marked:
        return marked.pop() if len(marked) == 1 else None
    needed = [TIER_OF_FIXTURE[name] for name in item.fixturenames if name in TIER_OF_FIXTURE]
    path = item.path.relative_to(HERE)
    for place in (path, *path.parents):
        if tier := TIER_OF.get(place.as_posix()):
            return max([tier, *needed], key=list(TIERS).index)
    return None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Mark every test with its tier before -m selects."""
    lost = []
    for item in items:
        tier = tier_of(item)
        if tier is None:
            lost.append(item.nodeid)
            continue
        item.add_marker(tier)
        item.user_properties.append(("tier", tier))
    if lost:
        raise pytest.UsageError(
            f"no tier, or more than one: {', '.join(lost)}; name the folder in tests/conftest.py"
        )
    turns.put_in_order(config, items, lambda item: list(TIERS).index(tier_of(item)))


def pytest_runtest_logreport(report):
    tier = dict(report.user_properties).get("tier")
    if tier is None:
        # Of a worker that died there is no more than which test it had.
        return
    _tests[tier].add(report.nodeid)
    _seconds[tier] += report.duration


def pytest_terminal_summary(terminalreporter):
    """How many tests of each tier ran, and how long they took."""
    ran = {tier: tests for tier, tests in _tests.items() if tests}
    if ran:
        terminalreporter.section("tiers")
    for tier, tests in ran.items():
        terminalreporter.line(f"{tier:8} {len(tests):5} tests {_seconds[tier]:6.0f} s")
