"""The matrix: cells, arms, blocks, order, seeds, fingerprints, and what is refused."""

import copy

import pytest
import yaml

from howquick.errors import ROOT, ConfigError
from howquick.model import ROLES
from howquick.plan.blocks import partition
from howquick.plan.estimate import expected_disk, start_cost
from howquick.plan.fingerprint import block_fingerprint, fingerprint
from howquick.plan.order import loss_seeds, order_of
from howquick.plan.plan import complete
from howquick.seeds import derive_seed
from howquick.study import resolve as study_module
from howquick.study.cells import arms_of, find, is_selected
from howquick.study.resolve import Selection, resolve_study
from howquick.study.workload import is_shaped
from howquick.workflow.capacity import cpu_percent

HASHES = {
    name: name
    for name in ("nginx", "curl", "nghttp2", "node-spdy", "quiche", "aioquic", "emulator")
}


def resolve(scale="paper", seed=2014, **selection):
    return resolve_study("how-quick", Selection(scale, seed, **({"clock": "real"} | selection)))


@pytest.fixture
def edit(tmp_path, monkeypatch):
    """Edit a copy of the study file; returns a function that applies a change and resolves it."""

    def change(function):
        data = yaml.safe_load((ROOT / "config/studies/how-quick.yaml").read_text())
        function(data)
        (tmp_path / "how-quick.yaml").write_text(yaml.safe_dump(data, sort_keys=False))
        monkeypatch.setattr(study_module, "STUDIES", tmp_path)
        return resolve()

    return change


def test_the_paper_has_48_cells_and_a_hundred_repetitions():
    study = resolve()
    assert len(study["cells"]) == 48
    assert len({cell["name"] for cell in study["cells"]}) == 48
    assert study["repetitions"] >= 100
    assert {cell["link"]["loss_percent"] for cell in study["cells"]} == {0, 2}


def test_qlogs_are_planned_to_take_disk_where_they_are_written():
    study = resolve()
    cell = next(c for c in study["cells"] if c["name"] == "10mbit-18ms-loss0-50obj-large")

    def disk(arm, **observe):
        seen = cell | ({"observe": {"captures": True, "qlog": True} | observe} if observe else {})
        return expected_disk(seen, find(study["arms"], arm), full=1, headers=9)

    assert disk("h3-quiche") > disk("h3-nginx-curl") > disk("h1-nginx-curl")
    for arm in ("h3-quiche", "h1-nginx-curl"):
        assert disk(arm, qlog=False) == disk("h1-nginx-curl")
        assert disk(arm, qlog=False, captures=False) == 0
    assert disk("h3-quiche", captures=False) == disk("h3-quiche") - disk("h1-nginx-curl")


def test_a_selection_of_repetitions_is_the_beginning_of_the_study():
    whole, pilot = resolve(), resolve(repetitions=3)
    assert pilot["repetitions"] == 3 and pilot["precision"] is None
    arguments = (whole["cells"][0], whole["arms"][0], 2)
    one, other = complete(pilot, HASHES), complete(whole, HASHES)
    assert fingerprint(one, *arguments) == fingerprint(other, *arguments)
    assert resolve(repetitions=10**6)["repetitions"] == whole["repetitions"]


def test_every_repetition_is_in_exactly_one_block():
    study = resolve()
    blocks = partition(study)
    for cell in study["cells"]:
        repetitions = [r for b in blocks if b["cell"] == cell["name"] for r in b["repetitions"]]
        assert repetitions == list(range(study["repetitions"]))
        numbers = [b["block"] for b in blocks if b["cell"] == cell["name"]]
        assert numbers == list(range(len(numbers)))


def test_aioquic_is_left_out_where_it_would_be_the_limit():
    study = resolve()
    for cell in study["cells"]:
        arms = {arm["name"] for arm in arms_of(study, cell)}
        assert ("h3-aioquic" in arms) == (cell["link"]["bandwidth_mbit"] <= 40)


def test_a_column_of_a_browser_is_known_where_no_browser_is_chosen():
    """Figures of Speed Index then say that nothing was measured, and stop nothing."""
    arms = ("cubic-fifo-h3-ngtcp2", "cubic-fifo-h2-curl")
    chosen = Selection("smoke", 7, cells=("20ms-loss0-100kb-exact",), arms=arms)
    study = resolve_study("production-quic", chosen)
    assert {arm["client"] for arm in study["arms"]} == {"ngtcp2", "curl"}
    assert "speed_index_s" in study["client_metrics"]
    assert "speed_index_s" not in resolve()["client_metrics"]


