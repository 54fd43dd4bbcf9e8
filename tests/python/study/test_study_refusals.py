"""A study that asks for what there is not is refused before anything runs, with key and remedy."""

import copy
from pathlib import Path

import pytest
import yaml

from howquick.environment.endpoints import load_endpoints
from howquick.errors import ROOT, ConfigError
from howquick.plan.blocks import partition
from howquick.schemas import check
from howquick.study import resolve as study_module
from howquick.study.cells import full_captures_of
from howquick.study.resolve import Selection, resolve_study
from howquick.workflow.configuration import read_workflow
from howquick.workflow.outlook import outlook
from workflow.blocks import PROGRAMS


@pytest.fixture
def resolve(tmp_path, monkeypatch):
    """A function that edits a copy of how-quick and resolves it."""
    monkeypatch.setenv("HOWQUICK_ENVS", str(PROGRAMS))
    load_endpoints.cache_clear()

    def change(function, scale="paper", arms=()):
        data = yaml.safe_load((ROOT / "config/studies/how-quick.yaml").read_text())
        function(data)
        (tmp_path / "how-quick.yaml").write_text(yaml.safe_dump(data, sort_keys=False))
        monkeypatch.setattr(study_module, "STUDIES", tmp_path)
        return resolve_study("how-quick", Selection(scale, 1, arms=arms))

    yield change
    load_endpoints.cache_clear()


def fixed(**parameters):
    return lambda data: data["fixed"].update(parameters)


def figure(**keys):
    return lambda data: data["figures"][0].update(keys)


def condition(**keys):
    return lambda data: data["claims"][0]["test"][0].update(keys)


def factor(name, **levels):
    def change(data):
        data["fixed"].pop(name, None)
        data["factors"][name] = {"label": name, "unit": "", "levels": levels}
        # Those of how-quick tell the cells of its own factors apart.
        data["figures"] = []

    return change


def tls_arm(**keys):
    arm = {"label": "x", "group": "g", "protocol": "tls", "server": "plain-tls"}
    return lambda data: data["arms"].update(x=arm | {"client": "plain-tls"} | keys)


def single(**keys):
    """The first condition without its pairs, of arms as given."""

    def change(data):
        data["claims"][0]["test"][0].pop("pairs")
        condition(**keys)(data)

    return change


METRIC = {"label": "x", "short": "x", "unit": "s"}


