"""The traffic of published studies, compared with the studies' descriptions of it."""

from __future__ import annotations

import math
from itertools import pairwise
from statistics import fmean
from typing import Any

import polars as pl
import pytest

import goodqueue
from conftest import ROOT
from evidence.gallery.papers import SHARES

SCENARIOS = ROOT / "scenarios"


def summary(name: str, seed: int = 1, **overrides: str) -> dict[str, Any]:
    settings = {path.replace("__", "."): value for path, value in overrides.items()}
    return goodqueue.run(SCENARIOS / f"{name}.toml", set=settings, seed=seed).summary


def total(figures: dict[str, Any], prefix: str, key: str) -> float:
    flows = figures["flows"].items()
    return sum(float(flow[key]) for name, flow in flows if name.startswith(prefix))


@pytest.mark.parametrize("loss", [0.01, 0.02, 0.05])
def test_the_red_studys_link_has_the_configured_random_loss(loss: float) -> None:
    runs = [
        summary("red-study", seed, topology__link__bottleneck__loss__probability=str(loss))
        for seed in range(1, 6)
    ]
    links = [run["links"]["bottleneck"] for run in runs]
    arrived = sum(link["arrivals"] for link in links)
    lost = sum(link["drops_link_loss"] for link in links)
    # Losses are independent: the tolerance is four standard deviations of the binomial
    # distribution.
    assert abs(lost - loss * arrived) < 4 * math.sqrt(arrived * loss * (1 - loss))
    # Datagrams are lost, too: at random, or dropped by the queue.
    assert all(run["flows"]["node1"]["packets_lost"] > 0 for run in runs)


def test_senders_of_the_red_study_have_the_printed_settings() -> None:
    run = summary("red-study")
    assert sorted(run["flows"]) == ["node0", "node1", "node2", "node3"]
    # Datagrams of 1000 bytes at 20 kb/s are 0.4 s apart, from 0.1 s to 125 s.
    assert run["flows"]["node1"]["packets_sent"] == math.floor((125 - 0.1) / 0.4) + 1
    packets = goodqueue.run(SCENARIOS / "red-study.toml", packets=True).packets
    assert packets is not None
    sizes = (
        packets.filter(pl.col("event") == "sent").group_by("flow").agg(pl.col("size_bytes").max())
    )
    largest = dict(sizes.iter_rows())
    # A segment has an MSS of 1460 and 40 bytes of headers; a datagram has 1000 bytes.
    assert largest == {"node0": 1500, "node1": 1000, "node2": 1500, "node3": 1500}


def test_gijsbers_ping_goes_every_ten_milliseconds() -> None:
    result = goodqueue.run(
        SCENARIOS / "gijsbers-ping.toml", set={"duration": "20s"}, packets=True, series=True
    )
    assert result.packets is not None
    assert result.series is not None
    sent = result.packets.filter(
        (pl.col("event") == "sent")
        & (pl.col("flow") == "ping")
        & (pl.col("direction") == "forward")
    )
    assert sent.height == 2001
    gaps = sent["time_s"].diff().drop_nulls()
    assert gaps.min() == pytest.approx(0.010)
    assert gaps.max() == pytest.approx(0.010)
    # The path is idle for the first second: 24 ms of propagation, and 83 bytes cross links of 2
    # Mb/s four times and of 0.5 Mb/s twice.
    idle = 0.024 + 4 * 83 * 8 / 2e6 + 2 * 83 * 8 / 0.5e6
    rtt = result.series.rtt.filter((pl.col("flow") == "ping") & (pl.col("time_s") < 1))["rtt_s"]
    assert rtt.min() == pytest.approx(idle)
    assert rtt.max() == pytest.approx(idle)


@pytest.mark.parametrize("frames", [50, 100])
def test_gijsbers_periodic_data_all_arrive_with_a_small_buffer(frames: int) -> None:
    run = summary("gijsbers-periodic", topology__queue__limit=f"{frames}p")
    periodic = run["flows"]["periodic"]
    # The paper prints 17,743 and 17,143 bytes a second, and 17,800 if everything arrives.
    assert 17_700 <= periodic["goodput_bps"] / 8 <= 89 * 200_001 / 1000
    assert periodic["exchanges"] >= 88


