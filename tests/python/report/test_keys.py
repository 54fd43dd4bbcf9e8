"""The report without a mouse and without eyes: keys, focus, names, landmarks, targets (WCAG 2.2, AA)."""

from __future__ import annotations

from typing import Any

import pytest

from howquick.report.browser import Browser
from report.places import places
from report.sample import DETAILED, LOST, STUDY, Sample

MANY = 400
# Whatever takes keys has to say what it is.
NAMED = {
    "link",
    "button",
    "combobox",
    "listbox",
    "DisclosureTriangle",
    "image",
    "region",
    "navigation",
}
# Targets below 24 pixels must have as much room around their middle (2.5.8), but for links within a sentence
# and for points of a drawing, which a table beside it has too.
SMALL = """(() => {
  const shown = (e) => e.getClientRects().length && getComputedStyle(e).visibility === 'visible';
  const inline = (e) => [...e.parentElement.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
  const targets = [...document.querySelectorAll('a, button, select, summary')]
    .filter((e) => shown(e) && !e.closest('svg, .skip'));
  const boxes = targets.map((e) => ({ e, b: e.getBoundingClientRect() }));
  const small = ({ b }) => b.width < 24 || b.height < 24;
  const middle = ({ b }) => [b.x + b.width / 2, b.y + b.height / 2];
  const found = [];
  for (const one of boxes.filter((box) => small(box) && !inline(box.e))) {
    const [x, y] = middle(one);
    const near = boxes.find((other) => {
      if (other === one) return false;
      const clamp = (at, low, high) => Math.min(Math.max(at, low), high);
      const within = [clamp(x, other.b.left, other.b.right), clamp(y, other.b.top, other.b.bottom)];
      const [p, q] = small(other) ? middle(other) : within;
      return Math.hypot(p - x, q - y) < (small(other) ? 24 : 12);
    });
    if (near) found.push(`${one.e.outerHTML.slice(0, 90)} beside ${near.e.outerHTML.slice(0, 60)}`);
  }
  return found;
})()"""


def tab_to(page: Browser, selector: str) -> None:
    """Press Tab until an element has the focus; it must be seen that it has."""
    for _ in range(MANY):
        page.press("Tab")
        if page.run(f"document.activeElement.matches({selector!r})"):
            outline = page.run("getComputedStyle(document.activeElement).outlineStyle")
            assert outline == "solid", selector
            return
    raise AssertionError(f"no key leads to {selector}")


def tree(page: Browser) -> list[dict[str, Any]]:
    """What a screen reader is told."""
    nodes = page.call("Accessibility.getFullAXTree")["nodes"]
    return [node for node in nodes if not node["ignored"]]


def roles(page: Browser) -> list[str]:
    return [node["role"]["value"] for node in tree(page)]


def test_keys_alone_lead_from_the_first_page_to_the_packet_and_up_again(
    page: Browser, sample: Sample
) -> None:
    page.open(sample.page)
    steps = ("h2 a", f"a.tile[data-cell='{DETAILED}']", "a.slowest", ".lost-list a")
    for selector in steps:
        tab_to(page, selector)
        page.press("Enter")
    assert f"frame.number == {LOST}" in page.run("document.getElementById('main').innerText")
    for parts in (4, 2, 1, 0):
        page.press("u")
        assert page.run("parseRoute(location.hash).parts.length") == parts


def test_keys_alone_open_a_claim_and_lead_to_its_cell(page: Browser, sample: Sample) -> None:
    page.open(sample.page)
    claim = next(row["claim"] for row in sample.table("claims") if row["cells"] == DETAILED)
    tab_to(page, f"details[data-claim='{claim}'] > summary")
    page.press("Enter")
    tab_to(page, f"details[data-claim='{claim}'] a[href='#/{STUDY}/{DETAILED}']")
    page.press("Enter")
    assert page.run("parseRoute(location.hash).parts.length") == 2


def test_keys_and_clicks_lead_from_a_mark_of_a_drawing_to_what_it_stands_for(
    page: Browser, sample: Sample
) -> None:
    marks = {
        f"{STUDY}/{DETAILED}": (".dot a", 4),
        f"{STUDY}?tab=figures&figure=against-loss": (".dot a", 2),
        f"{STUDY}?tab=figures&figure=bars": (".bar-shape a", 2),
        f"{STUDY}?tab=figures&figure=sent-again": (".dot a", 4),
    }
    for place, (selector, parts) in marks.items():
        page.open(f"{sample.page}#/{place}")
        first = page.run(f"document.querySelector({selector!r}).getAttribute('href')")
        tab_to(page, selector)
        page.press("Enter")
        assert page.run("location.hash") == first
        page.open(f"{sample.page}#/{place}")
        # Another mark may lie over it.
        page.click(selector)
        assert page.run("parseRoute(location.hash).parts.length") == parts


def test_a_choice_keeps_the_focus(page: Browser, sample: Sample) -> None:
    page.open(f"{sample.page}#/{STUDY}")
    tab_to(page, "#choose-metric")
    page.press("ArrowDown")
    page.wait("location.hash.includes('metric=')")
    page.settle()
    assert page.run("document.activeElement.id") == "choose-metric"
    # And goes on from there.
    page.press("ArrowDown")
    page.press("Tab")
    assert page.run("document.activeElement.tagName") == "SELECT"
    assert page.run("document.activeElement.id") != "choose-metric"


def test_a_tab_keeps_the_focus_and_no_two_places_have_one_id(page: Browser, sample: Sample) -> None:
    page.open(f"{sample.page}#/{STUDY}")
    tab_to(page, ".tabs a[href$='tab=claims']")
    page.press("Enter")
    assert page.run("document.activeElement.matches('.tabs a[aria-current]')")
    for name, place in places(sample).items():
        page.open(sample.page + place)
        ids = page.run("[...document.querySelectorAll('[id]')].map((e) => e.id)")
        assert len(ids) == len(set(ids)), name


def test_the_way_to_the_content_keeps_the_address(page: Browser, sample: Sample) -> None:
    place = f"#/{STUDY}/{DETAILED}"
    page.open(sample.page + place)
    page.run("document.activeElement.blur(); scrollTo(0, 0)")
    page.run("document.querySelector('.skip').focus()")
    page.press("Enter")
    assert page.run("location.hash") == place
    assert page.run("document.activeElement.id") == "main"
    page.call("Page.reload")
    page.settle()
    assert page.run("location.hash") == place
    assert DETAILED in page.run("document.getElementById('main').innerText")
    # An address of an earlier page leads to the first.
    page.open(f"{sample.page}#main")
    assert page.run("document.querySelector('section[data-study]') !== null")


@pytest.mark.parametrize("width", [360, 1280])
def test_everything_has_a_name_a_place_and_room(page: Browser, sample: Sample, width: int) -> None:
    page.size(width, 900)
    page.call("Accessibility.enable")
    for name, place in places(sample).items():
        page.open(sample.page + place)
        page.run("unfold()")
        nodes = tree(page)
        nameless = [
            node["role"]["value"] for node in nodes
            if node["role"]["value"] in NAMED and not node.get("name", {}).get("value", "").strip()
        ]  # fmt: skip
        assert nameless == [], name
        found = [node["role"]["value"] for node in nodes]
        assert [found.count(role) for role in ("banner", "main", "contentinfo")] == [1, 1, 1], name
        assert page.run("document.querySelectorAll('h1').length") == 1, name
        assert page.run(SMALL) == [], name
