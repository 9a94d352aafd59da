"""Reports in the lab's page: what opens, what is left out of a foreign file, and links of cells."""

from __future__ import annotations

import json
import threading
from importlib import resources
from typing import TYPE_CHECKING

import pytest

from conftest import SMALL
from goodqueue.cli import run_command
from goodqueue.errors import RequestError
from goodqueue.lab import opened as lab_opened
from goodqueue.lab.opened import read_file
from goodqueue.lab.server import LabServer
from helpers.browser import CHROMIUM, Page, browser

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

needs_browser = [
    pytest.mark.slow,  # the browser's CPU time is not counted
    pytest.mark.skipif(
        CHROMIUM is None, reason="no Chromium on this machine: the page is not opened"
    ),
]

DONE = "document.querySelector('.results')?.dataset.stage === 'done'"

STUDY = """\
schema_version = 1
title = "Two buffers"
scenario = "small.toml"
seeds = 2

[sweep]
topology.bottleneck.queue.limit = ["7p", "23p"]
"""

HOSTILE = """<!doctype html><title>t</title><style>body { display: none }</style>
<main><h1 id="app" onclick="window.ran = 1" style="position: fixed">A report</h1>
<script>window.ran = 1</script><img src="https://example.com/x.png" onerror="window.ran = 1">
<img src="x" onerror="window.ran = 1"><iframe srcdoc="<script>parent.ran = 1</script>"></iframe>
<a href="javascript:window.ran = 1">one</a><a href="https://example.com/">two</a>
<form action="https://example.com/"><input name="q"></form><svg onload="window.ran = 1"></svg>
<table><tr><td class="soft" style="color: red">cell</td></tr></table></main>"""


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns the page of a study of two variants."""
    folder = tmp_path_factory.mktemp("study")
    (folder / "small.toml").write_text(SMALL)
    (folder / "study.toml").write_text(STUDY)
    out = ["--out", str(folder / "runs"), "--report", str(folder / "study.html")]
    assert run_command(["sweep", str(folder / "study.toml"), *out]) == 0
    return folder / "study.html"


@pytest.fixture(scope="module")
def page(report: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """The lab, opened on that report as `goodqueue lab study.html` opens it."""
    with LabServer(opened=read_file(str(report))) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        with browser(tmp_path_factory.mktemp("chromium")) as page:
            page.size(1280, 800)
            page.open(server.url)
            page.wait("document.querySelector('.report table')")
            yield page
            assert page.problems == []
        server.shutdown()
        thread.join()


def drop(page: Page, name: str, text: str) -> None:
    """Drops a file onto the page."""
    page.run(
        "(() => { const files = new DataTransfer();"
        f" files.items.add(new File([{text!r}], {name!r}));"
        " document.querySelector('#app > div').dispatchEvent("
        "new DragEvent('drop', { bubbles: true, dataTransfer: files })); })()"
    )


class TestInTheBrowser:
    """Reports in the page; the tests share one tab."""

    pytestmark = needs_browser

    def test_the_command_line_opens_a_report(self, page: Page) -> None:
        """The page shows the number and the tiles of the study."""
        assert page.run("document.querySelector('.report h2').textContent") == "Two buffers"
        assert page.run("document.querySelectorAll('.report .number b').length") == 1
        assert page.run("document.querySelectorAll('.report .tile').length") == 3

    def test_a_cell_opens_its_settings_and_the_report_can_be_opened_again(self, page: Page) -> None:
        """The link of the second row runs the link with its buffer of 23 packets."""
        page.run("[...document.querySelectorAll('.report table a.play')][1].click()")
        page.wait(f"{DONE} && document.querySelector('textarea') !== null")
        assert 'limit = "23p"' in page.run("document.querySelector('textarea').value")
        page.click("Report")
        page.wait("document.querySelector('.report table')")

    def test_the_keyboard_closes_the_report_and_opens_it_again(self, page: Page) -> None:
        """After Close the focus is on the button that opens the report again."""
        press = "document.activeElement.click()"
        page.run("document.querySelector('.report button').focus()")
        page.run(press)
        page.wait(f"document.querySelector('.report') === null && {DONE}")
        assert page.run("document.activeElement.textContent") == "Report"
        page.run(press)
        page.wait("document.querySelector('.report table')")

    def test_paper_has_the_report_without_the_labs_head_buttons_and_links(self, page: Page) -> None:
        """The tables are printed; what can only be clicked is not."""
        shown = (
            "['.report table', 'header h1', '.report .buttons', '.report a.play'].map((one) =>"
            " document.querySelector(one).checkVisibility())"
        )
        page.call("Emulation.setEmulatedMedia", media="print")
        printed = page.run(shown)
        page.call("Emulation.setEmulatedMedia", media="")
        assert printed == [True, False, False, False]
        assert page.run(shown) == [True, True, True, True]

    def test_a_phone_needs_no_scrolling_sideways(self, page: Page) -> None:
        """Wide tables scroll within their own box."""
        page.size(390, 800)
        width = page.run("document.documentElement.scrollWidth")
        page.size(1280, 800)
        assert width <= 390

    @pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
    def test_axe_finds_no_violation(self, page: Page, dark: bool) -> None:
        """Names, contrast and headings, by axe-core."""
        page.size(1280, 800, dark=dark)
        page.run((resources.files("axe_core_python") / "axe.min.js").read_text("utf-8") + "; 1")
        found = page.run("axe.run(document).then((r) => r.violations)")
        page.size(1280, 800)
        assert [(one["id"], one["nodes"][0]["html"][:120]) for one in found] == []

    def test_a_document_of_json_opens(self, page: Page) -> None:
        """Figures become tables, lists of objects a row each, and `lab` a link."""
        document: dict[str, object] = {
            "buffer": {"packets": 8},
            "rules": [{"name": "bdp", "packets": 40}],
        }
        document["lab"] = "rate=1Mbps&buffer=8p"
        drop(page, "answer.json", json.dumps(document))
        page.wait("document.querySelector('.report h2')?.textContent === 'answer.json'")
        text = page.run("document.querySelector('.report').textContent")
        assert "bdp40" in text
        page.run("document.querySelector('.report a.play').click()")
        page.wait(f"location.hash.includes('buffer=8p') && {DONE}")

    def test_a_foreign_page_can_neither_run_nor_load_nor_style(self, page: Page) -> None:
        """Only texts, tables, embedded pictures and links within the report are copied."""
        drop(page, "foreign.html", HOSTILE)
        page.wait("document.querySelector('.report h2')?.textContent === 'A report'")
        left = page.run(
            "[...document.querySelectorAll('.report > div *')].flatMap((e) => "
            "[e.tagName, ...e.getAttributeNames()])"
        )
        kept = {"H2", "IMG", "A", "TABLE", "TBODY", "TR", "TD", "class", "data-place"}
        assert set(left) <= kept
        assert page.run("window.ran ?? null") is None
        assert page.run("document.querySelectorAll('#app').length") == 1
        # The browser says what the page's policy refused while the file was read.
        assert all("Content Security Policy" in one for one in page.problems)
        page.problems.clear()

    def test_a_file_that_is_no_report_is_refused(self, page: Page) -> None:
        """The message names the file and says what can be opened."""
        drop(page, "other.html", "<p>no report</p>")
        page.wait("document.querySelector('.problem') !== null")
        text = page.run("document.querySelector('.problem').textContent")
        assert "other.html is no report of goodqueue" in text
        assert "scenario file" in text


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\xff\xfe", "no text in UTF-8"),
        (b" " * 101, "at most"),
        (None, "No such file or directory; give the path of a scenario file or a report"),
    ],
)
def test_a_report_that_cannot_be_read_is_refused(
    tmp_path: Path, content: bytes | None, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The message names the file and the reason."""
    monkeypatch.setattr(lab_opened, "MAX_REPORT_BYTES", 100)
    file = tmp_path / "page.html"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(RequestError, match=message):
        read_file(str(file))
