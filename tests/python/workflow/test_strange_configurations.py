"""Configurations and study files that are wrong in every way: one sentence with file, key and remedy each."""

import random
import re
import shutil
import subprocess

import pytest
import yaml

from howquick.errors import ROOT, ConfigError
from howquick.schemas import load_yaml
from howquick.study import resolve as study_module
from howquick.study.parameters import all_cells
from howquick.study.resolve import Selection, resolve_study
from howquick.workflow.configuration import read_workflow

CONFIG = (ROOT / "config/config.yaml").read_bytes()
STUDY = (ROOT / "config/studies/initial-window.yaml").read_bytes()
SENTENCES = 200
SEED = 11


def lines_of(content):
    return content.decode(errors="replace").splitlines()


def some_key(rng, content):
    """A line `key: value` of a file, as (number, indent, key, value)."""
    found = [
        (number, *match.groups())
        for number, line in enumerate(lines_of(content))
        if (match := re.match(r"( *)([\w.-]+):(?: +(.*))?$", line))
    ]
    return rng.choice(found)


def with_line(content, number, *new):
    lines = lines_of(content)
    return "\n".join([*lines[:number], *new, *lines[number + 1 :], ""]).encode()


def twice(rng, content):
    number, indent, key, _ = some_key(rng, content)
    line = lines_of(content)[number]
    return with_line(content, number, f"{indent}{key}: 1", line)


def other_value(rng, content):
    number, indent, key, _ = some_key(rng, content)
    values = (".nan", ".inf", "-.inf", "null", "[]", "{}", "-1", "1e400", "9" * 400, "9" * 6000, "'a b'",
              "2026-13-45", "!!binary xyz", "!!python/object:os.system {}", "*nowhere", "&a [*a]", "0x", "@",
              "[" * 2000, "\ttext", "2001-12-14t21:59:43.10-05:00", "!!set {a, b}", "yes", "'\\u0000'",
              '"\\ud800"', "- a")  # fmt: skip
    return with_line(content, number, f"{indent}{key}: {rng.choice(values)}")


def other_key(rng, content):
    number, indent, _, value = some_key(rng, content)
    keys = ("? [a]", "? {a: b}", "7", "null", "no", "unknown", "''", "1.5", "? !!binary aGk=", "<<")
    return with_line(content, number, f"{indent}{rng.choice(keys)}: {value or ''}")


def no_text(rng, content):
    at = rng.randrange(len(content))
    return (
        content[:at]
        + rng.choice((b"\xff", b"\xe4", b"\0", b"\x07", b"\xc3\x28", b"\xed\xa0\x80"))
        + content[at:]
    )


def removed(rng, content):
    number, *_ = some_key(rng, content)
    return with_line(content, number)


def cut(rng, content):
    return content[: rng.randrange(len(content))]


def laughs(rng, content):
    rungs = ["l0: &l0 [ha]"] + [
        f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 9)}]" for n in range(1, 10)
    ]
    return content + "\n".join(rungs).encode()


WAYS = (twice, other_value, other_value, other_key, no_text, removed, cut, laughs)


def of_a_configuration(content, folder):
    """What reads a configuration: the sentence it gives, None if it takes it."""
    file = folder / "config.yaml"
    file.write_bytes(content)
    values = load_yaml(file, "config")
    # Planning what was chosen would be another matter, and takes long.
    read_workflow(values | {"studies": ["initial-window"], "scale": "smoke"})


@pytest.mark.parametrize(
    ("target", "studies"),
    [
        ("how_quick", ["how-quick"]),
        ("results/tables/how-quick.csv", ["how-quick"]),
        ("results/figures/how-quick/figure-4.pdf", ["how-quick"]),
        ("results/appendix.pdf", ["how-quick", "highway"]),
        ("results.how-quick/appendix.pdf", ["how-quick", "highway"]),
    ],
)
def test_a_target_names_its_study(tmp_path, target, studies):
    asked = {
        "studies": ["how-quick", "highway"],
        "scale": "smoke",
        "seed": 1,
        "results": str(tmp_path),
    }
    assert list(read_workflow(asked, [target]).plans) == studies


def of_a_study(content, folder):
    (folder / "initial-window.yaml").write_bytes(content)
    resolve_study("initial-window", Selection("smoke", 1))


@pytest.mark.parametrize(("content", "read"), [(CONFIG, of_a_configuration), (STUDY, of_a_study)])
def test_two_hundred_wrong_files_give_two_hundred_sentences(tmp_path, monkeypatch, content, read):
    shutil.copy(ROOT / "config/studies/initial-window.yaml", tmp_path)
    monkeypatch.setattr(study_module, "STUDIES", tmp_path)
    read(content, tmp_path)
    rng, sentences, taken = random.Random(SEED), 0, 0
    while sentences < SENTENCES / 2:
        changed = rng.choice(WAYS)(rng, content)
        try:
            read(changed, tmp_path)
        except ConfigError as error:
            sentences += 1
            text = str(error)
            assert re.match(r"[^\n]*\.yaml: [^\n]+\. [A-Z][^\n]+$", text), text
            assert len(text) < 1500, text
        else:
            taken += 1
            assert taken < SENTENCES, "most changes should make a file wrong"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("seed: 1\nseed: 2\n", "key 'seed' appears twice"),
        ("seed: .nan\n", r"\.nan is no number"),
        ("? [a]\n: 1\n", "a key must be a text"),
        ("1: 2\n", "key 1 is no text: put it in quotes"),
        (b"studies: [\xe4]\n", "byte 10 is no UTF-8"),
        ("studies: &a [*a]\n", "more than 100000 values"),
    ],
)
def test_each_is_named(tmp_path, text, told):
    file = tmp_path / "config.yaml"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ConfigError, match=told):
        load_yaml(file, "config")


@pytest.mark.parametrize("results", ["my results", "a\tb", "a;b", "a'b", "{a}", "ergebnisse-ä", ""])
def test_results_go_where_command_lines_can_follow(results):
    values = {"studies": ["initial-window"], "scale": "smoke", "seed": 1, "results": results}
    with pytest.raises(ConfigError, match=r"config/config\.yaml: results: .*no spaces"):
        read_workflow(values)


def test_a_million_cells_are_a_mistake(tmp_path):
    levels = {f"l{number}": number for number in range(100)}
    study = {"fixed": {}, "factors": {name: {"levels": levels} for name in ("a", "b", "c")}}
    with pytest.raises(ConfigError, match="their levels make 1000000 cells"):
        all_cells(tmp_path / "s.yaml", study)


def test_snakemake_says_it_in_a_sentence(tmp_path):
    """Before Snakemake reads the file in its own way."""
    for name in (
        "Snakefile",
        "scripts",
        "config",
        "rules",
        "R",
        "paper",
        "envs",
        "profiles",
        "pyproject.toml",
    ):
        if (ROOT / name).is_dir() and name == "config":
            shutil.copytree(ROOT / name, tmp_path / name)
        elif (ROOT / name).exists():
            (tmp_path / name).symlink_to(ROOT / name)
    file = tmp_path / "config/config.yaml"
    whole = yaml.safe_load(file.read_text())
    for text in (yaml.safe_dump(whole) + "seed: 3\n", b"seed: \xff\n", "seed: 1\n? [a]\n: 1\n"):
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        done = subprocess.run(
            ["snakemake", "-n", "-s", tmp_path / "Snakefile", "--config", f"results={tmp_path}/r"],
            cwd=tmp_path, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 1, done.stdout + done.stderr
        assert "Traceback" not in done.stderr
        assert re.search(r"^howquick: .*config\.yaml: .*$", done.stderr, re.M), done.stderr
