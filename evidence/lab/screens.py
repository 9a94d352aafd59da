"""Takes 50 pictures of the lab for somebody to look at: `python -m evidence.lab.screens`.

They show every link to begin with on a screen, on a dark one and on a phone, every story, both
views of two settings, packets, opened files, a mistake, and the printed page. They are written to
target/screens; problems of the console are printed.
"""

from __future__ import annotations

import base64
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from evidence.lab.__main__ import ROOT, links
from goodqueue.lab.server import LabServer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from helpers.browser import Page

FOLDER = ROOT / "target" / "screens"
DESK, PHONE = (1280, 900), (400, 800)
DONE = "document.querySelector('.results')?.dataset.stage === 'done'"
TWO = "#rate=2Mbps&flows=1&buffer=60p&versus=yes&b.queue=fq_codel"
PACKETS = "document.querySelector('.moment') !== null"


@dataclass(frozen=True)
class Screen:
    """One picture.

    Attributes:
        name: name of its file.
        state: part of the address after `#`.
        size: width and height of the window.
        dark: True for a dark colour scheme.
        ready: expression that is true when the page shows all.
    """

    name: str
    state: str
    size: tuple[int, int] = DESK
    dark: bool = False
    ready: str = DONE


CHOICE = "document.querySelector('.story [role=group] button')"
"""First choice of a step that asks before it shows its runs."""


def screens(presets: dict[str, str], stories: dict[str, str]) -> Iterator[Screen]:
    """Yields all screens."""
    for place, state in enumerate(presets.values()):
        yield Screen(f"preset-{place}", state)
        yield Screen(f"preset-{place}-dark", state, dark=True)
        yield Screen(f"preset-{place}-phone", state, PHONE)
    for name, state in stories.items():
        yield Screen(f"story-{name}", state)
    for name, size, dark in (("", DESK, False), ("-dark", DESK, True), ("-phone", PHONE, False)):
        yield Screen(f"two{name}", TWO, size, dark)
        yield Screen(f"packets{name}", f"{TWO}&watch=1", size, dark, PACKETS)
    for name in ("evening", "parking-lot", "satellite", "wifi"):
        text = (ROOT / "scenarios" / f"{name}.toml").read_text(encoding="utf-8")
        yield Screen(f"file-{name}", f"#{urlencode({'file': text})}")
    problem = "document.querySelector('.problem') !== null"
    yield Screen("mistake", "#rate=5+parsecs", ready=problem)
    yield Screen("mistake-phone", "#rate=5+parsecs", PHONE, ready=problem)
    too_large = "#rate=1Gbps&flows=5000&rtt=600ms"
    yield Screen("too-large", too_large, ready=f"{DONE} || {problem}")
    yield Screen("no-theory", "#control=bbr3&queue=fq_pie&buffer=100p&ping=yes&others=2")


def print_page(page: Page, file: Path) -> None:
    """Writes what a printer gets."""
    printed = page.call("Page.printToPDF", preferCSSPageSize=True, printBackground=True)
    file.write_bytes(base64.b64decode(printed["data"]))


def main() -> None:
    """Takes the pictures."""
    from helpers.browser import BrowserError, browser

    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as profile, LabServer() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with browser(Path(profile)) as page:
            presets = links(page, server.url)
            stories = page.run(
                "Promise.all([import('./stories/story.js'), import('./question/state.js')])"
                ".then(async ([{ library, stateOf }, { toHash }]) =>"
                " (await library()).stories.map((one) => [one.id, toHash(stateOf(one))]))"
            )
            for count, screen in enumerate(screens(presets, dict(stories)), start=1):
                page.problems.clear()
                page.size(*screen.size, dark=screen.dark)
                page.open(server.url + screen.state)
                try:
                    page.wait(f"{screen.ready} || {CHOICE}", 40)
                    page.run(f"{CHOICE}?.click()")
                    page.wait(screen.ready, 40)
                except BrowserError as error:
                    print(f"{screen.name}: {error}")
                page.screenshot(FOLDER / f"{screen.name}.png", whole=True)
                print(f"{count} {screen.name} {page.problems or ''}", flush=True)
            page.size(*DESK, dark=True)
            page.open(server.url + TWO)
            page.wait(DONE, 40)
            print_page(page, FOLDER / "print.pdf")
        server.shutdown()


if __name__ == "__main__":
    main()
