"""The page runs from static files with the engine in WebAssembly."""

from __future__ import annotations

import functools
import http.server
import json
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from goodqueue import _core
from goodqueue.errors import RequestError
from goodqueue.lab import static
from goodqueue.lab.server import LabServer
from helpers.browser import CHROMIUM, Page
from helpers.lab_page import serving

if TYPE_CHECKING:
    from collections.abc import Iterator

ENGINE = Path(str(resources.files("goodqueue.lab") / "page" / "engine"))

pytestmark = [
    pytest.mark.skipif(
        CHROMIUM is None, reason="no Chromium on this machine: the static page is not opened"
    ),
    pytest.mark.skipif(
        not (ENGINE / "goodqueue_wasm_bg.wasm").exists(),
        reason="the engine in WebAssembly is not built (make wasm): the static page is not opened",
    ),
]

LINK = "#rate=2Mbps&rtt=30ms&flows=1&buffer=20p"
SHOWN = "document.querySelectorAll('main canvas').length >= 2"


class Host(http.server.SimpleHTTPRequestHandler):
    """A static host that sends no policy and remembers the requests."""

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
        """Prints nothing."""


@pytest.fixture(scope="module")
def origin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of the page in a folder of a static host."""
    folder = tmp_path_factory.mktemp("site")
    static.write_static(folder / "some" / "lab")
    handler = functools.partial(Host, directory=str(folder))
    with serving(http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)) as server:
        yield f"http://127.0.0.1:{server.server_port}/some/lab/"


@pytest.fixture
def page(opened: Page, origin: str) -> Iterator[Page]:
    """The static page with a small link; its console stays without errors."""
    opened.problems.clear()
    opened.open(origin + LINK)
    opened.wait(SHOWN)
    yield opened
    opened.run("1")  # messages of the page that are still on the way
    assert opened.problems == []


def asked(page: Page, script: str) -> object:
    """Returns what the page's engine answers."""
    return page.run(f"import('./compute/engine.js').then(async (engine) => {script})")


def test_the_page_shows_figures_and_follows_a_slider(page: Page, origin: str) -> None:
    """The page requests no figures from a server, and all its requests go to its own origin."""
    assert asked(page, "engine.backEnd") == "wasm"
    before = page.run("document.querySelector('main').textContent")
    page.run(
        "(() => { const slider = document.querySelector('input[type=range][aria-label^=Buffer]');"
        " slider.value = Number(slider.value) + 40;"
        " slider.dispatchEvent(new Event('input', { bubbles: true })); })()"
    )
    page.wait(f"document.querySelector('main').textContent !== {json.dumps(before)}")
    assert "buffer=20p" not in page.run("location.hash")
    requests = page.run("performance.getEntriesByType('resource').map((one) => one.name)")
    assert requests
    assert all(name.startswith((origin, "data:")) for name in requests), requests


def test_the_engine_of_the_page_answers_as_the_core_does(page: Page) -> None:
    """The page gets the same picture from its engine as from the compiled core."""
    text = (Path(__file__).parents[2] / "scenarios" / "bufferbloat.toml").read_text()
    options = {"columns": 20, "flows": 2, "firstPackets": 5000}
    script = f"engine.run({json.dumps(text)}, {json.dumps(options)})"
    body = {"text": text, "columns": 20, "flows": 2, "first_packets": 5000}
    expected = json.loads(_core.LabJob("picture", json.dumps(body)).answer()[1])
    assert asked(page, script) == expected


def test_a_newer_run_stops_the_older_and_the_page_stays_awake(page: Page) -> None:
    """A run of a minute ends within a second of the next question, and reports its progress."""
    long = TEXT.replace("SECONDS", "600").replace("RATE", "90Mbps")
    short = TEXT.replace("SECONDS", "1").replace("RATE", "2Mbps")
    found = asked(
        page,
        f"""{{
          const shares = [];
          const onProgress = (share) => shares.push(share);
          const first = engine.run({json.dumps(long)}, {{ onProgress }})
            .then(() => "whole", (error) => error.status);
          let frames = 0;
          const count = () => {{ frames += 1; requestAnimationFrame(count); }};
          count();
          await new Promise((resolve) => setTimeout(resolve, 1500));
          const began = performance.now();
          await engine.run({json.dumps(short)}, {{}});
          const ms = performance.now() - began;
          return {{ first: await first, shares: shares.length, frames, ms }};
        }}""",
    )
    assert isinstance(found, dict)
    assert found["first"] == 409
    assert found["shares"] >= 2
    assert found["frames"] >= 15
    assert found["ms"] < 1000


def test_means_have_intervals_and_the_knee_fills_in(page: Page) -> None:
    """Both come from runs in the background; the commands come from the engine."""
    page.wait("document.querySelector('.results')?.dataset.stage === 'done'")
    assert "5 runs" in page.run("document.querySelector('.results').textContent")
    page.click("± intervals")
    page.wait("document.querySelector('.tiles').textContent.includes('±')")
    assert page.run("document.querySelectorAll('.tradeoff svg circle').length") > 5
    text = TEXT.replace("SECONDS", "4").replace("RATE", "2Mbps")
    lines = asked(page, f"engine.tc({json.dumps(text)})")
    assert isinstance(lines, dict)
    assert lines["commands"][0].startswith("tc qdisc replace dev DEV root bfifo")


def test_the_server_s_page_can_use_the_engine_of_its_own(opened: Page) -> None:
    """`?engine=wasm` selects the engine in WebAssembly, which the policy of the server allows."""
    with serving(LabServer()) as server:
        opened.problems.clear()
        opened.open(f"{server.url}&engine=wasm{LINK}")
        opened.wait(SHOWN)
        assert asked(opened, "engine.backEnd") == "wasm"
        assert opened.problems == []


def test_without_the_engine_no_static_page_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The message names the command that builds the engine."""
    monkeypatch.setattr(static, "page_files", lambda: {"/index.html": b""})
    with pytest.raises(RequestError, match="make wasm"):
        static.write_static(tmp_path)


TEXT = """\
schema_version = 1
duration = "SECONDSs"

[topology]
shape = "dumbbell"
access = { rate = "1Gbps" }
bottleneck = { rate = "RATE", delay = "0s", queue = { kind = "drop_tail", limit = "1bdp" } }

[[flow]]
name = "flow"
count = 2
rtt = "40ms"
workload = { kind = "bulk" }
"""
