"""Tests of the judges: published rows, their scenarios, runs, bars and tables."""

from __future__ import annotations

import json
import math
import tomllib
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import polars as pl
import pytest

from conftest import ROOT
from evidence.core.pages import part
from evidence.judges import page
from evidence.judges.__main__ import main
from evidence.judges.bbr3 import sampled_rtts
from evidence.judges.judge import Bar, Figures, Result, by_row, read, result, summary_of, write
from evidence.judges.l4s import QUEUES, key_of
from evidence.judges.linux import Rtt, burst_of
from evidence.judges.make import JUDGES, PAGE
from evidence.judges.spang import BEGIN_S, MEDIAN, TAIL, depths, waiting_of
from goodqueue.runs.api import load

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from evidence.judges.judge import Judge
    from goodqueue.runs.results.result import Result as Run

SHORT = {
    "dctcp-fig17": {"duration": "300ms", "warmup": "200ms"},
    "bbr3-rtt": {"duration": "2s"},
    "l4s-pam2025": {"duration": "2s"},
    "spang2021": {},
    "linux-6.18-third": {"duration": "2s", "warmup": "1s"},
    "ccafct-2021": {},
    "flent-testbed": {},
}
"""Settings that shorten a row of each judge; runs without any are short."""

each_judge = pytest.mark.parametrize("judge", JUDGES, ids=lambda judge: judge.name)


@dataclass(frozen=True)
class Published:
    """A row with one published figure.

    Attributes:
        at: its bar.
        theirs: its figure.
    """

    at: Bar
    theirs: Mapping[str, float] = field(default_factory=lambda: {"rate, Mb/s": 10.0})
    name: str = "row"

    def scenario(self, seed: int) -> str:
        """Raises an error, because the row is not run."""
        raise NotImplementedError(seed)

    def figures(self, summary: Mapping[str, Any]) -> Figures:
        """Raises an error, because the row is not run."""
        raise NotImplementedError(summary)

    def bar(self, _figure: str) -> Bar:
        """Returns the bar."""
        return self.at


@each_judge
def test_every_published_row_makes_a_scenario_that_the_reader_accepts(judge: Judge) -> None:
    rows = judge.rows()
    assert len({row.name for row in rows}) == len(rows)
    for text in {row.scenario(judge.seeds[0]) for row in rows}:
        load(text)


@each_judge
def test_every_published_figure_lies_within_its_own_bar(judge: Judge) -> None:
    for row in judge.rows():
        assert row.theirs
        for figure, value in row.theirs.items():
            assert row.bar(figure).low <= value <= row.bar(figure).high


