"""The lab's page in a browser: its first screen, its answer, its controls and its figures."""

from __future__ import annotations

import gzip
import json
import re
from importlib import resources
from typing import TYPE_CHECKING

import pytest

from conftest import goodqueue
from goodqueue import _core
from goodqueue.lab.server import page_files
from helpers.lab_page import DONE, MINUS, NEEDS_BROWSER, TWO, figure, leave_refused, question

if TYPE_CHECKING:
    from goodqueue.lab.server import LabServer
    from helpers.browser import Page

pytestmark = NEEDS_BROWSER

STORIES = json.loads(
    (resources.files("goodqueue.lab") / "page" / "stories" / "stories.json").read_text("utf-8")
)


def test_the_first_screen_shows_controls_figures_and_pictures(page: Page) -> None:
    """A window of 1280 by 800 shows the moving link and the figures without scrolling."""
    lowest = page.run(
        "Math.max(...[...document.querySelectorAll('.packets, .tile')]"
        ".map((e) => e.getBoundingClientRect().bottom))"
    )
    assert lowest <= 800
    assert page.run("document.querySelectorAll('main > .charts canvas').length") == 2
    assert page.run("document.querySelectorAll('.tradeoff svg circle').length") > 5
    assert 0 < figure(page, "utilization") <= 100
    assert "20\xa0packets" in page.run("document.querySelector('.results').textContent")
    headline = page.run("document.querySelector('.answer h2').textContent")
    assert re.match(r"This link needs a buffer of \d+\xa0packets? \(\d+ to \d+", headline)


def test_an_address_without_settings_compares_a_large_buffer_with_the_answer(
    page: Page, server: LabServer
) -> None:
    """A newcomer first sees a hundred packets, what they cost, and what the answer would do."""
    page.open(server.url)
    page.wait(DONE)
    assert "buffer=100p" in question(page)
    text = page.run("document.querySelector('[data-excess]').textContent")
    delay = page.run("document.querySelector('[data-figure=p99_queueing_delay_s]').textContent")
    assert f"1 in 100 packets waits {delay} or longer; take " in text
    page.click("Use this buffer")
    page.wait(f"!location.hash.includes('100p') && {DONE}")
    assert page.run("document.querySelector('[data-excess]')") is None
    assert page.run("document.querySelector('.answer button')") is None


def test_the_trade_off_has_the_recommendation_and_the_published_rules(page: Page) -> None:
    """Rules with the same buffer share a label; they are shown on request."""
    found = page.run(
        "import('./views/tradeoff.js').then(({ rulesOf }) => rulesOf(["
        "{ rule: 'bdp', title: 't', packets: 50 }, { rule: 'sqrt_n', title: 't', packets: 25 },"
        "{ rule: 'bscl', title: 't', packets: 50 }, { rule: 'new', title: 'new', packets: 3 }]))"
    )
    assert [(one["packets"], one["names"]) for one in found] == [
        (3, "new"),
        (25, "BDP/√N"),
        (50, "BDP, BSCL"),
    ]
    texts = "[...document.querySelectorAll('.tradeoff svg text')].map((e) => e.textContent)"
    assert "you are here: 20\xa0packets" in page.run(texts)
    best = page.run("document.querySelector('[data-packets]').textContent")
    assert f"take {best}" in page.run(texts)
    assert not any(text.startswith("BDP") for text in page.run(texts))
    page.click("Published rules", "label")
    page.wait(f"{texts}.some((text) => text.startsWith('BDP'))")


MODEL = """
import('./views/tradeoff.js').then(async ({ modelOf, waitAt }) => {
  const link = (use, wait) => ({ utilization: use, p99_queueing_delay_s: wait });
  const mean = (of) => ({ mean: of, low: of, high: of });
  const means = (use, wait) => ({ utilization: mean(use), p99_queueing_delay_s: mean(wait) });
  const knee = [{ packets: 20, link: link(1, 0.02) }, { packets: 10, link: link(0.9, 0.01) }];
  const a = { knee, runs: [{ buffer_packets: 15 }], means: means(0.95, 0.015) };
  const check = { kept: 16, ended: true, tried: [{ packets: 16, means: means(0.99, 0.016) }] };
  const answer = { packets: 16, at_least_packets: 14, at_most_packets: 18 };
  const of = () => ({ link: { rate: '12Mbps', rtt: '10ms' }, text: '15ms', isFifo: true });
  return modelOf({ a, b: null, instant: { answer, curve: null, rules: [] }, check }, of,
    { rules: true, spread: false }, { a: '#111111' });
})"""