def test_gijsbers_periodic_data_start_every_ten_seconds() -> None:
    result = goodqueue.run(
        SCENARIOS / "gijsbers-periodic.toml",
        set={
            "duration": "205s",
            "flow.bulk.workload.size": "1B",
            "topology.queue.limit": "unlimited",
        },
        packets=True,
    )
    assert result.packets is not None
    own = pl.col("flow") == "periodic"
    sent = result.packets.filter((pl.col("event") == "sent") & own & (pl.col("payload_bytes") > 0))
    first = sent.filter(pl.col("direction") == "forward")["time_s"]
    # On an idle link each piece takes 4 s, so pauses separate the pieces.
    starts = [first[0]] + [after for before, after in pairwise(first) if after - before > 2]
    assert starts == pytest.approx([110 + 10 * n for n in range(10)], abs=0.2)
    assert sent["payload_bytes"].max() == 536


def test_the_bscl_mixs_sources_have_the_printed_round_trip_times() -> None:
    result = goodqueue.run(SCENARIOS / "bscl-mix.toml", series=True)
    assert result.series is not None
    links = result.summary["links"]
    ways = [2000 * (links[f"leaf{n}"]["delay_s"] + links["target"]["delay_s"]) for n in range(18)]
    assert "leaf18" not in links
    assert [min(ways), max(ways), fmean(ways)] == pytest.approx([20, 534, 217])
    # Each source has short flows, whose only queue is that of the target.
    least = result.series.rtt.group_by("flow").agg(pl.col("rtt_s").min())
    seen = {name: rtt * 1000 for name, rtt in least.iter_rows()}
    for flow in range(18):
        assert ways[flow] <= seen[f"short.{flow}"] < ways[flow] + 217
    assert all(217 <= seen[f"windowed.{n}"] < 2 * 217 + 10 for n in range(10))


@pytest.mark.parametrize("share", SHARES)
def test_each_part_of_the_bscl_mix_has_its_designed_rate(share: str) -> None:
    runs = [
        goodqueue.run(SCENARIOS / "bscl-mix.toml", set=SHARES[share], seed=seed).summary
        for seed in (1, 2, 3)
    ]
    others = float(share[:-2]) / 100 * 50e6

    # Remote flows, 40 %: their own bottleneck is always busy.
    for run in runs:
        assert 0.99 < total(run, "remote.", "throughput_bps") / (0.4 * others) <= 1.001

    # Window-limited flows, 40 %: they send a window each round trip, behind a queue that is at most
    # full. Each loss costs half a window, which recovers by half a segment a round trip: a quarter
    # of the window's square.
    window = round(0.4 * others / 10 * 2 * 0.217 / 8 / 1500)
    for run in runs:
        link = run["links"]["target"]
        rate = total(run, "windowed.", "throughput_bps") / 10
        kept = 1 - link["loss_rate"] * window**2 / 4
        assert rate > window * 12_000 / (2 * 0.217) * kept
        assert rate < window * 12_000 / (0.217 + link["mean_queueing_delay_s"]) * 1.01

    # Short flows, 20 %: a compound Poisson process of exponential sizes, whose variance is twice
    # the mean size squared for each arrival. The tolerance is four standard deviations. Payload is
    # 1460 of 1500 bytes.
    payload = 0.2 * others * 1460 / 1500
    expected = sum(run["measured_s"] for run in runs) * payload / 8 / (14 * 1460)
    got = fmean(total(run, "short.", "goodput_bps") for run in runs)
    assert abs(got / payload - 1) < 4 * math.sqrt(2 / expected)
    count = sum(total(run, "short.", "transfers") for run in runs)
    assert abs(count - expected) < 4 * math.sqrt(expected)

    # The rest of the capacity is for local flows, and the link is full.
    for run in runs:
        local = total(run, "local.", "throughput_bps")
        assert run["links"]["target"]["utilization"] > 0.99
        assert local / 50e6 == pytest.approx(1 - float(share[:-2]) / 100, abs=0.02)
