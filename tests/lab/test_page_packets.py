"""The packet view of the lab's page."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import pytest

from helpers.colours import VISIONS, contrast, difference
from helpers.lab_page import DONE, NEEDS_BROWSER, question

if TYPE_CHECKING:
    from goodqueue.lab.server import LabServer
    from helpers.browser import Page

pytestmark = NEEDS_BROWSER


PAINTED = """
(() => { const one = document.querySelector('.moment');
  const { data } = one.getContext('2d').getImageData(0, 0, one.width, one.height);
  const seen = new Set();
  for (let i = 0; i < data.length; i += 4) seen.add(data.slice(i, i + 4).join());
  return seen.size; })()
"""


def test_packets_are_seen_played_paused_and_stepped(page: Page) -> None:
    """The view begins by itself, pauses, goes event by event, and shows another time on request."""
    page.click("Watch packets")
    page.wait("document.querySelector('.moment') && document.querySelector('.scrub').value > 2e7")
    assert "watch=0" in question(page)
    page.click("Pause")
    stopped = page.run("Number(document.querySelector('.scrub').value)")
    page.click("One event on")
    stepped = page.wait(
        f"((v) => v > {stopped} && v)(Number(document.querySelector('.scrub').value))"
    )
    page.click("One event back")
    page.wait(f"Number(document.querySelector('.scrub').value) < {stepped}")
    page.type_into("Moment", "1500000000")
    page.wait("document.querySelector('.packets h2').textContent.includes('1.5000')")
    assert page.run(PAINTED) > 4
    assert "wait" in page.run("document.querySelector('.packets p').textContent")
    page.type_into("Speed", "0.1")
    page.click("First drop")
    page.wait("location.hash.includes('watch=') && !/watch=0(&|$)/.test(location.hash)")
    page.click("Close", ".packets button")
    page.wait("document.querySelector('.packets') === null")


def test_who_prefers_little_motion_gets_a_still_picture(page: Page) -> None:
    """The view is paused at first, with its buttons to step."""
    page.size(1280, 800, calm=True)
    page.click("Watch packets")
    page.wait("document.querySelector('.moment')")
    assert page.run("[...document.querySelectorAll('.packets button')][0].textContent") == "Play"
    moments = [page.run("document.querySelector('.scrub').value") for _ in range(2)]
    assert moments[0] == moments[1]


COLOURS = """
import('./charts/plot.js').then(({ COLOURS, onPaper }) => {
  const style = getComputedStyle(document.documentElement);
  const value = (name) => style.getPropertyValue(name).trim();
  return { flows: COLOURS.map(onPaper), grounds: [value('--paper'), value('--card')] }; })
"""

SEEN = """
(() => { const one = document.querySelector('.moment');
  const { data } = one.getContext('2d').getImageData(0, 0, one.width, one.height);
  const seen = {};
  for (let i = 0; i < data.length; i += 4) {
    const bytes = [...data.slice(i, i + 3)].map((v) => v.toString(16).padStart(2, '0'));
    const name = `#${bytes.join('')}`;
    seen[name] = (seen[name] ?? 0) + 1;
  }
  return seen; })()
"""


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_colours_of_flows_differ_for_every_reader(page: Page, dark: bool) -> None:
    """Their contrast to both grounds is that of graphics by WCAG 2.1 (1.4.11), at least 3."""
    page.size(1280, 800, dark=dark)
    found = page.run(COLOURS)
    flows = found["flows"]
    assert len(flows) == len(set(flows)) == 8
    for colour, ground in itertools.product(flows, found["grounds"]):
        assert contrast(colour, ground) >= 3, (colour, ground)
    for (one, other), vision in itertools.product(itertools.combinations(flows, 2), VISIONS):
        assert difference(one, other, vision) >= 12, (one, other, vision)


def test_packets_have_the_colours_of_the_charts_on_dark_and_light_paper(
    page: Page, server: LabServer
) -> None:
    """The view is drawn again when the colour scheme changes, although it is paused."""
    page.open(f"{server.url}#rate=10Mbps&rtt=40ms&flows=8&buffer=60p&watch=4")
    page.wait(f"document.querySelector('.moment') && {DONE}")
    page.click("Pause")
    page.type_into("Moment", "5000000000")
    for dark in (True, False):
        page.size(1280, 800, dark=dark)
        flows = page.run(COLOURS)["flows"]
        page.wait(f"({SEEN})[{flows[0]!r}] > 100")
        seen = page.run(SEEN)
        assert all(seen.get(colour, 0) > 10 for colour in flows), seen


def test_two_packet_views_have_the_same_scale(page: Page, server: LabServer) -> None:
    """The strip of a short queue is lower than that of a long one beside it."""
    page.open(f"{server.url}#rate=10Mbps&flows=1&buffer=100p&versus=yes&b.buffer=8p&watch=4")
    page.wait(f"document.querySelectorAll('.strip').length === 2 && {DONE}")
    page.click("Pause")
    heights = page.run(
        "[...document.querySelectorAll('.strip')].map((one) => {"
        " const { data } = one.getContext('2d').getImageData(0, 10, one.width, one.height - 12);"
        " return [...data].filter((value, i) => i % 4 === 3 && value > 0).length / one.width; })"
    )
    assert heights[1] < heights[0] / 3


FRAMES = """
new Promise((resolve) => { const times = []; const next = (now) => { times.push(now);
  if (now - times[0] < 3000) requestAnimationFrame(next); else resolve(times); };
  requestAnimationFrame(next); })
"""


def test_the_packet_view_draws_nearly_every_frame(page: Page, server: LabServer) -> None:
    """The packet view draws at least nine frames in ten on time, with 1,000 packets in flight."""
    page.open(f"{server.url}#rate=50Mbps&rtt=100ms&flows=8&buffer=2bdp&watch=4")
    page.wait("document.querySelector('.moment')")
    page.wait(DONE)
    times = page.run(FRAMES)
    assert len(times) > 0.9 * 60 * 3, len(times)