@pytest.mark.parametrize(
    ("change", "key", "remedy"),
    [
        (figure(cells=["10mbit"]), "figures.figure-4.cells", "Did you mean 10mbit-18ms"),
        (figure(cells={"loss_percent": 3}), "figures.figure-4.cells.loss_percent", "Levels:"),
        (figure(cells={"delay": 3}), "figures.figure-4.cells", "no factor is called 'delay'"),
        (figure(arms=["h3-quich"]), "figures.figure-4.arms", "Did you mean h3-quiche"),
        (figure(pairs=[["h3-quiche", "h4"]]), "figures.figure-4.pairs", "Did you mean"),
        (figure(facet="bandwith"), "figures.figure-4.facet", "Did you mean bandwidth_mbit"),
        (figure(rows=["rtt"]), "figures.figure-4.rows", "Did you mean"),
        (figure(kind="pie"), "figures.0.kind", "cdf, heatmap"),
        (
            figure(metric=METRIC | {"column": "speed_index_s"}, arms=["h1-nginx-curl"]),
            "figures.figure-4.metric.column",
            "`client.metrics`",
        ),
        (condition(cells={"objects": 7}), "claims.1-small-page.test.0.cells.objects", "Levels:"),
        (condition(cells=["nowhere"]), "claims.1-small-page.test.0.cells", "Did you mean"),
        (condition(pairs=[["h5", "h3-quiche"]]), "1-small-page.test.0.pairs", "Did you mean"),
        (single(arm="h5"), "claims.1-small-page.test.0.arm", "Did you mean"),
        (
            condition(metric=METRIC | {"column": "plt"}),
            "claims.1-small-page.test.0.metric.column",
            "Did you mean plt_s",
        ),
        (condition(quantity="correlation"), "claims.0.test.0", "with"),
        (
            single(quantity="correlation", arm="h3-quiche", **{"with": "offset"}),
            "claims.1-small-page.test.0.with",
            "Did you mean",
        ),
        (factor("option.speed", fast=1, slow=2), "cell 2mbit", "add an arm whose programs can"),
        (
            lambda d: (
                factor("moves", none=0, twice=2)(d),
                d["scales"]["paper"].update(arms=["h2-nghttp2"]),
            ),
            "cell 2mbit",
            "cannot follow a change of its address",
        ),
        (fixed(moves=1000), "fixed.moves", "0 to 100"),
        (fixed(workload={"object": 5}), "objects", "`workload` says it all"),
        (fixed(bandwidth_mbit="unshaped"), "bandwidth_mbit", "Give each parameter once"),
        (fixed(offloads="udp"), "offloads", "bandwidth_mbit: unshaped"),
        (
            lambda d: d["factors"]["bandwidth_mbit"]["levels"].update({"raw": "unshaped"}),
            "cell raw-18ms-loss0-5obj-small",
            "set rtt_ms, loss_percent",
        ),
        (tls_arm(options={"on_move": "migrate"}), "arms.x.options.on_move", "It can: reconnect"),
        (
            tls_arm(options={"colour": 1}),
            "arms.x.options.colour",
            "Known: ecn, initial_window_packets",
        ),
        (tls_arm(protocol="quic"), "arms.x.protocol", "h1, h2, h3"),
        (
            lambda d: d.update(arm_matrix=matrix(servers=["nginy"])),
            "arm_matrix.servers",
            "Known:",
        ),
        (
            lambda d: d["scales"]["paper"].update(levels={"rtt_ms": {"20ms": 20}}),
            "scales.levels.rtt_ms.20ms",
            "levels that `factors` has",
        ),
        (
            lambda d: d["scales"]["paper"].update(fixed={"moves": 1}),
            "scales.fixed.moves",
            "`fixed` has",
        ),
        (
            lambda d: d["scales"]["paper"].update(levels={"rtt_ms": {"18ms": -1}}),
            "levels.18ms",
            "0 to 10000",
        ),
        (
            lambda d: d["factors"]["rtt_ms"].update(labels={"18ms": "near", "218ms": "near"}),
            "factors.rtt_ms.labels",
            "give each its own",
        ),
        (lambda d: d.update(cells=[{"rtt_ms": 19}]), "cells", "with levels of the study"),
        (
            lambda d: d.update(exclude=[{"arms": ["h9"], "why": "x"}]),
            "exclude.0.arms",
            "Did you mean",
        ),
    ],
)
def test_a_study_that_cannot_be_is_refused(resolve, change, key, remedy):
    with pytest.raises(ConfigError) as caught:
        resolve(change)
    message = str(caught.value)
    assert "how-quick.yaml" in message
    assert key in message
    assert remedy in message
    assert "\n" not in message


HEAT = {"name": "h", "kind": "heatmap", "title": "t"}
RATIO = {"quantity": "ratio", "cells": {}, "at_least": 1}
ONE, TWO, THREE = "h3-quiche", "h1-nginx-curl", "spdy-node"


def drawn(**keys):
    """The only figure of the study."""
    return lambda data: data.update(figures=[HEAT | keys])


def claimed(**keys):
    """The only condition of the study's claims."""
    claim = {"id": "c", "text": "t", "where": "w", "test": [RATIO | keys]}
    return lambda data: data.update(claims=[claim])


