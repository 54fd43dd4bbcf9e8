"""Whose the cache folder must be, and that nothing in it is run before that is known."""

from __future__ import annotations

import errno
import os
import subprocess
from pathlib import Path

import pytest

from patience import HANG_S

pytestmark = pytest.mark.rights
REPO = Path(__file__).resolve().parents[2]
AS_USER = ["unshare", "--user", "--map-user=1000", "--map-group=1000", "--"]
NOBODY = 65534
NOWHERE = "http://127.0.0.1:9"


@pytest.fixture(params=[[], AS_USER], ids=["as-i-am", "as-user"])
def before(request: pytest.FixtureRequest) -> list[str]:
    """As whom `enter` is started."""
    return list(request.param)


def enter(cache: Path, before: list[str]) -> subprocess.CompletedProcess[str]:
    """`enter true` with this cache; whatever it would build fails at once, as there is no mirror."""
    kept = {name: value for name, value in os.environ.items() if name != "HOWQUICK_INSIDE"}
    return subprocess.run(
        [*before, REPO / "enter", "true"], capture_output=True, text=True, check=False, cwd=REPO,
        env=kept | {"HOWQUICK_CACHE": str(cache), "http_proxy": NOWHERE, "https_proxy": NOWHERE},
        timeout=HANG_S,
    )  # fmt: skip


def shell(script: str, cache: Path, before: list[str]) -> subprocess.CompletedProcess[str]:
    """A script that has what `enter` and the provisioning share."""
    return subprocess.run(
        [*before, "bash", "-c", f"set -eu; repo={REPO}; source $repo/scripts/provision/common.sh; {script}"],
        capture_output=True, text=True, check=False, env=os.environ | {"HOWQUICK_CACHE": str(cache)},
    )  # fmt: skip


def give_away(folder: Path) -> None:
    """Make a folder somebody else's, which only who has that user can: no ordinary user does."""
    try:
        os.chown(folder, NOBODY, -1)
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.EINVAL):
            raise
        pytest.skip("needs root")


def test_a_cache_that_is_mine_alone_is_taken(tmp_path: Path, before: list[str]) -> None:
    done = shell("check_owner; echo $cache", tmp_path / "new" / "cache", before)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.strip() == str(tmp_path / "new" / "cache")
    assert (tmp_path / "new" / "cache").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("mode", [0o777, 0o775, 0o1777])
@pytest.mark.parametrize("which", ["cache", "parent"])
def test_a_cache_that_others_can_write_is_refused(
    tmp_path: Path, before: list[str], mode: int, which: str
) -> None:
    cache = tmp_path / "parent" / "cache"
    cache.mkdir(parents=True)
    folder = cache if which == "cache" else cache.parent
    folder.chmod(mode)
    done = shell("check_owner", cache, before)
    if (which, mode) == ("parent", 0o1777):
        assert (done.returncode, done.stderr) == (0, "")  # as in /tmp
    else:
        assert done.returncode == 1
        assert f"others can write to {folder}, and what is in the cache" in done.stderr
        assert f'"chmod go-w {folder}", or set HOWQUICK_CACHE' in done.stderr


def test_a_cache_of_somebody_else_is_refused(tmp_path: Path, before: list[str]) -> None:
    cache = tmp_path / "cache"
    cache.mkdir()
    give_away(cache)
    done = enter(cache, before)
    assert done.returncode == 1
    assert (
        "belongs to" in done.stderr and "set HOWQUICK_CACHE to a folder of your own" in done.stderr
    )


def test_a_folder_in_the_way_that_is_somebody_elses_is_refused(tmp_path: Path) -> None:
    cache = tmp_path / "theirs" / "cache"
    cache.mkdir(parents=True)
    give_away(cache.parent)
    done = enter(cache, [])
    assert done.returncode == 1 and f"{cache.parent} belongs to" in done.stderr


@pytest.mark.parametrize(
    "text",
    [
        "",
        "touch {told}\n",
        "root=$(touch {told})\n",
        "root $(touch {told})\nworkflow `touch {told}`\nmanifest x\n",
        "root /\nworkflow /\nmanifest /etc/passwd\n",
        "root {cache}/roots/..\nworkflow {cache}/programs/x\nmanifest {cache}/m.json\n",
    ],
)
def test_what_says_that_all_is_there_is_read_and_not_run(
    tmp_path: Path, before: list[str], text: str
) -> None:
    """An empty one, as a power cut leaves it, counts as none."""
    told, cache = tmp_path / "told", tmp_path / "cache"
    (cache / "known").mkdir(parents=True)
    (cache / "known" / "key").write_text(text.format(told=told, cache=cache))
    done = shell(
        "check_owner; read_ready $cache/known/key && echo there || echo none", cache, before
    )
    assert done.stdout.strip() == "none", done.stderr
    assert not told.exists()


def test_what_is_there_is_found(tmp_path: Path, before: list[str]) -> None:
    cache = tmp_path / "cache"
    for name in ("known", "roots/r", "programs/w"):
        (cache / name).mkdir(parents=True)
    (cache / "m.json").write_text("{}")
    (cache / "known/key").write_text(
        f"root {cache}/roots/r\nworkflow {cache}/programs/w\nmanifest {cache}/m.json\n"
    )
    done = shell("read_ready $cache/known/key && echo $root $workflow $manifest", cache, before)
    assert done.stdout.split() == [f"{cache}/roots/r", f"{cache}/programs/w", f"{cache}/m.json"]
