"""The lab's page in a browser: every control, story, view and export."""

from __future__ import annotations

import base64
import csv
import gzip
import io
import json
import os
import re
import subprocess
import sys
import threading
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from conftest import COMMAND, SMALL, goodqueue
from goodqueue import _core
from goodqueue.lab.server import LabServer, page_files
from helpers.browser import CHROMIUM, Page, browser

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]

pytestmark = [
    pytest.mark.slow,  # the browser's CPU time is not counted
    pytest.mark.skipif(
        CHROMIUM is None, reason="no Chromium on this machine: the page is not opened"
    ),
]

STORIES = json.loads(
    (resources.files("goodqueue.lab") / "page" / "stories" / "stories.json").read_text("utf-8")
)

MINUS = "\N{MINUS SIGN}"
DONE = "document.querySelector('.results')?.dataset.stage === 'done'"
TWO = "#rate=2Mbps&flows=1&buffer=60p&versus=yes&b.queue=fq_codel"


@pytest.fixture(scope="module")
def server() -> Iterator[LabServer]:
    """A server on a free port."""
    with LabServer() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """The browser."""
    with browser(tmp_path_factory.mktemp("chromium")) as page:
        yield page


@pytest.fixture
def page(opened: Page, server: LabServer) -> Iterator[Page]:
    """The page of the lab at 1280 by 800 with a small link; its console stays without errors."""
    opened.problems.clear()
    opened.size(1280, 800)
    opened.open(f"{server.url}#rate=2Mbps&rtt=30ms&flows=1&buffer=20p")
    opened.wait(DONE)
    yield opened
    opened.run("1")  # messages of the page that are still on the way
    assert opened.problems == []


def figure(page: Page, key: str) -> float:
    """Returns the number in the tile of a figure."""
    text = page.run(f"document.querySelector('[data-figure=\"{key}\"]').textContent")
    return float(text.split()[0].replace(",", "").replace(MINUS, "-"))


def question(page: Page) -> str:
    """Returns the part of the address after `#`."""
    return str(page.run("location.hash"))


def test_the_first_screen_shows_controls_figures_and_pictures(page: Page) -> None:
    """A window of 1280 by 800 shows the controls, the figures and four charts without scrolling."""
    lowest = page.run(
        "Math.max(...[...document.querySelectorAll('.tile, main > .charts .chart, form')]"
        ".map((e) => e.getBoundingClientRect().bottom))"
    )
    assert lowest <= 800
    assert page.run("document.querySelectorAll('main > .charts canvas').length") == 4
    assert 0 < figure(page, "utilization") <= 100
    assert "20\xa0packets" in page.run("document.querySelector('.results').textContent")
    assert page.run("/This link needs a buffer of [0-9,]+ packets/.test(document.body.textContent)")


def test_an_address_without_settings_compares_a_large_buffer_with_the_answer(
    page: Page, server: LabServer
) -> None:
    """A newcomer first sees a hundred packets, what they cost, and what the answer would do."""
    page.open(server.url)
    page.wait(DONE)
    assert "buffer=100p" in question(page)
    text = page.run("document.querySelector('[data-excess]').textContent")
    delay = page.run("document.querySelector('[data-figure=p99_queueing_delay_s]').textContent")
    assert "Now 100\xa0packets may wait" in text
    assert f"1 in 100 waits {delay} or longer" in text
    page.click("Use this buffer")
    page.wait(f"!location.hash.includes('100p') && {DONE}")
    assert page.run("document.querySelector('[data-excess]')") is None


def test_the_curve_has_the_recommendation_and_the_published_rules(page: Page) -> None:
    """Rules with the same buffer share a label; each label has a row of its own."""
    found = page.run(
        "import('./views/knee.js').then(({ marksOf }) => marksOf(["
        "{ rule: 'bdp', title: 't', packets: 50 }, { rule: 'sqrt_n', title: 't', packets: 25 },"
        "{ rule: 'bscl', title: 't', packets: 50 }, { rule: 'new', title: 'new', packets: 3 }]))"
    )
    assert [(one["x"], one["label"], one["row"]) for one in found] == [
        (3, "new: 3", 1),
        (25, "BDP/√N: 25", 2),
        (50, "BDP, BSCL: 50", 3),
    ]
    label = "document.querySelectorAll('main > .charts .chart')[2].ariaLabel"
    assert page.run(f"/Line at [0-9]+: BDP/.test({label})")
    assert page.run(f"/Line at [0-9]+: [0-9]+ packets/.test({label})")


