"""Names of figures, the metrics that they stand for, and bounds on them."""

from __future__ import annotations

import math

import pytest

import goodqueue
from conftest import ROOT, SMALL
from goodqueue.core.intervals import Interval
from goodqueue.errors import RequestError
from goodqueue.sizing.search.trials import Answered
from goodqueue.tuning.bounds import Bound, keep_of
from goodqueue.tuning.figures import figure_of
from goodqueue.tuning.replicates import Meter

NAMES = {
    name: goodqueue.load(ROOT / "scenarios" / f"{name}.toml").metric_names()
    for name in ("home-dsl", "incast-dctcp", "evening", "home-web", "which-queue")
}


@pytest.mark.parametrize(
    ("scenario", "name", "metrics"),
    [
        ("home-dsl", "ping.p99", ["ping.p99_rtt_s"]),
        ("home-dsl", "page.p95", ["page.p95_page_time_s"]),
        ("home-dsl", "upload.goodput", ["upload.goodput_bps.sum"]),
        ("home-dsl", "upload.loss", ["upload.packets_lost", "upload.packets_sent"]),
        ("home-dsl", "modem.p99", ["modem.p99_queueing_delay_s"]),
        ("home-dsl", "modem.reverse.p50", ["modem.reverse.p50_queueing_delay_s"]),
        ("home-dsl", "modem.loss", ["modem.loss_rate"]),
        ("home-dsl", "modem.utilisation", ["modem.utilization"]),
        ("home-dsl", "modem.max_backlog_packets", ["modem.max_backlog_packets"]),
        ("home-dsl", "ping.rpm", ["ping.round_trips_per_minute"]),
        ("incast-dctcp", "query.p99", ["query.p99_exchange_time_s"]),
        ("incast-dctcp", "background.fairness", ["background.goodput_bps.jain"]),
        ("evening", "video.stalls", ["video.stall_share"]),
        ("evening", "video.mean", ["video.mean_segment_time_s"]),
        ("evening", "game.p99", ["game.p99_up_delay_s"]),
        ("evening", "game.loss", ["game.up_loss"]),
        ("home-web", "call.r_factor", ["call.r_factor"]),
        ("home-web", "call.loss", ["call.voice_loss"]),
        ("home-web", "downloads.p95", ["downloads.p95_transfer_time_s"]),
        ("which-queue", "web.completion", ["web.completion_time_s"]),
    ],
)
def test_a_short_name_stands_for_what_people_mean(
    scenario: str, name: str, metrics: list[str]
) -> None:
    assert list(figure_of(name, NAMES[scenario]).metrics) == metrics


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("pin.p99", "did you mean 'ping'?"),
        ("ping.p999", "did you mean 'p99'?"),
        ("ping.goodputt", "did you mean 'goodput'?"),
        ("ping", "no flow or link"),
    ],
)
def test_an_unknown_figure_is_refused_with_the_nearest(name: str, part: str) -> None:
    with pytest.raises(RequestError) as refused:
        figure_of(name, NAMES["home-dsl"])
    assert part in str(refused.value)


def test_a_flow_with_a_links_name_has_its_own_figures() -> None:
    text = SMALL.replace('name = "upload"', 'name = "bottleneck"')
    names = goodqueue.load(text).metric_names()
    assert figure_of("bottleneck.p99", names).key == "bottleneck.p99_queueing_delay_s"
    assert figure_of("flow.bottleneck.goodput", names).key == "flow.bottleneck.goodput_bps.sum"


@pytest.mark.parametrize(
    ("text", "value", "at_least"),
    [
        ("ping.p99<=60ms", 0.06, False),
        ("ping.p99 <= 0.06s", 0.06, False),
        ("upload.goodput>=9Mbps", 9e6, True),
        ("modem.loss<=0.5%", 0.005, False),
        ("modem.utilization>=98%", 0.98, True),
        ("modem.drops<=3", 3.0, False),
        ("modem.mean_backlog_bytes<=64KiB", 65_536.0, False),
    ],
)
def test_a_bound_has_the_unit_of_its_figure(text: str, value: float, at_least: bool) -> None:
    keep = keep_of(text, NAMES["home-dsl"])
    assert keep.bound.bound == pytest.approx(value)
    assert keep.bound.at_least == at_least


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("ping.p99<60ms", "write a figure, <= or >="),
        ("ping.p99", "write a figure, <= or >="),
        ("ping.p99<=60", "write a time such as 50ms"),
        ("ping.p99<=60Mbps", "write a time such as 50ms"),
        ("upload.goodput>=1ms", "write a rate such as 10Mbps"),
        ("modem.loss<=5ms", "write a share such as 1%"),
        ("modem.loss<=100%", "excludes nothing"),
        ("upload.goodput>=0bps", "excludes nothing"),
    ],
)
def test_a_wrong_bound_is_refused_with_what_to_write(text: str, part: str) -> None:
    with pytest.raises(RequestError) as refused:
        keep_of(text, NAMES["home-dsl"])
    assert part in str(refused.value)


@pytest.mark.parametrize(
    "bound",
    [
        Bound("ping.p99_rtt_s", 0.06, at_least=False),
        Bound("upload.goodput_bps.sum", 9e6, at_least=True),
        Bound("modem.utilization", 0.98, at_least=True),
    ],
)
def test_a_miss_is_zero_on_the_bound_and_grows_with_the_distance(bound: Bound) -> None:
    worse = 0.97 if bound.at_least else 1.03
    assert bound.miss(bound.bound) == pytest.approx(0, abs=1e-12)
    assert 0 < bound.miss(bound.bound * worse) < bound.miss(bound.bound * worse**2)
    assert bound.miss(bound.bound / worse**0.5) < 0
    assert math.isfinite(bound.miss(0.0))


def test_an_interval_within_the_margin_of_a_rate_is_close() -> None:
    bound = Bound("upload.goodput_bps.sum", 9e6, at_least=True)
    assert bound.answer(Interval(9.01e6, 0.04e6)) is Answered.CLOSE
    assert bound.answer(Interval(9.05e6, 0.04e6)) is Answered.MEETS
    assert bound.answer(Interval(9.01e6, 0.4e6)) is Answered.OPEN
    assert bound.answer(Interval(8.9e6, 0.04e6)) is Answered.FAILS


def test_a_time_without_a_sample_is_the_length_of_the_run_and_a_ratio_is_refused() -> None:
    names = NAMES["home-dsl"]
    page = figure_of("page.p95", names)
    assert Meter([page], 25.0).figures([math.nan, 1e4])[page.key] == 25.0
    loss = figure_of("upload.loss", names)
    assert Meter([loss], 25.0).figures([3.0, 200.0, 1e4]) == {"upload.loss_rate": 0.015}
    with pytest.raises(RequestError, match=r"upload.loss: a run has no sample.*\n.*duration=100s"):
        Meter([loss], 25.0).figures([0.0, 0.0, 1e4])
