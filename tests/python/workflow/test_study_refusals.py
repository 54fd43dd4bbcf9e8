"""A study that asks for what there is not is refused before anything runs, with key and remedy."""

import copy

import pytest
import yaml

from howquick import study as study_module
from howquick.endpoints import load_endpoints
from howquick.errors import ROOT, ConfigError
from howquick.study import Selection, resolve_study
from workflow.blocks import PROGRAMS


@pytest.fixture
def resolve(tmp_path, monkeypatch):
    """A function that edits a copy of how-quick and resolves it."""
    monkeypatch.setenv("HOWQUICK_ENVS", str(PROGRAMS))
    load_endpoints.cache_clear()

    def change(function, scale="paper"):
        data = yaml.safe_load((ROOT / "config/studies/how-quick.yaml").read_text())
        function(data)
        (tmp_path / "how-quick.yaml").write_text(yaml.safe_dump(data, sort_keys=False))
        monkeypatch.setattr(study_module, "STUDIES", tmp_path)
        return resolve_study("how-quick", Selection(scale, 1))

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

    return change


def tls_arm(**keys):
    arm = {"label": "x", "group": "g", "protocol": "tls", "server": "plain-tls"}
    return lambda data: data["arms"].update(x=arm | {"client": "plain-tls"} | keys)


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
        (condition(arm="h5"), "claims.1-small-page.test.0.arm", "Did you mean"),
        (
            condition(metric=METRIC | {"column": "plt"}),
            "claims.1-small-page.test.0.metric.column",
            "Did you mean plt_s",
        ),
        (condition(quantity="correlation"), "claims.0.test.0", "with"),
        (
            condition(quantity="correlation", **{"with": "offset"}),
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
        (tls_arm(options={"colour": 1}), "arms.x.options.colour", "Known: initial_window_packets"),
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
            "fixed": {"queue_ms": 50},
            "cells": [{"rtt_ms": 18, "loss_percent": [0], "objects": 5}],
        }
        data["cells"] = [{"bandwidth_mbit": "2mbit"}, "10mbit-18ms-loss0-5obj-large"]
        data["exclude"] = [{"cells": {"object_size": "large"}, "connection": ["0rtt"], "why": "x"}]

    study = resolve(change, "smoke")
    cells = {cell["name"]: cell for cell in study["cells"]}
    assert set(cells) == {
        "2mbit-18ms-loss0-5obj-small", "2mbit-18ms-loss0-5obj-large", "10mbit-18ms-loss0-5obj-large",
    }  # fmt: skip
    large = cells["2mbit-18ms-loss0-5obj-large"]
    assert large["workload"]["object_size"] == {"bytes": 1000} and large["link"]["queue_ms"] == 50
    assert {"arm": "h3-quiche-0rtt", "why": "x"} in large["not_applicable"]
    assert not cells["2mbit-18ms-loss0-5obj-small"]["not_applicable"]


def test_a_scale_may_leave_out_more_arms_than_its_study(resolve):
    def change(data):
        data["exclude"] = [{"arms": ["spdy-node"], "why": "by the study"}]
        data["scales"]["smoke"]["exclude"] = [{"arms": ["h2-nghttp2"], "why": "by the scale"}]

    out = {"arm": "h2-nghttp2", "why": "by the scale"}
    smoke, paper = resolve(change, "smoke"), resolve(change, "paper")
    assert out in smoke["cells"][0]["not_applicable"]
    assert out not in paper["cells"][0]["not_applicable"]
    assert {"arm": "spdy-node", "why": "by the study"} in smoke["cells"][0]["not_applicable"]


def test_a_metric_that_a_client_of_the_figure_reports_is_taken(resolve):
    def change(data):
        tls_arm()(data)
        figure(metric=METRIC | {"column": "requests_sent"}, arms=["x"])(data)

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
