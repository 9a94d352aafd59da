"""The lab's page in a browser: fixtures that its tests share, and what they read from the page.

`tests/conftest.py` registers this module as a plugin.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager
from socketserver import BaseServer
from typing import TYPE_CHECKING, TypeVar

import pytest

from helpers.browser import CHROMIUM, Page, browser

if TYPE_CHECKING:
    from collections.abc import Iterator

    from goodqueue.lab.server import LabServer

Server = TypeVar("Server", bound=BaseServer)

NEEDS_BROWSER = [
    pytest.mark.slow,  # the browser's CPU time is not counted
    pytest.mark.skipif(
        CHROMIUM is None, reason="no Chromium on this machine: the page is not opened"
    ),
]
"""Marks of tests that open the page."""

MINUS = "\N{MINUS SIGN}"

DONE = "document.querySelector('.results')?.dataset.stage === 'done'"
"""Condition that is true when all runs of the page have ended."""

TWO = "#rate=2Mbps&flows=1&buffer=60p&versus=yes&b.queue=fq_codel"
"""Settings of two links side by side."""


COLOURS = """
import('./charts/plot.js').then(({ COLOURS, onPaper }) => {
  const style = getComputedStyle(document.documentElement);
  const value = (name) => style.getPropertyValue(name).trim();
  return { flows: COLOURS.map(onPaper), grounds: [value('--paper'), value('--card')] }; })
"""
"""Colours of flows and of the grounds behind them."""


@pytest.fixture(scope="module")
def server() -> Iterator[LabServer]:
    """A server on a free port."""
    from goodqueue.lab.server import LabServer

    with serving(LabServer()) as server:
        yield server


@contextmanager
def serving(server: Server) -> Iterator[Server]:
    """Lets a server answer in a thread of its own until the end of the block, which closes it."""
    with server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """The browser."""
    with browser(tmp_path_factory.mktemp("chromium")) as page:
        yield page


@pytest.fixture
def page(opened: Page, server: LabServer) -> Iterator[Page]:
    """The page of the lab at 1280 by 800 with a small link; its console stays without errors."""
    opened.problems.clear()
    opened.size(1280, 800)
    opened.open(f"{server.url}#rate=2Mbps&rtt=30ms&flows=1&buffer=20p")
    opened.wait(DONE)
    yield opened
    opened.run("1")  # messages of the page that are still on the way
    assert opened.problems == []


def leave_refused(page: Page) -> None:
    """Ends the requests of a page with a wrong entry, and forgets them.

    The browser reports each refused request in its console, also one that ends after the message of
    the page is shown.
    """
    page.open("about:blank")
    page.run("1")
    page.problems.clear()


def figure(page: Page, key: str) -> float:
    """Returns the number in the tile of a figure."""
    text = page.run(f"document.querySelector('[data-figure=\"{key}\"]').textContent")
    return float(text.split()[0].replace(",", "").replace(MINUS, "-"))


def question(page: Page) -> str:
    """Returns the part of the address after `#`."""
    return str(page.run("location.hash"))


def clipboard(page: Page) -> None:
    """Lets the page collect in `copied` what it copies."""
    page.run(
        "(() => { window.copied = [];"
        " const writeText = async (text) => { window.copied.push(text); };"
        " Object.defineProperty(navigator, 'clipboard', { value: { writeText } }); })()"
    )
