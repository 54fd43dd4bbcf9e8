"""Manifests, archives and checkouts from elsewhere: nothing outside their own folders is touched."""

import subprocess
import zipfile

import pytest

from howquick.archive import contents
from howquick.errors import UserError
from howquick.extract.packing import pack_block, run_folder, unpack_block

CELL = "runs/a-study/a-cell"


def results_with(tmp_path, path=f"{CELL}/arm/0000", **change):
    """A results folder with one load, its manifest, and a file beside it that nobody may touch."""
    results = tmp_path / "results"
    folder = results / CELL / "arm/0000"
    folder.mkdir(parents=True)
    (folder / "meta.json").write_text("{}")
    (folder / "client.log").write_text("log")
    precious = tmp_path / "precious" / "0000"
    precious.mkdir(parents=True)
    (precious / "thesis.tex").write_text("years of work")
    manifest = {"study": "a-study", "cell": "a-cell", "block": 0,
                "runs": [{"arm": "arm", "repetition": 0, "path": path}]} | change  # fmt: skip
    return results, manifest, precious / "thesis.tex"


@pytest.mark.parametrize(
    "change",
    [
        {"path": "../precious/0000"},
        {"path": "{precious}"},
        {"path": f"{CELL}/../../../../precious/0000"},
        {"path": "runs/a-study/other-cell/arm/0000"},
        {"study": "../../precious"},
        {"cell": ".."},
        {"block": "../../0"},
    ],
)
def test_a_manifest_cannot_name_what_is_removed(tmp_path, change):
    change = {key: text.format(precious=tmp_path / "precious/0000") for key, text in change.items()}
    results, manifest, precious = results_with(tmp_path, **change)
    for act in (pack_block, unpack_block):
        with pytest.raises(UserError, match="This manifest is not the workflow's own"):
            act(manifest, results)
    assert precious.read_text() == "years of work"
    assert (results / CELL / "arm/0000/client.log").exists()


def test_links_among_loads_are_refused(tmp_path):
    results, manifest, precious = results_with(tmp_path, path=f"{CELL}/link/0000")
    (results / CELL / "link").symlink_to(precious.parent.parent)
    with pytest.raises(UserError, match="a link in the place of a folder"):
        pack_block(manifest, results)
    manifest["runs"][0]["path"] = f"{CELL}/arm/0000"
    (results / CELL / "arm/0000/latest.qlog").symlink_to(precious)
    with pytest.raises(UserError, match=r"latest\.qlog: no regular file"):
        pack_block(manifest, results)
    assert precious.exists()


@pytest.mark.parametrize("name", ["../../../../../escaped", "/escaped", "a/../../../escaped"])
def test_an_archive_cannot_name_where_it_goes(tmp_path, name):
    results, manifest, _ = results_with(tmp_path)
    with zipfile.ZipFile(results / CELL / "0.zip", "w") as archive:
        archive.writestr("arm/0000/meta.json", "{}")
        archive.writestr(f"arm/0000/{name}", "out")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(UserError, match="none of a load's files"):
        unpack_block(manifest, results)
    with (
        pytest.raises(UserError, match="none of a load's files"),
        run_folder(manifest, results, manifest["runs"][0]),
    ):
        pass
    assert sorted(tmp_path.rglob("*")) == before


def test_an_archive_whose_files_grow_is_not_ours(tmp_path):
    """A few bytes could fill the disk; ours holds files as they are."""
    results, manifest, _ = results_with(tmp_path)
    with zipfile.ZipFile(results / CELL / "0.zip", "w") as archive:
        archive.writestr("arm/0000/meta.json", "{}")
        archive.writestr("arm/0000/client.pcapng", bytes(1 << 20), zipfile.ZIP_DEFLATED)
    with pytest.raises(UserError, match="none of a load's files"):
        unpack_block(manifest, results)
    assert not (results / CELL / "arm/0000/client.pcapng").exists()


def test_an_archive_is_not_written_through_a_link(tmp_path):
    results, manifest, precious = results_with(tmp_path)
    (results / CELL / "arm/0000/qlog").symlink_to(precious.parent)
    with zipfile.ZipFile(results / CELL / "0.zip", "w") as archive:
        archive.writestr("arm/0000/meta.json", "{}")
        archive.writestr("arm/0000/qlog/new", "through")
    with pytest.raises(UserError, match="a link"):
        unpack_block(manifest, results)
    assert [path.name for path in precious.parent.iterdir()] == ["thesis.tex"]


def git(folder, *words):
    subprocess.run(
        ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", "-C", folder, *words],
        check=True, capture_output=True,
    )  # fmt: skip


@pytest.fixture
def checkout(tmp_path):
    root = tmp_path / "checkout"
    (root / "scripts").mkdir(parents=True)
    (root / "scripts/known.py").write_text("1")
    (root / "envs/one").mkdir(parents=True)
    (root / "envs/one/shared.c").write_text("2")
    (root / "envs/two").symlink_to("one")
    git(tmp_path, "init", "-q", root)
    git(root, "add", "-A")
    return root


def test_the_archive_has_what_is_tracked_and_nothing_else(checkout, tmp_path):
    (checkout / "scripts/secret.key").write_text("mine")
    (tmp_path / "outside.py").write_text("theirs")
    (checkout / "scripts/outside.py").symlink_to(tmp_path / "outside.py")
    names = {member.name for member in contents.code(checkout)}
    assert names == {"scripts/known.py", "envs/one/shared.c", "envs/two/shared.c"}
    git(checkout, "add", "scripts/outside.py")
    with pytest.raises(UserError, match=r"outside\.py: leads out of the project"):
        list(contents.code(checkout))


def test_a_study_that_git_does_not_know_is_no_surprise_later(checkout):
    with pytest.raises(UserError, match=r"git add config/studies/mine\.yaml"):
        contents.check_studies(contents.code(checkout), ["mine"])
