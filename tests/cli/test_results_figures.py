"""`goodqueue results`: figures in their units, and conditions that no run meets."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

import pytest

from conftest import SMALL
from goodqueue import load
from goodqueue.cli import run_command
from goodqueue.core.metrics import is_share, range_of
from goodqueue.output.terminal import quantity
from goodqueue.study.results import Results

if TYPE_CHECKING:
    from pathlib import Path

STUDY = """\
schema_version = 1
scenario = "small.toml"
seeds = 2

[sweep]
topology.bottleneck.queue = [
  { kind = "codel" }, { kind = "drop_tail", limit = "20p" },
]
flow.upload.tcp.congestion_control = ["reno", "cubic"]
topology.bottleneck.rate = ["1Mbps", "2Mbps"]
"""


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Returns the folder of a study with axes of names and of numbers."""
    folder = tmp_path_factory.mktemp("results")
    named = 'name = "upload"\n'
    text = SMALL.replace(named, f'{named}start_jitter = "1s"\n')
    (folder / "small.toml").write_text(text)
    (folder / "study.toml").write_text(STUDY)
    assert run_command(["sweep", str(folder / "study.toml"), "--out", str(folder / "runs")]) == 0
    return str(folder / "runs")


@pytest.mark.parametrize(
    ("name", "value", "half", "text"),
    [
        ("upload.goodput_bps", 44_910_653.0, None, "44.91 Mb/s"),
        ("upload.goodput_bps", 44_910_653.0, 500_000.0, "44.91 ± 0.50 Mb/s"),
        ("upload.goodput_bps", 912.5, None, "912.5 b/s"),
        ("bottleneck.p99_queueing_delay_s", 0.0123, None, "12.30 ms"),
        ("upload.completion_time_s", 63.25, None, "63.25 s"),
        ("bottleneck.mean_backlog_bytes", 58_300.0, None, "58.30 kB"),
        ("bottleneck.utilization", 0.98, None, "98 %"),
        ("bottleneck.loss_rate", 0.0123, 0.001, "1.230 ± 0.10 %"),
        ("game.up_loss", 0.5, None, "50 %"),
        ("bottleneck.loss_rate", 0.0005, 0.0014, "0.05000 (0 to 0.1900) %"),
        ("bottleneck.utilization", 0.999, 0.047, "99.90 (95.20 to 100) %"),
        ("jain_index", 0.99, 0.02, "0.9900 (0.9700 to 1)"),
        ("bottleneck.drops", 2.5, 6.0, "2.500 (0 to 8.500)"),
        ("bottleneck.drops_link_loss", 12.0, None, "12"),
        ("bottleneck.drops", 12_345.0, math.inf, "12,345"),
        ("jain_index", 0.98765, None, "0.9877"),
        ("ping.p99_rtt_s", None, None, "-"),
    ],
)
def test_a_figure_has_the_unit_of_its_name(
    name: str, value: float | None, half: float | None, text: str
) -> None:
    assert quantity(name, value, half) == text


def test_results_print_rates_times_and_shares(
    runs: str, capsys: pytest.CaptureFixture[str]
) -> None:
    metrics = ("upload.goodput_bps", "bottleneck.utilization", "bottleneck.p99_queueing_delay_s")
    options = [word for name in metrics for word in ("--metric", name)]
    for kind in ([], ["--runs"], ["--long"]):
        capsys.readouterr()
        assert run_command(["results", runs, *options, *kind]) == 0
        printed = capsys.readouterr().out
        assert all(unit in printed for unit in ("Mb/s", " %", " ms")), printed