def test_the_trade_off_is_drawn_from_the_runs(page: Page) -> None:
    """Waits in ms, buffers in the typed unit, and the waits of the recommended range."""
    found = page.run(MODEL)
    [curve] = found["curves"]
    assert [(one["x"], one["y"], one["label"]) for one in curve["points"]] == [
        (10, 0.9, "10\xa0ms"),
        (20, 1, "20\xa0ms"),
    ]
    assert (curve["here"]["x"], curve["here"]["y"], curve["here"]["label"]) == (
        15,
        0.95,
        "15\xa0ms",
    )
    assert found["band"] == {"from": 14, "to": 18, "label": "take 16\xa0ms"}


@pytest.mark.parametrize(
    ("change", "doubt"),
    [("loss=1%25", "random loss"), ("others=1", "other flows"), ("profile=rfc", "hosts' TCP")],
)
def test_the_answer_says_what_its_formula_leaves_out(
    page: Page, server: LabServer, change: str, doubt: str
) -> None:
    """Calibrated theory was fitted to long flows of Linux without other losses."""
    page.open(f"{server.url}#rate=2Mbps&rtt=30ms&flows=1&buffer=20p&{change}")
    page.wait(f"document.querySelector('.answer h2') && {DONE}")
    text = page.run("document.querySelector('.answer').textContent")
    assert "unsure of this link" in text
    assert f"The formula leaves out: {doubt}." in text
    line = page.run("document.querySelector('.take .device').textContent")
    assert "unsure of this link" in line or "There is no line" in line


def test_a_newcomer_reads_what_the_page_shows_and_begins_with_a_story(page: Page) -> None:
    """The words of tiles and controls are explained, and a button opens the first story."""
    words = page.run("[...document.querySelectorAll('.intro dt')].map((e) => e.textContent)")
    named = page.run(
        "[...document.querySelectorAll('form .scaled > span:first-child')]"
        ".map((e) => e.textContent)"
    )
    assert set(named) == {"Rate", "Base round-trip time", "Flows", "Buffer"}
    assert {name.rstrip("s") for name in named} <= set(words)
    assert {"Utilisation", "Loss", "Delay, p99", "Queue", "Congestion control"} <= set(words)
    page.click("Begin with a lesson")
    page.wait(f"document.querySelector('.story')?.dataset.story === {STORIES[0]['id']!r}")
    page.run("document.querySelector('.story [role=group] button').click()")
    page.wait(DONE)


@pytest.mark.parametrize(
    ("label", "text", "kept"),
    [
        ("Rate, slider", "100", "rate="),
        ("Rate", "3Mbps", "rate=3Mbps"),
        ("Base round-trip time, slider", "120", "rtt="),
        ("Base round-trip time", "20ms..60ms", "rtt=20ms..60ms"),
        ("Flows, slider", "60", "flows="),
        ("Flows", "3", "flows=3"),
        ("Buffer, slider", "150", "buffer="),
        ("Buffer", "12p", "buffer=12p"),
        ("Queue", "codel", "queue=codel"),
        ("Congestion control", "reno", "control=reno"),
        ("Other flows", "2", "others=2"),
        ("Their control", "vegas", "otherControl=vegas"),
        ("Hosts' TCP", "rfc", "profile=rfc"),
        ("Random loss", "0.5%", "loss=0.5"),
        ("Starts within", "0s", "stagger=0s"),
        ("Seed", "7", "seed=7"),
        ("TCP's parameters", "pacing = true", "tcpKeys=pacing"),
    ],
)
def test_every_control_runs_the_link_again(page: Page, label: str, text: str, kept: str) -> None:
    """A change is in the address at once, and new figures follow."""
    before = question(page)
    page.type_into(label, text)
    page.wait(f"location.hash !== {before!r} && {DONE}")
    assert kept in question(page)
    assert page.run("document.querySelector('.problem')") is None


def test_a_change_replaces_the_figures(page: Page) -> None:
    """Packets wait longer in a larger buffer, and the tile of the delay shows it."""
    before = figure(page, "p99_queueing_delay_s")
    page.type_into("Buffer", "80p")
    page.wait(
        f"document.querySelector('.results').textContent.includes('80\\xa0packets') && {DONE}"
    )
    assert figure(page, "p99_queueing_delay_s") > 2 * before


