"""Wrong values, and a server that has ended: the page says it, and shows no figures of before."""

from __future__ import annotations

import json
import subprocess
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from conftest import COMMAND
from helpers.lab_page import DONE, NEEDS_BROWSER, leave_refused, question
from helpers.processes import started

if TYPE_CHECKING:
    from collections.abc import Iterator

    from goodqueue.lab.server import LabServer
    from helpers.browser import Page

pytestmark = NEEDS_BROWSER

STATUS = "document.querySelector('[role=status]').textContent"

MAX_SEED = 2**53 - 1000


@pytest.mark.parametrize(
    "label",
    [
        *("Rate", "Base round-trip time", "Buffer", "Random loss", "Starts within"),
        *("Queue's parameters", "TCP's parameters"),
    ],
)
def test_a_wrong_entry_leaves_no_figures_of_before(page: Page, label: str) -> None:
    """Nothing claims to be simulated, and the right entry brings the figures back."""
    before = page.run("location.href")
    page.type_into(label, "banana")
    page.wait("document.querySelector('.problem') && !document.querySelector('.results')")
    body = page.run("document.querySelector('#app').textContent")
    assert "Simulating" not in body
    assert page.run("document.querySelectorAll('.tile, .answer, .take, main canvas').length") == 0
    leave_refused(page)
    page.open(before)
    page.wait(DONE)
    assert page.run("document.querySelector('.problem')") is None


@pytest.mark.parametrize("loss", ["-1%", "1 parsec", "many"])
def test_a_wrong_loss_is_no_loss_of_zero(page: Page, loss: str) -> None:
    page.type_into("Random loss", loss)
    page.wait("document.querySelector('.problem') !== null")
    leave_refused(page)


@pytest.mark.parametrize("loss", ["0", "0%", "0.0 %", ".0%", ""])
def test_a_loss_of_zero_is_none(page: Page, loss: str) -> None:
    found = page.run(
        "import('./question/scenario.js').then(({ isLossy }) => isLossy(" + json.dumps(loss) + "))"
    )
    assert found is False


@pytest.mark.parametrize(
    ("label", "text", "kept", "most"),
    [
        ("Flows", "banana", 1, 5000),
        ("Flows", "0", 1, 5000),
        ("Flows", "2.6", 3, 5000),
        ("Other flows", "-4", 0, 5000),
        ("Seed", "", 1, MAX_SEED),
        ("Seed", "1e300", MAX_SEED, MAX_SEED),
        ("Seed", "99999999999999999999", MAX_SEED, MAX_SEED),
    ],
)
def test_a_number_that_is_not_taken_as_written_is_named(
    page: Page, label: str, text: str, kept: int, most: int
) -> None:
    """The note has the text, the numbers that are possible, and the one that is used."""
    page.type_into(label, text)
    page.wait("document.querySelector('.note') !== null")
    note = page.run("document.querySelector('.note').textContent")
    assert note.startswith(f"{label}: “{text}” is no whole number from ")
    assert note.endswith(f" to {most}, so {kept} is used.")
    page.wait(DONE)
    value = f"[...document.querySelectorAll('input')].some((e) => e.value === '{kept}')"
    assert page.run(value)
    page.type_into("Buffer", "21p")
    page.wait("document.querySelector('.note') === null")


@pytest.mark.parametrize("seed", [5001, 2**32, MAX_SEED])
def test_large_seeds_are_used_as_they_are(page: Page, server: LabServer, seed: int) -> None:
    page.open(f"{server.url}#rate=2Mbps&rtt=30ms&flows=1&buffer=20p&seed={seed}")
    page.wait(DONE)
    assert page.run("document.querySelector('.note')") is None
    assert f"seed = {seed}\n" in page.run("document.querySelector('.take pre').textContent")


@pytest.mark.parametrize("given", ["flows=banana", "flows=1e9", "b.seed=x&versus=yes", "others="])
def test_a_wrong_number_of_the_address_is_named(page: Page, server: LabServer, given: str) -> None:
    page.open(f"{server.url}#rate=2Mbps&rtt=30ms&buffer=20p&{given}")
    page.wait("document.querySelector('.note') !== null")


@pytest.mark.parametrize("watch", ["1e300", "Infinity", "-1", "banana", ""])
def test_a_wrong_time_of_the_address_is_named(page: Page, server: LabServer, watch: str) -> None:
    page.open(f"{server.url}#rate=2Mbps&rtt=30ms&flows=1&buffer=20p&watch={watch}")
    page.wait(DONE)
    assert f"watch={watch} is no time of a run" in page.run(STATUS)
    assert "watch" not in question(page)