def test_every_chart_is_a_sentence_for_who_hears_the_page(page: Page) -> None:
    """The sentence has the units of both axes, and the ends of the lines."""
    labels = page.run(
        "[...document.querySelectorAll('main > .charts .chart')].map((e) => e.ariaLabel)"
    )
    assert len(labels) == 4
    assert labels[0].startswith("packets waiting: packets against time in s.")
    assert labels[2].startswith("What a buffer buys: % busy against buffer in packets.")
    for label in labels:
        assert re.search(r"lowest [\d.,]+, highest [\d.,]+", label), label


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


def test_a_newcomer_reads_what_the_page_shows_and_begins_with_a_story(page: Page) -> None:
    """The words of tiles and controls are explained, and a button opens the first story."""
    words = page.run("[...document.querySelectorAll('.intro dt')].map((e) => e.textContent)")
    named = page.run(
        "[...document.querySelectorAll('form > .scaled > span:first-child')]"
        ".map((e) => e.textContent)"
    )
    assert set(named) == {"Rate", "Base round-trip time", "Flows", "Buffer"}
    assert {name.rstrip("s") for name in named} <= set(words)
    assert {"Utilisation", "Loss", "Delay, p99", "Queue", "Congestion control"} <= set(words)
    page.click("Begin with a story")
    page.wait(f"document.querySelector('.story')?.dataset.story === {STORIES[0]['id']!r}")
    page.wait(DONE)


def test_the_line_for_the_router_has_its_buffer_and_the_place_where_it_is_typed(page: Page) -> None:
    """The sentence above the line names the buffer of the answer, and the device."""
    needs = page.run("document.querySelector('.answer h2').textContent.match(/[0-9,]+ packets/)[0]")
    text = page.run("document.querySelector('.take .device').textContent")
    assert needs in text
    assert "DEV" in text
    lines = page.run("[...document.querySelectorAll('.take .copy code')].map((e) => e.textContent)")
    packets = int(needs.split()[0].replace(",", ""))
    assert lines[0] == f"tc qdisc replace dev DEV root bfifo limit {packets * 1514}"
    tbf = f"root tbf rate 2000000bit burst 3028 limit {packets * 1514}"
    assert lines[1] == f"tc qdisc replace dev DEV {tbf}"


def test_the_queue_of_the_controls_has_its_own_line(page: Page) -> None:
    """A reader who has chosen another queue than a FIFO takes this queue along."""
    page.type_into("Queue", "fq_codel")
    page.type_into("Buffer", "500p")
    line = "document.querySelector('.take .copy code').textContent"
    page.wait(f"/ fq_codel limit 500 /.test({line}) && {DONE}")
    page.type_into("Random loss", "1%")
    page.wait(f"{DONE} && document.querySelector('.take').textContent.includes('First choose')")
    assert "goodqueue size scenario.toml" in page.run("document.querySelector('.take').textContent")


def test_a_phone_shows_the_figures_above_the_sliders_that_change_them(page: Page) -> None:
    """The figures and the slider of the buffer fit on one screen of a phone."""
    page.size(390, 800)
    place = "document.querySelector('{}').getBoundingClientRect()"
    top = page.run(f"{place.format('.results')}.top")
    bottom = page.run(f"{place.format('[aria-label=Buffer]')}.bottom")
    page.size(1280, 800)
    assert 0 < bottom - top <= 800


def test_a_story_comes_before_the_controls_on_a_phone(page: Page) -> None:
    """A reader of a phone sees the story's sentences without scrolling."""
    page.size(390, 800)
    page.open(page.run("location.href").split("#")[0] + f"#story={STORIES[0]['id']}")
    page.wait(f"document.querySelector('.story') !== null && {DONE}")
    bottom = page.run("document.querySelector('.story').getBoundingClientRect().bottom")
    page.size(1280, 800)
    assert 0 < bottom <= 800


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
    # The browser reports the refused requests in its console.
    page.problems.clear()
    page.type_into("Rate", "3Mbps")
    page.wait(f"document.querySelector('.problem') === null && {DONE}")


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
    [(suffices, fails)] = re.findall(r"from (\d+) packets\s+on(?:, and less with (\d+))?", answer)
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