def test_a_ping_and_the_queues_parameters_have_their_controls(page: Page) -> None:
    """A ping has its own tile, and the value of a queue's key is in the scenario that is run."""
    page.run("document.querySelector('.tick input').click()")
    page.wait("document.querySelector('[data-figure=ping_s]') !== null")
    page.type_into("Queue", "codel")
    page.type_into("Queue's parameters", 'target = "20ms"')
    page.wait(f"location.hash.includes('queueKeys') && {DONE}")
    assert 'target = "20ms"' in page.run("document.querySelector('.take pre').textContent")


def test_a_mistake_is_explained_and_mended(page: Page) -> None:
    """The message of the engine names the remedy, and goes when the value is right."""
    page.type_into("Rate", "5 parsecs")
    page.wait("document.querySelector('.problem') !== null")
    assert "parsecs" in page.run("document.querySelector('.problem').textContent")
    page.type_into("Rate", "3Mbps")
    page.wait(f"document.querySelector('.problem') === null && {DONE}")
    assert all("status of 422" in one for one in page.problems)
    leave_refused(page)


def choose(page: Page, name: str) -> None:
    """Chooses one of the links to begin with."""
    page.run(
        "(() => { const one = document.querySelector('[aria-label=\"Links to begin with\"]');"
        f" one.value = [...one.options].findIndex((o) => o.text === {name!r}) - 1;"
        " one.dispatchEvent(new Event('change', { bubbles: true })); })()"
    )


@pytest.mark.parametrize("name", ["Home uplink, bloated", "Drop tail against fq_codel", "BBR"])
def test_links_to_begin_with_open(page: Page, name: str) -> None:
    """The choice of a link sets all controls."""
    choose(page, name)
    page.wait(f"!location.hash.includes('2Mbps') && {DONE}")


@pytest.mark.parametrize("name", ["Home uplink, bloated", "Home link, 20 Mb/s"])
def test_the_answer_the_curve_and_the_command_agree(page: Page, name: str) -> None:
    """The command that the page shows recommends a buffer of the page's interval and curve."""
    choose(page, name)
    page.wait(f"{DONE} && document.querySelector('[data-shown]')")
    answer = page.run("document.querySelector('.answer').textContent")
    [(low, high)] = re.findall(r"finds (\d+)(?: to (\d+))? packets", answer)
    [(suffices, fails)] = re.findall(
        r"from (\d+)\xa0packets\s+on(?:, and less with (\d+))?", answer
    )
    shown = page.run("document.querySelector('.take').textContent")
    [command] = re.findall(r"goodqueue (size --rate .*? --profile linux)", shown)
    answered = json.loads(goodqueue(*command.split(), "--json").stdout)
    found = answered["recommendation"]["packets"]
    assert int(low) <= found <= int(high or low)
    assert int(fails or 0) < found <= int(suffices)


def test_two_settings_show_their_difference_with_an_interval(page: Page, server: LabServer) -> None:
    """Drop tail against fq_codel: the difference of the delay is sure; the address has both."""
    page.click("Two settings")
    page.wait(f"location.hash.includes('versus') && {DONE}")
    page.open(server.url + TWO)
    page.wait(f"document.querySelector('[data-difference]') && {DONE}")
    page.click("± intervals")
    a, b = figure(page, "a.mean_queueing_delay_s"), figure(page, "b.mean_queueing_delay_s")
    assert b < a / 2
    shown = page.run(
        "document.querySelector('[data-difference=mean_queueing_delay_s]').textContent"
    )
    numbers = re.findall(r"[+-]?[\d.,]+", shown.partition("A: ")[2].replace(MINUS, "-"))
    change, half = (float(text.replace(",", "")) for text in numbers)
    assert change == pytest.approx(b - a, abs=0.02 * a)
    assert 0 <= half < abs(change)
    page.click("Setting B")
    page.type_into("Queue", "pie")
    page.wait(f"location.hash.includes('b.queue=pie') && {DONE}")


