"""The archive of an artifact evaluation: complete, described, and rebuilt without measuring."""

import gzip
import hashlib
import json
import subprocess
import sys
import tarfile

import pytest
import yaml

from howquick.archive import contents, guide
from howquick.errors import ROOT
from howquick.report.browser import browser
from patience import HANG_S
from report.walk import files_shown, missing, onward
from workflow.flow import run

CELL = "10mbit-18ms-loss0-5obj-small"
CONFIG = (f"cells={CELL}", "arms=h1-nginx-curl,h3-nginx-curl")


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    """The archive of one measured cell, unpacked; its file lies beside the folder."""
    scratch = tmp_path_factory.mktemp("artifact")
    results = scratch / "results"
    status, output = run(results, "artifact", config=CONFIG)
    assert status == 0, output[-4000:]
    with tarfile.open(results / "artifact.tar.gz") as packed:
        packed.extractall(scratch, filter="data")
    return scratch / "howquick-artifact"


def rebuilt(folder, *arguments):
    """Run the workflow of the unpacked archive as ARTIFACT.md says; returns (exit status, output)."""
    argv = [sys.executable, "-m", "snakemake", "-j2", "--configfile", guide.SELECTION, *arguments]
    done = subprocess.run(
        argv, cwd=folder, capture_output=True, text=True, check=False, timeout=HANG_S
    )
    return done.returncode, done.stdout + done.stderr