@pytest.mark.parametrize("story", STORIES, ids=[story["id"] for story in STORIES])
def test_a_storys_claim_holds_in_its_runs(page: Page, story: dict[str, Any]) -> None:
    """The story opens, runs, and fills each of its numbers from these runs."""
    page.type_into("Stories", story["id"])
    verdict = f"document.querySelector('[data-story={json.dumps(story['id'])}]')?.dataset.verdict"
    assert page.wait(f"{verdict} !== 'simulating' && {verdict}") == "holds"
    text = page.run("document.querySelector('.story p').textContent")
    assert "{" not in text
    assert "\N{EN DASH}" not in text
    assert "…" not in text
    sentences = story["watch"].replace("Mb/s", "").count(". ") + story["watch"].endswith(".")
    assert sentences <= 2
    if story["packets"] is not None:
        page.wait("document.querySelectorAll('.moment').length === 2")
    page.wait(DONE)
    assert page.run("document.querySelector('.problem')") is None


def test_a_story_says_when_its_settings_were_changed(page: Page) -> None:
    """A sentence that was checked for other settings is not claimed for these."""
    page.type_into("Stories", "bufferbloat")
    page.wait("document.querySelector('.story')?.dataset.verdict === 'holds'")
    page.type_into("Buffer", "7p")
    page.wait("document.querySelector('.story').dataset.verdict === 'changed'")
    page.click("Leave the story")
    page.wait("document.querySelector('.story') === null")


PAINTED = """
(() => { const one = document.querySelector('.moment');
  const { data } = one.getContext('2d').getImageData(0, 0, one.width, one.height);
  const seen = new Set();
  for (let i = 0; i < data.length; i += 4) seen.add(data.slice(i, i + 4).join());
  return seen.size; })()
"""


def test_packets_are_seen_played_paused_and_stepped(page: Page) -> None:
    """The view begins by itself, pauses, goes event by event, and shows another time on request."""
    page.click("Watch packets")
    page.wait("document.querySelector('.moment') && document.querySelector('.scrub').value > 2e7")
    assert "watch=0" in question(page)
    page.click("Pause")
    stopped = page.run("Number(document.querySelector('.scrub').value)")
    page.click("One event on")
    stepped = page.wait(
        f"((v) => v > {stopped} && v)(Number(document.querySelector('.scrub').value))"
    )
    page.click("One event back")
    page.wait(f"Number(document.querySelector('.scrub').value) < {stepped}")
    page.type_into("Moment", "1500000000")
    page.wait("document.querySelector('.packets h2').textContent.includes('1.5000')")
    assert page.run(PAINTED) > 4
    assert "wait" in page.run("document.querySelector('.packets p').textContent")
    page.type_into("Speed", "0.1")
    page.click("First drop")
    page.wait("location.hash.includes('watch=') && !/watch=0(&|$)/.test(location.hash)")
    page.click("Close", ".packets button")
    page.wait("document.querySelector('.packets') === null")


def test_who_prefers_little_motion_gets_a_still_picture(page: Page) -> None:
    """The view is paused at first, with its buttons to step."""
    page.size(1280, 800, calm=True)
    page.click("Watch packets")
    page.wait("document.querySelector('.moment')")
    assert page.run("[...document.querySelectorAll('.packets button')][0].textContent") == "Play"
    moments = [page.run("document.querySelector('.scrub').value") for _ in range(2)]
    assert moments[0] == moments[1]


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
    """SVG, PNG and CSV of each of the four charts."""
    page.run(SAVED)
    for button in range(12):
        page.run(f"document.querySelectorAll('main > .charts .saves button')[{button}].click()")
    for name in ("queue", "windows", "knee-utilisation", "knee-delay"):
        svg = saved(page, f"{name}.svg").decode()
        assert svg.startswith("<svg")
        assert "<polyline" in svg or "<circle" in svg
        assert page.run(
            f"new DOMParser().parseFromString({svg!r}, 'image/svg+xml')"
            ".querySelector('parsererror') === null"
        )
        assert saved(page, f"{name}.png").startswith(b"\x89PNG")
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
    page.click("Copy the address")
    page.wait("window.copied.length === 3")
    command, program, address = page.run("window.copied")
    assert address.startswith("http://127.0.0.1")
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


