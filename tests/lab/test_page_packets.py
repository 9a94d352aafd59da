"""The packet view of the lab's page."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