@pytest.mark.parametrize(
    ("change", "key", "remedy"),
    [
        (
            lambda d: d["figures"].append(HEAT | {"name": "figure-4"}),
            "figures.figure-4",
            "own name",
        ),
        (lambda d: d["claims"].append(d["claims"][0]), "claims.1-small-page", "own name"),
        # Of a heatmap: all factors in which its cells differ, each once, and pairs.
        (drawn(rows=["rtt_ms"]), "figures.h: its cells differ in bandwidth_mbit", "`cells`"),
        (
            drawn(columns=["rtt_ms"], rows=["objects"]),
            "differ in bandwidth_mbit",
            "rows or columns",
        ),
        (drawn(rows=["arm"]), "figures.h.rows: 'arm' is no factor", "Factors: bandwidth_mbit"),
        (drawn(rows=["rtt_ms"], columns=["rtt_ms"]), "in rows and in columns", "one of them"),
        (lambda d: (drawn()(d), d["comparison"].update(pairs=[])), "no pairs", "`comparison`"),
        (
            lambda d: d["comparison"].pop("metric"),
            "comparison: `metric` is missing",
            "column of the table of runs",
        ),
        # What other kinds need.
        (drawn(kind="scatter"), "figures.h: the kind scatter needs `x`", "column"),
        (drawn(kind="scatter", x="ttlb_s"), "a scatter shows one cell", "one level of each"),
        (drawn(kind="transfer"), "figures.h: the kind transfer needs `path`", "path of an object"),
        (drawn(kind="curves", x="plt_s"), "figures.h.x: 'plt_s' is no factor", "Factors:"),
        (drawn(kind="curves", x="rtt_ms", facet="objects"), "differ in bandwidth_mbit", "facet"),
        (drawn(kind="bars", x="plt_s"), "figures.h.x", "Factors:"),
        (drawn(kind="bars", facet="rtt_ms"), "figures.h: its cells differ in", "facet"),
        (drawn(kind="cdf", facet="rtt_ms"), "figures.h: its cells differ in", "facet"),
        (drawn(kind="cdf", facet="server"), "figures.h.facet: 'server' is no factor", "Factors:"),
        (drawn(kind="profile"), "figures.h: nothing is sampled", "`profile:"),
        (
            lambda d: (drawn(kind="tree")(d), d["comparison"].update(arms=[ONE])),
            "h: has one",
            "more",
        ),
        (drawn(kind="cdf", rows=["rtt_ms"]), "figures.h.rows: is nothing that", "it reads facet"),
        (
            lambda d: (drawn(cells={"rtt_ms": 218})(d), d.update(cells=[{"rtt_ms": 18}])),
            "figures.h.cells: selects none",
            "`cells` of the study",
        ),
        # Conditions: whose number, and within which bound.
        (claimed(arm=ONE, against=TWO, at_most=1), "has at_least and at_most", "exactly one of"),
        (condition(less_than=None), "less_than: is None, which is not a number", "See"),
        (lambda d: d["claims"][0]["test"][0].pop("less_than"), "has none of at_least", "between"),
        (
            lambda d: (
                condition(between=[1.1, 0.9])(d),
                d["claims"][0]["test"][0].pop("less_than"),
            ),
            "test.0.between: no number is between 1.1 and 0.9",
            "[0.9, 1.1]",
        ),
        (claimed(arm=[ONE, TWO], against=[TWO, THREE]), "arms on both sides", "pairs: [[a, b], …]"),
        (claimed(arm=ONE, pairs=[[ONE, TWO]]), "c.test.0.pairs: is given beside", "one of the two"),
        (claimed(), "claims.c.test.0: names no arm", "pairs"),
        (claimed(arm=ONE), "compares no two different arms", "`against_cells`"),
        (claimed(arm=ONE, against=ONE), "compares no two different arms", "`against`"),
        (claimed(arm=ONE, quantity="spread"), "c.test.0.arm: a spread", "arm: [a, b]"),
        (
            claimed(arm=ONE, against=TWO, quantity="gap_growth"),
            "change of cells",
            "`against_cells`",
        ),
        (
            claimed(arm=ONE, against=TWO, quantity="value"),
            "c.test.0.against: is nothing",
            "Leave it",
        ),
        (
            claimed(arm=ONE, against=TWO, against_cells={"rtt_ms": 18}),
            "against_cells: is given beside",
            "one of them",
        ),
        (claimed(arm=ONE, against_cells={"rtt_ms": [18, 218]}), "one cell for each", "one level"),
        # Links and levels.
        (
            fixed(queue_ms=20),
            "shortest queue is 60.6 ms (10 packets of 1500 bytes)",
            "60.6 or more",
        ),
        (factor("rtt_ms", near=18, also=18), "factors.rtt_ms.levels: two levels are 18", "its own"),
        # Alternatives of the schema.
        (
            figure(cells=3),
            "cells: is 3, which is not a mapping of keys or a list",
            "Expected: cells:",
        ),
        (
            figure(arms="h3-quiche"),
            "arms: is 'h3-quiche', which is not 'all' or a list",
            "Expected",
        ),
        (fixed(bandwidth_mbit="fast"), "is 'fast', which is not a number or 'unshaped'", "at most"),
        (fixed(bandwidth_mbit=5000), "bandwidth_mbit: 5000 is greater than", "See"),
        (lambda d: d.pop("title"), "`title` is missing", "Add `title`: the title"),
        (lambda d: d.pop("differences"), "`differences` is missing", "what differs from the paper"),
        # Programs that cannot be an end of the arm, and those that can.
        (
            tls_arm(server="curl"),
            "arms.x.server: curl is no server",
            "Servers of tls: tls, plain-tls",
        ),
        (tls_arm(client="curl"), "arms.x.protocol: curl cannot tls as client", "Clients of tls:"),
    ],
)
def test_what_would_be_silently_wrong_is_refused(resolve, change, key, remedy):
    with pytest.raises(ConfigError) as caught:
        resolve(change)
    message = str(caught.value)
    assert key in message
    assert remedy in message.split(key)[1]
    assert "\n" not in message


