"""The lab's page for its readers: phones, the keyboard, paper, and the rules of axe-core."""

from __future__ import annotations

import base64
import itertools
import re
from importlib import resources
from typing import TYPE_CHECKING

import pytest

from helpers.colours import VISIONS, contrast, difference
from helpers.lab_page import COLOURS, DONE, NEEDS_BROWSER, TWO, leave_refused

if TYPE_CHECKING:
    from goodqueue.lab.server import LabServer
    from helpers.browser import Page

pytestmark = NEEDS_BROWSER


AXE = "axe.run(document, { resultTypes: ['violations'] }).then((r) => r.violations)"
STATES = {
    "one": "",
    "two": TWO,
    "packets": "#story=codel&watch=2",
    "guess": "#story=full-queue",
    "mistake": "#rate=2Mbps&file=schema_version%20%3D%201",
}


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("state", STATES.values(), ids=STATES)
def test_axe_finds_no_violation(page: Page, server: LabServer, state: str, dark: bool) -> None:
    """Names, roles, contrast and headings, by axe-core."""
    page.size(1280, 800, dark=dark)
    page.open(server.url + state)
    asks = "document.querySelector('.story')?.dataset.verdict === 'asking'"
    page.wait(f"{DONE} || {asks} || document.querySelector('.problem')")
    page.run((resources.files("axe_core_python") / "axe.min.js").read_text("utf-8") + "; 1")
    found = page.run(AXE)
    assert [(one["id"], one["nodes"][0]["html"][:120]) for one in found] == []
    leave_refused(page)


def test_the_keyboard_alone_reaches_every_control(page: Page) -> None:
    """Tab visits each control once, and each has a visible focus."""
    page.run("document.activeElement.blur(); window.scrollTo(0, 0)")
    expected = page.run(
        "[...document.querySelectorAll('button, input, select, summary, [tabindex]')]"
        ".filter((e) => e.checkVisibility()).length"
    )
    key = {"key": "Tab", "code": "Tab", "windowsVirtualKeyCode": 9}
    seen = set()
    for _ in range(expected + 5):
        for kind in ("keyDown", "keyUp"):
            page.call("Input.dispatchKeyEvent", type=kind, **key)
        seen.add(
            page.run(
                "(() => { const one = document.activeElement; one.dataset.seen ??= Math.random();"
                " return one === document.body ? '' : one.dataset.seen; })()"
            )
        )
    assert len(seen - {""}) == expected


@pytest.mark.parametrize("state", ["", TWO, "#story=l4s&watch=2"])
def test_a_phone_shows_everything_without_scrolling_sideways(
    page: Page, server: LabServer, state: str
) -> None:
    """Nothing is wider than a screen of 400 pixels."""
    page.size(400, 800)
    page.open(server.url + state)
    page.wait(DONE)
    assert page.run("document.documentElement.scrollWidth") <= 400


def test_a_phone_shows_the_figures_above_the_sliders_that_change_them(page: Page) -> None:
    """The figures and the slider of the buffer fit on one screen of a phone."""
    page.size(390, 800)
    place = "document.querySelector('{}').getBoundingClientRect()"
    top = page.run(f"{place.format('.tiles')}.top")
    bottom = page.run(f"{place.format('[aria-label=Buffer]')}.bottom")
    page.size(1280, 800)
    assert 0 < bottom - top <= 800


def test_letters_have_six_sizes(page: Page) -> None:
    """On the screen only; paper has sizes in points. The view of the answer has one big number."""
    sizes = page.run(
        "[...new Set([...document.querySelectorAll('#app *')].filter((one) =>"
        " one.checkVisibility() && !one.closest('svg') && [...one.childNodes].some((node) =>"
        " node.nodeType === 3 && node.data.trim())).map((one) => getComputedStyle(one).fontSize))]"
    )
    rem = float(page.run("getComputedStyle(document.documentElement).fontSize")[:-2])
    scale = {0.8, 0.88, 0.94, 1.2, 1.5, 2.6}
    assert {round(float(size[:-2]) / rem, 3) for size in sizes} <= scale
    big = "[...document.querySelectorAll('main *')].filter((one) => one.checkVisibility() &&"
    big += f" parseFloat(getComputedStyle(one).fontSize) > {2 * rem}).length"
    assert page.run(big) == 1


