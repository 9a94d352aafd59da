"""Reports in a browser: the first printed page, narrow screens, and accessibility."""

from __future__ import annotations

from importlib import resources
from typing import TYPE_CHECKING

import pytest

from goodqueue.cli import run_command
from helpers.browser import CHROMIUM, Page, browser

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [
    pytest.mark.slow,  # the browser's CPU time is not counted
    pytest.mark.skipif(
        CHROMIUM is None, reason="no Chromium on this machine: the page is not opened"
    ),
]

A4_MM = 186, 273
"""Width and height of a page of A4 without its margins of 12 mm."""

LINK = ["--rate", "1Mbps", "--rtt", "24ms", "--flows", "1", "--max-delay", "100ms"]


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """The report of a home uplink."""
    folder = tmp_path_factory.mktemp("report")
    report = folder / "size.html"
    store = ["--store", str(folder / "runs")]
    assert run_command(["size", *LINK, "--replicates", "7", *store, "--report", str(report)]) == 0
    with browser(tmp_path_factory.mktemp("chromium")) as page:
        page.size(1280, 900)
        page.open(f"file://{report}")
        page.wait("document.querySelector('.number')")
        yield page


def test_what_a_manager_reads_fits_on_one_printed_page(shown: Page) -> None:
    """Number, sentence, three tiles and the curve are above the first page break."""
    width, height = (round(side * 96 / 25.4) for side in A4_MM)
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    shown.call("Emulation.setDeviceMetricsOverride", **metrics)
    shown.call("Emulation.setEmulatedMedia", media="print")
    bottom = shown.run("document.querySelector('.first').getBoundingClientRect().bottom")
    inside = (
        "['.number', '.buys', '.tiles', 'img'].every((e) => document.querySelector(`.first ${e}`))"
    )
    shown.call("Emulation.setEmulatedMedia", media="")
    assert shown.run(inside)
    assert bottom <= height


def test_the_number_is_the_largest_text(shown: Page) -> None:
    """No text is larger than the answer."""
    shown.size(1280, 900)
    sizes = shown.run(
        "[...document.querySelectorAll('body *')].map((e) => [e.tagName === 'B' && "
        "e.parentElement.className === 'number', parseFloat(getComputedStyle(e).fontSize)])"
    )
    [number] = [size for is_number, size in sizes if is_number]
    assert all(size < number for is_number, size in sizes if not is_number)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_axe_finds_no_violation(shown: Page, dark: bool) -> None:
    """Names, contrast and headings, by axe-core."""
    shown.size(1280, 900, dark=dark)
    shown.run((resources.files("axe_core_python") / "axe.min.js").read_text("utf-8") + "; 1")
    found = shown.run("axe.run(document).then((r) => r.violations)")
    assert [(one["id"], one["nodes"][0]["html"][:120]) for one in found] == []


def test_a_phone_needs_no_scrolling_sideways(shown: Page) -> None:
    """Wide tables scroll within their own box."""
    shown.size(400, 800)
    assert shown.run("document.documentElement.scrollWidth") <= 400
