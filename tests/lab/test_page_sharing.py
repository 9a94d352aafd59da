"""Readers of the lab's page share addresses, a command, a program, and a part of a page."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import pytest

from conftest import goodqueue
from goodqueue.lab.server import LabServer
from helpers.lab_page import DONE, NEEDS_BROWSER, question, serving
from helpers.lab_page import clipboard as kept_clipboard

if TYPE_CHECKING:
    from helpers.browser import Page

LINK = "#rate=2Mbps&rtt=30ms&flows=1&buffer=20p"


class TestPage:
    """The page in a browser."""

    pytestmark = NEEDS_BROWSER

    def test_the_address_has_no_token_and_can_be_loaded_again(
        self, page: Page, server: LabServer
    ) -> None:
        """The tab keeps the token, so that a copied address does not contain it."""
        assert server.token not in page.run("location.href")
        page.call("Page.reload")
        page.wait(f"performance.getEntriesByType('navigation')[0].type === 'reload' && {DONE}")

    def test_without_an_address_for_others_a_command_is_copied(
        self, page: Page, server: LabServer
    ) -> None:
        """The command opens the same settings on another computer."""
        kept_clipboard(page)
        page.type_into("Base round-trip time", "20ms..40ms")
        page.wait(f"location.hash.includes('20ms..40ms') && {DONE}")
        page.click("Copy what opens this")
        [command] = page.wait("window.copied.length === 1 && window.copied")
        assert str(server.port) not in command
        assert server.token not in command
        program, name, option, settings = shlex.split(command)
        assert (program, name, option) == ("goodqueue", "lab", "--settings")
        assert f"#{settings}" == question(page)

    def test_the_address_of_the_static_page_is_shared(self, page: Page) -> None:
        """It has the settings, and neither port nor token of the server."""
        with serving(LabServer(site="https://example.org/lab/")) as server:
            page.open(server.url + LINK)
            page.wait(DONE)
            kept_clipboard(page)
            page.click("Copy the address")
            page.click("Copy for embedding")
            address, frame = page.wait("window.copied.length === 2 && window.copied")
            assert address == f"https://example.org/lab/{question(page)}"
            source = page.run(
                f"new DOMParser().parseFromString({frame!r}, 'text/html')"
                ".querySelector('iframe').getAttribute('src')"
            )
            assert source == f"https://example.org/lab/?embed{question(page)}"
            page.open("about:blank")

    def test_back_returns_to_the_settings_before(self, page: Page) -> None:
        """A click is a step of the history; changes of one value in a row are a single one."""
        before = question(page)
        page.click("Cable")
        page.wait("location.hash.includes('rate=40Mbps')")
        for place in (40, 41, 42, 43):
            page.type_into("Buffer, slider", str(place))
        page.wait("!location.hash.includes('256KiB')")
        page.run("history.back()")
        page.wait("location.hash.includes('buffer=256KiB')")
        page.run("history.back()")
        page.wait(f"location.hash === {before!r} && {DONE}")
        assert page.run("document.querySelector('[aria-label=Buffer]').value") == "20p"

    def test_two_quick_steps_back_keep_the_entry_that_the_second_one_reaches(
        self, page: Page
    ) -> None:
        """The page shows the first step while the address is already that of the second one."""
        second = question(page)
        first = second.replace("buffer=20p", "buffer=30p")
        buffer = "document.querySelector('[aria-label=Buffer]').value"
        page.run(
            f"(() => {{ history.pushState(null, '', {first!r});"
            " dispatchEvent(new HashChangeEvent('hashchange'));"
            f" history.pushState(null, '', {second!r}); }})()"
        )
        page.wait(f"{buffer} === '30p' && {DONE}", 60)
        assert question(page) == second
        page.run("dispatchEvent(new HashChangeEvent('hashchange'))")
        page.wait(f"{buffer} === '20p'")
        assert question(page) == second

    def test_a_program_of_five_lines_is_copied(self, page: Page) -> None:
        """`tests/lab/test_page_files.py` runs it."""
        kept_clipboard(page)
        page.click("Copy as Python")
        [program] = page.wait("window.copied.length === 1 && window.copied")
        assert len(program.splitlines()) == 5

    def test_a_part_of_another_page_has_the_link_the_answer_and_the_trade_off(
        self, page: Page, server: LabServer
    ) -> None:
        page.open(f"{server.url}&embed{LINK}")
        page.wait(DONE)
        shown = page.run(
            "['.stage', '.answer', '.tradeoff', '[aria-label=Buffer]', 'header', '.take',"
            " '.charts', '.intro'].map((one) => document.querySelector(one).checkVisibility())"
        )
        assert shown == [True] * 4 + [False] * 4
        assert "token" not in page.run("location.search")


@pytest.mark.parametrize("address", ["banana", "javascript:alert(1)", "https://example.org/#a"])
def test_an_address_that_is_none_is_refused(address: str) -> None:
    done = goodqueue("lab", "--no-browser", "--site", address)
    assert done.returncode != 0
    assert f"--site {address}: an address to share begins with https://" in done.stderr
