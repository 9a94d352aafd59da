"""Files of the lab's page: what it saves and copies, and scenarios that it opens."""

from __future__ import annotations

import base64
import csv
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from conftest import COMMAND, SMALL
from helpers.lab_page import DONE, NEEDS_BROWSER, figure, question

if TYPE_CHECKING:
    from helpers.browser import Page

ROOT = Path(__file__).parents[2]

pytestmark = NEEDS_BROWSER


SAVED = """
(() => { window.saved = {}; const make = URL.createObjectURL; let last = null;
  URL.createObjectURL = (blob) => { last = blob; return make(blob); };
  HTMLAnchorElement.prototype.click = function () {
    const name = this.download; window.saved[name] = null;
    const read = new FileReader(); read.onload = () => { window.saved[name] = read.result; };
    read.readAsDataURL(last); };
  window.copied = [];
  const writeText = async (text) => { window.copied.push(text); };
  Object.defineProperty(navigator, 'clipboard', { value: { writeText } });
})()
"""


def saved(page: Page, name: str) -> bytes:
    """Returns the content of a file that the page has saved."""
    address = page.wait(f"window.saved[{name!r}]")
    return base64.b64decode(address.partition(",")[2])


def test_every_chart_is_saved_as_picture_and_data(page: Page) -> None:
    """SVG, PNG and CSV of each chart, with its title, its legend and the settings."""
    page.run(SAVED)
    for button in range(9):
        page.run(f"document.querySelectorAll('main .saves button')[{button}].click()")
    for name in ("queue", "windows", "trade-off"):
        svg = saved(page, f"{name}.svg").decode()
        assert svg.startswith("<svg")
        assert "<polyline" in svg or "<circle" in svg
        assert page.run(
            f"new DOMParser().parseFromString({svg!r}, 'image/svg+xml')"
            ".querySelector('parsererror') === null"
        )
        assert "goodqueue lab: 2Mbps, base RTT 30ms, 1 cubic flow, drop_tail with 20p<" in svg
        png = saved(page, f"{name}.png")
        assert png.startswith(b"\x89PNG")
        size = [float(one) for one in re.findall(r'(?:width|height)="([\d.]+)"', svg)[:2]]
        assert [int.from_bytes(png[at : at + 4]) for at in (16, 20)] == [2 * one for one in size]
        rows = list(csv.reader(saved(page, f"{name}.csv").decode().splitlines()))
        assert len(rows) > 5
        assert len({len(row) for row in rows}) == 1


def test_scenario_data_command_and_program_are_taken_along(page: Page, tmp_path: Path) -> None:
    """The saved file, the command and the Python program run as they are, with the same figures."""
    page.run(SAVED)
    page.wait("document.querySelector('.take').textContent.includes('as Parquet')")
    for text in ("Save as scenario", "Save data", "Copy as command", "Copy as Python"):
        page.click(text)
    page.click("Save data as Parquet")
    page.wait("window.copied.length === 2")
    command, program = page.run("window.copied")
    rows = saved(page, "series.csv").decode().splitlines()
    assert rows[0].startswith("time_s,bottleneck.low_packets")
    assert len(rows) == 601
    table = pl.read_parquet(io.BytesIO(saved(page, "series.parquet")))
    assert (table.columns, table.height) == (rows[0].split(","), 600)
    scenario = tmp_path / "scenario.toml"
    scenario.write_bytes(saved(page, "scenario.toml"))
    path = f"{COMMAND.parent}{os.pathsep}{os.environ['PATH']}"
    alike = [str(COMMAND), "run", str(scenario), "--json"]
    run = subprocess.run(alike, capture_output=True, text=True, check=True)
    link = json.loads(run.stdout)["links"]["bottleneck"]
    typed = subprocess.run(
        ["/bin/sh", "-c", command.replace("goodqueue run -", "goodqueue run --json -")],
        capture_output=True, text=True, check=True, env=os.environ | {"PATH": path},
    )  # fmt: skip
    assert json.loads(typed.stdout)["links"]["bottleneck"] == link
    plain = ["/bin/sh", "-c", command]
    subprocess.run(plain, capture_output=True, check=True, env=os.environ | {"PATH": path})
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert f"bottleneck utilization {link['utilization']}" in done.stdout