OVERLAPPING = """(() => { const all = [...document.querySelectorAll('.tradeoff svg text')];
  const places = all.map((one) => [one.textContent, one.getBoundingClientRect()]);
  const meet = (p, q) => p.left < q.right && q.left < p.right
    && p.top < q.bottom - 2 && q.top < p.bottom - 2;
  return places.flatMap(([a, p], i) =>
    places.slice(i + 1).filter(([, q]) => meet(p, q)).map(([b]) => [a, b])); })()"""
"""Pairs of labels of the trade-off that cover one another. Boxes are higher than their letters."""


@pytest.mark.parametrize("width", [390, 900, 1440])
@pytest.mark.parametrize("state", ["", TWO, "#rate=100Mbps&rtt=20ms&flows=8&buffer=1bdp"])
def test_labels_of_the_trade_off_do_not_cover_one_another(
    page: Page, server: LabServer, state: str, width: int
) -> None:
    """Neither with the published rules nor without them."""
    page.size(width, 800)
    page.open(server.url + state)
    page.wait(f"{DONE} && document.querySelectorAll('.tradeoff svg text').length > 12", 60)
    assert page.run(OVERLAPPING) == []
    before = page.run("document.querySelectorAll('.tradeoff svg text').length")
    page.click("Published rules", "label")
    page.wait(f"document.querySelectorAll('.tradeoff svg text').length > {before}")
    assert page.run(OVERLAPPING) == []


def test_every_chart_is_a_sentence_for_who_hears_the_page(page: Page) -> None:
    """The sentence has the units of both axes, and the ends of the lines."""
    labels = page.run("[...document.querySelectorAll('main .chart')].map((e) => e.ariaLabel)")
    assert len(labels) == 3
    assert labels[1].startswith("packets waiting: packets against time in s.")
    assert labels[0].startswith("What a buffer buys, and what it costs: % busy, ms against buffer")
    for label in labels:
        assert re.search(r"lowest [\d.,]+, highest [\d.,]+", label), label


PAIR = "#rate=10Mbps&rtt=30ms&flows=1&buffer=100p&ping=yes&versus=yes&b.queue=fq_codel"


LARGE = "#flows=2&buffer=200p&ping=yes&versus=yes&b.queue=fq_codel&b.buffer=1000p"


@pytest.mark.parametrize("state", ["", PAIR, LARGE])
def test_the_page_prints_on_one_sheet(page: Page, server: LabServer, state: str) -> None:
    """A dark page with its settings, figures, charts and lines is one sheet of A4."""
    page.size(1280, 800, dark=True)
    page.open(server.url + state)
    page.wait(DONE)
    printed = page.call("Page.printToPDF", preferCSSPageSize=True, printBackground=True)
    file = base64.b64decode(printed["data"])
    assert len(re.findall(rb"/Type\s*/Page\b", file)) == 1


def test_paper_has_the_colours_of_light_paper(page: Page) -> None:
    """The curve of the trade-off has the colour of its side on a dark screen and on white paper."""
    stroke = (
        "document.querySelector('.tradeoff polyline[stroke-width=\\'2\\']').getAttribute('stroke')"
    )
    page.size(1280, 800, dark=True)
    page.wait(f"{stroke} === '#a98bff'")
    page.call("Emulation.setEmulatedMedia", media="print")
    try:
        page.wait(f"{stroke} === '#6d1fe0'")
    finally:
        page.call("Emulation.setEmulatedMedia", media="")


SIDES = """(() => { const style = getComputedStyle(document.documentElement);
  return ['a', 'b'].map((side) => style.getPropertyValue(`--side-${side}`).trim()); })()"""


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_the_colours_of_the_settings_are_used_for_nothing_else(page: Page, dark: bool) -> None:
    """They differ from each other and from every flow, and are read on both grounds."""
    page.size(1280, 800, dark=dark)
    sides = page.run(SIDES)
    found = page.run(COLOURS)
    for side, ground in itertools.product(sides, found["grounds"]):
        assert contrast(side, ground) >= 4.5, (side, ground)
    for vision in VISIONS:
        assert difference(sides[0], sides[1], vision) >= 20, vision
        for side, flow in itertools.product(sides, found["flows"]):
            assert difference(side, flow, vision) >= 12, (side, flow, vision)
