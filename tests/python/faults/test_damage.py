"""Disks that are full or read-only, and files that were damaged after they were written."""

import json
import subprocess
import sys

import pytest

from faults.damage import damaged
from howquick.errors import ROOT
from patience import HANG_S
from workflow.blocks import CELL, make_plan, measure

QUIC = {"protocol": "h3", "server": "quiche", "client": "quiche"}
KEPT = "all finished loads"
# A tmpfs in a mount namespace of our own; $1 is where, $2 what goes there, the rest measures. With a source
# before the folder, mount adds none of the options that are listed for it: one is the user's number
# outside, which is nobody's inside.
SMALL_DISK = """
place=$1 content=$2; shift 2
mount -t tmpfs -o "size=$SIZE" none "$place"
cp -r "$content"/. "$place"
for again in first second; do
  [ -z "$BEFORE" ] || [ "$again" = second ] || mount -o "remount,$BEFORE" none "$place"
  "$@"; echo "status $again $?"
  ls -A "$place"/runs/*/*/one
  mount -o "remount,rw,size=64m" none "$place"
done
"""


def measure_on(place, content, cell, size, before=""):
    """Measure on a disk of `size`, then make it large and writable and measure again: two outputs."""
    place.mkdir()
    argv = [
        sys.executable,
        str(ROOT / "scripts/measure.py"),
        "--plan",
        f"{place}/plan/how-quick.json",
    ]
    argv += ["--calibration", f"{place}/calibration.json", "--cell", cell, "--block", "0"]
    argv += ["--results", str(place), "--output", f"{place}/blocks/0.json"]
    done = subprocess.run(
        ["unshare", "--user", "--map-root-user", "--mount", "env", f"SIZE={size}", f"BEFORE={before}",
         "bash", "-c", SMALL_DISK, "bash", str(place), str(content), *argv],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=HANG_S, check=False,
    )  # fmt: skip
    first, _, rest = done.stdout.partition("status first ")
    second, _, end = rest.partition("status second ")
    assert "Traceback" not in done.stdout, done.stdout
    return (first, second), end


@pytest.mark.rights
def test_a_full_disk(tmp_path, monkeypatch, outcome):
    cell = "50mbit-18ms-loss0-5obj-large"
    make_plan(tmp_path / "r", monkeypatch, {"one": {}}, cell, repetitions=6)
    (first, second), end = measure_on(tmp_path / "small", tmp_path / "r", cell, "6m")
    last = first.strip().splitlines()[-1]
    assert "No space left on device" in last and "finished repetitions are kept" in last
    assert second.startswith("1\n") and "0000" in second and ".tmp" not in second, second
    assert end.startswith("0\n") and "0005" in end, end
    told = last.replace(str(tmp_path / "small"), "…")
    outcome("disk full", told, KEPT, "none; measured at the next start")


@pytest.mark.rights
def test_results_that_cannot_be_written(tmp_path, monkeypatch, outcome):
    make_plan(tmp_path / "r", monkeypatch, {"one": {}})
    assert measure(tmp_path / "r")[0] == 0
    make_plan(tmp_path / "r", monkeypatch, {"one": {}}, repetitions=2)
    (first, second), end = measure_on(tmp_path / "ro", tmp_path / "r", CELL, "64m", before="ro")
    last = first.strip().splitlines()[-1]
    assert last.startswith("howquick: ") and "Read-only file system" in last, first
    assert second.startswith("1\n") and "0001" not in second
    assert end.startswith("0\n") and "0001" in end, end
    outcome(
        "results read-only",
        last.replace(str(tmp_path / "ro"), "…"),
        KEPT,
        "none; measured at the next start",
    )


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """One load of each of two arms."""
    results = tmp_path_factory.mktemp("measured")
    with pytest.MonkeyPatch.context() as patch:
        make_plan(results, patch, {"one": {}, "quic": QUIC})
        status, output, _ = measure(results)
        assert status == 0, output
    return results


def test_a_corrupted_capture(measured, tmp_path, outcome):
    def overwrite(content):
        middle = len(content) // 2
        # Longer than any packet, so that the file's own structure is hit wherever the middle is.
        return content[:middle] + bytes(4096) + content[middle + 4096 :]

    whole, rest = damaged(measured, "one", "client.pcapng", overwrite, tmp_path)
    assert rest["one"]["plt_s"] == whole["one"]["plt_s"] != ""
    assert rest["one"]["plt_capture_s"] == "" and whole["one"]["plt_capture_s"] != ""
    assert "client.pcapng: damaged" in rest["one"]["extract_note"]
    assert rest["quic"] == whole["quic"]
    outcome("capture corrupted", f"extract_note: {rest['one']['extract_note']}", "everything else",
            "columns from captures empty")  # fmt: skip


def test_a_truncated_qlog(measured, tmp_path, outcome):
    whole, rest = damaged(
        measured,
        "quic",
        "qlog/server/*",
        lambda content: content[: len(content) * 2 // 3],
        tmp_path,
    )
    assert whole["quic"]["qlog_verdict"] == "agrees", whole["quic"]["extract_note"]
    assert rest["quic"]["qlog_verdict"] == "differs"
    assert "qlog/server" in rest["quic"]["extract_note"]
    assert rest["quic"]["plt_s"] == whole["quic"]["plt_s"]
    outcome("qlog truncated", f"extract_note: {rest['quic']['extract_note']}", "everything else",
            "qlog_verdict: differs")  # fmt: skip


@pytest.mark.parametrize(
    ("fault", "change"),
    [
        ("timing truncated", lambda content: content[:-20]),
        ("timing without its last object", lambda content: json.dumps(
            (timing := json.loads(content)) | {"objects": timing["objects"][:-1]}
        ).encode()),
    ],
)  # fmt: skip
def test_a_damaged_timing_is_no_number(measured, tmp_path, outcome, fault, change):
    """The load's own check was when it was measured; a file that is damaged later must not count."""
    whole, rest = damaged(measured, "one", "timing.json", change, tmp_path)
    assert whole["one"]["status"] == "ok"
    assert (rest["one"]["status"], rest["one"]["plt_s"]) == ("failed", ""), rest["one"]
    outcome(
        fault, f"the load's row: {rest['one']['reason']}", "everything else", "failed; no number"
    )


def test_a_damaged_meta_is_measured_again(measured, outcome):
    file = measured / "runs/how-quick" / CELL / "one" / "0000" / "meta.json"
    file.write_bytes(file.read_bytes()[:100])
    status, output, manifest = measure(measured)
    assert status == 0, output
    assert (manifest["measured"], manifest["statuses"]) == (1, {"ok": 2})
    outcome(
        "meta.json truncated",
        "nothing: the load counts as missing",
        "everything else",
        "measured again",
    )
