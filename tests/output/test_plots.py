"""Pictures are drawn, thinning hides no extremes, and output is written whole."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.image import imread

import goodqueue
from conftest import ROOT, SMALL
from goodqueue import _core
from goodqueue.core.files.outdir import check_output, whole_directory
from goodqueue.core.intervals import Interval
from goodqueue.errors import RequestError
from goodqueue.plots.answer import curve, pareto
from goodqueue.plots.runs import pictures, rtt_flows
from goodqueue.plots.style import save_all
from goodqueue.plots.thin import DRAWN_BINS, thin
from goodqueue.runs.results.frames import in_bins
from goodqueue.runs.results.throughput import WAYS, flows_measured
from goodqueue.sizing import Answer, Link
from goodqueue.sizing.answer.parts import Alternative
from goodqueue.sizing.answer.work_out import judge
from goodqueue.sizing.search.smallest import Smallest
from goodqueue.sizing.search.trials import Trials

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), rows=st.integers(1, 40_000))
def test_thinning_keeps_the_extremes_of_every_stretch(seed: int, rows: int) -> None:
    random = np.random.default_rng(seed)
    time = np.sort(random.uniform(0, 100, rows))
    series = pl.DataFrame({"time_s": time, "packets": random.integers(0, 100, rows)})
    thinned = thin(series, "packets")
    assert thinned.height <= 4 * (DRAWN_BINS + 1)
    assert thinned["time_s"].is_sorted()
    if rows <= 4 * DRAWN_BINS:
        assert thinned.equals(series)
        return
    start, stop = time[0], time[-1]
    bins = ((pl.col("time_s") - start) / (stop - start) * DRAWN_BINS).floor()
    ends = [pl.col("packets").min().alias("least"), pl.col("packets").max().alias("most")]
    for frame in (series, thinned):
        frame.insert_column(0, frame.select(bins.alias("bin"))["bin"])
    assert (
        thinned.group_by("bin")
        .agg(ends)
        .sort("bin")
        .equals(series.group_by("bin").agg(ends).sort("bin"))
    )


def test_a_run_gives_its_pictures_with_captions(tmp_path: Path) -> None:
    result = goodqueue.run(SMALL, series=True, throughput=True)
    drawn = pictures(result, "bottleneck")
    paths = save_all(drawn, tmp_path)
    assert [path.name for path in paths] == [
        *("rtt.png", "throughput.png", "backlog.png", "cwnd.png", "delay-cdf.png")
    ]
    for path in paths:
        pixels = imread(path)
        assert pixels.shape[1] >= 1000
        assert pixels[..., :3].min() < 0.2, "something is drawn"
    captions = (tmp_path / "captions.txt").read_text().splitlines()
    assert [line.split(": ")[0] for line in captions] == [path.name for path in paths]
    assert "20 at most" in captions[2]


def test_the_throughput_is_that_of_the_bottleneck() -> None:
    result = goodqueue.run(SMALL, throughput=True)
    assert result.throughput is not None
    assert result.throughput["flow"].unique().to_list() == ["upload"], "pings are left out"
    # The payload is 536 bytes of a frame of 583 at 1 Mb/s; the ping takes less than a hundredth.
    settled = result.throughput.filter(pl.col("time_s") > 5)["throughput_bps"]
    assert settled.mean() == pytest.approx(1e6 * 536 / 583, rel=0.01)
    binned, length_s = in_bins(result.throughput, 30)
    assert binned.height == 25
    assert length_s == pytest.approx(0.8)
    assert binned["throughput_bps"].mean() == pytest.approx(
        result.throughput["throughput_bps"].mean()
    )
    assert goodqueue.run(SMALL).throughput is None


def test_throughput_is_measured_where_data_go() -> None:
    home = goodqueue.load(ROOT / "scenarios" / "home-web.toml")
    wanted = flows_measured(home)
    assert ("upload", "up") in wanted
    assert ("call", "up") in wanted
    down = [flow for flow, way in wanted if way == "down"]
    assert down
    assert not set(down) & {"upload", "call"}
    assert flows_measured(goodqueue.load(ROOT / "scenarios" / "which-queue.toml")) == [
        (f"long.{index}", "up") for index in range(4)
    ]


def test_every_workload_has_the_directions_of_its_data() -> None:
    schema = json.loads(_core.schema())
    assert set(schema["$defs"]["bulk"]["properties"]["kind"]["enum"]) == set(WAYS)


DOWNLOADS = """
[[flow]]
name = "get"
[flow.workload]
kind = "transfers"
direction = "down"
size = "100kB"
interval = "2s"
intervals = "fixed"
most = 3

[[flow]]
name = "web"
start = "1s"
[flow.workload]
kind = "web"
main_size = "30kB"
object_size = "20kB"
objects = 4
think = "60s"
most = 1

