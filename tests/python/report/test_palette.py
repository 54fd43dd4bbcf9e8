"""Both themes can be read: contrast of texts and marks with what is behind them (WCAG 2.1, 1.4.3, 1.4.11)."""

from __future__ import annotations

import re

import pytest

from howquick.errors import ROOT

PAGE = ROOT / "scripts/howquick/report/page"
STYLE = (PAGE / "style.css").read_text(encoding="utf-8")
TEXT, MARK = 4.5, 3.0
# Names of what is written on what.
TEXTS = [
    *((name, ground) for name in ("text", "quiet", "link") for ground in ("ground", "card")),
    ("good", "good-ground"), ("bad", "bad-ground"), ("open", "open-ground"), ("text", "none-ground"),
    ("bad", "card"), ("bad", "ground"),
]  # fmt: skip
Colour = tuple[float, ...]


def palette(selector: str) -> dict[str, Colour]:
    """The colours that a block of the style sheet defines."""
    block = STYLE[STYLE.index(selector) :].split("{", 1)[1].split("}", 1)[0]
    found = re.findall(r"--([\w-]+): #([0-9a-f]{6});", block)
    return {name: tuple(bytes.fromhex(digits)) for name, digits in found}


LIGHT = palette(":root {")
DARK = palette(":root[data-theme='dark']")
THEMES = pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])


def luminance(colour: Colour) -> float:
    """Relative luminance, 0 to 1."""
    parts = [value / 255 for value in colour]
    linear = [
        value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in parts
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: Colour, other: Colour) -> float:
    """From 1 to 21."""
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def mixed(one: Colour, other: Colour, share: float) -> Colour:
    """So much of one colour in another, as color-mix in sRGB has it."""
    return tuple(share * a + (1 - share) * b for a, b in zip(one, other, strict=True))


def test_contrast_is_that_of_the_standard() -> None:
    assert contrast((0, 0, 0), (255, 255, 255)) == 21
    assert round(contrast((0x76,) * 3, (255,) * 3), 2) == 4.54


def test_who_chooses_dark_and_who_prefers_it_see_the_same() -> None:
    assert palette(":root:not([data-theme='light'])") == DARK
    assert LIGHT.keys() == DARK.keys() and len(LIGHT) > 10


@THEMES
def test_texts(theme: dict[str, Colour]) -> None:
    low = [pair for pair in TEXTS if contrast(theme[pair[0]], theme[pair[1]]) < TEXT]
    assert low == []


@THEMES
def test_texts_on_tiles_of_any_shade(theme: dict[str, Colour]) -> None:
    for name in ("lower", "higher"):
        for percent in range(63):
            ground = mixed(theme[name], theme["card"], percent / 100)
            assert contrast(theme["text"], ground) >= TEXT, (name, percent)


@THEMES
def test_marks_and_focus(theme: dict[str, Colour]) -> None:
    code = (PAGE / "plot.js").read_text(encoding="utf-8")
    listed = re.search(r"const COLOURS = \[(.*?)\]", code)
    assert listed
    marks = [tuple(bytes.fromhex(digits)) for digits in re.findall(r"#([0-9a-f]{6})", listed[1])]
    assert len(marks) == 8
    for ground in ("ground", "card"):
        low = [mark for mark in marks if contrast(mark, theme[ground]) < MARK]
        assert low == [], ground
        assert contrast(theme["focus"], theme[ground]) >= MARK