def test_an_interval_is_printed_by_its_half_width_or_by_its_ends(page: Page) -> None:
    """Ends at the limit of a share are printed as they are; a single run has no interval.

    Half a width has at most one decimal more than the mean.
    """
    found = page.run(
        "import('./compute/figures.js').then(({ spread }) => ["
        "spread('utilization', { mean: 0.5, half: 0.1, low: 0.4, high: 0.6 }),"
        "spread('utilization', { mean: 0.95, half: 0.1, low: 0.85, high: 1 }),"
        "spread('p99_queueing_delay_s', { mean: 0.12, half: 1.9e-17, low: 0.12, high: 0.12 }),"
        "spread('mean_queueing_delay_s', { mean: 0.12, half: 4.2e-4, low: 0.1196, high: 0.1204 }),"
        "spread('loss_rate', { mean: 3.2e-4, half: 1.1e-7, low: 3.2e-4, high: 3.2e-4 }),"
        "spread('utilization', { mean: 0.5, half: null, low: null, high: null })])"
    )
    assert found == [
        "±\xa010\xa0%",
        "85\xa0% to 100\xa0%",
        "in each run",
        "±\xa00.4\xa0ms",
        "± less than 0.0001\xa0%",
        "",
    ]


def test_the_address_keeps_everything(page: Page, server: LabServer) -> None:
    """An address that is opened again is the same address."""
    page.open(f"{server.url}{TWO}&ping=yes&story=codel&watch=1.5&b.seed=4")
    page.wait("document.querySelector('.results')")
    kept = question(page)
    for part in ("versus=yes", "b.queue=fq_codel", "ping=yes", "story=codel", "watch=1.5"):
        assert part in kept
    assert "b.seed=4" in kept


def test_labels_of_lines_stay_within_their_chart(page: Page) -> None:
    """A label is to the left of its line if there is no room behind it, but room before it."""
    found = page.run(
        "import('./charts/plot.js').then(({ isBefore }) => [[0, 50], [150, 10], [110, 100],"
        " [100, 120]].map(([at, wide]) => isBefore(at, wide, 200)))"
    )
    assert found == [False, True, True, False]


def test_waiting_has_human_words(page: Page) -> None:
    """A call is good up to 150 ms each way and bad above 400 ms (ITU-T G.114)."""
    script = """import('./compute/felt.js').then(({ felt }) =>
      [0.12, 0.14, 0.37, 0.39].map((most) =>
      felt({ p99_queueing_delay_s: { mean: most }, mean_queueing_delay_s: { mean: 0.1 } },
        { rtt: '40ms', flows: 1 })))"""
    late = [(120, "good"), (140, "tiring"), (370, "tiring"), (390, "bad")]
    assert page.run(script) == [
        f"a game feels {ms}\xa0ms late, a call is {word}, and a page of 10 round trips takes"
        " 1\xa0s longer"
        for ms, word in late
    ]
    script = """import('./compute/felt.js').then(({ felt }) =>
      felt({ p99_queueing_delay_s: { mean: 0.0233 }, mean_queueing_delay_s: { mean: 0.02 },
        ping_s: { mean: 0.0436 }, loss_rate: { mean: 0.135 } }, { rtt: '40ms', flows: 1 }))"""
    assert page.run(script) == (
        "a game feels 3.6\xa0ms late, a call is good (but 13.5\xa0% of all packets are lost), and a"
        " page of 10 round trips takes 0.2\xa0s longer"
    )
    shown = page.run("document.querySelector('[data-felt]').textContent")
    assert shown.startswith("While the flows send, a game feels ")


def test_every_queue_and_control_of_the_schema_is_offered(page: Page) -> None:
    """The names are the engine's."""
    words = json.loads(_core.LabJob("start", "{}").answer()[1])
    for label, kept in (("Queue", "queues"), ("Congestion control", "controls")):
        offered = page.run(
            "[...[...document.querySelectorAll('form label')]"
            f".find((e) => e.textContent.startsWith({label!r})).querySelector('select').options]"
            ".map((o) => o.value)"
        )
        assert offered == words[kept]


MAX_PAGE = 130_000
"""Most bytes of the page without its engine, with gzip."""


def test_the_page_is_small() -> None:
    own = {name: data for name, data in page_files().items() if not name.endswith(".wasm")}
    assert sum(len(gzip.compress(data)) for data in own.values()) < MAX_PAGE


def test_modules_that_are_loaded_early_exist() -> None:
    """Each is a file of the page that the page imports."""
    files = page_files()
    early = re.findall(r'rel="modulepreload" href="([^"]+)"', files["/index.html"].decode())
    scripts = [data.decode() for name, data in files.items() if name.endswith(".js")]
    for name in early:
        assert f"/{name}" in files
        assert any(f'/{name.rpartition("/")[2]}"' in script for script in scripts)
