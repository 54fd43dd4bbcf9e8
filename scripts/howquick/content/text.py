"""The HTML, style sheets and scripts of a real page."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass

VOCABULARY = (
    "packet window stream handshake segment buffer queue path sender receiver router measurement "
    "page image network delay loss bandwidth arrives leaves waits grows shrinks doubles halves "
    "slowly early late again after before while with without over under every first last next the "
    "a one many of in on and but so because until where"
)
BARS = 24

BASE_CSS = """\
body { margin: 0; font-family: "DejaVu Sans", sans-serif; color: #222; background: #f2efe8; }
header { background: #14324a; color: #fff; padding: 12px 24px; }
header h1 { margin: 0; font-size: 28px; }
#status { background: #b3402a; color: #fff; padding: 6px 24px; }
#status.ready { background: #2f7d4f; }
main { display: grid; grid-template-columns: repeat(6, 1fr); gap: 10px; padding: 12px 24px; }
figure { margin: 0; background: #fff; border: 1px solid #ccc; }
figure img { display: block; width: 100%; height: auto; }
figure.hero { grid-column: 1 / 5; grid-row: 1 / 4; }
figcaption { font-size: 12px; padding: 4px 6px; }
.text { grid-column: 5 / 7; grid-row: 1 / 4; overflow: hidden; max-height: 480px; font-size: 13px; }
.widget { display: flex; align-items: flex-end; height: 60px; padding: 4px 24px; background: #fff; }
.widget i { flex: 1; margin: 0 1px; background: #3f6fa3; }
"""

SCRIPT = """\
'use strict';
// One bar for each part of the samples, as high as their mean.
(() => {
  const samples = %s;
  const bars = %d;
  const size = Math.ceil(samples.length / bars);
  const widget = document.getElementById('widget-%d');
  for (let first = 0; first < samples.length; first += size) {
    const part = samples.slice(first, first + size);
    const mean = part.reduce((sum, value) => sum + value, 0) / part.length;
    const bar = document.createElement('i');
    bar.style.height = `${Math.round(mean / 10)}%%`;
    widget.append(bar);
  }
})();
"""

READY = """\
const pictures = document.images.length;
const status_ = document.getElementById('status');
status_.textContent = `Scripts ran: ${pictures} pictures, ${document.styleSheets.length} style sheets`;
status_.className = 'ready';
"""


@dataclass(frozen=True)
class Image:
    """A picture's path on the server and its size in pixels."""

    path: str
    width: int
    height: int


def prose(generator: random.Random, length: int) -> str:
    """About `length` characters of sentences without a meaning."""
    words = VOCABULARY.split()
    sentences: list[str] = []
    while sum(map(len, sentences)) < length:
        chosen = [generator.choice(words) for _ in range(generator.randint(6, 16))]
        sentences.append(" ".join(chosen).capitalize() + ". ")
    return "".join(sentences)[:length].rstrip()


def html(
    name: str, sheets: list[str], scripts: list[str], images: list[Image], length: int, seed: int
) -> str:
    """An HTML page of about `length` characters.

    The sheets in its head block rendering, the scripts are deferred, the main image comes first.
    """
    generator = random.Random(seed)
    links = "\n".join(f'<link rel="stylesheet" href="{path}">' for path in sheets)
    deferred = "\n".join(f'<script defer src="{path}"></script>' for path in scripts)
    widgets = "\n".join(
        f'<div class="widget" id="widget-{number}"></div>' for number in range(len(scripts))
    )
    first, *others = [_figure(image, generator) for image in images]
    # No document type: in this mode alone browsers use a style sheet whose server sends no type with it,
    # as some of the servers under test do. Without an icon a browser would ask the server for one.
    head = (
        '<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<title>Site {name}</title>\n<link rel="icon" href="data:,">\n{links}\n{deferred}\n</head>\n'
    )
    top = (
        f"{head}<body>\n<header><h1>Site {name}</h1></header>\n"
        f'<div id="status">Scripts have not run</div>\n<main>\n{first}\n<div class="text"><p>'
    )
    bottom = "</p></div>\n" + "\n".join(others) + f"\n</main>\n{widgets}\n</body>\n</html>\n"
    return top + prose(generator, max(200, length - len(top) - len(bottom))) + bottom


def _figure(image: Image, generator: random.Random) -> str:
    kind = ' class="hero"' if "main" in image.path else ""
    caption = prose(generator, 40)
    return (
        f'<figure{kind}><img src="{image.path}" width="{image.width}" height="{image.height}" alt="">'
        f"<figcaption>{caption}</figcaption></figure>"
    )


def style_sheet(number: int, length: int, seed: int) -> str:
    """A style sheet of about `length` characters.

    The first lays out the page, each other one colours some pictures.
    """
    generator = random.Random(seed)
    colour = f"{generator.randint(0x50, 0xC0):02x}{generator.randint(0x50, 0xC0):02x}a0"
    rules = [BASE_CSS] if number == 0 else [
        f"figure:nth-of-type({number + 3}n+2) {{ border-bottom: 6px solid #{colour}; }}\n"
    ]  # fmt: skip
    while sum(map(len, rules)) < length:
        word, amount = generator.choice(VOCABULARY.split()), generator.randint(0, 64)
        rules.append(f".{word}-{len(rules)} {{ margin: {amount}px; color: #{colour}; }}\n")
    return "".join(rules)


def script(number: int, count: int, length: int, seed: int) -> str:
    """A script of about `length` characters that draws its numbers; the last of `count` says that all ran."""
    generator = random.Random(seed)
    samples = [generator.randrange(100, 1000) for _ in range(max(BARS, length // 5))]
    body = SCRIPT % (json.dumps(samples), BARS, number)
    return body + (READY if number == count - 1 else "")