def test_an_arm_that_cannot_be_is_answered_with_who_can(resolve):
    with pytest.raises(
        ConfigError, match=r"no arm is called 'h3-curl-quiche': curl is no server"
    ) as caught:
        resolve(lambda d: None, arms=("h3-curl-quiche",))
    assert "Servers of h3: " in str(caught.value) and "nginx" in str(caught.value)


def test_arms_that_a_scale_leaves_out_are_named(resolve):
    def change(data):
        tls_arm()(data)
        data["scales"]["smoke"]["arms"] = [ONE, TWO]

    study = resolve(change, "smoke")
    assert "x" in study["left_out"] and ONE not in study["left_out"]
    assert resolve(change, "paper")["left_out"] == []
    # Whoever names arms knows which.
    assert resolve(change, "smoke", arms=(ONE,))["left_out"] == []


def test_a_start_says_which_arms_its_scale_leaves_out(tmp_path):
    out = {
        scale: outlook(read_workflow(config(scale, tmp_path)), 1) for scale in ("artifact", "paper")
    }
    assert (
        "how-quick: scale artifact leaves out spdy-node-resumed, h3-quiche-resumed"
        in out["artifact"]
    )
    assert "leaves out" not in out["paper"]


def config(scale, results):
    return {"studies": ["how-quick"], "scale": scale, "seed": 1, "results": str(results)}


def test_a_study_need_not_have_a_paper(resolve):
    def change(data):
        del data["paper"], data["differences"]

    study = resolve(change)
    assert "paper" not in study and study["differences"] == []
    check(study, "resolved_study", Path("plan"))


def test_an_option_has_the_values_that_its_program_lists(resolve):
    arm = {"label": "x", "group": "g", "protocol": "h3", "server": "quiche", "client": "quiche"}

    def with_pacing(value):
        return lambda data: data["arms"].update(x=arm | {"options": {"pacing": value}})

    assert resolve(with_pacing("rfc9002"))["arms"][-1]["options"]["pacing"] == "rfc9002"
    with pytest.raises(
        ConfigError, match=r"arms.x.options.pacing: quiche has no value 'slow'. It has: library"
    ):
        resolve(with_pacing("slow"))
    # Where a cell asks for it, the arm is left out of the cell.
    study = resolve(factor("option.cipher", aes128="aes128", aes256="aes256"))
    why = {
        c["levels"]["option.cipher"]: {e["arm"]: e["why"] for e in c["not_applicable"]}
        for c in study["cells"]
    }
    assert why["aes256"]["h3-quiche"] == "quiche has no cipher aes256"
    assert "h3-quiche" not in why["aes128"]


