"""Sites of four sizes, made from a seed."""

from __future__ import annotations

import random
from hashlib import sha256
from pathlib import Path
from typing import Any

from howquick.content.picture import draw, size_for
from howquick.content.text import Image, html, script, style_sheet
from howquick.errors import UserError
from howquick.files import write_json
from howquick.seeds import derive_seed
from howquick.study.sites import SITES, Site
from howquick.study.workload import HTML_NAME


def make_site(name: str, seed: int, folder: Path) -> list[dict[str, Any]]:
    """Make site `name` (a key of SITES) in `folder`: `www/` and `page.json`, which is also returned.

    A list of `{"path", "bytes", "sha256"}`, the HTML first, then in the order of the document. The path of
    the main image, the largest, contains `main`; no other path does. Same seed, same bytes.
    Raises UserError for an unknown name.
    """
    if name not in SITES:
        raise UserError(f"site {name!r} is unknown. Use one of: {', '.join(SITES)}")
    bodies = _bodies(name, SITES[name], seed)
    for path, body in bodies.items():
        file = folder / "www" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(body)
    index = [
        {"path": f"/{path}", "bytes": len(body), "sha256": sha256(body).hexdigest()}
        for path, body in bodies.items()
    ]
    write_json(folder / "page.json", index)
    return index


def _bodies(name: str, site: Site, seed: int) -> dict[str, bytes]:
    """The files of a site by path, in the order of the document."""

    def part(path: str) -> int:
        return derive_seed(seed, "site", name, path)

    sheets = [f"css/style-{number}.css" for number in range(site.sheets)]
    scripts = [f"js/app-{number}.js" for number in range(site.scripts)]
    pictures = _picture_sizes(site, part("sizes"))
    images = [Image(path, *size_for(length)) for path, length in pictures.items()]
    page = html(name, sheets, scripts, images, site.html_bytes, part(HTML_NAME))
    texts = {HTML_NAME: page}
    for number, path in enumerate(sheets):
        texts[path] = style_sheet(number, site.sheet_bytes, part(path))
    for number, path in enumerate(scripts):
        texts[path] = script(number, site.scripts, site.script_bytes, part(path))
    drawn = {image.path: draw(image.width, image.height, part(image.path)) for image in images}
    return {path: text.encode() for path, text in texts.items()} | drawn


def _picture_sizes(site: Site, seed: int) -> dict[str, int]:
    """Wanted length of every picture's file in bytes by path; some are three times as long as others."""
    generator = random.Random(seed)
    weights = [generator.randint(50, 150) for _ in range(site.pictures)]
    total = site.pictures * site.picture_bytes
    others = {
        f"images/{number:03}.png": total * weight // sum(weights)
        for number, weight in enumerate(weights)
    }
    return {"images/main.png": site.main_bytes} | others