def test_a_time_after_the_run_says_when_the_run_ends(page: Page, server: LabServer) -> None:
    page.open(f"{server.url}#rate=2Mbps&rtt=30ms&flows=1&buffer=20p&watch=900")
    page.wait(f"document.querySelector('[data-moving=true]') && {DONE}")
    text = page.run("document.querySelector('.packets').textContent")
    assert "The run ends at 20 s, so there are no packets from 900 s on." in text


def test_a_wrong_entry_leaves_no_packets_of_before(page: Page) -> None:
    """The view of packets is empty, has no wait, and says why, also in a browser that is busy.

    A busy browser ends the movement of the packets some frames after the refusal.
    """
    page.run(
        "(() => { const real = window.setTimeout;"
        " window.setTimeout = (task, delay, ...rest) => real(task, delay || 400, ...rest); })()"
    )
    page.wait("document.querySelector('[data-wait]').textContent")
    page.type_into("Rate", "banana")
    reason = "document.querySelector('.packets').textContent.includes('No packets are shown')"
    page.wait(f"document.querySelector('.problem') && {reason}")
    time.sleep(0.6)
    page.wait("document.querySelector('[data-wait]').textContent === ''", patience_s=1.0)
    leave_refused(page)


HOSTILE = "<img src=x onerror=alert(1)>"


@pytest.mark.parametrize("key", ["buffer", "rate", "rtt", "queue", "loss"])
def test_a_hostile_address_adds_no_element(page: Page, server: LabServer, key: str) -> None:
    page.open(f"{server.url}#{key}={HOSTILE}&rate=2Mbps&buffer=20p")
    page.wait("document.querySelector('.problem')")
    assert page.run("document.querySelectorAll('img').length") == 0
    leave_refused(page)


@pytest.mark.parametrize("buffer", ["99999999999999999p", "1.2.3bdp", "0p", "1e5p", "999999999s"])
def test_a_buffer_beyond_all_bounds_does_not_stop_the_page(
    page: Page, server: LabServer, buffer: str
) -> None:
    page.open(f"{server.url}#rate=2Mbps&rtt=30ms&buffer={buffer}")
    page.wait(f"document.querySelector('.problem') || {DONE}")
    page.type_into("Buffer", "20p")
    page.wait(f"document.querySelector('.problem') === null && {DONE}")
    assert all("status of 422" in one for one in page.problems)
    leave_refused(page)


@contextmanager
def lab(port: int = 0) -> Iterator[tuple[subprocess.Popen[str], dict[str, Any]]]:
    """Starts the command in a process of its own, and ends it."""
    command = [str(COMMAND), "lab", "--no-browser", "--json", "--port", str(port)]
    with started(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield process, json.loads("".join(iter(process.stdout.readline, "}\n")) + "}")
        finally:
            process.kill()


def test_the_page_says_that_its_server_has_ended(page: Page) -> None:
    """The message has a button that tries again, and nothing claims to be simulated."""
    with lab() as (process, started):
        page.open(started["url"] + "#rate=2Mbps&rtt=30ms&flows=1&buffer=20p")
        page.wait(DONE)
        process.kill()
        process.wait()
        page.type_into("Buffer", "30p")
        page.wait("document.querySelector('.problem') !== null")
        assert "The server of this page does not answer" in page.run(STATUS)
        assert "Simulating" not in page.run("document.querySelector('#app').textContent")
        page.type_into("Stories", "bbr-shallow")
        page.wait("document.querySelector('.story')?.dataset.verdict === 'stopped'")
    leave_refused(page)


def test_a_question_without_an_answer_is_tried_again(page: Page, server: LabServer) -> None:
    """A connection that breaks once costs one click."""
    assert server.url
    page.run("window.kept = window.fetch; window.fetch = () => Promise.reject(new TypeError('no'))")
    page.type_into("Buffer", "30p")
    page.wait("document.querySelector('.problem') !== null")
    page.run("window.fetch = window.kept")
    page.click("Try again")
    page.wait(f"document.querySelector('.problem') === null && {DONE}")
    assert "30\xa0packets" in page.run("document.querySelector('.results').textContent")


def test_runs_that_end_early_say_so(page: Page, server: LabServer) -> None:
    """Figures of the present settings stay when a later question gets no answer."""
    page.open(f"{server.url}#rate=2Mbps&rtt=31ms&flows=1&buffer=20p")
    page.wait("document.querySelector('.results') !== null")
    page.run("window.fetch = () => Promise.reject(new TypeError('no'))")
    page.wait("document.querySelector('.results')?.dataset.stage === 'stopped'")
    text = page.run("document.querySelector('.results').textContent")
    assert "Not all of the simulation was made." in text
    assert "Simulating" not in text
