"""Measures the page of the lab: `python -m evidence.lab [sliders | ratios | page] [--rounds N]`.

`sliders`: for each link to begin with, and for both back ends, a slider moves N times. The time
counts from the event of the slider to the frame in which the browser has painted the new picture.
Each cell ends with the time from the address to the first picture, and to the complete curve.
`ratios` compares the processor time of full runs natively and in WebAssembly.
`page` measures what a reader waits for: the first packet that moves, sliders, frames and bytes.
Without any, `ratios` and `sliders` are measured. After `--seconds` (150 for each) nothing more is
begun, and the rest is reported as not measured.
"""

from __future__ import annotations

import argparse
import functools
import http.server
import json
import math
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

from evidence.lab.moving import page
from goodqueue import _core
from goodqueue.lab.server import LabServer
from goodqueue.lab.static import write_static

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests"))

if TYPE_CHECKING:
    from collections.abc import Iterator

    from helpers.browser import Page

ENGINE = resources.files("goodqueue.lab") / "page" / "engine"

NODE_S = 120
"""Longest run under node, in seconds."""

MOST_REPEATS = 20
"""Most repetitions of a short run."""

# Moves the slider of the buffer, and waits for the frame after the one in which charts have
# changed.
MOVE = """new Promise((resolve) => {
  const slider = document.querySelector('input[type=range][aria-label^=Buffer]');
  slider.value = Number(slider.value) + (Number(slider.value) > Number(slider.max) / 2 ? -7 : 7);
  performance.clearMarks();
  const started = performance.now();
  const mark = (name) => performance.getEntriesByName(name)[0].startTime;
  const done = () => {
    const painted = performance.now();
    const [asked, answered] = [mark('asked'), mark('answered')];
    resolve([painted - started, asked - started, answered - asked, painted - answered]);
  };
  const observer = new MutationObserver(() => {
    // A chart can also be drawn before the answer, with the figures of the setting before.
    if (performance.getEntriesByName('answered').length === 0) return;
    observer.disconnect();
    requestAnimationFrame(() => setTimeout(done));
  });
  observer.observe(document.querySelector('main .chart'), { attributeFilter: ['data-drawn'] });
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


PAINTED = "document.querySelectorAll('main canvas').length > 1"
COMPLETE = "document.querySelector('.results')?.dataset.stage === 'done'"


def opened(page: Page, address: str) -> tuple[float, float]:
    """Returns the seconds from an address to the first picture, and to the complete curve."""
    started = time.perf_counter()
    page.open(address)
    page.wait(PAINTED)
    first = time.perf_counter() - started
    page.wait(COMPLETE, 60)
    return first, time.perf_counter() - started


def moved(page: Page, rounds: int) -> list[list[float]]:
    """Returns the milliseconds from slider to picture for one link, in order of their length.

    Each has the whole time and its phases: until the engine is asked, until it has answered (with
    the transfer and the reading of the answer), and until the picture is painted.
    """
    times = []
    for _ in range(rounds):
        time.sleep(0.3)
        times.append([float(one) for one in page.run(MOVE)])
    return sorted(times)


def links(page: Page, origin: str) -> dict[str, str]:
    """Returns the part of the address after `#` of each link to begin with."""
    page.open(origin)
    script = """import('./question/state.js').then(({ PRESETS, USUAL, toHash }) => {
      const rest = { file: '', over: {}, story: '', watch: null };
      const both = (a, b) => ({ a, b: b ? { ...a, ...b } : null, ...rest });
      return PRESETS.map(({ name, a, b }) => [name, toHash(both({ ...USUAL, ...a }, b))]);
    })"""
    page.wait("document.querySelector('main canvas') !== null")
    return dict(page.run(script))


def sliders(rounds: int, seconds: float) -> None:
    """Prints the times from slider to picture."""
    end = time.monotonic() + seconds
    from helpers.browser import browser

    with tempfile.TemporaryDirectory() as folder, LabServer() as local:
        has_engine = (Path(str(ENGINE)) / "goodqueue_wasm_bg.wasm").exists()
        if has_engine:
            write_static(Path(folder) / "site")
        else:
            print("the engine in WebAssembly is not built (make wasm): the server is measured")
        handler = functools.partial(Quiet, directory=str(Path(folder) / "site"))
        static = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        origins = {
            "server": local.url,
            "WebAssembly": f"http://127.0.0.1:{static.server_port}/",
        }
        if not has_engine:
            del origins["WebAssembly"]
        with static, serving(static), serving(local), browser(Path(folder) / "profile") as page:
            presets = links(page, local.url)
            cell = "p50 / p95 = asked + answered + painted; first picture, curve"
            heads = [f"{name}, {cell}" for name in origins]
            print("| link | " + " | ".join(heads) + " |")
            print("| --- |" + " --- |" * len(origins))
            for name, part in presets.items():
                cells = []
                for origin in origins.values():
                    if time.monotonic() > end:
                        cells.append("not measured: no time left")
                        continue
                    first, curve = opened(page, origin + part)
                    times = moved(page, rounds)
                    high = times[min(len(times) - 1, round(0.95 * (len(times) - 1)))][0]
                    middle = [statistics.median(one) for one in zip(*times, strict=True)]
                    phases = " + ".join(f"{one:.0f}" for one in middle[1:])
                    cells.append(
                        f"{middle[0]:.0f} / {high:.0f} ms = {phases}; {first:.1f} s, {curve:.1f} s"
                    )
                print(f"| {name} | " + " | ".join(cells) + " |", flush=True)
            assert page.problems == [], page.problems


class Quiet(http.server.SimpleHTTPRequestHandler):
    """A static host that prints nothing."""

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
        """Prints nothing."""


def ratios(seconds: float) -> None:
    """Prints the time in WebAssembly over the native time, for full runs of ready scenarios.

    It is processor time, because the time on the clock also depends on the load of the machine.
    """
    end = time.monotonic() + seconds
    questions: list[dict[str, Any]] = []
    names = []
    for path in sorted((ROOT / "scenarios").glob("*.toml")):
        files = {file.name: file.read_text() for file in path.parent.glob("*.csv")}
        body = {"text": path.read_text(), "files": files, "columns": 600, "flows": 8}
        if json.loads(_core.LabJob("open", json.dumps(body)).answer()[1])["too_large"] is None:
            questions.append({"action": "picture", "body": body})
            names.append(path.stem)
    native, wasm = [], []
    for name, asked in zip(names, questions, strict=True):
        if time.monotonic() > end:
            print(f"{name}: not measured, no time left")
            continue
        once = natively(asked)
        native.append(min(once, *(natively(asked) for _ in range(repeats(once) - 1))))
        wasm.append(in_webassembly(asked, native[-1]))
        print(f"{name}: {wasm[-1] / native[-1]:.2f} times {native[-1]:.2f} s", flush=True)
    total, each = sum(wasm) / sum(native), [b / a for a, b in zip(native, wasm, strict=True)]
    print(f"all {len(each)}: {total:.2f} times {sum(native):.1f} s")
    print(f"median {statistics.median(each):.2f}; {sum(one > 2 for one in each)} exceed 2")


def repeats(seconds: float) -> int:
    """Returns how often an answer of this length is computed, of which the fastest counts."""
    return min(max(2, math.ceil(1 / seconds)), MOST_REPEATS)


def natively(asked: dict[str, Any]) -> float:
    """Returns the seconds of processor time of an answer of the compiled core."""
    started = time.process_time()
    _core.LabJob(asked["action"], json.dumps(asked["body"])).answer()
    return time.process_time() - started


def in_webassembly(asked: dict[str, Any], native: float) -> float:
    """Returns the seconds of processor time of an answer under node, the fastest of several.

    Short runs are repeated until the compiler of WebAssembly has had a second. A page that follows
    a slider runs the same code as often.
    """
    command = ["node", str(ROOT / "tools" / "wasm" / "answers.mjs"), str(ENGINE)]
    done = subprocess.run(  # noqa: S603 - our own script
        command,
        input=json.dumps([asked] * repeats(native)),
        capture_output=True,
        text=True,
        check=True,
        timeout=NODE_S,
    )
    return min(float(one["seconds"]) for one in json.loads(done.stdout))


def main() -> None:
    """Measures what the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m evidence.lab")
    parser.add_argument("what", nargs="*", choices=["sliders", "ratios", "page"], default=[])
    parser.add_argument("--rounds", type=int, default=20, help="moves of each slider")
    parser.add_argument("--seconds", type=float, default=150, help="longest time of each part")
    asked = parser.parse_args()
    print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores", flush=True)
    if "page" in asked.what:
        page(asked.rounds)
    if "ratios" in asked.what or not asked.what:
        ratios(asked.seconds)
    if "sliders" in asked.what or not asked.what:
        sliders(asked.rounds, asked.seconds)


if __name__ == "__main__":
    main()