def test_order_is_a_seeded_permutation_that_differs_between_repetitions():
    study = resolve()
    cell = study["cells"][0]
    orders = [tuple(order_of(study, cell, repetition)) for repetition in range(20)]
    expected = sorted(arm["name"] for arm in arms_of(study, cell))
    assert all(sorted(order) == expected for order in orders)
    assert len(set(orders)) > 15
    assert orders == [tuple(order_of(resolve(), cell, repetition)) for repetition in range(20)]
    first = [order[0] for order in (order_of(study, cell, r) for r in range(400))]
    assert all(20 <= first.count(name) <= 65 for name in expected)  # about 40 each


def test_loss_seeds_differ_by_direction_and_repetition_only():
    study = resolve()
    cell = study["cells"][0]
    seeds = [loss_seeds(study, cell, repetition) for repetition in range(50)]
    assert len({seed for pair in seeds for seed in pair.values()}) == 100
    assert all(0 <= seed < 2**63 for pair in seeds for seed in pair.values())
    assert derive_seed("a", 1) != derive_seed("a", 2) and derive_seed("a", 1) == derive_seed("a", 1)


def test_a_new_arm_leaves_fingerprints_of_the_others_alone(edit):
    before = resolve()
    after = edit(lambda data: data["arms"].update({"h2-again": data["arms"]["h2-nghttp2"] | {}}))
    cell = before["cells"][3]
    for arm in before["arms"]:
        one = fingerprint(complete(before, HASHES), cell, arm, 7)
        same = find(after["arms"], arm["name"])
        assert one == fingerprint(complete(after, HASHES), after["cells"][3], same, 7)


@pytest.mark.parametrize("program", ["nginx", "emulator"])
def test_a_changed_program_invalidates_what_it_took_part_in(program):
    study = resolve()
    cell = study["cells"][0]
    before, changed = complete(study, HASHES), complete(study, HASHES | {program: "other"})
    for arm in study["arms"]:
        takes_part = program == "emulator" or program in (arm["server"], arm["client"])
        same = fingerprint(before, cell, arm, 0) == fingerprint(changed, cell, arm, 0)
        assert same != takes_part


def test_no_emulator_decides_what_an_unshaped_link_gives():
    study = resolve_study("highway", Selection("smoke", 1))
    hashes = {arm[role]: "1" for arm in study["arms"] for role in ROLES} | {"emulator": "1"}
    cell = next(c for c in study["cells"] if not is_shaped(c["link"]))
    arm = arms_of(study, cell)[0]
    before, after = complete(study, hashes), complete(study, hashes | {"emulator": "other"})
    assert fingerprint(before, cell, arm, 0) == fingerprint(after, cell, arm, 0)


def test_labels_do_not_invalidate_but_seed_and_link_do(edit):
    study = resolve()

    def first(of):
        return fingerprint(complete(of, HASHES), of["cells"][0], of["arms"][0], 0)

    original = first(study)
    relabelled = copy.deepcopy(study)
    relabelled["arms"][0]["label"] = "another"
    assert first(relabelled) == original
    block = complete(study, HASHES)["blocks"][0]
    whole, other = complete(study, HASHES), complete(relabelled, HASHES)
    assert block_fingerprint(whole, block) == block_fingerprint(other, block)
    assert first(resolve(seed=1)) != original
    longer = edit(lambda data: data["fixed"].update(queue_ms=100))
    assert first(longer) != original


def test_block_fingerprint_changes_with_a_program_of_its_arms():
    study = resolve()
    plan = complete(study, HASHES)
    other = complete(study, HASHES | {"quiche": "new"})
    block = plan["blocks"][0]
    assert block_fingerprint(plan, block) == block_fingerprint(complete(study, HASHES), block)
    assert block_fingerprint(plan, block) != block_fingerprint(other, block)


def test_selection_by_value_by_level_and_by_name():
    cell = resolve()["cells"][0]
    assert is_selected(cell, {"bandwidth_mbit": 2, "object_size": ["small", "large"]})
    assert is_selected(cell, {"bandwidth_mbit": "2mbit"}) and is_selected(cell, [cell["name"]])
    assert not is_selected(cell, {"bandwidth_mbit": [10, 50]}) and not is_selected(cell, ["other"])