def test_conditions_may_list_their_pairs(resolve):
    pairs = [[ONE, TWO], [TWO, THREE]]
    study = resolve(claimed(pairs=pairs))
    assert study["claims"][0]["test"][0]["pairs"] == pairs


def test_a_claim_of_cells_that_no_scale_measures_is_refused(resolve):
    def of(cells):
        def change(data):
            data["cells"] = [{"loss_percent": 0}]
            data["figures"] = []
            claimed(arm=ONE, against=TWO, cells=cells)(data)

        return change

    assert resolve(of({"loss_percent": 0}))["claims"]
    with pytest.raises(
        ConfigError, match=r"test\.0\.cells: selects \S*loss2\S*, which .* never measures"
    ):
        resolve(of({"objects": 5}))


def matrix(**keys):
    return {
        "protocols": ["h1", "tls"], "servers": "all", "clients": "all",
        "congestion_control": ["bbr2", "cubic"], "connection": ["cold", "resumed"],
    } | keys  # fmt: skip


def test_a_matrix_has_an_arm_for_each_pair_and_a_reason_for_every_other(resolve):
    study = resolve(lambda d: d.update(arm_matrix=matrix(servers=["nginx", "plain-tls", "dies"])))
    arms = {arm["name"]: arm for arm in study["arms"]}
    assert {"h1-nginx-curl", "h1-dies-curl", "tls-plain-tls-plain-tls"} <= set(arms)
    assert arms["tls-plain-tls-plain-tls"]["congestion_control"] == "cubic"
    # An arm that the study names itself is the study's.
    assert arms["h1-nginx-curl"]["label"] == "HTTP/1.1"
    why = {
        (entry["protocol"], entry["server"], entry["client"], entry["connection"]): entry["why"]
        for entry in study["unsupported"]
    }
    assert why["tls", "nginx", "plain-tls", "cold"] == "nginx does not speak tls as server"
    assert "resumed" in why["tls", "plain-tls", "plain-tls", "resumed"]
    assert not {name for name in arms if name.startswith("tls-nginx")}


def test_a_scale_may_change_values_and_a_study_leave_cells_and_arms_out(resolve):
    def change(data):
        data["scales"]["smoke"] = data["scales"]["smoke"] | {
            "levels": {"object_size": {"large": {"bytes": 1000}}},
            "fixed": {"queue_ms": 80},
            "cells": [{"rtt_ms": 18, "loss_percent": [0], "objects": 5}],
        }
        data["figures"] = data["claims"] = []
        data["cells"] = [{"bandwidth_mbit": "2mbit"}, "10mbit-18ms-loss0-5obj-large"]
        data["exclude"] = [{"cells": {"object_size": "large"}, "connection": ["0rtt"], "why": "x"}]

    study = resolve(change, "smoke")
    cells = {cell["name"]: cell for cell in study["cells"]}
    assert set(cells) == {
        "2mbit-18ms-loss0-5obj-small", "2mbit-18ms-loss0-5obj-large", "10mbit-18ms-loss0-5obj-large",
    }  # fmt: skip
    large = cells["2mbit-18ms-loss0-5obj-large"]
    assert large["workload"]["object_size"] == {"bytes": 1000} and large["link"]["queue_ms"] == 80
    assert {"arm": "h3-quiche-0rtt", "why": "x"} in large["not_applicable"]
    assert not cells["2mbit-18ms-loss0-5obj-small"]["not_applicable"]


def test_a_scale_may_leave_out_more_arms_than_its_study(resolve):
    def change(data):
        data["exclude"] = [{"arms": ["spdy-node"], "why": "by the study"}]
        data["scales"]["smoke"]["exclude"] = [{"arms": ["h2-nghttp2"], "why": "by the scale"}]

    out = {"arm": "h2-nghttp2", "why": "by the scale", "left_out": True}
    smoke, paper = resolve(change, "smoke"), resolve(change, "paper")
    assert out in smoke["cells"][0]["not_applicable"]
    assert "h2-nghttp2" not in {entry["arm"] for entry in paper["cells"][0]["not_applicable"]}
    assert {"arm": "spdy-node", "why": "by the study"} in smoke["cells"][0]["not_applicable"]


