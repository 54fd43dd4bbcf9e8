"""Tables and texts as scripts: nothing is rounded, and nothing ends the script."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from howquick.report.encode import parse, read_rows, script, table, write_data
from howquick.report.load import LoadFiles, detail_tables, load_detail, log_text

PAGE = Path(__file__).parents[3] / "scripts/howquick/report/page"
TEXTS = [
    "</script>",
    "<!--",
    "]]>",
    "\u2028\u2029",
    '"\\',
    "\x00\x1f",
    "&lt;",
    "a,b\nc",
    "__proto__",
]


@pytest.mark.parametrize(
    ("text", "value"),
    [("", None), ("0", 0), ("-3", -3), ("0.1", 0.1), ("1e-05", 1e-05), ("1e999", "1e999"),
     ("5178864171900170439", "5178864171900170439"), ("Inf", "Inf"), ("NaN", "NaN"), ("1_0", "1_0"),
     ("0x10", "0x10"), (" 1", " 1"), ("TRUE", "TRUE"), ("٣", "٣")],
)  # fmt: skip
def test_fields(text: str, value: object) -> None:
    assert parse(text) == value and type(parse(text)) is type(value)


@pytest.mark.parametrize("text", TEXTS)
def test_no_text_ends_the_script(text: str) -> None:
    made = script("k", {"t": text})
    assert not {"<", ">", "&"} & set(made) and made.isascii() and made.count("\n") == 1
    given = made.removeprefix('howquick.data("k",').removesuffix(");\n")
    assert json.loads(given) == {"t": text}


def test_the_page_reads_what_was_written(tmp_path: Path) -> None:
    rows = [
        {"a": str(n), "b": "same", "c": "xy"[n % 2], "d": "", "e": "0.5" if n else ""}
        for n in range(5)
    ]
    write_data(tmp_path, "k", {"t": table(rows), "text": TEXTS}, "s/")
    node = shutil.which("node")
    assert node
    code = f"{(PAGE / 'data.js').read_text()}\n{(tmp_path / 'k.js').read_text()}\n" + (
        "howquick.load('s/k').then((v) => console.log(JSON.stringify([howquick.rows(v.t), v.text])))"
    )
    done = subprocess.run([node, "-e", code], capture_output=True, text=True, check=True)
    read, texts = json.loads(done.stdout)
    assert texts == TEXTS
    assert read == [
        {"a": n, "b": "same", "c": "xy"[n % 2], "e": 0.5 if n else None} for n in range(5)
    ]


def test_no_file_is_no_rows(tmp_path: Path) -> None:
    assert read_rows(tmp_path / "nothing.csv") == []
    assert table([]) == {"n": 0, "columns": {}}


def test_a_long_log_keeps_both_ends(tmp_path: Path) -> None:
    log = tmp_path / "client.log"
    log.write_bytes(b"begin" + b"\xff" * 100_000 + b"end")
    text = log_text(log)
    assert text is not None and text.startswith("begin") and text.endswith("end")
    assert "bytes left out" in text and len(text) < 17_000
    assert log_text(tmp_path / "none.log") is None


@pytest.mark.parametrize("path", ["../outside", "/etc", "runs/link", ""])
def test_a_path_that_leads_out_of_the_results_is_not_read(tmp_path: Path, path: str) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "meta.json").write_text('{"order": 1}')
    results = tmp_path / "results"
    (results / "runs").mkdir(parents=True)
    (results / "runs" / "link").symlink_to(tmp_path / "outside")
    load = LoadFiles(results, {"arm": "a", "repetition": "0", "path": path})
    assert load.folder is None
    assert load_detail(load, detail_tables([])) == {}


def test_a_damaged_meta_is_left_out(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "meta.json").write_text('{"order": ')
    found = load_detail(
        LoadFiles(tmp_path, {"arm": "a", "repetition": "0", "path": "run"}), detail_tables([])
    )
    assert found["meta"] == {} and found["files"] == [["meta.json", 10]]
