"""The packet view of the lab's page."""

from __future__ import annotations

import itertools
import json
import re
from typing import TYPE_CHECKING

import pytest

from goodqueue import _core
from helpers.colours import VISIONS, contrast, difference
from helpers.lab_page import COLOURS, DONE, NEEDS_BROWSER

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


MOMENT = "Number(document.querySelector('.scrub').value)"

MOVING = "document.querySelector('[data-moving=true]') !== null"


def test_the_page_opens_with_packets_that_move(page: Page, server: LabServer) -> None:
    """Without a click the first packet of data moves, across the page, above everything else."""
    page.open(server.url)
    page.wait(MOVING)
    first = page.run(MOMENT)
    assert 0 < first < 2
    assert page.run(PAINTED) > 4
    page.wait(f"{MOMENT} > {first}")
    place = "document.querySelector('{}').getBoundingClientRect()"
    assert page.run(f"{place.format('.stage')}.width") > 1200
    assert page.run(f"{place.format('.stage')}.bottom") < 800
    assert page.run(f"{place.format('.packets')}.bottom <= {place.format('.bench')}.top")


def test_packets_are_played_paused_and_stepped(page: Page) -> None:
    """The view begins by itself, pauses, goes event by event, and shows another time on request."""
    page.wait(MOVING)
    page.click("Pause")
    stopped = page.run(MOMENT)
    page.click("One event on")
    stepped = page.wait(f"((v) => v > {stopped} && v)({MOMENT})")
    page.click("One event back")
    page.wait(f"{MOMENT} < {stepped}")
    page.type_into("Moment", "7.5")
    page.wait("document.querySelector('[data-moment]').textContent.startsWith('7.5000 s of 20 s')")
    page.wait("/waiting [1-9]/.test(document.querySelector('.moment').ariaLabel)")
    page.type_into("Speed", "0.1")
    page.click("First drop")
    page.wait(f"location.hash.includes('watch=') && {MOMENT} < 7")
    page.click("First packet")
    page.wait("!location.hash.includes('watch=')")


def test_the_moment_goes_on_into_the_next_part_of_the_run(page: Page, server: LabServer) -> None:
    """The page requests packets in parts of two seconds."""
    page.open(f"{server.url}#rate=2Mbps&rtt=30ms&flows=1&buffer=20p&watch=3")
    page.wait(MOVING)
    page.type_into("Speed", "1")
    page.wait(f"{MOMENT} > 7.2")
    page.click("Pause")
    assert page.run("/waiting [1-9]/.test(document.querySelector('.moment').ariaLabel)")


def test_charts_show_the_moment_and_a_click_moves_it(page: Page) -> None:
    page.click("Pause")
    line = "document.querySelector('.charts .playhead').getBoundingClientRect().x"
    page.type_into("Moment", "5")
    at_5 = page.run(line)
    page.type_into("Moment", "15")
    at_15 = page.wait(f"((x) => x > {at_5} + 50 && x)({line})")
    page.run(
        "(() => { const one = document.querySelector('.charts .chart');"
        f" one.dispatchEvent(new MouseEvent('click', {{ clientX: {(at_5 + at_15) / 2} }})); }})()"
    )
    page.wait(f"Math.abs({MOMENT} - 10) < 0.1")


def test_the_large_number_is_the_wait_of_a_ping(page: Page, server: LabServer) -> None:
    """A ping behind a full buffer of 100 packets of 1.2 ms waits 120 ms, one in an idle one not."""
    page.open(f"{server.url}#rate=10Mbps&rtt=30ms&flows=1&buffer=100p&ping=yes&watch=1.5")
    page.wait(f"{DONE} && document.querySelector('[data-wait]').textContent")
    page.click("Pause")
    series = "document.querySelector('.strip') !== null"
    page.wait(series)
    page.type_into("Moment", "4.25")
    wait = "Number.parseFloat(document.querySelector('[data-wait]').textContent)"
    page.wait(f"{wait} > 90")
    assert page.run(wait) <= 121
    page.type_into("Moment", "0.2")
    page.wait(f"{wait} < 1")


DRAG = """(() => { const wall = document.querySelector('.wall');
  const { x, y, width, height } = wall.getBoundingClientRect();
  return [x + width / 2, y + height / 2]; })()"""


def test_the_wall_is_dragged_to_set_the_buffer(page: Page, server: LabServer) -> None:
    """Pulled outwards it makes the buffer larger, in the unit that was typed."""
    page.open(f"{server.url}#rate=2Mbps&rtt=30ms&flows=1&buffer=2bdp")
    page.wait(f"{DONE} && document.querySelector('.wall')")
    x, y = page.run(DRAG)
    for kind, to in (("mousePressed", x), ("mouseMoved", x - 40), ("mouseReleased", x - 40)):
        button = {"button": "left", "buttons": 1, "clickCount": 1}
        page.call("Input.dispatchMouseEvent", type=kind, x=to, y=y, **button)
    value = "Number(/buffer=([0-9.]+)bdp/.exec(location.hash)?.[1])"
    assert page.wait(f"{value} !== 2 && {value}") > 2.3
    page.wait(DONE)


def test_the_wall_is_moved_by_keys(page: Page) -> None:
    """An arrow changes the buffer by a packet at least, and Home makes it one packet."""
    page.run("document.querySelector('.wall').focus()")
    for key, kept in (("ArrowLeft", "21p"), ("ArrowRight", "20p"), ("Home", "1p")):
        for kind in ("keyDown", "keyUp"):
            page.call("Input.dispatchKeyEvent", type=kind, key=key, code=key)
        page.wait(f"location.hash.includes('buffer={kept}')")
    assert page.run("document.querySelector('.wall').ariaValueText") == "1\xa0packet"
    page.wait(DONE)


