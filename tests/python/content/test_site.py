"""Real pages: same bytes from the same seed, pictures that decode, a list that is what lies in the folder."""

import json
import re
import struct
import zlib
from hashlib import sha256

import pytest

from howquick.content.picture import draw, size_for
from howquick.content.site import SITES, make_site
from howquick.errors import UserError

# Resources and bytes that each site is to have, about.
PROMISED = {
    "small": (10, 300_000),
    "medium": (30, 1_500_000),
    "large": (80, 4_000_000),
    "web": (8, 1_500_000),
}


@pytest.fixture(scope="module", params=sorted(PROMISED))
def site(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    return request.param, folder, make_site(request.param, 7, folder)


def decoded(picture):
    """Width, height and bytes of the pixels of an RGB PNG; checks every chunk's sum."""
    assert picture[:8] == b"\x89PNG\r\n\x1a\n"
    chunks, at = {}, 8
    while at < len(picture):
        length, kind = struct.unpack(">I4s", picture[at : at + 8])
        body = picture[at + 8 : at + 8 + length]
        assert picture[at + 8 + length : at + 12 + length] == struct.pack(
            ">I", zlib.crc32(kind + body)
        )
        chunks[kind] = body
        at += 12 + length
    assert list(chunks) == [b"IHDR", b"IDAT", b"IEND"]
    width, height, depth, colour = struct.unpack(">IIBB", chunks[b"IHDR"][:10])
    assert (depth, colour) == (8, 2)
    rows, line_bytes = zlib.decompress(chunks[b"IDAT"]), 1 + 3 * width
    assert len(rows) == height * line_bytes
    lines = [rows[y * line_bytes : (y + 1) * line_bytes] for y in range(height)]
    assert all(line[0] == 0 for line in lines)
    return width, height, b"".join(line[1:] for line in lines)


def test_every_promised_site_exists():
    assert set(SITES) == set(PROMISED)


def test_a_site_has_the_promised_size(site):
    name, _, index = site
    count, size = PROMISED[name]
    assert len(index) == count
    assert abs(sum(entry["bytes"] for entry in index) / size - 1) < 0.1


def test_the_list_is_what_lies_in_the_folder(site):
    _, folder, index = site
    assert json.loads((folder / "page.json").read_text()) == index
    files = {f"/{path.relative_to(folder / 'www')}" for path in (folder / "www").rglob("*.*")}
    assert index[0]["path"] == "/page.html"
    assert {entry["path"] for entry in index} == files
    for entry in index:
        body = (folder / "www" / entry["path"][1:]).read_bytes()
        assert entry["bytes"] == len(body) and entry["sha256"] == sha256(body).hexdigest()


def test_the_html_asks_for_everything_in_the_order_of_the_list(site):
    _, folder, index = site
    html = (folder / "www" / "page.html").read_text()
    asked = re.findall(r'(?:src|href)="([^":]+)"', html)
    assert [f"/{path}" for path in asked] == [entry["path"] for entry in index[1:]]


def test_one_image_is_the_main_one_and_the_largest(site):
    _, _, index = site
    main = [entry for entry in index if "main" in entry["path"]]
    assert len(main) == 1
    assert main[0] == max(index, key=lambda entry: entry["bytes"])


def test_pictures_decode_to_the_size_that_the_html_states_and_do_not_compress(site):
    _, folder, index = site
    html = (folder / "www" / "page.html").read_text()
    pictures = [entry["path"][1:] for entry in index if entry["path"].endswith(".png")]
    for path in pictures:
        body = (folder / "www" / path).read_bytes()
        width, height, pixels = decoded(body)
        assert f'src="{path}" width="{width}" height="{height}"' in html
        assert len(set(pixels)) > 64, "a scene, not one colour"
        # A photograph as JPEG has no redundancy left; the grain leaves little.
        assert len(zlib.compress(body, 9)) > 0.75 * len(body)


def test_the_seed_decides_every_byte(tmp_path):
    first, again, other = (
        make_site("small", seed, tmp_path / name) for name, seed in (("a", 1), ("b", 1), ("c", 2))
    )
    assert first == again
    same = [a["path"] for a, b in zip(first, other, strict=True) if a["sha256"] == b["sha256"]]
    assert same == []


def test_bytes_are_the_same_on_every_machine(tmp_path):
    """No compression and whole numbers only: a change here changes every result that used a site."""
    index = make_site("small", 1, tmp_path)
    assert index[0]["sha256"].startswith("918d4264f237016c")
    assert index[3]["sha256"].startswith("16a18169de8ec675")


def test_an_unknown_site_is_named(tmp_path):
    with pytest.raises(UserError, match=r"site 'huge' is unknown\. Use one of: small, medium"):
        make_site("huge", 1, tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("wanted", [1, 700, 5_000, 100_000, 1_000_000])
def test_a_picture_has_about_the_length_that_is_asked_for(wanted):
    body = draw(*size_for(wanted), seed=3)
    decoded(body)
    assert wanted > 2_000 or len(body) < 2_000
    assert wanted <= 2_000 or abs(len(body) - wanted) < 0.02 * wanted