[[flow]]
name = "echo"
start = "2s"
workload = { kind = "exchanges", request = "5kB", reply = "1kB", pause = "60s", most = 1 }
"""


def test_downloads_reach_the_client() -> None:
    """Without loss every byte is seen once: three transfers of 100 kB, a page of 110 kB."""
    wide = ("topology.bottleneck.rate", "20Mbps"), ("topology.bottleneck.queue.limit", "1000p")
    result = goodqueue.run(SMALL + DOWNLOADS, set=dict(wide), throughput=True)
    assert result.throughput is not None
    assert all(result.summary["flows"][flow]["retransmissions"] == 0 for flow in ("get", "web"))
    seen = {
        (flow, way): round(total)
        for flow, way, total in result.throughput.group_by("flow", "direction")
        .agg(pl.col("throughput_bps").sum() * 0.2 / 8)
        .iter_rows()
    }
    assert seen.pop(("upload", "up")) > 1_000_000
    assert seen == {
        ("get", "down"): 300_000,
        ("web", "down"): 110_000,
        ("echo", "up"): 5_000,
        ("echo", "down"): 1_000,
    }


def test_the_lines_of_throughput_say_where_data_go() -> None:
    result = goodqueue.run(SMALL + DOWNLOADS, throughput=True)
    picture = next(one for one in pictures(result, "bottleneck") if one.name == "throughput")
    legend = picture.figure(50).axes[0].get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == [
        *("upload, to the server", "get, to the client", "web, to the client"),
        *("echo, to the server", "echo, to the client"),
    ]
    assert "reached the server or the client" in picture.caption
    many = SMALL + DOWNLOADS.replace('name = "get"', 'name = "get"\ncount = 9')
    picture = next(
        one
        for one in pictures(goodqueue.run(many, throughput=True), "bottleneck")
        if one.name == "throughput"
    )
    legend = picture.figure(50).axes[0].get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == [
        *("all flows, to the server", "all flows, to the client")
    ]


def test_round_trip_times_of_pings_are_preferred() -> None:
    result = goodqueue.run(SMALL, series=True)
    assert rtt_flows(result) == ["probe"]
    alone = SMALL.split('[[flow]]\nname = "probe"')[0]
    assert rtt_flows(goodqueue.run(alone, series=True)) == ["upload"]


def test_the_caption_mentions_a_threshold_only_if_it_is_drawn() -> None:
    for size, promised in (("5kB", False), ("500kB", True)):
        result = goodqueue.run(SMALL, set={"flow.upload.workload.size": size}, series=True)
        captions = {picture.name: picture.caption for picture in pictures(result, "bottleneck")}
        assert ("slow-start threshold" in captions["cwnd"]) == promised


def test_without_series_only_the_delay_is_drawn() -> None:
    assert [p.name for p in pictures(goodqueue.run(SMALL), "bottleneck")] == ["delay-cdf"]
    kept = pictures(goodqueue.run(SMALL, throughput=True), "bottleneck")
    assert [p.name for p in kept] == ["throughput", "delay-cdf"]


def test_only_some_of_many_flows_are_drawn_and_the_caption_says_so(tmp_path: Path) -> None:
    many = SMALL.replace('name = "upload"', 'name = "upload"\ncount = 9')
    drawn = pictures(goodqueue.run(many, series=True), "bottleneck")
    windows = next(picture for picture in drawn if picture.name == "cwnd")
    assert "first 6 of 9 flows" in windows.caption
    windows.save(tmp_path)


@pytest.mark.parametrize("flows", [0, 3])
@pytest.mark.parametrize("recommended", [None, 4])
def test_an_answer_is_drawn_with_and_without_a_sufficient_buffer(
    tmp_path: Path, recommended: int | None, flows: int
) -> None:
    link = Link(10e6, (0.04,), flows, max_loss_rate=0.05, max_delay_s=0.5)
    figures = {"utilization": 0.9, "loss_rate": 0.01, "drops": 1.0}
    replicates: dict[int, list[Mapping[str, float]]] = {
        limit: [{**figures, "p99_delay_s": limit / 1e3}] * count
        for limit, count in ((1, 3), (4, 8), (30, 3), (1000, 1))
    }
    trials = Trials(lambda _wanted: {}, replicates)
    found = Smallest(
        limit=recommended,
        low=0,
        high=None,
        floor=recommended,
        reached=1000,
        nearest=4,
    )
    interval = {name: Interval(value, 0.01) for name, value in figures.items()}
    other = Alternative("codel", {**interval, "p99_delay_s": Interval(0.01, 0.0)}, ())
    answer = Answer(link, judge(link), found=found, trials=trials, alternatives=(other,))
    both = [curve(answer), pareto(answer)]
    for path in save_all(both, tmp_path):
        assert path.stat().st_size > 10_000
    assert ("smallest that keeps every bound" in both[0].caption) == (recommended is not None)
    assert "Diamonds" in both[1].caption


def test_a_directory_is_replaced_whole_or_not_at_all(tmp_path: Path) -> None:
    target = tmp_path / "out"
    with whole_directory(target) as directory:
        (directory / "summary.json").write_text("1")
        (directory / "backlog.png").write_text("old")
        assert not target.exists()

    def fail_half_way() -> None:
        with whole_directory(target) as directory:
            (directory / "summary.json").mkdir()
            (directory / "summary.json").write_text("2")

    with pytest.raises(IsADirectoryError):
        fail_half_way()
    assert (target / "summary.json").read_text() == "1"
    with whole_directory(target) as directory:
        (directory / "summary.json").write_text("3")
    assert {path.name for path in target.iterdir()} == {"summary.json", ".goodqueue"}
    assert (target / "summary.json").read_text() == "3"
    assert list(tmp_path.iterdir()) == [target], "nothing unfinished stays behind"


def test_an_empty_directory_may_be_filled_and_a_file_is_no_directory(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    check_output(tmp_path / "empty")
    file = tmp_path / "file"
    file.write_text("x")
    for target in (file, file / "below"):
        with pytest.raises(RequestError):
            check_output(target)