def drop(page: Page, text: str) -> None:
    """Drops a scenario file onto the page."""
    page.run(
        "(() => { const files = new DataTransfer();"
        f" files.items.add(new File([{text!r}], 'dropped.toml'));"
        " document.querySelector('.bench').dispatchEvent("
        "new DragEvent('drop', { bubbles: true, dataTransfer: files })); })()"
    )


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
    assert page.run("document.querySelectorAll('main > .charts canvas').length") == 4
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


def test_the_address_keeps_everything(page: Page, server: LabServer) -> None:
    """An address that is opened again is the same address."""
    page.open(f"{server.url}{TWO}&ping=yes&story=codel&watch=1.5&b.seed=4")
    page.wait("document.querySelector('.results')")
    kept = question(page)
    for part in ("versus=yes", "b.queue=fq_codel", "ping=yes", "story=codel", "watch=1.5"):
        assert part in kept
    assert "b.seed=4" in kept


FRAMES = """
new Promise((resolve) => { const times = []; const next = (now) => { times.push(now);
  if (now - times[0] < 3000) requestAnimationFrame(next); else resolve(times); };
  requestAnimationFrame(next); })
"""


def test_the_packet_view_draws_nearly_every_frame(page: Page, server: LabServer) -> None:
    """The packet view draws at least nine frames in ten on time, with 1,000 packets in flight."""
    page.open(f"{server.url}#rate=50Mbps&rtt=100ms&flows=8&buffer=2bdp&watch=4")
    page.wait("document.querySelector('.moment')")
    page.wait(DONE)
    times = page.run(FRAMES)
    assert len(times) > 0.9 * 60 * 3, len(times)


AXE = "axe.run(document, { resultTypes: ['violations'] }).then((r) => r.violations)"
STATES = ["", TWO, "#story=codel&watch=2", "#rate=2Mbps&file=schema_version%20%3D%201"]


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("state", STATES, ids=["one", "two", "packets", "mistake"])
def test_axe_finds_no_violation(page: Page, server: LabServer, state: str, dark: bool) -> None:
    """Names, roles, contrast and headings, by axe-core."""
    page.size(1280, 800, dark=dark)
    page.open(server.url + state)
    page.wait(f"{DONE} || document.querySelector('.problem')")
    page.run((resources.files("axe_core_python") / "axe.min.js").read_text("utf-8") + "; 1")
    found = page.run(AXE)
    assert [(one["id"], one["nodes"][0]["html"][:120]) for one in found] == []
    page.problems.clear()  # the refused request of a mistake


def test_the_keyboard_alone_reaches_every_control(page: Page) -> None:
    """Tab visits each control once, and each has a visible focus."""
    page.run("document.activeElement.blur(); window.scrollTo(0, 0)")
    expected = page.run(
        "[...document.querySelectorAll('button, input, select, summary, pre[tabindex]')]"
        ".filter((e) => e.checkVisibility()).length"
    )
    key = {"key": "Tab", "code": "Tab", "windowsVirtualKeyCode": 9}
    seen = set()
    for _ in range(expected + 5):
        for kind in ("keyDown", "keyUp"):
            page.call("Input.dispatchKeyEvent", type=kind, **key)
        seen.add(
            page.run(
                "(() => { const one = document.activeElement; one.dataset.seen ??= Math.random();"
                " return one === document.body ? '' : one.dataset.seen; })()"
            )
        )
    assert len(seen - {""}) == expected


@pytest.mark.parametrize("state", ["", TWO, "#story=l4s&watch=2"])
def test_a_phone_shows_everything_without_scrolling_sideways(
    page: Page, server: LabServer, state: str
) -> None:
    """Nothing is wider than a screen of 400 pixels."""
    page.size(400, 800)
    page.open(server.url + state)
    page.wait(DONE)
    assert page.run("document.documentElement.scrollWidth") <= 400


def test_the_page_prints_on_one_sheet(page: Page) -> None:
    """A dark page with its settings, figures, charts and lines is one sheet of A4."""
    page.size(1280, 800, dark=True)
    printed = page.call("Page.printToPDF", preferCSSPageSize=True, printBackground=True)
    file = base64.b64decode(printed["data"])
    assert len(re.findall(rb"/Type\s*/Page\b", file)) == 1


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


def test_the_page_is_small() -> None:
    """Everything but the engine stays below 100 kB compressed."""
    own = {name: data for name, data in page_files().items() if not name.endswith(".wasm")}
    assert sum(len(gzip.compress(data)) for data in own.values()) < 100_000
