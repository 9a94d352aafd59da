"""Measures what a reader waits for: `python -m evidence.lab page`.

It prints the machine and its load, the time from the address to the first packet that moves, the
time from a slider to repainted charts, the long tasks that a move of the slider causes, the frames
of the packet view that are late, what axe-core finds while packets move, and the bytes that are
loaded. The page is the static one with its engine in WebAssembly, or that of the local server if
the engine is not built.
"""

from __future__ import annotations

import functools
import gzip
import http.server
import itertools
import os
import platform
import re
import shutil
import subprocess
import tempfile
import time
from contextlib import contextmanager
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from goodqueue.lab.server import LabServer, page_files
from goodqueue.lab.static import ENGINE, write_static

if TYPE_CHECKING:
    from collections.abc import Iterator

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

LONG_TASKS = """(() => { window.longTasks = [];
  new PerformanceObserver((list) => window.longTasks.push(...list.getEntries()))
    .observe({ entryTypes: ['longtask'] }); })()"""
"""Collects the tasks of the page's thread that block it for more than 50 ms."""

DONE = "document.querySelector('.results')?.dataset.stage === 'done'"

LINKS = """import('./question/state.js').then(({ LINKS, USUAL, toHash }) => {
  const rest = { b: null, file: '', over: {}, story: '', watch: null };
  return LINKS.map(({ name, a }) => [name, toHash({ a: { ...USUAL, ...a }, ...rest })]); })"""


AXE = "axe.run(document, { resultTypes: ['violations'] }).then((r) => r.violations)"


def page(rounds: int) -> None:
    """Prints all figures of the page."""
    from helpers.browser import browser

    print(machine())
    loaded()
    with (
        tempfile.TemporaryDirectory() as folder,
        address(Path(folder) / "site") as origin,
        browser(Path(folder) / "profile") as shown,
    ):
        shown.size(1440, 900)
        firsts = sorted(first(shown, origin) for _ in range(OPENED))
        print(
            f"from load to the first packet moving: median {firsts[OPENED // 2]:.0f} ms, "
            f"from {firsts[0]:.0f} to {firsts[-1]:.0f} ms"
        )
        for name, part in shown.run(LINKS):
            shown.open(origin + part)
            shown.wait(DONE, 90)
            print(f"{name}: {of_link(shown, rounds)}", flush=True)
    print(f"load at the end: {os.getloadavg()[0]:.1f}")


def machine() -> str:
    """Returns the processor of the machine and its load."""
    text = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    named = re.search(r"model name\s*: (.*)", text)
    name = named[1] if named else platform.processor()
    return f"{name}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"


@contextmanager
def address(folder: Path) -> Iterator[str]:
    """Serves the page: from files that are written into a folder, or by the local server."""
    from evidence.lab.__main__ import Quiet, serving

    if ENGINE in page_files():
        write_static(folder)
        handler = functools.partial(Quiet, directory=str(folder))
        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as host, serving(host):
            print("the static page with its engine in WebAssembly:")
            yield f"http://127.0.0.1:{host.server_port}/"
    else:
        with LabServer() as server, serving(server):
            print("the page of the local server (without make wasm):")
            yield server.url


def of_link(shown: Page, rounds: int) -> str:
    """Returns the figures of the link that the page shows."""
    from evidence.lab.__main__ import moved

    frames, late = counted(shown)
    shown.run((resources.files("axe_core_python") / "axe.min.js").read_text("utf-8") + "; 1")
    findings = len(shown.run(AXE))
    shown.run(LONG_TASKS)
    times = [one[0] for one in moved(shown, rounds)]
    tasks = shown.run("window.longTasks.length")
    p95 = times[min(len(times) - 1, round(0.95 * (len(times) - 1)))]
    return (
        f"{late / (frames + late):.1%} of frames dropped; slider to charts "
        f"{times[len(times) // 2]:.0f} ms, p95 {p95:.0f} ms, {tasks / rounds:.2f} long tasks "
        f"for each move; {findings} findings of axe with packets open"
    )


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
        brotli = sum(map(brotli_bytes, files.values())) if shutil.which("brotli") else None
        print(
            f"the static page with its engine: {sum(packed.values()):,} bytes with gzip"
            + (f", {brotli:,} with brotli" if brotli is not None else "")
        )


def brotli_bytes(data: bytes) -> int:
    """Returns the size of a file compressed by brotli."""
    command = ["brotli", "--quality=11", "--stdout", "-"]
    done = subprocess.run(command, input=data, capture_output=True, check=True)  # noqa: S603 - our files
    return len(done.stdout)


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