def test_the_line_for_the_router_has_its_buffer_and_the_place_where_it_is_typed(page: Page) -> None:
    """The sentence above the line names the buffer of the answer, and the device."""
    needs = page.run(
        "document.querySelector('.answer h2').textContent.match(/[0-9,]+\\xa0packets/)[0]"
    )
    text = page.run("document.querySelector('.take .device').textContent")
    assert needs in text
    assert ". Type the line as root, with the name of the device" in text
    assert "DEV" in text
    assert "ethtool -K DEV gso off tso off gro off" in text
    lines = page.run("[...document.querySelectorAll('.take .copy code')].map((e) => e.textContent)")
    packets = int(needs.split()[0].replace(",", ""))
    assert lines[0] == f"tc qdisc replace dev DEV root bfifo limit {packets * 1514}"
    tbf = f"root handle 1: tbf rate 2000000bit burst 3028 limit {packets * 1514}"
    assert lines[1] == f"tc qdisc replace dev DEV {tbf}"


def test_a_line_is_copied_on_a_host_without_https(page: Page) -> None:
    """Browsers offer the clipboard only to pages of https and of this computer."""
    page.run(
        "(() => { window.copied = ''; Object.defineProperty(navigator, 'clipboard', { value:"
        " undefined }); document.addEventListener('copy', () => {"
        " window.copied = document.activeElement.value; }); })()"
    )
    page.run("document.querySelector('.take .copy button').focus()")
    page.run("document.querySelector('.take .copy button').click()")
    line = page.run("document.querySelector('.take .copy code').textContent")
    page.wait("document.querySelector('.take .copy button').textContent === 'Copied'")
    assert page.run("window.copied") == line
    assert page.run("document.querySelectorAll('body > textarea').length") == 0
    assert page.run("document.activeElement.textContent") == "Copied"


def test_the_queue_of_the_controls_has_its_own_line(page: Page) -> None:
    """A reader who has chosen another queue than a FIFO takes this queue along."""
    page.type_into("Queue", "fq_codel")
    page.type_into("Buffer", "500p")
    line = "document.querySelector('.take .copy code').textContent"
    page.wait(f"/ fq_codel limit 500 /.test({line}) && {DONE}")
    page.type_into("Random loss", "1%")
    page.wait(f"{DONE} && document.querySelector('.take').textContent.includes('First choose')")
    assert "goodqueue size scenario.toml" in page.run("document.querySelector('.take').textContent")


def drop(page: Page, text: str) -> None:
    """Drops a scenario file onto the page."""
    page.run(
        "(() => { const files = new DataTransfer();"
        f" files.items.add(new File([{text!r}], 'dropped.toml'));"
        " document.querySelector('.bench').dispatchEvent("
        "new DragEvent('drop', { bubbles: true, dataTransfer: files })); })()"
    )


def test_a_scenario_file_is_opened_by_drag_and_drop(page: Page) -> None:
    """The page shows the file's link and has it in the address; later the controls return."""
    page.run(
        "(() => { const files = new DataTransfer();"
        f" files.items.add(new File([{SMALL!r}], 'small.toml'));"
        " document.querySelector('.bench').dispatchEvent("
        "new DragEvent('drop', { bubbles: true, dataTransfer: files })); })()"
    )
    page.wait("document.querySelector('textarea')?.value.includes('One flow, one ping')")
    page.wait(
        f"document.querySelector('.results').textContent.includes('20\\xa0packets') && {DONE}"
    )
    assert "file=" in question(page)
    page.click("Back to the controls")
    page.wait("document.querySelector('textarea') === null")


def test_sliders_of_an_opened_file_begin_at_its_values_and_replace_them(page: Page) -> None:
    """The value is in the address, in the run, and in the file that is saved."""
    page.run(SAVED)
    drop(page, SMALL)
    page.wait(f"document.querySelector('form h2') && {DONE}")
    assert page.run("document.querySelector('[aria-label=Rate]').value") == "1Mbps"
    before = figure(page, "p99_queueing_delay_s")
    page.type_into("Rate", "500kbps")
    page.wait(f"location.hash.includes('set.rate=500kbps') && {DONE}")
    assert figure(page, "p99_queueing_delay_s") > 1.5 * before
    assert page.run("document.querySelectorAll('main > .charts canvas').length") == 2
    page.click("Save as scenario")
    assert b'rate = "500kbps"' in saved(page, "scenario.toml")
    page.click("Back to the file")
    page.wait("!location.hash.includes('set.rate')")


def test_a_file_that_sliders_cannot_change_says_so(page: Page) -> None:
    """A chain of links has no bottleneck of that name."""
    drop(page, (ROOT / "scenarios" / "parking-lot.toml").read_text())
    page.wait("document.querySelector('form').textContent.includes('has none')")
    assert page.run("document.querySelector('form input[type=range]')") is None
    assert page.run("document.querySelector('form details').open")