TEXTS = """
import('./question/buffer.js').then(({ bufferText, bufferWords }) => {
  const link = { rate: '10Mbps', rtt: '40ms' };
  return [%s].flatMap((like) => [1, 7, 8, 9, 33, 34, 100, 1001].map((packets) =>
    [packets, bufferText(packets, link, like), bufferWords(packets, link, like)])); })
"""


@pytest.mark.parametrize(
    "like", ["1bdp", "50ms", "64KiB", "100p", "12000B", "20kB", "1MiB", "0.1s", ""]
)
def test_a_buffer_in_the_typed_unit_is_the_same_number_of_packets(page: Page, like: str) -> None:
    """The engine reads each text as as many packets."""
    for packets, text, words in page.run(TEXTS % json.dumps(like)):
        assert limit_of(text) == packets, text
        unit = re.sub(r"[\d.]", "", like) or "p"
        assert text.endswith(unit)
        assert words.endswith({"p": "packet" + "s" * (packets > 1), "bdp": "BDP"}.get(unit, unit))


def limit_of(buffer: str) -> int:
    """Returns the packets of a buffer of 10 Mb/s and 40 ms, by the engine."""
    text = f"""
schema_version = 1
duration = "1s"
[topology]
shape = "dumbbell"
access = {{ rate = "1Gbps" }}
[topology.bottleneck]
rate = "10Mbps"
delay = "0s"
queue = {{ kind = "drop_tail", limit = "{buffer}" }}
[[flow]]
rtt = "40ms"
workload = {{ kind = "bulk" }}
"""
    asked = {"text": text, "columns": 1, "flows": 0, "first_packets": 10}
    status, answer = _core.LabJob("picture", json.dumps(asked)).answer()
    assert status == 200, answer
    return int(json.loads(answer)["summary"]["links"]["bottleneck"]["limit"]["packets"])


def test_who_prefers_little_motion_gets_a_still_picture(page: Page, server: LabServer) -> None:
    """The view is paused at first, with its buttons to step."""
    page.size(1280, 800, calm=True)
    page.open(server.url)
    page.wait(f"document.querySelector('.scrub')?.value > 0 && {DONE}")
    assert page.run("[...document.querySelectorAll('.packets button')][0].textContent") == "Play"
    moments = [page.run("document.querySelector('.scrub').value") for _ in range(2)]
    assert moments[0] == moments[1]


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
    page.type_into("Moment", "5")
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


MAX_DRAWN = 2 * (900 + 1500 + 200)
"""Most things that are drawn between two frames: two pictures of 900 squares in the queue, 1,500
packets on their way, and what does not move. A text that changes draws a second picture."""

COUNTED = """
new Promise((resolve) => { const { prototype } = CanvasRenderingContext2D; let calls = 0;
  for (const name of ['fillRect', 'strokeRect', 'fill', 'stroke', 'fillText']) {
    const made = prototype[name];
    prototype[name] = function (...all) { calls += 1; return made.apply(this, all); }; }
  const counts = []; const next = () => { counts.push(calls); calls = 0;
    if (counts.length < 20) requestAnimationFrame(next);
    else resolve(Math.max(...counts.slice(2))); };
  requestAnimationFrame(next); })
"""


@pytest.mark.parametrize(
    "link", ["rate=10Mbps&rtt=30ms&flows=1&buffer=100p", "rate=1Gbps&rtt=40ms&flows=8&buffer=2bdp"]
)
def test_a_frame_of_the_packet_view_draws_a_bounded_number_of_things(
    page: Page, server: LabServer, link: str
) -> None:
    """A square stands for several packets if thousands are in the network."""
    page.open(f"{server.url}#{link}&watch=2")
    page.wait(f"{MOVING} && {DONE}", 60)
    page.type_into("Moment", "3")
    page.click("Play")
    page.wait(f"{MOMENT} > 3.0005")
    assert 20 < page.run(COUNTED) < MAX_DRAWN


MAX_LONG = 1
"""Most long tasks of the page that a move of the slider causes: the picture of the charts."""

LONG = """
new Promise((resolve) => { let tasks = 0;
  const watched = new PerformanceObserver((list) => { tasks += list.getEntries().length; });
  watched.observe({ entryTypes: ['longtask'] });
  const slider = document.querySelector('input[type=range][aria-label^=Buffer]');
  slider.value = Number(slider.value) + (Number(slider.value) > 50 ? -7 : 7);
  slider.dispatchEvent(new Event('input', { bubbles: true }));
  const drawn = new MutationObserver(() => { drawn.disconnect();
    setTimeout(() => { watched.disconnect(); resolve(tasks); }, 500); });
  drawn.observe(document.querySelector('main .chart'), { attributeFilter: ['data-drawn'] }); })
"""
"""Counts long tasks from a move of the slider until half a second after the charts are drawn."""


def test_a_move_of_the_slider_does_not_hold_up_the_page(page: Page, server: LabServer) -> None:
    """The move with the fewest long tasks counts, because other programs of the machine also hold
    up the page.
    """
    page.open(f"{server.url}#rate=10Mbps&rtt=30ms&flows=1&buffer=100p")
    page.wait(f"{MOVING} && {DONE}", 60)
    assert min(page.run(LONG) for _ in range(6)) <= MAX_LONG
