"""Measures what a reader waits for: `python -m evidence.lab page`.

It prints the time from the address to the first packet that moves, the time from a slider to
repainted charts, the frames of the packet view that are late, and the bytes that are loaded.
"""

from __future__ import annotations

import gzip
import itertools
import os
import re
import tempfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

from goodqueue.lab.server import LabServer, page_files

if TYPE_CHECKING:
    from helpers.browser import Page

OPENED = 7
"""Times that the page is opened."""

FRAMES_S = 5
"""Seconds for which the frames of a link are counted."""

# The first two frames in which the moment differs.
MOVING = """new Promise((resolve) => { let before = null; const next = () => {
  const one = document.querySelector('[data-moving=true] .scrub');
  const now = one && Number(one.value);
  if (before !== null && now > before) resolve(performance.now()); else {
    before = now ?? before; requestAnimationFrame(next); } };
  next(); })"""

FRAMES = """new Promise((resolve) => { const times = []; const next = (now) => { times.push(now);
  if (now - times[0] < %d) requestAnimationFrame(next); else resolve(times); };
  requestAnimationFrame(next); })"""

DONE = "document.querySelector('.results')?.dataset.stage === 'done'"

LINKS = """import('./question/state.js').then(({ LINKS, USUAL, toHash }) => {
  const rest = { b: null, file: '', over: {}, story: '', watch: null };
  return LINKS.map(({ name, a }) => [name, toHash({ a: { ...USUAL, ...a }, ...rest })]); })"""


def page(rounds: int) -> None:
    """Prints all figures of the served page."""
    from evidence.lab.__main__ import moved
    from helpers.browser import browser

    loaded()
    with tempfile.TemporaryDirectory() as folder, LabServer() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with browser(Path(folder)) as shown:
            shown.size(1440, 900)
            firsts = sorted(first(shown, server.url) for _ in range(OPENED))
            print(
                f"from load to the first packet moving: median {firsts[OPENED // 2]:.0f} ms, "
                f"from {firsts[0]:.0f} to {firsts[-1]:.0f} ms"
            )
            for name, part in shown.run(LINKS):
                shown.open(server.url + part)
                shown.wait(DONE, 90)
                frames, late = counted(shown)
                times = [one[0] for one in moved(shown, rounds)]
                p95 = times[min(len(times) - 1, round(0.95 * (len(times) - 1)))]
                print(
                    f"{name}: {late / (frames + late):.1%} of frames dropped; slider to charts "
                    f"{times[len(times) // 2]:.0f} ms, p95 {p95:.0f} ms",
                    flush=True,
                )
        server.shutdown()


def first(shown: Page, address: str) -> float:
    """Returns the milliseconds from the start of loading to the first packet that moves."""
    shown.open(address)
    shown.wait("document.readyState !== 'loading' && location.href !== 'about:blank'")
    found = shown.run(MOVING)
    time.sleep(1)
    return float(found)


def counted(shown: Page) -> tuple[int, int]:
    """Returns the frames of some seconds, and those of a screen of 60 Hz that are missing."""
    times = shown.run(FRAMES % (1000 * FRAMES_S))
    steps = [round((b - a) * 60 / 1000) for a, b in itertools.pairwise(times)]
    return len(steps), sum(max(0, step - 1) for step in steps)


def loaded() -> None:
    """Prints the bytes of the page with gzip, and of what is needed before a packet can move."""
    files = page_files()
    packed = {name: len(gzip.compress(data, 9)) for name, data in files.items()}
    own = {name: size for name, size in packed.items() if not name.startswith("/engine/")}
    needed = sum(packed[name] for name in needed_first(files))
    print(f"the served page: {sum(own.values()):,} bytes with gzip, {needed:,} before packets move")
    if len(packed) > len(own):
        print(f"the static page with its engine: {sum(packed.values()):,} bytes with gzip")


def needed_first(files: dict[str, bytes]) -> set[str]:
    """Returns the files that the page names and imports at once."""
    found = {"/index.html"}
    left = [
        f"/{name}" for name in re.findall(r'(?:href|src)="([^"]+)"', files["/index.html"].decode())
    ]
    while left:
        name = left.pop()
        if name in found or name not in files:
            continue
        found.add(name)
        if name.endswith(".js") and "/vendor/" not in name:
            text = files[name].decode()
            others = re.findall(r'^import [^;]*?"(\.[^"]+)";', text, re.MULTILINE)
            left.extend(
                os.path.normpath(f"{Path(name).parent}/{other}".replace("//", "/"))
                for other in others
            )
    return found
