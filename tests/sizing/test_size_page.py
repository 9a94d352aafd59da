"""Every answer says what its buffer does to a small page beside the long flows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import goodqueue
from goodqueue.output.sizing.screen import page as lines_of_page
from goodqueue.sizing import Effort, Link, size_link, size_scenario
from goodqueue.sizing.answer.page import Page

if TYPE_CHECKING:
    from goodqueue.sizing.answer.answer import Answer

pytestmark = pytest.mark.usefixtures("own_cache")

ONLY = Effort(16, queues=(), changes=False, rules=False, hosts=False)


@pytest.fixture(scope="module")
def answer(tmp_path_factory: pytest.TempPathFactory) -> Answer:
    store = tmp_path_factory.mktemp("store")
    effort = Effort(16, queues=(), changes=False, rules=False, hosts=False, store=store)
    return size_link(Link(20e6, (0.030,), flows=4), effort)


def test_a_page_on_the_idle_link_takes_the_round_trips_of_slow_start(answer: Answer) -> None:
    assert answer.page is not None
    # 70 segments are windows of 10, 20 and 40, after a handshake: 4 round trips and 40 packets.
    expected_s = 4 * 0.030 + 40 * 1500 * 8 / 20e6
    assert answer.page.idle_s == pytest.approx(expected_s, rel=0.15)


def test_a_small_buffer_loses_the_first_windows_of_a_page(answer: Answer) -> None:
    page = answer.page
    assert page is not None
    assert answer.buffer is not None
    # Hosts of ten times the rate send windows of 10 to 40 packets into less than that.
    assert answer.buffer < 20
    assert page.loss_rate > 0.05
    assert page.idle_s < page.median_s < page.p99_s
    assert page.is_bad
    assert lines_of_page(answer)[0].startswith("[yellow]mind[/]: a page of 100 kB")
    decision = answer.as_dict()["decision"]
    assert decision["page"]["median_s"] == page.median_s
    assert decision["page"]["slowdown"] == page.median_s / page.idle_s


def test_an_answer_warns_of_slow_pages_and_of_lost_ones() -> None:
    good = Page(100_000, 0.1, 0.2, 0.5, 0.01, 0.2)
    assert not good.is_bad
    assert Page(100_000, 0.1, 0.31, 0.5, 0.01, 0.2).is_bad
    assert Page(100_000, 0.1, 0.2, 0.5, 0.06, 0.2).is_bad


def test_a_page_crosses_the_link_of_a_file() -> None:
    answer = size_scenario(goodqueue.EXAMPLE, effort=ONLY)
    assert answer.page is not None
    assert 0 < answer.page.idle_s < answer.page.p99_s