def test_the_archive_rebuilds_every_figure_byte_for_byte_and_measures_nothing(archive):
    status, output = rebuilt(archive)
    assert status == 0, output[-4000:]
    assert "nothing is measured" in output
    assert not any((archive / "results" / name).exists() for name in ("blocks", "runs", "content"))
    names = [line.split("  ")[1] for line in (archive / contents.SUMS).read_text().splitlines()]
    assert "results/appendix.pdf" in names and "results/figures/how-quick/figure-4.pdf" in names
    checked = ["sha256sum", "--quiet", "--check", contents.SUMS]
    done = subprocess.run(checked, cwd=archive, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_a_changed_number_changes_the_figures(archive, tmp_path):
    copy = tmp_path / "copy"
    subprocess.run(["cp", "-r", archive, copy], check=True)
    for name in (f"results/tables/how-quick/{CELL}.csv", "results/tables/how-quick.csv"):
        table = (copy / name).read_text().splitlines()
        at = table[0].split(",").index("plt_s")
        rows = [line.split(",") for line in table[1:]]
        rows[0][at] = str(float(rows[0][at]) * 2)
        (copy / name).write_text("\n".join([table[0], *map(",".join, rows)]) + "\n")
    status, output = rebuilt(copy, "--forceall")
    assert status == 0, output[-4000:]
    checked = ["sha256sum", "--quiet", "--check", contents.SUMS]
    done = subprocess.run(checked, cwd=copy, capture_output=True, text=True, check=False)
    assert "results/statistics/how-quick/summary.csv: FAILED" in done.stdout


def test_every_file_has_its_checksum_and_is_described(archive):
    listed = dict(
        reversed(line.split("  "))
        for line in (archive / contents.ALL_SUMS).read_text().splitlines()
    )
    with tarfile.open(archive.parent / "results/artifact.tar.gz") as packed:
        there = {
            member.name.removeprefix("howquick-artifact/"): packed.extractfile(member).read()
            for member in packed
        }
    del there[contents.ALL_SUMS]
    assert listed == {name: hashlib.sha256(content).hexdigest() for name, content in there.items()}

    graph = json.loads(there.pop("ro-crate-metadata.json"))["@graph"]
    entities = {entity["@id"]: entity for entity in graph}
    assert len(entities) == len(graph)
    assert {part["@id"] for part in entities["./"]["hasPart"]} == set(there)
    assert all(entities[name]["sha256"] == listed[name] for name in there)
    for entity in graph:
        for value in entity.values():
            for link in value if isinstance(value, list) else [value]:
                if isinstance(link, dict) and not link["@id"].startswith("https:"):
                    assert link["@id"] in entities, link


def test_the_guide_has_every_claim_with_a_command_and_what_it_cost(archive):
    text = (archive / "ARTIFACT.md").read_text()
    plan = json.loads((archive / "results/plan/how-quick.json").read_text())
    for claim in plan["claims"]:
        assert claim["text"].strip() in text
    assert text.count("### how-quick, claim ") == len(plan["claims"])
    assert "$" not in text
    # By the real clock no load is ever the same.
    assert "reproduce" not in text
    values = yaml.safe_load((archive / guide.SELECTION).read_text())
    assert values["rebuild"] is True and values["scale"] == "smoke"
    assert values["cells"] == [CELL]


def test_the_archive_has_the_report_and_its_guide_begins_with_it(archive):
    text = (archive / "ARTIFACT.md").read_text()
    assert text.index("report/index.html") < text.index("## Available")
    there = {
        str(file.relative_to(archive / "report")) for file in (archive / "report").rglob("*.js")
    }
    assert {"data/index.js", "data/how-quick/study.js", "page/main.js"} <= there
    # Made from the archive's tables alone it says the same of the study as a whole.
    status, output = rebuilt(archive)
    assert status == 0, output[-4000:]
    again = archive / "results" / "report" / "data"
    for name in ("index.js", "how-quick/study.js"):
        assert (again / name).read_bytes() == (archive / "report" / "data" / name).read_bytes()
    cell = next((again / "how-quick").glob("c*.js")).stem.removeprefix("c")
    assert "packets" in (again / "how-quick" / cell / "0.js").read_text()


def test_both_reports_open_and_nothing_they_lead_to_is_missing(archive):
    status, output = rebuilt(archive)
    assert status == 0, output[-4000:]
    for folder in (archive, archive / "results"):
        address = (folder / "report" / "index.html").as_uri()
        with browser() as page:
            study = "#/how-quick"
            loads = onward(page, f"{address}{study}/{CELL}")
            tabs = [
                f"{study}?tab={name}" for name in ("figures", "loads", "claims", "arms", "about")
            ]
            found = files_shown(page, address, ["#/", study, *tabs, f"{study}/{CELL}", *loads])
            assert len(loads) > 1 and page.complaints == []
        assert missing(found) == []
        assert any(file.endswith("/figures/how-quick/figure-4.svg") for file in found)


def test_the_same_results_give_the_same_archive(archive, tmp_path):
    members = [contents.Member("b", b"2"), contents.Member("a", archive / "enter", executable=True)]
    for name in ("one", "two"):
        contents.pack(members, "top", tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    with gzip.open(tmp_path / "one") as stream, tarfile.open(fileobj=stream) as packed:
        assert [(m.name, oct(m.mode)) for m in packed] == [("top/a", "0o755"), ("top/b", "0o644")]


def test_all_that_is_kept_of_the_code_is_packed():
    """Whatever a checkout has at its top is packed or named here."""
    kept = {path.name for path in ROOT.iterdir()}
    generated = {
        ".git", ".snakemake", "results", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis",
    }  # fmt: skip
    code = {name for name in kept - generated if not name.endswith(".log")}
    assert code - set(contents.CODE) <= {"ARTIFACT.md", "artifact.yaml", "published"}
    assert set(contents.CODE) <= kept
    assert "scripts/artifact.py" in {member.name for member in contents.code()}


def test_a_rebuild_without_tables_is_refused(tmp_path):
    status, output = run(tmp_path / "results", "-n", config=["rebuild=true"])
    assert status == 1
    assert "config.yaml: rebuild: " in output and "Unpack the whole archive" in output


def test_claims_are_read_with_their_cells(tmp_path):
    table = tmp_path / "claims.csv"
    head = (
        "claim,text,where,condition,what,quantity,cells,arm,against,paper,bound,verdict,note,"
        "claim_verdict,value,low,high,n,counts"
    )
    rows = [
        'one,"A, b",Figure 4,1,lead of x,ratio,c1 c2,a,c3,,above 1,supported,,supported,1.5,1.2,1.9,3,TRUE',
        'one,"A, b",Figure 4,2,share,share,c1,a,b,,above 2,undecided,,supported,,,,0,TRUE',
    ]
    table.write_text("\n".join([head, *rows]) + "\n")
    (claim,) = guide.read_claims(table, ["c1", "c2", "c3"])
    assert claim.cells == ["c1", "c2", "c3"] and claim.verdict == "supported"
    assert claim.numbers[0] == "lead of x: must be above 1, is 1.5 (1.2 to 1.9), n = 3: supported"
    assert "is no value" in claim.numbers[1]
