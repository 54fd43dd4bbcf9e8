"""Run folders built of real recordings."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from capture.recordings import PROTOCOLS, Recording, Results, example_meta


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