def test_columns_with_units_in_their_cells_have_none_in_their_heads(
    runs: str, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert run_command(["results", runs]) == 0
    head, first = capsys.readouterr().out.splitlines()[1:3]
    assert "rate " in head
    assert "rate_bps" not in head
    assert "1 Mb/s" in first


@pytest.mark.parametrize(
    ("condition", "says"),
    [
        ("congestion_control=cubick", "did you mean 'cubic'?"),
        ("flow.upload.tcp.congestion_control=ren", "did you mean 'reno'?"),
        ("congestion_controll=reno", "did you mean 'congestion_control'?"),
        ("congestion_control=xxxxxxxx", "choose from 'reno', 'cubic'"),
        ("seed=7", "did you mean '2'?"),
        ("rate=1.9Mbps", "did you mean '2 Mbit/s'?"),
        ("rate_bps=2000001", "did you mean '2 Mbit/s'?"),
        ("rate=2ms", "another unit than '2ms'; choose from '1 Mbit/s', '2 Mbit/s'"),
        ("rate=2mbps", "'2mbps' is not; choose from '1 Mbit/s', '2 Mbit/s'"),
        ("bottleneck.rat=2Mbps", "did you mean"),
    ],
)
def test_unknown_metrics_are_refused_with_the_nearest(
    condition: str, says: str, runs: str, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert run_command(["results", runs, "--where", condition]) == 2
    assert says in capsys.readouterr().err


def test_means_have_ends_within_the_range_of_their_metric(runs: str) -> None:
    means, beyond = Results(runs).means(), set()
    columns = ("metric", "mean", "half_width", "low", "high")
    for name, mean, half, low, high in means.select(columns).iter_rows():
        least, most = range_of(name)
        if math.isinf(half):  # a single run has the metric
            continue
        assert least <= low <= mean <= high <= most, name
        beyond |= {end for end in (least, most) if not least <= mean - half <= mean + half <= most}
    assert {0.0, 1.0} <= beyond, "intervals that Student's law alone would take too far"


def test_the_end_of_a_path_names_a_column(runs: str, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert run_command(["results", runs, "--where", "congestion_control=cubic", "--runs"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("8 runs")
    assert "reno" not in printed


@pytest.mark.parametrize(
    "condition",
    ["rate=2Mbps", "bottleneck.rate=2 Mb/s", "rate_bps=2000000", "topology.bottleneck.rate=2e6"],
)
def test_values_have_their_units(condition: str, runs: str) -> None:
    name, _, value = condition.partition("=")
    found = Results(runs).where({name: value})
    assert len(found) == 8
    assert set(found.wide()["topology.bottleneck.rate_bps"]) == {2_000_000}


def test_a_column_named_twice_takes_either_value(
    runs: str, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    both = ("--where", "congestion_control=cubic", "--where", "congestion_control=reno")
    assert run_command(["results", runs, *both, "--where", "seed=1"]) == 0
    assert capsys.readouterr().out.startswith("8 runs")


FOUR = ("--x", "rate", "--series", "congestion_control", "--facet", "queue")


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_results_are_drawn_in_every_format(
    ending: str, runs: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / f"picture.{ending}"
    capsys.readouterr()
    assert run_command(["results", runs, "--draw", str(file), *FOUR]) == 0
    printed = capsys.readouterr().out
    assert f"picture: {file}" in printed
    assert "Utilisation of bottleneck against rate of bottleneck, one line per" in printed
    assert "2 seeds per variant (1 to 2)" in printed
    beginning = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}[ending]
    assert file.read_bytes().startswith(beginning)
    assert [path.name for path in tmp_path.iterdir()] == [file.name]


def test_a_picture_of_results_is_narrowed_down(
    runs: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, narrow = str(tmp_path / "picture.svg"), ("--where", "rate=2Mb/s")
    options = ("--x", "queue", "--metric", "bottleneck.loss_rate", "--facet", "congestion_control")
    capsys.readouterr()
    assert run_command(["results", runs, "--draw", file, *options, "--json"]) == 2
    error = capsys.readouterr().err
    assert "several values of topology.bottleneck.rate_bps; name it as series or facets" in error
    assert run_command(["results", runs, "--draw", file, *options, *narrow, "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["picture"] == file
    assert "Held fixed: rate of bottleneck 2 Mbit/s" in said["caption"]


@pytest.mark.parametrize(
    ("file", "options", "says"),
    [
        ("p.gif", (), "ends in .png, .svg or .pdf"),
        ("p.svg", ("--kind", "heatmp"), "--kind heatmp: did you mean 'heatmap'?"),
        ("p.svg", ("--band", "most"), "choose from interval, range, none"),
        ("p.svg", (), "--x is missing: name one of topology.bottleneck.queue"),
        ("p.svg", ("--x", "rat"), "did you mean 'rate'?"),
        (
            "p.svg",
            ("--x", "rate", "--metric", "bottleneck.utilisation"),
            "'bottleneck.utilization'",
        ),
        ("p.svg", ("--kind", "cdf", "--x", "rate"), "omit --x"),
        ("p.svg", ("--runs",), "--draw draws them; omit one of them"),
        (None, ("--facet", "rate"), "name its file with --draw FILE"),
        (None, ("--no-caption",), "name its file with --draw FILE"),
    ],
)
def test_a_picture_that_cannot_be_drawn_is_refused(  # noqa: PLR0913, PLR0917
    file: str | None,
    options: tuple[str, ...],
    says: str,
    runs: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    draw = () if file is None else ("--draw", str(tmp_path / file))
    capsys.readouterr()
    assert run_command(["results", runs, *draw, *options]) == 2
    assert says in " ".join(capsys.readouterr().err.split())
    assert not list(tmp_path.iterdir())


def test_the_metrics_of_a_run_lie_in_their_range(tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(SMALL)
    scenario = load(tmp_path / "small.toml")
    shares = {name.rpartition(".")[2] for name in scenario.metric_names() if is_share(name)}
    assert shares >= {"utilization", "loss_rate"}
    assert range_of("bottleneck.utilization") == (0.0, 1.0)
    assert range_of("mean_interval_jain_index") == (0.0, 1.0)
    assert range_of("bottleneck.p99_queueing_delay_s") == (0.0, math.inf)
