"""Studies from file to picture, as users run them."""

from __future__ import annotations

import re
from importlib.util import find_spec
from typing import TYPE_CHECKING

import polars as pl
import pytest
from matplotlib.image import imread

from conftest import ROOT, goodqueue
from goodqueue.study.results import Results
from goodqueue.study.stopping import anytime_interval
from goodqueue.study.sweep import Study
from helpers.closed_forms import sawtooth

if TYPE_CHECKING:
    from pathlib import Path

COUNT, LIMIT = "flow.bulk.count", "topology.bottleneck.queue.limit_bdp"
SHARE = "bottleneck.utilization"


def test_ten_lines_end_in_utilisation_against_buffer(tmp_path: Path) -> None:
    page = (ROOT / "docs/studies.md").read_text()
    found = re.search(r"```toml\n(.*?)```", page, re.DOTALL)
    assert found is not None
    lines = [line for line in found[1].splitlines() if line and not line.startswith("[")]
    assert len(lines) <= 10
    study = tmp_path / "docs" / "study.toml"
    study.parent.mkdir()
    study.write_text(found[1])
    (tmp_path / "scenarios").symlink_to(ROOT / "scenarios")
    done = goodqueue("sweep", study, "--out", tmp_path / "runs", "--set", "duration=60s")
    assert done.returncode == 0, done.stderr
    (name,) = re.findall(r"pictures: \S*/(\S+)\.png", done.stdout)
    assert imread(tmp_path / "runs" / f"{name}.png")[..., :3].min() < 0.2
    for ending, start in (("svg", b"<?xml"), ("pdf", b"%PDF")):
        assert (tmp_path / "runs" / f"{name}.{ending}").read_bytes().startswith(start)
    caption = (tmp_path / "runs" / "captions.txt").read_text()
    assert caption.startswith(f"{name}: Utilisation of bottleneck against queue limit")
    assert "number of bulk flows" in caption
    assert "5 seeds per variant" in caption
    assert "rate of bottleneck 10 Mbit/s" in caption

    means = Results(tmp_path / "runs").means(SHARE)
    by_count = {
        count: rows.sort(LIMIT)["mean"].to_list()
        for (count,), rows in means.partition_by(COUNT, as_dict=True).items()
    }
    assert sorted(by_count) == [1, 4, 16]
    limits = sorted(means[LIMIT].unique())
    for limit, share in zip(limits, by_count[1], strict=True):
        assert share == pytest.approx(sawtooth(limit), abs=0.03), limit
    for shares in by_count.values():
        assert shares[-1] > 0.995
        assert shares[-1] == max(shares)
    assert all(many > one for one, many in zip(by_count[1][:-1], by_count[16][:-1], strict=True))
    assert means.filter(pl.col("count") != 5).is_empty()


GRID = """\
schema_version = 1
seeds = 5
[sweep]
flow.upload.count = [1, 3]
topology.bottleneck.queue.limit = ["5p", "20p"]
PLOT
[scenario]
schema_version = 1
duration = "5s"
[scenario.topology]
shape = "dumbbell"
access = { rate = "100Mbps", delay = "5ms" }
bottleneck = { rate = "2Mbps", delay = "20ms" }
[[scenario.flow]]
name = "upload"
start_jitter = "1s"
workload = { kind = "bulk" }
tcp = { profile = "linux" }
"""

BOX = """
[[plot]]
kind = "box"
x = "topology.bottleneck.queue.limit"
y = ["bottleneck.utilization", "bottleneck.p99_queueing_delay_s"]
series = "flow.upload.count"
[[plot]]
kind = "heatmap"
name = "map"
x = "topology.bottleneck.queue.limit"
series = "flow.upload.count"
y = "bottleneck.utilization"
[[plot]]
kind = "cdf"
y = "bottleneck.utilization"
[[plot]]
kind = "pareto"
x = "bottleneck.p99_queueing_delay_s"
y = "bottleneck.utilization"
[[plot]]
name = "narrow"
x = "limit"
y = "bottleneck.utilization"
where = { count = 3 }
[[plot]]
name = "grid"
kind = "cdf"
y = "bottleneck.utilization"
facets = ["count", "limit"]
"""


def written(tmp_path: Path, plot: str = "") -> Path:
    file = tmp_path / "study.toml"
    file.write_text(GRID.replace("PLOT", plot))
    return file


def test_every_kind_of_picture_can_be_drawn_from_a_study_file(tmp_path: Path) -> None:
    done = goodqueue("sweep", written(tmp_path, BOX), "--out", tmp_path / "runs")
    assert done.returncode == 0, done.stderr
    names = {path.stem for path in (tmp_path / "runs").glob("*.svg")}
    assert names == {"plot-1", "map", "plot-3", "plot-4", "narrow", "grid"}
    captions = (tmp_path / "runs" / "captions.txt").read_text().splitlines()
    assert "Held fixed: number of upload flows 3;" in captions[4]
    assert "one row of panels per number of upload flows" in captions[5]


@pytest.mark.parametrize(
    ("plot", "words"),
    [
        ('x = "topology.bottleneck.queue.limit"', "would mix several values of flow.upload.count"),
        ('kind = "heatmap"\nx = "flow.upload.count"', "name them as x and series"),
        ('x = "limit"\nwhere = { count = 2 }', '"2" is not a value of this axis'),
        ('x = "limit"\nwhere = { coun = 3 }', 'did you mean "count"?'),
        ('kind = "box"\nx = "bottleneck.loss_rate"', "bottleneck.loss_rate"),
    ],
)
def test_an_impossible_picture_is_refused_before_anything_runs(
    tmp_path: Path, plot: str, words: str
) -> None:
    file = written(tmp_path, f'[[plot]]\n{plot}\ny = "bottleneck.utilization"\n')
    done = goodqueue("sweep", file, "--out", tmp_path / "runs")
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "runs").exists()


def test_intervals_of_a_study_with_a_stopping_rule_are_valid_at_any_count(tmp_path: Path) -> None:
    stop = "[stop]\nwidth.bottleneck.utilization = 0.05\nmax_replicates = 12\n"
    results = Study(GRID.replace("PLOT", stop)).run(tmp_path / "runs", jobs=2)
    means = results.means(SHARE)
    wide = results.wide()
    counts = set(means["count"].to_list())
    assert counts <= set(range(5, 13))
    for row in means.iter_rows(named=True):
        same = [pl.col(axis) == row[axis] for axis in results.axes]
        values = wide.filter(*same).sort("seed")[SHARE].to_list()
        assert row["half_width"] == anytime_interval(values).half_width
        assert row["count"] == 12 or 2 * row["half_width"] <= 0.05


def test_a_missing_cluster_gives_one_sentence(tmp_path: Path) -> None:
    file = written(tmp_path)
    both = goodqueue("sweep", file, "--cluster", "tcp://127.0.0.1:9", "--jobs", "2")
    assert both.returncode == 2
    assert "omit one" in both.stderr
    if find_spec("distributed") is None:
        pytest.skip("run `make setup`: requirements.lock has Dask")
    done = goodqueue("sweep", file, "--cluster", "nonsense", cwd=tmp_path)
    assert done.returncode == 2
    assert "start one with `dask scheduler`" in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["study.toml"]
