"""Pages, certificates, files that are whole or absent, and the check of what a client reports."""

import hashlib
import json
import subprocess

import pytest

from howquick.content.pages import make_certificates, make_page, object_sizes
from howquick.files import atomic_folder, write_json
from howquick.measure.children import ProgramFailed
from howquick.measure.verify import verified_timing

SMALL = {"objects": 50, "object_size": {"bytes": [400, 8000]}}
LARGE = {"objects": 3, "object_size": {"bytes": 131072}}


def test_a_page_follows_from_the_seed_alone(tmp_path):
    pages = []
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        make_page(SMALL, seed, tmp_path / name)
        pages.append((tmp_path / name / "page.json").read_text())
    assert pages[0] == pages[1] != pages[2]


def test_sizes_and_hashes_are_what_the_index_says(tmp_path):
    make_page(LARGE, 1, tmp_path / "page")
    index = json.loads((tmp_path / "page/page.json").read_text())
    assert [entry["path"] for entry in index[:2]] == ["/page.html", "/objects/000.jpg"]
    assert [entry["bytes"] for entry in index[1:]] == [131072] * 3
    html = (tmp_path / "page/www/page.html").read_text()
    for entry in index:
        body = (tmp_path / "page/www" / entry["path"].lstrip("/")).read_bytes()
        assert len(body) == entry["bytes"] and hashlib.sha256(body).hexdigest() == entry["sha256"]
        assert entry["path"] == "/page.html" or f'src="{entry["path"][1:]}"' in html


def test_small_objects_have_the_sizes_of_the_paper():
    sizes = object_sizes(SMALL, 2014)
    assert all(400 <= size <= 8000 for size in sizes) and len(set(sizes)) > 40


def test_the_certificate_verifies_and_the_ca_key_is_gone(tmp_path):
    folder = tmp_path / "certificates"
    make_certificates(folder)
    assert {path.name for path in folder.iterdir()} == {
        "ca.pem",
        "cert.pem",
        "leaf.pem",
        "priv.key",
    }
    for name in ("server.test", "localhost"):
        done = subprocess.run(
            ["openssl", "verify", "-CAfile", folder / "ca.pem", "-verify_hostname", name,
             folder / "leaf.pem"],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr


def test_a_folder_is_replaced_whole_or_not_at_all(tmp_path):
    folder = tmp_path / "run"
    with atomic_folder(folder) as new:
        (new / "file").write_text("first")
    with pytest.raises(RuntimeError), atomic_folder(folder) as new:
        (new / "file").write_text("second")
        raise RuntimeError
    assert (folder / "file").read_text() == "first"
    with atomic_folder(folder) as new:
        (new / "file").write_text("third")
    assert (folder / "file").read_text() == "third"
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


PAGE = [
    {"path": "/page.html", "bytes": 3, "sha256": "aa"},
    {"path": "/objects/000.jpg", "bytes": 5, "sha256": "bb"},
]


def report(**change):
    """A correct report of a client on PAGE, with some keys changed."""
    objects = [
        entry | {"status": 200, "start_s": 0.0, "first_byte_s": 0.1, "end_s": 0.2} for entry in PAGE
    ]
    return {"protocol": "h1", "start": 1e9, "objects": objects} | change


def changed_object(**change):
    """A report in which the second object is another one."""
    data = report()
    data["objects"][1] |= change
    return data


def test_a_correct_report_gives_the_page_load_time(tmp_path):
    write_json(tmp_path / "timing.json", changed_object(end_s=0.5))
    assert verified_timing(tmp_path / "timing.json", PAGE, "h1").plt_s == 0.5


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (report(protocol="h2"), "spoke h2, not h1"),
        (report(objects=report()["objects"][:1]), "1 objects reported, 2 asked"),
        (report(objects=[]), "malformed"),
        (report(start=0), "not positive"),
        (changed_object(sha256="cc"), "/objects/000.jpg: other bytes"),
        (changed_object(bytes=4), "/objects/000.jpg: other bytes"),
        (changed_object(status=404), "HTTP status 404"),
        (changed_object(path="/other"), "/objects/000.jpg was not fetched"),
        ({"protocol": "h1"}, "malformed"),
    ],
)
def test_a_wrong_report_is_a_failure_with_its_reason(tmp_path, data, reason):
    write_json(tmp_path / "timing.json", data)
    with pytest.raises(ProgramFailed, match=reason):
        verified_timing(tmp_path / "timing.json", PAGE, "h1")