@pytest.mark.parametrize(
    ("change", "key", "hint"),
    [
        (lambda d: d.update(colour="red"), "", "Known keys here"),
        (lambda d: d["factors"]["loss_percent"]["levels"].update(loss0=120), "loss0", "0 to 90"),
        (lambda d: d["fixed"].pop("queue_ms"), "queue_ms", "Give each parameter once"),
        (
            lambda d: d["arms"]["h2-nghttp2"].update(server="nginy"),
            "arms.h2-nghttp2.server",
            "nginx",
        ),
        (
            lambda d: d["arms"]["h2-nghttp2"].update(server="curl"),
            "h2-nghttp2.server",
            "is no server",
        ),
        (
            lambda d: d["arms"]["h2-nghttp2"].update(protocol="h3"),
            "h2-nghttp2.protocol",
            "cannot h3",
        ),
        (
            lambda d: d["arms"]["h3-nginx-curl"].update(congestion_control="bbr"),
            "congestion",
            "reno",
        ),
        (lambda d: d["arms"]["h2-nghttp2"].update(connection="0rtt"), "connection", "cold"),
        (lambda d: d["arms"]["h2-nghttp2"].update(options={"speed": 1}), "options.speed", "Known:"),
        (lambda d: d["comparison"]["arms"].append("h4"), "arms", "Did you mean"),
        (lambda d: d["claims"][0]["test"][0].pop("less_than"), "claims", "Give exactly one of"),
        (lambda d: d["scales"]["paper"].update(repetitions=0), "repetitions", "1 to 9999"),
    ],
)
def test_bad_study_names_file_key_and_remedy(edit, change, key, hint):
    with pytest.raises(ConfigError) as caught:
        edit(change)
    message = str(caught.value)
    assert "how-quick.yaml" in message
    assert key in message
    assert hint in message
    assert "\n" not in message


@pytest.mark.parametrize(("cells", "arms"), [(("10mbit",), ()), ((), ("h3-quich",))])
def test_unknown_cell_or_arm_suggests_a_near_one(cells, arms):
    with pytest.raises(ConfigError, match="Did you mean"):
        resolve(cells=cells, arms=arms)


def test_one_cell_and_one_arm_can_be_asked_for():
    study = resolve(cells=("2mbit-18ms-loss0-5obj-small",), arms=("h3-quiche",))
    assert [cell["name"] for cell in study["cells"]] == ["2mbit-18ms-loss0-5obj-small"]
    assert [arm["name"] for arm in study["arms"]] == ["h3-quiche"]


def test_a_key_given_twice_is_refused(tmp_path, monkeypatch):
    text = (ROOT / "config/studies/how-quick.yaml").read_text()
    (tmp_path / "how-quick.yaml").write_text(text + "\nstudy: how-quick\n")
    monkeypatch.setattr(study_module, "STUDIES", tmp_path)
    with pytest.raises(ConfigError, match="twice"):
        resolve()


def test_the_schemas_refuse_unknown_keys_everywhere():
    """No object in a schema of the configuration may let an unknown key pass."""
    from howquick.files import read_json

    def walk(schema, path):
        if isinstance(schema, dict):
            if schema.get("type") == "object" and "properties" in schema:
                closed = "additionalProperties" in schema or "propertyNames" in schema
                assert closed, path
            for key, value in schema.items():
                walk(value, f"{path}/{key}")

    for name in ("study", "config", "endpoint"):
        walk(read_json(ROOT / f"config/schemas/{name}.schema.json"), name)


def test_a_client_that_starts_slowly_is_planned_for(monkeypatch):
    study = resolve_study("production-quic", Selection("smoke", 1, clock="real"))
    with_browser, without = (
        next(b for b in partition(study) if b["cell"] == f"20ms-loss0-{load}-exact")
        for load in ("small", "100kb")
    )
    cell = next(c for c in study["cells"] if c["name"] == with_browser["cell"])
    start = start_cost(next(a for a in arms_of(study, cell) if a["client"] == "chromium"))
    assert start["cpu_s"] > 0 and with_browser["cpu_s"] == start["cpu_s"] * with_browser["arms"]
    assert with_browser["seconds"] > with_browser["arms"] * start["wall_s"]
    curl = next(arm for arm in study["arms"] if arm["client"] == "curl")
    assert start_cost(curl) == {"wall_s": 0, "cpu_s": 0, "processors": 0}
    monkeypatch.setattr("howquick.workflow.capacity.processors_percent", lambda: 1000)
    assert cpu_percent(with_browser) > 100 * start["processors"] > 0
    fast = without | {"cpu_s": 0, "processors": 0}
    assert cpu_percent(without) > cpu_percent(fast)


def test_blocks_ask_for_what_their_fastest_arm_needs(monkeypatch):
    monkeypatch.setattr("howquick.workflow.capacity.processors_percent", lambda: 1000)
    blocks = partition(resolve_study("web-streaming", Selection("artifact", 1, clock="real")))
    need = {block["cell"]: cpu_percent(block) for block in blocks}
    assert need["file-150ms-loss0-moves0"] > 100 > need["lossyfile-50ms-loss20-moves0"]
