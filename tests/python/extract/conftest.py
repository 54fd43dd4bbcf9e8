"""Real recordings, made once per test session, and run folders built of them."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from extract_support import PROTOCOLS, Recording, Results, example_meta

from howquick.capture.pack import pack

LAB = Path(__file__).with_name("lab.py")


@pytest.fixture(scope="session")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Recording:
    folder = tmp_path_factory.mktemp("lab")
    # The namespaces' root is this user, so that nginx and tcpdump can write here.
    done = subprocess.run(
        ["unshare", "--user", "--map-root-user", "--net", "--pid", "--fork", "--mount-proc",
         "--kill-child", sys.executable, str(LAB), str(folder)],
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    recording = Recording(folder)
    for name in PROTOCOLS:
        for end in ("client", "server"):
            pack(
                recording.pcap(name, end),
                recording.keys(name),
                recording.pcapng(name, end),
                interface=end,
            )
    return recording


@pytest.fixture
def results(recorded: Recording, tmp_path: Path) -> Results:
    folder = tmp_path / "results"
    runs = []
    made = Results(folder, folder / "blocks" / "a-study" / "a-cell" / "7.json")
    for order, arm in enumerate(PROTOCOLS):
        run = made.run(arm)
        run.mkdir(parents=True)
        for end in ("client", "server"):
            shutil.copyfile(recorded.pcapng(arm, end), run / f"{end}.pcapng")
        shutil.copyfile(recorded.timing(arm), run / "timing.json")
        (run / "meta.json").write_text(json.dumps(example_meta(arm, order)))
        runs.append(
            {"arm": arm, "repetition": 0, "path": str(run.relative_to(folder)), "status": "ok",
             "reason": ""}
        )  # fmt: skip
    manifest = {"study": "a-study", "cell": "a-cell", "block": 7, "repetitions": [0], "runs": runs}
    made.manifest.parent.mkdir(parents=True)
    made.manifest.write_text(json.dumps(manifest))
    return made
