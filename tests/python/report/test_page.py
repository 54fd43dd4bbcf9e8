"""The report as a person uses it: a real browser, from the disk and from scripts/view.py."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from howquick.report.browser import Browser
from howquick.report.server import Results
from patience import SOON_S, wait_until
from report.places import places
from report.sample import AGAIN, DETAILED, HOSTILE, LOST, STUDY, Sample

LIGHT_AND_DARK = pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
# Foreground and what is behind it, of every element that has a text of its own (WCAG 2.1, 1.4.3).
CONTRASTS = """(() => {
  const parse = (text) => {
    const n = text.match(/[\\d.]+/g).map(Number);
    const scale = text.startsWith('color(') ? 255 : 1;
    return [n[0] * scale, n[1] * scale, n[2] * scale, n[3] ?? 1];
  };
  const linear = (v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  const light = (c) => {
    const [r, g, b] = c.slice(0, 3).map((v) => linear(v / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (e) => {
    for (let at = e; at; at = at.parentElement) {
      const c = parse(getComputedStyle(at).backgroundColor);
      if (c[3] === 1) return c;
    }
    return [255, 255, 255, 1];
  };
  const found = [];
  for (const e of document.querySelectorAll('body *')) {
    const own = [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
    if (!own || !e.getClientRects().length) continue;
    if (['SCRIPT', 'STYLE', 'OPTION', 'title'].includes(e.tagName)) continue;
    const style = getComputedStyle(e);
    const colour = parse(e.namespaceURI.endsWith('svg') ? style.fill : style.color);
    const [a, b] = [light(colour), light(ground(e))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const name = `${e.tagName}.${e.getAttribute('class')} ${e.textContent.slice(0, 30)}`;
    if (ratio < 4.5) found.push(`${name} ${ratio.toFixed(2)}`);
  }
  return found;
})()"""
LINKS = "[...document.querySelectorAll('main a')].map((e) => e.getAttribute('href'))"
METRIC = """(() => {
  const label = [...document.querySelectorAll('.choice')].find((e) => e.textContent.startsWith('metric'));
  const select = label.querySelector('select');
  select.value = 'retransmitted_packets';
  select.dispatchEvent(new Event('change'));
})()"""


@pytest.fixture(params=["disk", "server"])
def address(request: pytest.FixtureRequest, sample: Sample, served: Results) -> str:
    return sample.page if request.param == "disk" else served.address


def text(page: Browser) -> str:
    return str(page.run("document.getElementById('main').innerText"))


def test_four_clicks_from_a_claim_to_the_packet_and_back(
    page: Browser, sample: Sample, address: str
) -> None:
    page.open(address)
    claim = next(row["claim"] for row in sample.table("claims") if row["cells"] == DETAILED)
    page.run(f"document.querySelector('details[data-claim=\"{claim}\"] > summary').click()")
    page.click(f"details[data-claim='{claim}'] a[href='#/{STUDY}/{DETAILED}']")
    assert "RTT 218 ms, Loss 0 %, Objects 50, Object size small" in text(page)
    page.click("a.slowest")
    assert "Longest silences at the client" in text(page)
    page.click(".lost-list a")
    assert "the queue in front of the link was full" in text(page)
    assert f"frame.number == {LOST}" in text(page)
    page.run("history.back()")
    page.wait("location.hash.split('/').length === 5")
    page.settle()
    assert "Packets between both ends" in text(page)
    assert page.run("window.hostile") is None
    allowed = urlsplit(address)
    assert {(urlsplit(url).scheme, urlsplit(url).netloc) for url in page.requests} == {
        (allowed.scheme, allowed.netloc)
    }


def test_what_ended_the_longest_silence_leads_to_the_packet_that_was_lost(
    page: Browser, sample: Sample, address: str
) -> None:
    slow = sample.slowest
    page.open(f"{address}#/{STUDY}/{DETAILED}/{slow['arm']}/{slow['repetition']}")
    page.click(".gap-list a")
    assert f"Packet {AGAIN} of the server" in text(page)
    page.click(f".facts a[href$='/down-{LOST}']")
    assert "the queue in front of the link was full" in text(page)


def test_an_address_from_somebody_else_shows_what_they_saw(
    page: Browser, sample: Sample, address: str
) -> None:
    for name, place in places(sample).items():
        page.open(address + place)
        assert "Not here" not in text(page), name
    page.open(
        f"{address}#/{STUDY}?a=h3-quiche&b=-&metric=retransmitted_packets&x=rtt_ms&f.loss_percent=loss2"
    )
    chosen = page.run("[...document.querySelectorAll('.controls select')].map((e) => e.value)")
    assert {"h3-quiche", "-", "retransmitted_packets", "rtt_ms", "loss2"} <= set(chosen)
    tiles = page.run(
        "[...document.querySelectorAll('.tile[data-cell]')].map((e) => e.dataset.cell)"
    )
    assert set(tiles) == {cell["name"] for cell in sample.plan["cells"] if "loss2" in cell["name"]}


def test_what_is_not_there_is_said(page: Browser, sample: Sample) -> None:
    for place in (
        "#/nothing",
        f"#/{STUDY}/nothing",
        f"#/{STUDY}/{DETAILED}/nothing/0",
        f"#/{STUDY}/%",
    ):
        page.open(sample.page + place)
        assert "Not here" in text(page)
    # A study that has no file is asked for and not found.
    page.complaints = [said for said in page.complaints if "ERR_FILE_NOT_FOUND" not in said]


def test_a_choice_is_in_the_address_and_back_undoes_it(page: Browser, sample: Sample) -> None:
    page.open(f"{sample.page}#/{STUDY}")
    page.run(METRIC)
    page.wait("location.hash.includes('metric=retransmitted_packets')")
    page.settle()
    assert "without a test" in text(page)
    page.run("history.back()")
    page.wait("!location.hash.includes('metric')")
    page.settle()
    assert "By the statistics" in text(page)


@pytest.mark.parametrize("width", [360, 1280, 3840])
@LIGHT_AND_DARK
def test_nothing_is_cut_off_and_all_can_be_read(
    page: Browser, sample: Sample, width: int, dark: bool
) -> None:
    page.size(width, 900, dark)
    for name, place in places(sample).items():
        page.open(sample.page + place)
        # A phone shows a page that is too wide smaller, and says that its window is as wide.
        assert page.run("document.documentElement.scrollWidth") <= width, name
        assert page.run(CONTRASTS) == [], name


def test_the_theme_can_be_chosen(page: Browser, sample: Sample) -> None:
    page.open(sample.page)
    grounds = set()
    for _ in range(3):
        page.run("document.querySelector('.theme').click()")
        grounds.add(page.run("getComputedStyle(document.body).backgroundColor"))
    assert len(grounds) == 2


def test_hostile_texts_stay_texts(page: Browser, sample: Sample, address: str) -> None:
    slow = sample.slowest
    load = f"#/{STUDY}/{DETAILED}/{slow['arm']}/{slow['repetition']}"
    for place in (f"#/{STUDY}?tab=claims", f"#/{STUDY}?tab=loads", f"#/{STUDY}/{DETAILED}", load):
        page.open(address + place)
        shown = page.run("document.getElementById('main').textContent")
        assert HOSTILE[:40] in shown, place
        assert (
            page.run("document.querySelectorAll('main script, main img:not(.film img)').length")
            == 0
        )
    assert page.run("window.hostile") is None
    hrefs = page.run(f"{LINKS}.map((href) => new URL(href, location).protocol)")
    assert set(hrefs) <= {"file:", "http:", "https:"}


def test_the_viewer_of_qlogs_is_offered_where_it_can_read_them(
    page: Browser, sample: Sample, served: Results
) -> None:
    place = places(sample)["load"]
    page.open(served.address + place)
    link = page.run(f"{LINKS}.find((href) => href.includes('qvis'))")
    assert link.startswith("https://qvis.quictools.info/#/sequence?file=http%3A%2F%2F127.0.0.1")
    page.open(sample.page + place)
    assert not page.run(f"{LINKS}.some((href) => href.includes('qvis'))")
    assert page.run(f"{LINKS}.some((href) => href.endsWith('.sqlog'))")


def test_a_har_comes_under_a_name_that_browsers_import(
    page: Browser, sample: Sample, served: Results, tmp_path: Path
) -> None:
    slow = sample.slowest
    name = f"{STUDY}-{DETAILED}-{slow['arm']}-{slow['repetition']}.har"
    page.open(sample.page + places(sample)["load"])
    link = page.run("document.querySelector('a.har').href")
    assert link == (sample.folder / slow["path"] / "artifacts/har.json").as_uri()
    page.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path))
    page.open(served.address + places(sample)["load"])
    page.run("document.querySelector('a.har').click()")
    assert wait_until((tmp_path / name).exists, SOON_S)
    assert json.loads((tmp_path / name).read_text())["log"]["version"] == "1.2"


def test_a_command_names_the_file_as_it_is_on_the_disk(page: Browser, sample: Sample) -> None:
    page.open(sample.page + places(sample)["packet"])
    command = page.run("document.querySelector('.copyable code').textContent")
    assert command.startswith(
        f"wireshark -r {sample.folder}/{sample.slowest['path']}/server.pcapng -Y "
    )


def test_two_loads_on_one_time_axis(page: Browser, sample: Sample) -> None:
    slow = sample.slowest
    other = next(
        row for row in sample.rows if row["cell"] == DETAILED and row["arm"] != slow["arm"]
    )
    page.open(f"{sample.page}{places(sample)['load']}?with={other['arm']}~{other['repetition']}")
    chosen = page.run("document.querySelector('.controls select').value")
    assert chosen == f"{other['arm']}~{other['repetition']}"


def test_many_loads_are_a_canvas_that_leads_to_each(page: Browser, sample: Sample) -> None:
    page.open(f"{sample.page}#/{STUDY}/{DETAILED}")
    assert page.run("document.querySelectorAll('canvas').length") == 0
    drawn = page.run(
        """(() => {
  const points = Array.from({ length: MOST_ELEMENTS + 1 }, (_, n) => ({ x: n, y: 5, size: 3,
    mark: MARKS[n % 4], colour: '#3b82c4', hollow: n % 5 === 0, edge: n === 7 ? 'currentColor' : null,
    href: () => `#/STUDY/${n}`, title: () => `load ${n}` }));
  const axes = { x: { domain: [0, 400] }, y: { domain: [0, 10] } };
  const given = { label: 'loads', width: 300, height: 100, ...axes, marks: [] };
  document.getElementById('main').replaceChildren(withPoints(given, points));
  const canvas = document.querySelector('canvas');
  const send = (kind, offsetX, offsetY) => {
    const event = new MouseEvent(kind, { bubbles: true });
    Object.defineProperty(event, 'offsetX', { value: offsetX });
    Object.defineProperty(event, 'offsetY', { value: offsetY });
    canvas.dispatchEvent(event);
  };
  const svg = document.querySelector('.layers svg');
  const [x, y] = [svg.scale('x').apply(100), svg.scale('y').apply(5)];
  send('mousemove', x, y + 2);
  const near = canvas.title;
  send('mousemove', x, y + 40);
  const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
  return [near, canvas.title, data.some((value) => value > 0), canvas.getAttribute('aria-label')];
})()"""
    )
    assert drawn == ["load 100", "", True, "loads: 401 points"]