@each_judge
def test_a_short_run_has_every_published_figure(
    judge: Judge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evidence.judges.judge.scratch", lambda: tmp_path)
    row = judge.chosen()[0]
    changes = json.dumps(SHORT[judge.name])
    found = row.figures(summary_of(row.scenario(1), changes, 1, judge.over_time))
    assert found.keys() >= row.theirs.keys()
    assert all(math.isfinite(value) for value in found.values())


@each_judge
def test_the_results_are_those_of_the_chosen_rows(judge: Judge) -> None:
    expected = [(row.name, figure) for row in judge.chosen() for figure in row.theirs]
    for file in (judge.found, *(judge.found_with(trial) for trial in judge.trials)):
        found = read(file)
        assert [(one.row, one.figure) for one in found] == expected
        assert all((one.low <= one.ours <= one.high) is one.inside for one in found)


def test_the_page_says_what_the_results_say() -> None:
    assert part((ROOT / PAGE).read_text(encoding="utf-8"), page.PART) == page.text(JUDGES)


def test_the_first_table_counts_rows_of_which_each_figure_is_inside() -> None:
    judge = JUDGES[0]
    near = Result("near", "rate, Mb/s", 10.0, 10.5, 0.1, 9.0, 11.0, inside=True)
    far = Result("far", "rate, Mb/s", 10.0, 13.0, 0.1, 9.0, 11.0, inside=False)
    also = Result("far", "delay, ms", 10.0, 10.0, 0.1, 9.0, 11.0, inside=True)
    line = page.opening(judge, [near, far, also])
    assert "| 1 (50 %) |" in line
    assert "far: rate, Mb/s 13.0, published 10.0" in line
    assert far.distance == pytest.approx(3.0)
    assert page.inside(by_row([near, far, also])) == 1
    assert "13.0 ± 0.1 **no**" in page.table(by_row([near, far, also]))


def test_our_interval_and_deviations_widen_a_bar_only_where_they_count() -> None:
    ours = [12.0, 13.0, 14.0]
    assert not result(Published(Bar.around(10.0, 0.1)), "rate, Mb/s", ours).inside
    with_interval = Published(Bar.around(10.0, 0.1, or_interval=True))
    assert not result(with_interval, "rate, Mb/s", ours).inside
    assert result(with_interval, "rate, Mb/s", [8.0, 13.0, 14.0]).inside
    bar = Bar.around(10.0, 0.1)
    with_deviations = Published(Bar(bar.low, bar.high, or_deviations=3.0))
    assert result(with_deviations, "rate, Mb/s", ours).inside
    assert result(with_deviations, "rate, Mb/s", [10.5]).inside


def test_results_are_read_as_they_were_written(tmp_path: Path) -> None:
    one = Result("a, b", "rate, Mb/s", 10.0, 10.5, math.inf, 9.0, 11.0, inside=True)
    write(tmp_path / "found.csv", [one])
    assert read(tmp_path / "found.csv") == [one]


def test_a_finished_run_is_not_run_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evidence.judges.judge.scratch", lambda: tmp_path)
    text = next(iter(JUDGES[4].chosen())).scenario(1)
    first = summary_of(text, '{"duration": "2s", "warmup": "1s"}', 1)
    monkeypatch.setattr("evidence.judges.judge.load", None)
    assert summary_of(text, '{"duration": "2s", "warmup": "1s"}', 1) == first


def test_rows_of_another_file_are_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    judge = next(one for one in JUDGES if one.name == "linux-6.18-third")
    lines = judge.published.read_text(encoding="utf-8").splitlines()
    begin = next(index for index, line in enumerate(lines) if not line.startswith("#"))
    (tmp_path / "other.csv").write_text("\n".join(lines[: begin + 3]), encoding="utf-8")
    monkeypatch.setattr("evidence.judges.judge.scratch", lambda: tmp_path)
    words = ["judges", judge.name, str(tmp_path / "other.csv"), "--seeds", "1", "--every", "2"]
    monkeypatch.setattr("sys.argv", words)
    main()
    printed = capsys.readouterr().out
    assert printed.startswith("1 of 1 rows are inside the bar: utilisation 1 point")
    assert "| cubic:1, 50 Mb/s, 50 ms, 104 packets | 100.0 |" in printed


@each_judge
def test_the_canary_has_room_for_the_cells(judge: Judge) -> None:
    assert 1 <= len({cell.kind for cell in judge.cells()}) <= 32


def test_a_cell_of_the_testbed_names_its_fields() -> None:
    key = key_of(
        "1vs1 flow experiments|x", "bbrv3_ecn_tput_tx_L4S_2ms", "prague_0.5_100_2_FQ_1_0_3_1"
    )
    assert key is not None
    assert (key.sender, key.queue, key.bdp, key.rtt_ms, key.ecn) == ("bbrv3", "FQ", 0.5, 2, True)
    cell = "cubic_8.0_100_10_FIFO_none_1_3_0_5_25"
    key = key_of("Multiple-flow Experiments", "cubic_noecn_tput_tx_legacy", cell)
    assert key is not None
    assert (key.threshold_ms, key.fallback, key.ecn, key.flows) == ("", True, False, (5, 25))
    assert key_of("1vs1 flow experiments|x", "bbrv2_ecn_tput_tx_L4S", cell) is None
    assert key_of("1vs1 flow experiments|x", "cubic_ecn_tput_tx_L4S", "of another form") is None


def test_dualpi2_has_the_gains_of_the_laboratorys_kernel() -> None:
    """The integers of its `calculate_probability` for 1 ms above the target, or 1 ms more delay."""
    whole, scaled = 2**32 - 1, [(gain * (2**32 - 1) >> 2) // 10**9 for gain in (41, 819)]
    alpha, beta = (1000 * (10**6 * gain // 127) / whole for gain in scaled)
    queue = tomllib.loads(f"queue = {{ {QUEUES['DualPI2'].format(threshold=5)} }}")["queue"]
    assert queue["alpha"] == pytest.approx(alpha, rel=1e-3)
    assert queue["beta"] == pytest.approx(beta, rel=1e-3)
    assert queue["min_qlen_step"] == "2p"


def test_a_recording_has_one_or_many_round_trip_times() -> None:
    assert Rtt.of("40").toml == '"40ms"'
    assert Rtt.of("10..120/15").toml == '{ from = "10ms", to = "120ms", classes = 15 }'


def test_recordings_are_late_as_their_forwarder_was() -> None:
    judge = next(one for one in JUDGES if one.name == "linux-6.18-third")
    for row in judge.rows():
        link = tomllib.loads(row.scenario(1))["topology"]["bottleneck"]
        for late in (link["jitter"], link["reverse"]["jitter"]):
            assert late == {"law": "exponential", "mean": "40us"}


def test_the_burst_of_red_gives_the_weight_as_tc_computes_it() -> None:
    burst = burst_of(20, 9)
    weight = 2.0**-9
    assert burst + 1 - 20 <= (1 - (1 - weight) ** burst) / weight
    assert burst + 1 - 20 > (1 - (1 - 2 * weight) ** burst) / (2 * weight)


def run_with(summary: dict[str, Any], **frames: list[tuple[Any, ...]]) -> Run:
    """Returns a run with this summary and these rows of series."""
    columns = {
        "backlog": ["link", "time_s", "backlog_packets"],
        "rtt": ["flow", "time_s", "rtt_s"],
    }
    series = {
        name: pl.DataFrame(rows, schema=columns[name], orient="row")
        for name, rows in frames.items()
    }
    run = SimpleNamespace(series=SimpleNamespace(**series), summary=summary)
    return cast("Run", run)


def test_the_switch_loses_a_packet_whose_own_cells_reach_the_limit_too() -> None:
    """A frame of 9000 bytes has 113 cells: 250 cells are more than 2 and less than 3 frames."""
    assert [waiting_of(cells) for cells in (226, 227, 250, 339, 340, 5000)] == [1, 2, 2, 2, 3, 44]


def test_depths_are_those_behind_packets_that_leave() -> None:
    begin = BEGIN_S
    backlog = [
        ("port", begin - 0.1, 1),
        ("port", begin - 0.05, 0),  # before the measured part
        ("port", begin + 0.01, 1),
        ("port", begin + 0.02, 2),
        ("port", begin + 0.03, 3),
        ("interfaces", begin + 0.035, 9),
        ("port", begin + 0.04, 2),
        ("port", begin + 0.05, 1),
        ("port", begin + 0.06, 0),
    ]
    link = {"departures": 4, "drops": 2, "queue": "drop_head", "limit": {"packets": 7}}
    # One of the four departures found the port idle: 0, 0, 1 and 2 packets behind, and twice 7.
    found = depths(run_with({"links": {"port": link}}, backlog=backlog))
    assert found == {MEDIAN: 3, TAIL: 9}
    link["queue"] = "drop_tail"
    found = depths(run_with({"links": {"port": link}}, backlog=backlog))
    assert found == {MEDIAN: 3, TAIL: 4}


def test_round_trips_are_read_once_a_second_after_smoothing() -> None:
    samples = [("rtt20", 0.5, 0.020), ("rtt20", 1.2, 0.028), ("rtt20", 1.9, 0.028)]
    found = sampled_rtts(run_with({"measured_s": 2.0}, rtt=samples))
    smoothed = 0.020 + 0.008 / 8
    smoothed += (0.028 - smoothed) / 8
    assert found == {"rtt20": pytest.approx(1e3 * (0.020 + smoothed) / 2)}
