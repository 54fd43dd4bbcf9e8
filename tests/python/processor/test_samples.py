"""Which loads stand for those in virtual time, and what their table says."""

import json

from howquick.archive import contents
from howquick.plan.plan import plan_study
from howquick.processor.samples import LOADS, sample_name, sample_plan, samples_fingerprint
from howquick.study.cells import arms_of, clock_of, find
from howquick.study.resolve import Selection
from howquick.workflow.questions import Workflow

CELLS = (
    "10mbit-18ms-loss0-5obj-small",
    "10mbit-18ms-loss2-5obj-small",
    "2mbit-18ms-loss0-50obj-small",
)
ARMS = ("h1-nginx-curl", "h3-quiche")


def plan(clock="virtual", cells=CELLS):
    return plan_study("how-quick", Selection("artifact", 7, cells=cells, arms=ARMS, clock=clock))


def test_cells_with_the_same_page_share_a_sample_without_link_clock_and_logs():
    asked = plan()
    first, lossy, other = (sample_name(find(asked["cells"], cell)) for cell in CELLS)
    assert first == lossy != other
    sampled = sample_plan(asked)
    assert {cell["name"] for cell in sampled["cells"]} == {first, other}
    for cell in sampled["cells"]:
        assert cell["link"]["bandwidth_mbit"] == "unshaped" and clock_of(cell) == "real"
        assert cell["observe"] == {"captures": False, "qlog": False}
        assert [arm["name"] for arm in arms_of(sampled, cell)] == [
            arm["name"] for arm in asked["arms"]
        ]
    assert [block["repetitions"] for block in sampled["blocks"]] == [list(range(LOADS))] * 2


def test_what_is_not_applicable_in_all_cells_of_a_sample_is_not_measured():
    asked = plan()
    cells = [find(asked["cells"], cell) for cell in CELLS]
    for cell in cells[:2]:
        cell["not_applicable"].append({"arm": "h3-quiche", "why": "a test"})
    missing = {
        cell["name"]: [entry["arm"] for entry in cell["not_applicable"]]
        for cell in sample_plan(asked)["cells"]
    }
    assert missing == {sample_name(cells[0]): ["h3-quiche"], sample_name(cells[2]): []}


def test_a_study_in_real_time_has_no_samples():
    assert sample_plan(plan(clock="real"))["blocks"] == []


def test_the_fingerprint_follows_what_is_measured_and_not_what_is_said_of_it():
    asked = plan()
    before = samples_fingerprint(asked)
    asked["arms"][0]["label"] = "another"
    asked["figures"] = []
    assert samples_fingerprint(json.loads(json.dumps(asked))) == before
    asked["programs"]["curl"] = "another"
    assert samples_fingerprint(asked) != before
    assert samples_fingerprint(plan(cells=CELLS[:1])) != before


def test_only_studies_in_virtual_time_ask_for_the_table(tmp_path):
    def asked(**more):
        selection = Selection("artifact", 7)
        plans = {"how-quick": more.pop("plan", plan())}
        return Workflow(str(tmp_path), selection, plans, **more).processor("how-quick")

    table = f"{tmp_path}/processor/how-quick.csv"
    assert asked() == [table]
    assert asked(plan=plan(clock="real")) == []
    assert asked(runs="theirs.csv") == []


def test_an_archive_has_the_table_and_one_without_is_rebuilt_without(tmp_path):
    (tmp_path / "processor").mkdir()
    table = tmp_path / "processor" / "how-quick.csv"
    selection, plans = Selection("artifact", 7), {"how-quick": plan()}
    for there in (False, True):
        if there:
            table.write_text("study\n")
        members = contents.measured(tmp_path, ["how-quick"], tmp_path / "manifest.json")
        names = {member.name for member in members}
        assert ("results/processor/how-quick.csv" in names) == there
        rebuilt = Workflow(str(tmp_path), selection, plans, rebuild=True)
        assert rebuilt.processor("how-quick") == ([str(table)] if there else [])
