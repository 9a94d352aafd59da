"""The answer of the lab's page against its own runs: where they differ, the runs are right."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from goodqueue.sizing.export import linux
from helpers.lab_page import DONE, NEEDS_BROWSER, figure, question

if TYPE_CHECKING:
    from goodqueue.lab.server import LabServer
    from helpers.browser import Page

pytestmark = NEEDS_BROWSER

PATIENCE_S = 60.0

LINKS = [
    "rate=10Mbps&rtt=40ms&flows=2",
    "rate=2Mbps&rtt=300ms&flows=1",
    "rate=5Mbps&rtt=100ms&flows=4&control=reno",
    "rate=20Mbps&rtt=30ms&flows=4&loss=0.5%25",
    "rate=10Mbps&rtt=60ms..120ms&flows=1",
    "rate=10Mbps&rtt=40ms&flows=2&loss=3%25",
    "rate=10Mbps&rtt=40ms&flows=2&queue=fq_codel&buffer=1000p",
]


@pytest.mark.parametrize("link", LINKS)
def test_the_recommended_buffer_keeps_the_target_in_the_pages_own_runs(
    page: Page, server: LabServer, link: str
) -> None:
    """Headline, button and device line have one buffer. With it, the tile is at least 98 %."""
    page.open(f"{server.url}#{link}")
    page.wait(DONE, PATIENCE_S)
    headline = page.run("document.querySelector('.answer h2').textContent.trim()")
    state = page.run("document.querySelector('.answer').dataset.answer")
    lines = page.run(
        "[...document.querySelectorAll('.take code')].map((e) => e.textContent)"
        ".filter((line) => /bfifo|tbf/.test(line))"
    )
    device = page.run("document.querySelector('.take .device').textContent")
    if state == "none":
        assert headline.startswith("No buffer up to ")
        assert page.run("document.querySelector('.answer h2 button')") is None
        assert "There is no line" in device
        assert lines == []
        return
    packets = int(page.run("document.querySelector('.answer [data-packets]').dataset.packets"))
    unit = "packets" if "buffer=1000p" in link else "BDP"
    words = page.run("document.querySelector('.answer [data-packets]').textContent")
    assert words.endswith(unit)
    assert f"A FIFO of {words} for a Linux router" in device
    verdict = page.run("document.querySelector('[data-verdict-of-runs]').textContent")
    assert re.match(r"These 5 runs: [\d.]+\xa0% busy; ", verdict)
    if figure(page, "utilization") < 98:
        assert f"take {words}" in verdict
    # 14 bytes are Ethernet's header, which Linux counts.
    assert [line.split("limit ")[1] for line in lines] == [str(1514 * packets)] * 2
    assert lines[0] in linux(packets, 1500).lines
    page.click("Use this buffer")
    now = "document.querySelector('.results').textContent"
    page.wait(f"{now}.includes('Buffer: {packets}\xa0packet') && {DONE}", PATIENCE_S)
    assert unit == "packets" or "bdp" in question(page) or "buffer" not in question(page)
    assert figure(page, "utilization") >= 98
    kept = "this buffer keeps the link busy."
    assert page.run("document.querySelector('[data-verdict-of-runs]').textContent").endswith(kept)
    assert page.run("document.querySelector('.answer').dataset.answer") == state


CHECK = """
import('./compute/check.js').then(async ({ check, recommended }) => {
  const busy = %s, seen = [];
  let last;
  await check(7, async (packets) => { seen.push(packets);
    return { utilization: { mean: busy(packets) } }; }, (step) => { last = step; });
  return [seen, recommended({ packets: 7 }, last)];
})"""


@pytest.mark.parametrize(
    ("busy", "seen", "packets", "state"),
    [
        ("(p) => (p >= 7 ? 0.98 : 0)", [7, 3], 7, "confirmed"),
        ("(p) => (p >= 2 ? 0.98 : 0)", [7, 3, 1, 2], 2, "smaller"),
        ("() => 1", [7, 3, 1], 1, "smaller"),
        ("(p) => (p >= 20 ? 0.98 : p / 21)", [7, 14, 28, 20, 17], 20, "larger"),
        ("(p) => (p >= 8 ? 0.98 : 0.5)", [7, 14, 10, 8], 8, "larger"),
        ("() => 0.979999", [7, 14], None, "none"),
        ("(p) => 0.9 * (1 - 2 / p)", [7, 14, 28, 56], None, "none"),
    ],
)
def test_the_check_finds_the_smallest_buffer_that_it_runs(
    page: Page, busy: str, seen: list[int], packets: int | None, state: str
) -> None:
    """It doubles the buffer until the target is kept or little is gained, or halves it while it is
    kept, and then looks twice between."""
    found: list[Any] = page.run(CHECK % busy)
    assert found[0][: len(seen)] == seen
    if state in {"confirmed", "smaller"}:
        assert found[0] == seen
    assert found[1] == {"packets": packets, "state": state}


RANGE = """
import('./compute/check.js').then(({ rangeOf }) => {
  const tried = %s.map(([packets, low, high]) => ({ packets, means: { utilization:
    { mean: (low + high) / 2, low, high } } }));
  return rangeOf({ at_least_packets: 7, at_most_packets: 10 }, { tried }, %d);
})"""


@pytest.mark.parametrize(
    ("tried", "packets", "least", "most"),
    [
        ([(8, 0.981, 0.983)], 8, 7, 10),  # theory's own range
        ([(7, 0.96, 0.97), (8, 0.981, 0.983)], 8, 8, 10),  # seven surely fail
        ([(7, 0.97, 0.99), (8, 0.981, 0.983)], 8, 7, 10),  # seven may suffice
        (
            [(8, 0.9, 0.91), (12, 0.97, 0.99), (16, 0.99, 0.995)],
            12,
            9,
            16,
        ),  # sixteen surely suffice
        ([(3, 0.985, 0.99), (8, 0.99, 0.991)], 3, 3, 10),
    ],
)
def test_the_range_of_the_headline_is_what_runs_leave_possible(
    page: Page, tried: list[tuple[int, float, float]], packets: int, least: int, most: int
) -> None:
    """The interval of calibrated theory, without what runs surely refute."""
    found = page.run(RANGE % (json.dumps(tried), packets))
    assert found == {"least": least, "most": most}


def test_a_missed_target_is_not_rounded_to_the_target(page: Page) -> None:
    words = page.run(
        "import('./compute/check.js').then(({ busyWords }) => [0.97996, 0.98, 0.941]"
        ".map((mean) => busyWords({ utilization: { mean } })))"
    )
    assert words == ["less than 98\xa0%", "98\xa0%", "94.1\xa0%"]


def test_before_the_check_nothing_is_recommended(page: Page) -> None:
    """The headline of the first seconds names theory, and has no button."""
    found = page.run(
        "import('./compute/check.js').then(({ recommended }) =>"
        " [recommended({ packets: 7 }, null),"
        "  recommended({ packets: 7 }, { tried: [], kept: null, ended: false })])"
    )
    assert found == [
        {"packets": None, "state": "checking"},
        {"packets": None, "state": "searching"},
    ]


SCENARIO = """
import('./question/scenario.js').then(async ({ scenarioText, sizeCommand, sizedRtt }) => {
  const { USUAL } = await import('./question/state.js');
  const asked = { ...USUAL, rtt: %s, flows: %d, ping: %s };
  return [scenarioText(asked), sizeCommand(asked), sizedRtt(asked)];
})"""


def test_one_flow_of_several_round_trips_has_their_mean_everywhere(page: Page) -> None:
    """The run, its ping, calibrated theory and the command have one base round-trip time: 90 ms."""
    for rtt in ("60ms..120ms", "60ms,120ms", "0.06s..120ms", "60ms,90ms,120ms"):
        text, command, sized = page.run(SCENARIO % (json.dumps(rtt), 1, "true"))
        assert re.findall(r"(?m)^rtt = (.*)$", text) == ['"90ms"', '"90ms"'], rtt
        assert "--rtt 90ms " in command
        assert sized == "90ms"


def test_flows_have_the_mean_of_the_stated_round_trips(page: Page) -> None:
    """One BDP of 10 Mb/s and 100 ms is 83 packets of 1500 bytes, however many flows there are."""
    some = (1, 2, 3, 4, 5, 17, 18, 19, 20, 40)
    # Two flows of three times have the means of unequal parts, as in `goodqueue size`.
    for rtt, numbers in (
        ("20ms..180ms", some),
        ("20ms,180ms", some),
        ("20ms,40ms,240ms", (1, 3, 4)),
    ):
        for flows in numbers:
            text, _, _ = page.run(SCENARIO % (json.dumps(rtt), flows, "false"))
            status, answer = compute(text.replace('limit = "1bdp"', 'limit = "1000p"'))
            assert status == 200, answer
            bdp = answer["summary"]["links"]["bottleneck"]["limit"]["bdp"]
            assert bdp == pytest.approx(1000 / (10e6 * 0.1 / 12_000), rel=0.01), (rtt, flows)


def compute(text: str) -> tuple[int, Any]:
    """Returns status and picture of a short run of a scenario."""
    from goodqueue import _core

    asked = {"text": text, "columns": 1, "flows": 0, "first_packets": 10}
    status, answer = _core.LabJob("picture", json.dumps(asked)).answer()
    return status, json.loads(answer)


def test_the_page_says_which_round_trip_one_flow_has(page: Page, server: LabServer) -> None:
    page.open(f"{server.url}#rate=2Mbps&rtt=20ms..60ms&flows=1&buffer=20p")
    page.wait(DONE, PATIENCE_S)
    text = page.run("document.querySelector('.results').textContent")
    assert "The single flow of 20ms..60ms has their mean as its base round-trip time, 40ms." in text
    assert "20\xa0packets = 120\xa0ms = 3\xa0BDP" in text
    assert "rtt=20ms..60ms" in question(page)