def test_a_cell_may_have_its_own_number_of_whole_captures(resolve):
    def change(data):
        data["scales"]["paper"]["full_captures"] = {
            "default": 1,
            "cells": [
                {"cells": ["2mbit-18ms-loss0-5obj-small"], "count": 0},
                {"cells": {"loss_percent": 2, "bandwidth_mbit": 2}, "count": 30},
            ],
        }

    study = resolve(change)
    assert study["full_captures"] == 1
    counts = {cell["name"]: full_captures_of(study, cell) for cell in study["cells"]}
    assert counts["2mbit-18ms-loss0-5obj-small"] == 0
    assert counts["2mbit-218ms-loss2-50obj-large"] == 30
    assert counts["10mbit-18ms-loss2-50obj-large"] == 1
    # What keeps whole packets is planned to take more of the disk.
    plain = resolve(lambda data: data["scales"]["paper"].update(full_captures=1))
    assert not any("full_captures" in cell for cell in plain["cells"])
    sizes = [
        sum(
            block["bytes"]
            for block in partition(one)
            if block["cell"].startswith("2mbit-18ms-loss2")
        )
        for one in (plain, study)
    ]
    assert sizes[0] < sizes[1]


def test_whole_captures_of_cells_that_are_not_there_are_refused(resolve):
    for cells, problem in (
        ({"loss": 2}, "no factor"),
        (["x"], "no cell"),
        ({"loss_percent": 3}, "Levels"),
    ):
        given = {"default": 1, "cells": [{"cells": cells, "count": 2}]}
        with pytest.raises(ConfigError, match=rf"paper.full_captures.cells.0.cells.*{problem}"):
            resolve(lambda data, given=given: data["scales"]["paper"].update(full_captures=given))


def test_a_metric_that_a_client_of_the_figure_reports_is_taken(resolve):
    def change(data):
        tls_arm()(data)
        drawn(kind="curves", metric=METRIC | {"column": "requests_sent"}, arms=["x"])(data)

    assert resolve(change)["figures"][0]["metric"]["column"] == "requests_sent"


ENDPOINT = {
    "name": "broken", "summary": "x", "licence": "MIT", "version": ["true"],
    "client": {
        "protocols": {
            "h1": {"congestion_control": ["cubic"], "connection": ["cold"], "transport": "tcp"}
        },
        "command": ["true"], "gate": True, "qlog": False, "keys": False,
    },
}  # fmt: skip


@pytest.mark.parametrize(
    ("change", "key", "remedy"),
    [
        (lambda d: d.update(colour="red"), "broken/endpoint.yaml", "Known keys here:"),
        (lambda d: d["client"].pop("command"), "client", "`command: [...]`"),
        (lambda d: d["client"].update(image="a:b"), "image", "contract: interop-runner"),
        (lambda d: d["client"]["protocols"].update(h4={}), "client.protocols", "tls: objects over"),
        (
            lambda d: d["client"]["protocols"]["h1"].update(moves=["teleport"]),
            "client.protocols.h1.moves",
            "One way",
        ),
        (lambda d: d.update(name="other"), "name", "Use the folder's name"),
        (
            lambda d: d.pop("client"),
            "broken/endpoint.yaml: has none of server, client",
            "at least one",
        ),
        (
            lambda d: d.update(
                options={"speed": {"default": "x", "description": "d", "values": ["y"]}}
            ),
            "options.speed.default: is 'x', which `values` lacks",
            "Add it",
        ),
    ],
)
def test_a_broken_implementation_is_refused(tmp_path, monkeypatch, change, key, remedy):
    declaration = copy.deepcopy(ENDPOINT)
    change(declaration)
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken/endpoint.yaml").write_text(yaml.safe_dump(declaration))
    monkeypatch.setenv("HOWQUICK_ENVS", str(tmp_path))
    load_endpoints.cache_clear()
    with pytest.raises(ConfigError) as caught:
        load_endpoints()
    load_endpoints.cache_clear()
    message = str(caught.value)
    assert key in message
    assert remedy in message
    assert "\n" not in message
