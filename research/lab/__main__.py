"""Measures the page of the lab: `python -m research.lab [ROUNDS]`.

For each link to begin with, and for both back ends, a slider moves ROUNDS times. The time counts
from the event of the slider to the frame in which the browser has painted the new picture. The
script also compares the time of full runs natively and in WebAssembly.
"""

from __future__ import annotations

import functools
import http.server
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import contextmanager
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goodqueue import _core
from goodqueue.lab.server import LabServer
from goodqueue.lab.static import write_static

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests"))

if TYPE_CHECKING:
    from collections.abc import Iterator

    from helpers.browser import Page

ENGINE = resources.files("goodqueue.lab") / "page" / "engine"

# Moves the slider of the buffer, and waits for the frame after that in which charts have changed.
MOVE = """new Promise((resolve) => {
  const charts = () => [...document.querySelectorAll('main canvas')];
  const slider = document.querySelector('input[type=range][aria-label^=Buffer]');
  const before = charts()[0];
  slider.value = Number(slider.value) + (Number(slider.value) > 100 ? -7 : 7);
  const started = performance.now();
  const observer = new MutationObserver(() => {
    if (charts()[0] === before || charts().length === 0) return;
    observer.disconnect();
    requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - started)));
  });
  observer.observe(document.querySelector('main'), { childList: true, subtree: true });
  slider.dispatchEvent(new Event('input', { bubbles: true }));
})"""


@contextmanager
def serving(server: http.server.HTTPServer) -> Iterator[None]:
    """Serves on a thread."""
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join()


def moved(page: Page, address: str, rounds: int) -> list[float]:
    """Returns the milliseconds from slider to picture for one link."""
    page.open(address)
    page.wait("document.querySelectorAll('main canvas').length > 3")
    times = []
    for _ in range(rounds):
        time.sleep(0.3)
        times.append(float(page.run(MOVE)))
    return sorted(times)


def links(page: Page, origin: str) -> dict[str, str]:
    """Returns the part of the address after `#` of each link to begin with."""
    page.open(origin)
    script = """import('./state.js').then(({ PRESETS, USUAL, toHash }) => {
      const rest = { file: '', story: '', watch: null };
      const both = (a, b) => ({ a, b: b ? { ...a, ...b } : null, ...rest });
      return PRESETS.map(({ name, a, b }) => [name, toHash(both({ ...USUAL, ...a }, b))]);
    })"""
    page.wait("document.querySelector('main canvas') !== null")
    return dict(page.run(script))


def sliders(rounds: int) -> None:
    """Prints the times from slider to picture."""
    from helpers.browser import browser

    with tempfile.TemporaryDirectory() as folder, LabServer() as local:
        write_static(Path(folder) / "site")
        handler = functools.partial(Quiet, directory=str(Path(folder) / "site"))
        static = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        origins = {
            "server": local.url,
            "WebAssembly": f"http://127.0.0.1:{static.server_port}/",
        }
        with static, serving(static), serving(local), browser(Path(folder) / "profile") as page:
            presets = links(page, local.url)
            print("| link | " + " | ".join(f"{name}, p50 / p95" for name in origins) + " |")
            print("| --- |" + " --- |" * len(origins))
            for name, part in presets.items():
                cells = []
                for origin in origins.values():
                    times = moved(page, origin + part, rounds)
                    high = times[min(len(times) - 1, round(0.95 * (len(times) - 1)))]
                    cells.append(f"{statistics.median(times):.0f} / {high:.0f} ms")
                print(f"| {name} | " + " | ".join(cells) + " |", flush=True)
            assert page.problems == [], page.problems


class Quiet(http.server.SimpleHTTPRequestHandler):
    """A static host that prints nothing."""

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
        """Prints nothing."""


def ratios() -> None:
    """Prints the time in WebAssembly over the native time, for full runs of ready scenarios."""
    questions: list[dict[str, Any]] = []
    names = []
    for path in sorted((ROOT / "scenarios").glob("*.toml")):
        files = {file.name: file.read_text() for file in path.parent.glob("*.csv")}
        body = {"text": path.read_text(), "files": files, "columns": 600, "flows": 8}
        if json.loads(_core.LabJob("open", json.dumps(body)).answer()[1])["too_large"] is None:
            questions.append({"action": "picture", "body": body})
            names.append(path.stem)
    native = []
    for asked in questions:
        started = time.perf_counter()
        _core.LabJob(asked["action"], json.dumps(asked["body"])).answer()
        native.append(time.perf_counter() - started)
    command = ["node", str(ROOT / "tools" / "wasm" / "answers.mjs"), str(ENGINE)]
    done = subprocess.run(  # noqa: S603 - our own script
        command, input=json.dumps(questions), capture_output=True, text=True, check=True
    )
    wasm = [one["seconds"] for one in json.loads(done.stdout)]
    each = {name: b / a for name, a, b in zip(names, native, wasm, strict=True) if a > 0.05}
    for name, ratio in each.items():
        print(f"{name}: {ratio:.2f}")
    total = sum(wasm) / sum(native)
    middle = statistics.median(each.values())
    print(f"all {len(names)}: {total:.2f} times {sum(native):.1f} s; median {middle:.2f}")


if __name__ == "__main__":
    print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    ratios()
    sliders(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
